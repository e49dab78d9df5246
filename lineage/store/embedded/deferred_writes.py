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

from lineage.store.cypher.schema import Changes, Node, Refresh, Relationship

__all__ = ["DELETE_DEFERRED", "DEFERRED", "from_pieces", "to_pieces"]

DEFERRED = "MATCH (p:Pending) RETURN p.text AS text ORDER BY p.number"
DELETE_DEFERRED = "MATCH (p:Pending) DELETE p"

PIECE = 100_000
"""Maximum characters of a row's text. ladybug's limit is 262,144 bytes; a character has up to four (two escaped)."""


def to_pieces(changes: Changes) -> list[str]:
    """Return the changes as text, in pieces that fit into a row; empty without changes."""
    if not any(getattr(changes, one.name) for one in fields(changes)):
        return []
    text = json.dumps(asdict(changes), default=_to_json)
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def from_pieces(pieces: Iterable[str]) -> Changes:
    """Return the changes that `to_pieces` wrote.

    >>> changes = Changes(deleted_nodes=(Node("Table", "pg/t", {"last_seen": datetime(2026, 1, 2)}),))
    >>> from_pieces(to_pieces(changes)) == changes
    True
    """
    read = json.loads("".join(pieces), object_hook=_from_json)
    return Changes(
        deleted_relationships=tuple(Relationship(**one) for one in read["deleted_relationships"]),
        deleted_nodes=tuple(Node(**one) for one in read["deleted_nodes"]),
        created_nodes=tuple(Node(**one) for one in read["created_nodes"]),
        updated_nodes=tuple(Node(**one) for one in read["updated_nodes"]),
        created_relationships=tuple(Relationship(**one) for one in read["created_relationships"]),
        updated_relationships=tuple(Relationship(**one) for one in read["updated_relationships"]),
        refreshed_units=tuple(Refresh(**one) for one in read["refreshed_units"]),
    )


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
