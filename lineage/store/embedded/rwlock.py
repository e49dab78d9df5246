"""Turns: readers together, a writer alone.

ladybug would let readers go on beside a writer, but a commit that moves the log into the file waits for all of them,
and fails when that takes too long.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ReadWriteLock"]


class ReadWriteLock:
    """Lets readers in together, and a writer alone; readers that come while one waits stand behind it."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._readers = 0
        self._writing = False
        self._waiting = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold a reader's turn for the block."""
        with self._change:
            self._change.wait_for(lambda: not self._writing and not self._waiting)
            self._readers += 1
        try:
            yield
        finally:
            with self._change:
                self._readers -= 1
                self._change.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's turn for the block."""
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
