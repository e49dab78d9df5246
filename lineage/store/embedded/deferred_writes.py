"""Deferred writes: the remaining changes of a batch whose new rows were copied in, as text.

ladybug logs statements, but not the rows of COPY: a commit first makes the log durable and then writes the copied rows
to the file. If the process is killed in between, it keeps one without the other. So a transaction either copies rows or
runs statements. One that copies also copies in, as rows, the changes that a second transaction has to make, at the
latest when the store is opened again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import date, datetime
from typing import Any

from lineage.store.cypher.schema import Changes, Node, Refresh, Relationship, SeenAgain
from lineage.store.errors import StoreSchemaError

__all__ = ["RENAMED", "deferred_label", "delete_deferred", "from_pieces", "read_deferred", "to_pieces"]

RENAMED = 19
"""Schema version that renamed the labels `Pending` and `Held`, and the property `held_at`."""

_NEW_LABELS = {"Held": "BufferedText"}
_NEW_PROPERTIES = {"held_at": "buffered_at"}

PIECE = 100_000
"""Maximum characters of a row's text. ladybug's limit is 262,144 bytes; a character has up to four (two escaped)."""


def deferred_label(schema_version: int) -> str:
    """Return the label of the nodes that hold deferred writes."""
    return "DeferredWrite" if schema_version >= RENAMED else "Pending"


def read_deferred(schema_version: int) -> str:
    """Return the statement that reads the pieces of deferred writes, in order."""
    return f"MATCH (p:{deferred_label(schema_version)}) RETURN p.text AS text ORDER BY p.number"


def delete_deferred(schema_version: int) -> str:
    """Return the statement that deletes deferred writes."""
    return f"MATCH (p:{deferred_label(schema_version)}) DELETE p"


def to_pieces(changes: Changes) -> list[str]:
    """Return the changes as text, in pieces that fit into a row; empty without changes."""
    if not any(getattr(changes, one.name) for one in fields(changes)):
        return []
    text = json.dumps(asdict(changes), default=_to_json)
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def from_pieces(pieces: Iterable[str], schema_version: int = RENAMED) -> Changes:
    """Return the changes that `to_pieces` wrote, with the labels and properties of the schema version.

    The pieces may be of an earlier version: the graph is migrated first, and deferred writes are written then.

    Raises:
        StoreSchemaError: they change a label that this program knows under its new name only.

    >>> changes = Changes(deleted_nodes=(Node("Table", "pg/t", {"last_seen": datetime(2026, 1, 2)}),))
    >>> from_pieces(to_pieces(changes)) == changes
    True
    """
    read = json.loads("".join(pieces), object_hook=_from_json)
    for kind in ("deleted_nodes", "created_nodes", "updated_nodes"):
        if schema_version < RENAMED and any(node["label"] in _NEW_LABELS for node in read[kind]):
            raise StoreSchemaError(
                f"a writer of schema version {schema_version} was stopped before it had written all changes",
                "open the store once with the version of lineage-graph that wrote it",
            )
        read[kind] = [_with_new_names(node) for node in read[kind]]
    return Changes(
        deleted_relationships=tuple(Relationship(**one) for one in read["deleted_relationships"]),
        deleted_nodes=tuple(Node(**one) for one in read["deleted_nodes"]),
        created_nodes=tuple(Node(**one) for one in read["created_nodes"]),
        updated_nodes=tuple(Node(**one) for one in read["updated_nodes"]),
        created_relationships=tuple(Relationship(**one) for one in read["created_relationships"]),
        updated_relationships=tuple(Relationship(**one) for one in read["updated_relationships"]),
        refreshed_units=tuple(Refresh(**one) for one in read["refreshed_units"]),
        seen_again=tuple(SeenAgain(**one) for one in read.get("seen_again", ())),
    )


def _with_new_names(node: dict[str, Any]) -> dict[str, Any]:
    if node["label"] not in _NEW_LABELS:
        return node
    return {
        **node,
        "label": _NEW_LABELS[node["label"]],
        "properties": {_NEW_PROPERTIES.get(name, name): value for name, value in node["properties"].items()},
        "changed": [_NEW_PROPERTIES.get(name, name) for name in node["changed"]],
    }


def _to_json(value: Any) -> dict[str, str]:
    kind = "time" if isinstance(value, datetime) else "day"
    return {kind: value.isoformat()}


def _from_json(value: dict[str, Any]) -> Any:
    match value:
        case {"time": text, **rest} if not rest:
            return datetime.fromisoformat(text)
        case {"day": text, **rest} if not rest:
            return date.fromisoformat(text)
    return value
