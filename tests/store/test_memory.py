"""The memory of a store does not grow with the number of batches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_small_runs_do_not_keep_memory(tmp_path: Path) -> None:
    """The full measurement: `python -m tests.store.small_runs STORE 20000`."""
    command = [sys.executable, "-m", "tests.store.small_runs", str(tmp_path / "store.db"), "400"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = {int(runs): float(size) for runs, size in (line.split() for line in output.splitlines())}
    assert used[400] < 1.3 * used[100], used
