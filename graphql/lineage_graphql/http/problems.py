"""Error responses of the REST routes."""

from __future__ import annotations

from starlette.responses import JSONResponse

from lineage_graphql.admission import RETRY_AFTER
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["STATUS", "problem", "refusal_response"]

STATUS = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.ABANDONED: 499,
    ErrorCode.OVERLOADED: 503,
    ErrorCode.STORE_UNAVAILABLE: 503,
    ErrorCode.LIMIT_EXCEEDED: 413,
}


def problem(
    status: int, message: str, hint: str | None = None, *, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return an error response, `{"error": …, "hint": …}`."""
    return JSONResponse({"error": message, **({"hint": hint} if hint else {})}, status, headers)


def refusal_response(error: RefusedError) -> JSONResponse:
    """Return the HTTP response of a refusal."""
    challenge = _challenge(error)
    headers = {"WWW-Authenticate": challenge} if challenge else None
    if error.code is ErrorCode.OVERLOADED:
        headers = RETRY_AFTER
    return problem(STATUS.get(error.code, 400), error.message, error.hint, headers=headers)


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
