"""What an object of a Metabase export is: its model in a serialization export, or else the parts that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lineage_ingest.bi.json_objects import objects_in

__all__ = ["field_path", "kind_of", "path_of"]

_Object = Mapping[str, Any]

_PARTS: dict[str, Callable[[_Object], bool]] = {
    "Card": lambda one: isinstance(one.get("dataset_query"), Mapping),
    "Dashboard": lambda one: isinstance(one.get("dashcards", one.get("ordered_cards")), list),
    "Database": lambda one: "engine" in one and not one.keys().isdisjoint(("details", "tables", "name")),
    "Table": lambda one: isinstance(one.get("fields"), list) and "name" in one,
    "Field": lambda _: False,
    "metric": lambda one: not _model_of(one) and "table_id" in one and _has_aggregation(one.get("definition")),
    "Segment": lambda one: "definition" in one and "table_id" in one,
    "NativeQuerySnippet": lambda one: "content" in one and "name" in one,
    "Transform": lambda one: isinstance(one.get("source"), Mapping) and isinstance(one.get("target"), Mapping),
    "settings": lambda one: "site-url" in one or "site_url" in one,
    "User": lambda one: not _model_of(one) and not one.keys().isdisjoint(("email", "common_name")),
}
"""By which parts the API's answers are recognized, in order: a card, too, has a name and a table."""


def kind_of(one: _Object) -> str:
    """Return the kind of an object, the name of its model where it has one; an empty text if it is not recognized.

    `metric` is one of Metabase 0.49 and before, which is no card; `settings` are those of the server.

    >>> kind_of({"definition": {"aggregation": ["count"]}, "table_id": 1}), kind_of({"definition": {}, "table_id": 1})
    ('metric', 'Segment')
    >>> kind_of({"serdes/meta": [{"model": "Collection"}]}), kind_of({"error": "no"})
    ('Collection', '')
    """
    model = _model_of(one)
    return next((kind for kind, has_its_parts in _PARTS.items() if model == kind or has_its_parts(one)), model)


def path_of(one: _Object) -> dict[str, str]:
    """Return the names of the objects in which one of a serialization export is, and its own, by model."""
    return {str(part.get("model")): str(part.get("id")) for part in _meta(one)}


def field_path(one: _Object) -> list[str]:
    """Return the names of a field of a serialization export, its parents first."""
    return [str(part.get("id")) for part in _meta(one) if part.get("model") == "Field"]


def _meta(one: _Object) -> list[_Object]:
    return objects_in(one.get("serdes/meta"))


def _model_of(one: _Object) -> str:
    meta = _meta(one)
    return str(meta[-1].get("model") or "") if meta else ""


def _has_aggregation(definition: Any) -> bool:
    query = definition.get("query", definition) if isinstance(definition, Mapping) else None
    return isinstance(query, Mapping) and bool(query.get("aggregation"))
