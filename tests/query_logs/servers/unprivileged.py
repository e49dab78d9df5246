"""Processes that refuse to be root's, or should not be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = ["run_as"]

_NOBODY = 65534


def run_as(home: Path) -> dict[str, Any]:
    """Return as whom a process runs in a folder: not as root, to whom the folder belongs else."""
    if os.geteuid() != 0:
        return {}
    for path in (home, *home.rglob("*")):
        os.chown(path, _NOBODY, _NOBODY, follow_symlinks=False)
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
