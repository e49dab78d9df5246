"""The number of columns that the traversals of one request may reach together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lineage_graphql.errors import RefusedError

__all__ = ["ReachedBudget"]


class ReachedBudget:
    """What a request has left. Its traversals run one after the other, so that each knows."""

    def __init__(self, allowed: int) -> None:
        self._allowed = self._left = allowed
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait for other traversals, and return how many columns the next one may reach during the block.

        Raises:
            RefusedError: none is left.
        """
        async with self._turn:
            if self._left < 1:
                hint = "send it in several requests"
                raise RefusedError.over_limit("reached", self._allowed, self._allowed + 1, hint)
            yield self._left

    def spend(self, reached: int) -> None:
        """Note that a traversal has reached so many columns."""
        self._left -= reached
