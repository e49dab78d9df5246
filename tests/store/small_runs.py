"""Apply small runs with the same lineage repeatedly, and print the resident memory periodically.

python -m tests.store.small_runs STORE RUNS: prints lines with the number of runs and megabytes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lineage.store import open_store
from tests.store.batch_builders import batch, view

SHOWN = (100, 200, 400, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 20_000)


def main() -> None:
    """Apply the runs: fifty views of twenty columns in turn, each a second later."""
    runs = int(sys.argv[2])
    with open_store(sys.argv[1]) as store:
        for number in range(1, runs + 1):
            name = f"v{number % 50}"
            lines = (f"a{name}.c{column} -> {name}.c{column}" for column in range(20))
            store.apply(batch(view(name, *lines, at=1 + number / 86_400), run=f"hour {number // 500}"))
            if number in SHOWN:
                print(number, round(_resident() / 1e6), flush=True)


def _resident() -> int:
    """Return the resident memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
