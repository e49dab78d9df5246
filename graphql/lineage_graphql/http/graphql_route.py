"""`/graphql`: queries and mutations by POST, subscriptions by WebSocket, the editor on loopback."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import msgspec
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.http import GraphQLRequestData, process_result
from strawberry.types import ExecutionResult
from strawberry.types.unset import UNSET

from lineage_graphql.access.authorize import unauthenticated
from lineage_graphql.access.roles import TokenProblem
from lineage_graphql.admission import RETRY_AFTER
from lineage_graphql.context import Ask, Context
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.http.abandoned import unless_abandoned
from lineage_graphql.http.pages.editor_route import editor_page
from lineage_graphql.http.problems import STATUS
from lineage_graphql.http.routes import TemplateRoute
from lineage_graphql.monitoring.metrics import REFUSALS
from lineage_graphql.schema.root import schema
from lineage_graphql.service_state import ServiceState

__all__ = ["graphql_routes"]


class _GraphQL(GraphQL[Context, None]):
    def __init__(self, state: ServiceState) -> None:
        super().__init__(
            schema,
            graphql_ide="graphiql" if state.offers_editor else None,
            allow_queries_via_get=False,
            connection_init_wait_timeout=timedelta(seconds=10),
            max_subscriptions_per_connection=20,
        )
        self._state = state

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:  # noqa: ARG002
        """Return the context of a request or a WebSocket."""
        state, settings = self._state, self._state.settings
        return Context(
            ask=Ask(state.store, state.threads, settings.limits.seconds, state.readiness.note_answer),
            caller=await state.caller(request.headers.get("authorization")),
            limits=settings.limits,
            request_id=request.scope["state"]["request_id"],
            read_only=settings.read_only,
            documents=state.documents,
            policy=settings.pii_policy,
        )

    def decode_json(self, data: str | bytes) -> object:
        """Return the JSON of a body or a message.

        Raises:
            JSONDecodeError: it is not JSON: invalid UTF-8, a syntax error, or nested too deeply.
        """
        try:
            return super().decode_json(data)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise json.JSONDecodeError(str(error), "", 0) from error

    def encode_json(self, data: object) -> str | bytes:
        """Return the JSON of an answer."""
        return msgspec.json.encode(data)

    async def run(self, request: Request | WebSocket, context: Any = UNSET, root_value: Any = UNSET) -> Any:
        """Answer a request; the body of an unknown caller is not even read."""
        if isinstance(request, Request) and request.method == "POST":
            context = await self.get_context(request, await self.get_sub_response(request))
            if isinstance(context.caller, TokenProblem):
                refused = unauthenticated(context.caller)
                REFUSALS.labels(str(refused.code)).inc()
                return self.create_response(process_result(_refusal(refused)), await self.get_sub_response(request))
        return await super().run(request, context, root_value)

    async def execute_single(
        self,
        request: Request,
        request_adapter: Any,
        sub_response: Response,
        context: Context,
        root_value: None,
        request_data: GraphQLRequestData,
    ) -> ExecutionResult:
        """Return the result, or a TIMEOUT error."""
        # strawberry echoes an unknown operation name in a plain-text response, which lone surrogates would break.
        unsendable = RefusedError.of_unstorable("operationName", request_data.operation_name or "")
        if unsendable is not None:
            return _refusal(unsendable)
        seconds = self._state.settings.limits.seconds
        try:
            async with asyncio.timeout(seconds), self._state.admission.admitted():
                running = super().execute_single(
                    request, request_adapter, sub_response, context, root_value, request_data
                )
                return await unless_abandoned(request, running)
        except RefusedError as refused:
            sub_response.status_code = STATUS[refused.code]
            sub_response.headers.update(RETRY_AFTER)
            REFUSALS.labels(str(refused.code)).inc()
            return _refusal(refused)
        except TimeoutError:
            late = RefusedError(
                ErrorCode.TIMEOUT,
                f"the time limit of {seconds:g} s was exceeded",
                "request less, or try again when the service is less busy",
                limit="seconds",
                allowed=seconds,
            )
            return _refusal(late)
        finally:
            context.ask.end()

    async def render_graphql_ide(self, request: Request) -> HTMLResponse:  # noqa: ARG002
        """Return the editor page."""
        return editor_page()

    async def on_ws_connect(self, context: Context) -> Any:
        """Authenticate by the first message: browsers cannot send headers with a WebSocket."""
        given = (context.connection_params or {}).get("Authorization")
        if isinstance(context.caller, TokenProblem) and isinstance(given, str):
            context.caller = await self._state.caller(given)
        if isinstance(context.caller, TokenProblem):
            raise ConnectionRejectionError({"message": context.caller.value})
        return await super().on_ws_connect(context)


def _refusal(error: RefusedError) -> ExecutionResult:
    return ExecutionResult(data=None, errors=[GraphQLError(error.message, extensions=error.extensions)])


def graphql_routes(state: ServiceState) -> list[BaseRoute]:
    """Return the routes of `/graphql`."""
    answering = _GraphQL(state)
    return [TemplateRoute("/graphql", answering, methods=["GET", "POST"]), WebSocketRoute("/graphql", answering)]
