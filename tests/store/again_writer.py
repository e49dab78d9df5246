"""Apply the same view repeatedly; print the number of each batch once it is stored.

python -m tests.store.again_writer STORE FIRST [NAME]
"""

from __future__ import annotations

import sys
from itertools import count

from lineage.model.batch import LineageBatch
from lineage.store import open_store
from tests.store.batch_builders import batch, view

COLUMNS = 20


def seen(number: int, name: str = "") -> LineageBatch:
    """Return the batch with this number, timed at that second; its views' names begin with `name`."""
    lines = (f"a.c{column} -> {name}v.c{column}" for column in range(COLUMNS))
    new = f"{name}new{number}"
    return batch(view(f"{name}v", *lines, at=1 + number / 86_400), view(new, f"a.c0 -> {new}.x", at=1))


def main() -> None:
    """Apply the batches until killed."""
    with open_store(sys.argv[1]) as store:
        for number in count(int(sys.argv[2])):
            store.apply(seen(number, f"{sys.argv[3]}_" if len(sys.argv) > 3 else ""))
            print(number, flush=True)


if __name__ == "__main__":
    main()
