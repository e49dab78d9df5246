"""Check that the WAL of an embedded store has room to grow, before a commit writes to it.

If ladybug 0.22 runs out of space for its WAL during a commit, every later commit blocks forever.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

__all__ = ["has_room"]

_BYTES_OF_A_ROW = 2_000
_RESERVE = 128 * 1024


def has_room(log: Path, rows: int) -> bool:
    """Return whether the log entries of `rows` changed rows fit on the disk and below the process's file size limit."""
    needed = _RESERVE + rows * _BYTES_OF_A_ROW
    size = log.stat().st_size if log.exists() else 0
    largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if largest != resource.RLIM_INFINITY and size + needed > largest:
        return False
    disk = os.statvfs(log.parent)
    return disk.f_bavail * disk.f_frsize >= needed
