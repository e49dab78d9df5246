"""How much the log of an embedded store may still grow, asked before a commit writes to it.

Where ladybug 0.22 finds no room for its log in the middle of a commit, every later commit waits for ever.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

__all__ = ["has_room"]

_BYTES_OF_A_ROW = 2_000
_RESERVE = 128 * 1024


def has_room(log: Path, rows: int) -> bool:
    """Whether so many changed rows fit on the disk, and into the largest file that the process may write."""
    needed = _RESERVE + rows * _BYTES_OF_A_ROW
    size = log.stat().st_size if log.exists() else 0
    largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if largest != resource.RLIM_INFINITY and size + needed > largest:
        return False
    disk = os.statvfs(log.parent)
    return disk.f_bavail * disk.f_frsize >= needed
