"""`/api/v1/store`: remote access to an embedded store, which one process owns (`--store http://…`)."""

from __future__ import annotations

import asyncio
import logging

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from lineage.store.errors import StoreError, StoreUnreachableError
from lineage.store.remote.wire import PATH, ROUTES_VERSION, Effect, Method, methods
from lineage.store.time_limit import TimeLimit, time_limit
from lineage_graphql.access.authorize import require_any
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import RefusedError
from lineage_graphql.http.abandoned import unless_abandoned
from lineage_graphql.http.problems import problem, refusal_response
from lineage_graphql.http.request_bodies import read_body
from lineage_graphql.http.routes import DescribedRoute
from lineage_graphql.service_state import ServiceState

__all__ = ["store_routes"]

_READING_SECONDS = 300.0
"""Long enough for an ingest that reads all schemas of a warehouse."""
_UNAUTHENTICATED, _FORBIDDEN = "A token is required.", "The caller lacks a role."
_LOGGER = logging.getLogger(__name__)
_MAY: dict[Effect, frozenset[Role]] = {
    Effect.READS: frozenset({Role.READER}),
    Effect.INGESTS: frozenset({Role.INGESTER}),
    Effect.CHANGES: frozenset({Role.STEWARD}),
}


def store_routes(state: ServiceState) -> list[BaseRoute]:
    """Return the routes."""

    async def about(request: Request) -> JSONResponse:
        """Return the versions of the routes and of the graph."""
        try:
            require_any(await state.caller(request.headers.get("authorization")), _MAY[Effect.READS])
        except RefusedError as error:
            return refusal_response(error)
        return JSONResponse({"routes": ROUTES_VERSION, "schema_version": state.store.schema_version})

    async def call(request: Request) -> Response:
        """Call a method of the store with a JSON object of arguments."""
        method: str = request.path_params["method"]
        store_method = methods().get(method)
        try:
            allowed = _MAY[store_method.effect] if store_method else _MAY[Effect.READS]
            require_any(await state.caller(request.headers.get("authorization")), allowed)
        except RefusedError as error:
            return refusal_response(error)
        if store_method is None:
            return problem(404, "there is no such method")
        if state.settings.read_only and store_method.effect is not Effect.READS:
            return problem(403, "this service is read-only", "it was started with --read-only")
        try:
            body = await read_body(request, state.settings.limits)
            async with state.admission.admitted():
                answer = await _answer(state, store_method, body, request)
            state.readiness.note_answer()
        except ValidationError as error:
            first = error.errors()[0]
            return problem(400, f"{'.'.join(map(str, first['loc'])) or 'arguments'}: {first['msg']}")
        except RefusedError as error:
            return refusal_response(error)
        except StoreUnreachableError:
            raise
        except StoreError as error:
            _LOGGER.warning("%s: %s", method, error)
            return JSONResponse({"error": str(error), "hint": error.hint, "type": type(error).__name__}, 409)
        return Response(answer, media_type="application/json")

    return [
        DescribedRoute(PATH, about, tag="store", responses={401: _UNAUTHENTICATED, 403: _FORBIDDEN}),
        DescribedRoute(
            f"{PATH}/{{method}}",
            call,
            tag="store",
            method="POST",
            responses={
                400: "The arguments are invalid.",
                401: _UNAUTHENTICATED,
                403: _FORBIDDEN,
                404: "There is no such method.",
                409: "The store refused the call.",
                413: "The body is too large.",
                415: "The body is not JSON.",
                503: "The store cannot be reached.",
            },
        ),
    ]


async def _answer(state: ServiceState, method: Method, body: bytes | bytearray, request: Request) -> bytes:
    """Return what the method returns. Reads are ended when the client is gone, writes are not."""
    run = asyncio.get_running_loop().run_in_executor
    if method.effect is not Effect.READS:
        return await run(state.threads, method.call, state.store, body)
    limit = TimeLimit(_READING_SECONDS)

    def read() -> bytes:
        with time_limit(limit):
            return method.call(state.store, body)

    async def reading() -> bytes:
        return await run(state.threads, read)

    try:
        return await unless_abandoned(request, reading())
    finally:
        limit.end()
