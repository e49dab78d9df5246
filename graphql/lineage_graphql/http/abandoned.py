"""End what a client has given up on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["unless_abandoned"]

T = TypeVar("T")


async def unless_abandoned(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, whose request has been read completely.

    Raises:
        RefusedError: the client has closed the connection; the work is cancelled.
    """
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_until_abandoned(request))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise RefusedError(ErrorCode.ABANDONED, "the client has closed the connection")
        return await working
    finally:
        watching.cancel()
        working.cancel()


async def _until_abandoned(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
