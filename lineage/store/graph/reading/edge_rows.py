"""Statements about edges: their types and validity, now or as of a time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from lineage.store.graph.backend import Row, Transaction
from lineage.store.graph.records import period_from
from lineage.store.graph.statements import NamedStatement, query
from lineage.store.planning.graph_state import EdgeType
from lineage.store.planning.validity import holds_at

__all__ = ["at_time", "edge_rows", "edge_types", "is_valid", "when_valid"]


def edge_rows(
    transaction: Transaction,
    name: str,
    keys: Collection[str],
    relations: Collection[EdgeType],
    as_of: datetime | None,
) -> list[dict[str, Any]]:
    """Return the rows of a statement about edges of these types, asked for each key; those valid at a time, if any."""
    statement = query(name, types=edge_types(relations, as_of))
    rows = transaction.read(statement, [{"key": key} for key in sorted(keys)])
    return [row for row in rows if as_of is None or is_valid(row["e"], as_of)]


def edge_types(relations: Collection[EdgeType], as_of: datetime | None) -> tuple[str, ...]:
    """Return the types of relationships: those of edges that are live and, for a time, of those that are no more."""
    live = tuple(str(relation) for relation in relations)
    return live if as_of is None else (*live, *(relation.retired for relation in relations))


def when_valid(as_of: datetime | None) -> str | NamedStatement:
    """Return the condition on an edge `e` for a query as of the time `$at`."""
    return "" if as_of is None else query("then")


def at_time(as_of: datetime | None) -> Row:
    """Return the parameter of `when_valid`."""
    return {} if as_of is None else {"at": as_of}


def is_valid(relationship: Row, at: datetime) -> bool:
    """Return whether an edge was valid at a time."""
    period = period_from(relationship)
    return holds_at(period.start, period.end, at)
