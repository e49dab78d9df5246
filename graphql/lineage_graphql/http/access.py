"""Refusals of the REST routes, as HTTP has them."""

from __future__ import annotations

from starlette.responses import JSONResponse

from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.http.problems import problem

__all__ = ["refused"]

_STATUS = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.STORE_UNAVAILABLE: 503,
    ErrorCode.LIMIT_EXCEEDED: 413,
}


def refused(error: RefusedError) -> JSONResponse:
    """Return the answer to a request that is refused."""
    challenge = _challenge(error)
    headers = {"WWW-Authenticate": challenge} if challenge else None
    return problem(_STATUS.get(error.code, 400), error.message, error.hint, headers=headers)


def _challenge(error: RefusedError) -> str | None:
    """Return the value of `WWW-Authenticate` (RFC 6750, section 3.1): no error code where no token was sent."""
    extensions = error.extensions or {}
    if error.code is ErrorCode.FORBIDDEN and "role" in extensions:
        scope = extensions["role"].replace(" or ", " ")
        return f'Bearer error="insufficient_scope", error_description="{error.message}", scope="{scope}"'
    if error.code is not ErrorCode.UNAUTHENTICATED:
        return None
    if extensions.get("token") == "missing":
        return "Bearer"
    return f'Bearer error="invalid_token", error_description="{error.message}"'
