"""Builds injector.c, and the environment that makes it do something."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

__all__ = ["injected"]


@cache
def _library() -> Path:
    """Compile the library once in this process."""
    made = Path(mkdtemp(prefix="lineage-faults-")) / "injector.so"
    source = Path(__file__).with_name("injector.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return made


def injected(**faults: object) -> dict[str, str]:
    """Return the variables of a process with these faults, named as in injector.c: `kill_after=1000`, `clock=3600`."""
    return {"LD_PRELOAD": str(_library()), **{f"FAULT_{name.upper()}": str(value) for name, value in faults.items()}}
