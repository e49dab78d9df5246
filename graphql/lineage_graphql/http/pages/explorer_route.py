"""`/`: the explorer, a page and its files, built from `graphql/explorer`, under a strict content security policy."""

from __future__ import annotations

import gzip
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from lineage_graphql.http.pages.page_policy import page_headers
from lineage_graphql.http.routes import TemplateRoute

__all__ = ["explorer_routes"]

_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


def explorer_routes(*, offers_editor: bool) -> list[BaseRoute]:
    """Return the routes. They require no role: the page holds no data, and asks for a token if one is needed.

    The page links to the query editor where `offers_editor` says that there is one.
    """
    index = _files()["index.html"]
    if offers_editor:
        index = index.replace(b"<html ", b"<html data-editor ", 1)

    async def page(_: Request) -> Response:
        """Return the page."""
        return HTMLResponse(index, headers=page_headers(scripts=True))

    async def file(request: Request) -> Response:
        """Return one file of the page, compressed for who accepts it: the script is three times as long without."""
        name: str = request.path_params["name"]
        content, kind = _files().get(name), _TYPES.get(name.rpartition(".")[2])
        if content is None or kind is None:
            return Response(status_code=404)
        headers = {**page_headers(), "Vary": "Accept-Encoding"}
        accepted = [one.strip() for one in request.headers.get("Accept-Encoding", "").split(",")]
        if "gzip" in accepted:
            content, headers = _compressed(name), {**headers, "Content-Encoding": "gzip"}
        return Response(content, media_type=kind, headers=headers)

    return [TemplateRoute("/", page), TemplateRoute("/explorer/{name}", file)]


@cache
def _files() -> dict[str, bytes]:
    folder = resources.files("lineage_graphql").joinpath("explorer")
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(_files()[name], mtime=0)
