"""Routes that know their path template, and what the OpenAPI description says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.routing import Match, Route
from starlette.types import Scope

__all__ = ["DescribedRoute", "TemplateRoute"]

_JSON: dict[str, Any] = {"content": {"application/json": {"schema": {}}}}


class TemplateRoute(Route):
    """A route that a request's scope names as `route`, so that metrics and logs have its template."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the route matches a request, and what is added to the request's scope."""
        match, added = super().matches(scope)
        return match, {**added, "route": self}


class DescribedRoute(TemplateRoute):
    """A route of the OpenAPI description, which has the endpoint's docstring.

    `responses` are descriptions by status; an answer with status 200 is any JSON unless they have it.
    """

    def __init__(
        self,
        path: str,
        endpoint: Any,
        *,
        tag: str,
        method: str = "GET",
        responses: Mapping[int, str | dict[str, Any]] | None = None,
        body: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(path, endpoint, methods=[method])
        self.method = method.lower()
        self._tag, self._body = tag, body
        self._responses = {200: {"description": "The request succeeded.", **_JSON}, **(responses or {})}

    @property
    def operation(self) -> dict[str, Any]:
        """The route's OpenAPI operation (OpenAPI 3.1, section 4.8.10)."""
        described: dict[str, Any] = {
            "tags": [self._tag],
            "operationId": self.name,
            "description": self.endpoint.__doc__,
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in self.param_convertors
            ],
            "responses": {
                str(status): {"description": answer} if isinstance(answer, str) else answer
                for status, answer in self._responses.items()
            },
        }
        if self._body is not None:
            described["requestBody"] = {"required": True, "content": {"application/json": {"schema": self._body}}}
        return described
