"""The OpenAPI description of the REST routes, with the schemas of OpenLineage events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from starlette.routing import BaseRoute

from lineage import __version__
from lineage_graphql.http.routes import DescribedRoute

__all__ = ["BATCH_ANSWER", "BATCH_BODY", "EVENT_ANSWER", "EVENT_BODY", "openapi_of"]

_DEFINITIONS, _COMPONENTS = "#/$defs/", "#/components/schemas/"
_EVENT = {"oneOf": [{"$ref": f"{_COMPONENTS}{name}"} for name in ("RunEvent", "DatasetEvent", "JobEvent")]}

EVENT_BODY: dict[str, Any] = _EVENT
BATCH_BODY: dict[str, Any] = {"type": "array", "items": _EVENT}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _answer(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_NUMBER = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}
_NUMBERS = ("received", "successful", "failed", "retriable", "non_retriable")
_FAILED = {"index": _NUMBER, "reason": _TEXT, "hint": {"type": ["string", "null"]}, "retriable": {"type": "boolean"}}

EVENT_ANSWER = _answer(
    "The event is stored. `warnings` list ignored parts.",
    _object({"status": {"const": "success"}, "warnings": {"type": "array", "items": _TEXT}}, "status", "warnings"),
)
BATCH_ANSWER = _answer(
    "The batch was received. `partial_success` means that events failed; `summary` has the counts.",
    _object(
        {
            "status": {"enum": ["success", "partial_success"]},
            "summary": _object(dict.fromkeys(_NUMBERS, _NUMBER), *_NUMBERS),
            "failed_events": {"type": "array", "items": _object(_FAILED, "index", "reason", "retriable")},
            "warnings": {"type": "array", "items": _object({"index": _NUMBER, "problem": _TEXT}, "index", "problem")},
        },
        "status",
        "summary",
        "failed_events",
        "warnings",
    ),
)


def openapi_of(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of those routes that have one, with the schemas of OpenLineage events."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, DescribedRoute):
            paths.setdefault(route.path, {})[route.method] = route.operation
    text = resources.files("lineage_ingest.openlineage").joinpath("schemas", "OpenLineage.json").read_text("utf-8")
    events = json.loads(text.replace(_DEFINITIONS, _COMPONENTS))["$defs"]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lineage",
            "version": __version__,
            "description": "Column-level data lineage: GraphQL API and OpenLineage ingestion.",
        },
        "paths": paths,
        "components": {"schemas": events},
    }
