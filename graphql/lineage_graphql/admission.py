"""Admission of requests: so many work at once, so many wait, and the others are refused at once.

Without a bound every request waits for all earlier ones, until all are answered too late.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lineage.store.remote.wire import BUSY
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["RETRY_AFTER", "Admission", "overloaded"]

RETRY_AFTER = {"Retry-After": BUSY}
"""The header of an answer to a request that was refused before anything was done."""


class Admission:
    """Admits requests in order of arrival."""

    def __init__(self, working: int, waiting: int, seconds: float) -> None:
        """Admit `working` at once; `waiting` more wait for at most half of `seconds`, the time limit of a request."""
        self._free = asyncio.Semaphore(working)
        self._most = waiting
        self._waiting = 0
        self._seconds = seconds / 2

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Wait for a place and hold it during the block.

        Raises:
            RefusedError: too many wait already, or it took too long.
        """
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()

    async def _wait(self) -> None:
        if self._waiting >= self._most:
            raise overloaded()
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise overloaded() from error
        finally:
            self._waiting -= 1


def overloaded() -> RefusedError:
    """Return the refusal of a request that the service has no place for now."""
    return RefusedError(ErrorCode.OVERLOADED, "the service has too many requests", "send it again in a moment")
