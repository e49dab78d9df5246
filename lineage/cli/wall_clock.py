"""The time since the command began, as the user's clock shows it: with imports, reading options, opening the store."""

from __future__ import annotations

import time

__all__ = ["wall_seconds"]

_BEGAN = time.perf_counter()


def wall_seconds() -> float:
    """Return the seconds since the program began."""
    return time.perf_counter() - _BEGAN
