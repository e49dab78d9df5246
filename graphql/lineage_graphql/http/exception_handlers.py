"""What the service answers when a route, or the store under it, fails."""

from __future__ import annotations

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from lineage.store.errors import StoreFullError, StoreTimeoutError, StoreUnreachableError
from lineage_graphql.errors import RefusedError, client_error
from lineage_graphql.http.problems import problem, refusal_response

__all__ = ["EXCEPTION_HANDLERS"]

_LOGGER = logging.getLogger(__name__)


async def _no_such_route(_: Request, error: HTTPException) -> JSONResponse:
    return problem(error.status_code, error.detail.lower(), headers=dict(error.headers or {}))


async def _refused(_: Request, error: RefusedError) -> JSONResponse:
    return refusal_response(error)


async def _unreachable(_: Request, error: StoreUnreachableError) -> JSONResponse:
    _LOGGER.warning("the store cannot be reached: %s", error)
    said = client_error(error)
    return problem(503, said.message if said else "", "try again later", headers={"Retry-After": "5"})


async def _late(_: Request, error: StoreTimeoutError) -> JSONResponse:
    _LOGGER.warning("the store did not answer in time: %s", error)
    hint = "send it again: ingestion is idempotent"
    return problem(503, "the store did not answer in time", hint, headers={"Retry-After": "5"})


async def _full(_: Request, error: StoreFullError) -> JSONResponse:
    _LOGGER.error("%s; %s", error, error.hint)
    return problem(507, "the store's disk is full", "free disk space and retry", headers={"Retry-After": "60"})


EXCEPTION_HANDLERS: dict[Any, Any] = {
    HTTPException: _no_such_route,
    RefusedError: _refused,
    StoreUnreachableError: _unreachable,
    StoreTimeoutError: _late,
    StoreFullError: _full,
}
