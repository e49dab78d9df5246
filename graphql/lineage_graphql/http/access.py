"""Refusals of the REST routes, as HTTP has them."""

from __future__ import annotations

from starlette.responses import JSONResponse

from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.http.answers import problem

__all__ = ["refused"]

_STATUS = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.STORE_UNAVAILABLE: 503,
    ErrorCode.LIMIT_EXCEEDED: 413,
}


def refused(error: RefusedError) -> JSONResponse:
    """Return the answer to a request that is refused."""
    headers = {"WWW-Authenticate": "Bearer"} if error.code is ErrorCode.UNAUTHENTICATED else None
    return problem(_STATUS.get(error.code, 400), error.message, error.hint, headers=headers)
