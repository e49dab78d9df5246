"""Refusal of what web pages of other sites make a browser send, by the headers that browsers add and pages cannot set.

A browser on this machine reaches a service on loopback, and a page needs no permission for a request that it cannot
read the answer of. Programs send none of these headers.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response
from strawberry.http.websocket_origin import is_same_origin

from lineage_graphql.http.problems import problem

__all__ = ["is_foreign", "refusal_of_foreign"]

_PAGES = frozenset({"/", "/docs", "/graphql"})
_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})


def refusal_of_foreign(method: str, path: str, headers: Mapping[str, str]) -> Response | None:
    """Return the refusal of a request that a page of another site may have caused; None for any other request."""
    if is_foreign(headers) and not _follows_link(method, path, headers):
        return problem(403, "requests of pages of other sites are refused", "send it from a program, or from this site")
    # Browsers send other content types cross-site without a preflight request.
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method not in _WITHOUT_BODY and kind != "application/json":
        return problem(415, "the body is not JSON", "send Content-Type: application/json")
    return None


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Return whether a page of another origin caused a request: another site, port, or an opaque origin (`null`)."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and not is_same_origin(origin, headers.get("host"))


def _follows_link(method: str, path: str, headers: Mapping[str, str]) -> bool:
    """Return whether a person followed a link to one of the service's pages, which changes nothing."""
    wanted = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
    return method == "GET" and path in _PAGES and wanted == ("navigate", "document")
