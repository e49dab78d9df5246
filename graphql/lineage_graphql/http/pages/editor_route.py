"""The GraphQL editor: a page and its files, served from this package under a strict content security policy."""

from __future__ import annotations

import secrets
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute

from lineage_graphql.http.pages.page_policy import page_headers
from lineage_graphql.http.routes import TemplateRoute

__all__ = ["editor_page", "editor_routes", "example_queries"]

_TYPES = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


def editor_page() -> HTMLResponse:
    """Return the editor page."""
    nonce = secrets.token_urlsafe(16)
    text = resources.files("lineage_graphql").joinpath("editor", "index.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace("NONCE", nonce), headers=page_headers(nonce, scripts=True))


def editor_routes() -> list[BaseRoute]:
    """Return the routes of the editor's files."""

    async def examples(_: Request) -> Response:
        """Return the example queries as tabs of the editor."""
        return JSONResponse([{"query": text} for text in example_queries().values()], headers=page_headers())

    async def file(request: Request) -> Response:
        """Return one file."""
        name: str = request.path_params["name"]
        content = _files().get(name)
        if content is None:
            return Response(status_code=404)
        return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=page_headers())

    return [
        TemplateRoute("/graphql/editor/examples.json", examples),
        TemplateRoute("/graphql/editor/{name}", file),
    ]


@cache
def example_queries() -> dict[str, str]:
    """Return the example queries, by name, in order."""
    folder = resources.files("lineage_graphql").joinpath("editor", "examples")
    files = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".graphql")}
    return {name: files[name].read_text(encoding="utf-8") for name in sorted(files)}


@cache
def _files() -> dict[str, bytes]:
    folder = resources.files("lineage_graphql").joinpath("editor")
    entries = [*folder.iterdir(), *folder.joinpath("vendor").iterdir()]
    return {entry.name: entry.read_bytes() for entry in entries if entry.name.rpartition(".")[2] in _TYPES}
