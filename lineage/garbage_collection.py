"""Fewer garbage collections while much is built that is kept, or that is freed without them."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["seldom_collecting"]

_lock = threading.Lock()
_threshold = (100_000, 50, 100)
_before = (0, 0, 0)
_inside = 0


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Raise the garbage collection threshold: collections would find nearly nothing.

    The threshold is the process's: the first thread inside raises it, and the last one restores it. It is left alone
    where it is higher already, and where collections are off.
    """
    global _before, _inside  # noqa: PLW0603  the threshold is global to the process
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = gc.get_threshold()
            if 0 < _before[0] < _threshold[0]:
                gc.set_threshold(*_threshold)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
