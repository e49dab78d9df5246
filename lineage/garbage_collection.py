"""Fewer garbage collections while much is built that is kept, or that is freed without them."""

from __future__ import annotations

import gc
import threading
from contextlib import AbstractContextManager, ContextDecorator

__all__ = ["seldom_collecting"]

_THRESHOLD = (100_000, 50, 100)


def seldom_collecting() -> _Threshold:
    """Raise the garbage collection threshold, in a block or a function: collections would find nearly nothing.

    The threshold is the process's: the first thread inside raises it, and the last one restores it. It is left alone
    where it is higher already, and where collections are off.
    """
    return _THE_PROCESS


class _Threshold(AbstractContextManager[None], ContextDecorator):
    # Not a generator: short texts are resolved in less time than ten of these take.

    __slots__ = ("_before", "_inside", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before = (0, 0, 0)
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < _THRESHOLD[0]:
                    gc.set_threshold(*_THRESHOLD)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._before)


_THE_PROCESS = _Threshold()
