"""A time limit on everything a thread reads from stores, for services that must answer in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lineage.store.errors import StoreTimeoutError

__all__ = ["TimeLimit", "interruptible", "seconds_left", "time_limit"]


class TimeLimit:
    """A time limit, which another thread may end early."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._interrupts: list[Callable[[], None]] = []

    def end(self) -> None:
        """End it now: what runs is interrupted, if the store can, and nothing else is begun."""
        with self._lock:
            self._ends = float("-inf")
            for interrupt in self._interrupts:
                interrupt()

    def left(self) -> float:
        """Return the seconds left.

        Raises:
            StoreTimeoutError: the time is over.
        """
        left = self._ends - time.monotonic()
        if left <= 0:
            raise StoreTimeoutError
        return left

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call `interrupt` if the limit is ended within the block."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)


_LIMIT: ContextVar[TimeLimit | None] = ContextVar("limit", default=None)


@contextmanager
def time_limit(limit: float | TimeLimit) -> Iterator[None]:
    """Cancel reads from stores within the block after this many seconds, with StoreTimeoutError."""
    token = _LIMIT.set(limit if isinstance(limit, TimeLimit) else TimeLimit(limit))
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Have `interrupt` called if the thread's time limit is ended early within the block."""
    limit = _LIMIT.get()
    if limit is None:
        yield
    else:
        with limit.interrupting(interrupt):
            yield


def seconds_left() -> float | None:
    """Return the seconds left for reading; None without a limit.

    Raises:
        StoreTimeoutError: the time is over.
    """
    limit = _LIMIT.get()
    return None if limit is None else limit.left()
