"""A readers-writer lock: many readers, or one writer.

ladybug allows readers during a write, but a checkpoint at commit waits for all readers, and fails if that takes too
long.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lineage.store.errors import StoreTimeoutError

__all__ = ["ReadWriteLock"]


class ReadWriteLock:
    """A lock for many readers or one writer; a waiting writer has priority over new readers."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._readers = 0
        self._writing = False
        self._waiting = 0

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[None]:
        """Hold the lock for reading during the block.

        Raises:
            StoreTimeoutError: it could not be had within so many seconds.
        """
        with self._change:
            if not self._change.wait_for(lambda: not self._writing and not self._waiting, seconds):
                raise StoreTimeoutError
            self._readers += 1
        try:
            yield
        finally:
            with self._change:
                self._readers -= 1
                self._change.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock for writing during the block."""
        with self._change:
            self._waiting += 1
            try:
                self._change.wait_for(lambda: not self._writing and not self._readers)
            finally:
                self._waiting -= 1
            self._writing = True
        try:
            yield
        finally:
            with self._change:
                self._writing = False
                self._change.notify_all()
