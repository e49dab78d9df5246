"""Answers of the REST routes that are no success."""

from __future__ import annotations

from starlette.responses import JSONResponse

__all__ = ["problem"]


def problem(
    status: int, message: str, hint: str | None = None, *, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return an error in one shape for all routes: `{"error": …, "hint": …}`."""
    return JSONResponse({"error": message, **({"hint": hint} if hint else {})}, status, headers)
