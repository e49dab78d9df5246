"""A time limit on everything a thread reads from stores, for services that must answer in time."""

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
    """Cancel reads from stores within the block after this many seconds, with StoreTimeoutError."""
    token = _ENDS.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ENDS.reset(token)


def seconds_left() -> float | None:
    """Return the seconds left for reading; None without a limit.

    Raises:
        StoreTimeoutError: the time is over.
    """
    ends = _ENDS.get()
    if ends is None:
        return None
    left = ends - time.monotonic()
    if left <= 0:
        raise StoreTimeoutError
    return left
