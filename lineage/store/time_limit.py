"""A time limit on all that a thread reads from stores, for callers that answer somebody who does not wait for ever."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lineage.store.errors import StoreTimeoutError

__all__ = ["seconds_left", "time_limit"]

_ENDS: ContextVar[float | None] = ContextVar("ends", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End what is read from a store within the block when so many seconds are over, by StoreTimeoutError."""
    token = _ENDS.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ENDS.reset(token)


def seconds_left() -> float | None:
    """Return how long reading may still take; None without a limit.

    Raises:
        StoreTimeoutError: no longer.
    """
    ends = _ENDS.get()
    if ends is None:
        return None
    left = ends - time.monotonic()
    if left <= 0:
        raise StoreTimeoutError
    return left
