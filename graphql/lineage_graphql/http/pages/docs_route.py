"""`/openapi.json` and, on loopback, `/docs`."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from lineage_graphql.access.authorize import require_any
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import RefusedError
from lineage_graphql.http.openapi import openapi_of
from lineage_graphql.http.pages.docs_page import DOCS_STYLE, docs_page
from lineage_graphql.http.pages.page_policy import page_headers
from lineage_graphql.http.problems import refusal_response
from lineage_graphql.service_state import ServiceState

__all__ = ["docs_router"]


def docs_router(state: ServiceState, app: FastAPI) -> APIRouter:
    """Return the routes. They require any one role."""
    router = APIRouter(include_in_schema=False)

    async def refusal(request: Request) -> Response | None:
        caller = await state.caller(request.headers.get("authorization"))
        try:
            require_any(caller, list(Role))
        except RefusedError as error:
            return refusal_response(error)
        return None

    @router.get("/openapi.json")
    async def openapi(request: Request) -> Response:
        """Return the OpenAPI description of the REST routes."""
        return await refusal(request) or JSONResponse(openapi_of(app))

    if state.settings.on_loopback:

        @router.get("/docs")
        async def docs(request: Request) -> Response:
            """Return a page about the REST routes."""
            return await refusal(request) or HTMLResponse(
                docs_page(openapi_of(app)), headers=page_headers(style=DOCS_STYLE)
            )

    return router
