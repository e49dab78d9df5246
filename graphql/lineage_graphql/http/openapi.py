"""The OpenAPI description: FastAPI's, with the schemas of OpenLineage events."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

__all__ = ["BATCH_ANSWER", "BATCH_BODY", "EVENT_ANSWER", "EVENT_BODY", "openapi_of"]

_DEFINITIONS, _COMPONENTS = "#/$defs/", "#/components/schemas/"
_EVENT = {"oneOf": [{"$ref": f"{_COMPONENTS}{name}"} for name in ("RunEvent", "DatasetEvent", "JobEvent")]}

EVENT_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _EVENT}}},
}
BATCH_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "array", "items": _EVENT}}}},
}


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


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of an application, with the schemas of OpenLineage events."""
    described = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    text = resources.files("lineage_ingest.openlineage").joinpath("schemas", "OpenLineage.json").read_text("utf-8")
    events = json.loads(text.replace(_DEFINITIONS, _COMPONENTS))["$defs"]
    described.setdefault("components", {}).setdefault("schemas", {}).update(events)
    return described
