"""The memory of a store does not grow with the number of batches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from lineage.store import open_store
from tests.store.batch_builders import batch, table

COLUMNS = 6_000


def test_large_batches_give_their_memory_back(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        used = []
        for number in range(8):
            store.apply(batch(table(f"t{number}", *(f"c{column}" for column in range(COLUMNS)))))
            used.append(_buffers(store))
    # Each takes 15 MB during the copy, and keeps a tenth of that.
    assert used[-1] - used[1] < 6 * 5 << 20, used


def test_small_runs_do_not_keep_memory(tmp_path: Path) -> None:
    """The full measurement: `python -m tests.store.small_runs STORE 20000`."""
    command = [sys.executable, "-m", "tests.store.small_runs", str(tmp_path / "store.db"), "400"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = {int(runs): float(size) for runs, size in (line.split() for line in output.splitlines())}
    assert used[400] < 1.3 * used[100], used


def _buffers(store: Any) -> int:
    """Return the number of bytes of the buffer pool in use."""
    [[_, used]] = store._backend._statements.run_once("CALL bm_info() RETURN *").get_all()
    return int(used)
