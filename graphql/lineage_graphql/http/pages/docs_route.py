"""`/openapi.json` and, on loopback, `/docs`."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute

from lineage_graphql.access.authorize import require_any
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import RefusedError
from lineage_graphql.http.openapi import openapi_of
from lineage_graphql.http.pages.docs_page import DOCS_STYLE, docs_page
from lineage_graphql.http.pages.page_policy import page_headers
from lineage_graphql.http.problems import refusal_response
from lineage_graphql.http.routes import TemplateRoute
from lineage_graphql.service_state import ServiceState

__all__ = ["docs_routes"]


def docs_routes(state: ServiceState, described: Sequence[BaseRoute]) -> list[BaseRoute]:
    """Return the routes, which describe others. They require any one role."""

    async def refusal(request: Request) -> Response | None:
        caller = await state.caller(request.headers.get("authorization"))
        try:
            require_any(caller, list(Role))
        except RefusedError as error:
            return refusal_response(error)
        return None

    async def openapi(request: Request) -> Response:
        """Return the OpenAPI description of the REST routes."""
        return await refusal(request) or JSONResponse(openapi_of(described))

    async def docs(request: Request) -> Response:
        """Return a page about the REST routes."""
        return await refusal(request) or HTMLResponse(
            docs_page(openapi_of(described)), headers=page_headers(style=DOCS_STYLE)
        )

    routes: list[BaseRoute] = [TemplateRoute("/openapi.json", openapi)]
    if state.settings.on_loopback:
        routes.append(TemplateRoute("/docs", docs))
    return routes
