"""The live graph of a Neo4j database as numbers, and the record of what each commit changes of it.

A commit's changes are recorded in its transaction, under the lock stripe that it holds, so that commits of different
stripes do not wait for each other: a version has the number of the last one of each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, LiteralString, Protocol

from neo4j import ManagedTransaction, Record, Result, Session

from lineage.model.names import is_column_key
from lineage.store.graph.graph_changes import KEPT, MOST, deleted_graph_nodes, touched
from lineage.store.graph.schema import Changes
from lineage.store.graph.statements import own_query
from lineage.store.live_graph import EdgeRow, NodeRow, Version
from lineage.store.neo4j.commit_counters import ABANDONED_SECONDS
from lineage.store.planning.chunking.chunks import LOCK_STRIPES
from lineage.store.values import Direction

__all__ = ["Neo4jLiveGraph", "Statements", "record_change", "settled_version", "touched_by"]

_SPAN = 10**12
"""More commits than a stripe will have."""
_PLACES = {"stripes": str(LOCK_STRIPES), "abandoned": str(ABANDONED_SECONDS * 1000)}


class Statements(Protocol):
    """What runs statements: a transaction, or each in one of its own."""

    def run(self, query: LiteralString, parameters: dict[str, Any] | None = None, **named: Any) -> Result:
        """Run a statement."""


def touched_by(managed: Statements, changes: Changes) -> set[str]:
    """Return the keys of what traversals follow and these changes will change; call it before they are written."""
    keys = touched(changes)
    deleted = deleted_graph_nodes(changes)
    for label, of in _by_label(deleted):
        keys.update(record["key"] for record in _run(managed, "neighbours", {"label": label}, keys=of))
    return keys


def record_change(managed: ManagedTransaction, stripe: int, keys: Collection[str]) -> None:
    """Record in a transaction the tables and columns that it changes, if any."""
    if keys:
        kept = sorted(keys) if len(keys) <= MOST else None
        _run(managed, "record_change", {}, stripe=stripe, span=_SPAN, keys=kept, kept=KEPT)


def settled_version(session: Session) -> tuple[int, ...] | None:
    """Return the version of the live graph, in one round trip; None while a commit is applied."""
    record = session.run(own_query("neo4j", "last_changes", **_PLACES)).single(strict=True)
    return None if record["committing"] else tuple(record["numbers"])


class Neo4jLiveGraph:
    """The live graph within a transaction, which `commit_counters` show to be of one state."""

    def __init__(self, managed: ManagedTransaction) -> None:
        self._managed = managed
        [record] = _run(managed, "last_changes", _PLACES)
        self._version = tuple(record["numbers"])

    @property
    def version(self) -> Version:
        """Its version."""
        return self._version

    def changed_since(self, version: Version) -> Collection[str] | None:
        """Return the keys of the tables and columns that may have changed since a version; None if not known."""
        last = self._version
        if not isinstance(version, tuple) or any(a > b for a, b in zip(version, last, strict=True)):
            return None
        since = [
            [stripe * _SPAN + before, stripe * _SPAN + number]
            for stripe, (before, number) in enumerate(zip(version, last, strict=True))
            if before < number
        ]
        rows = [record["keys"] for record in _run(self._managed, "changes_since", {}, since=since)]
        if len(rows) != sum(last) - sum(version) or any(keys is None for keys in rows):
            return None
        return {key for keys in rows for key in keys}

    def datasets(self) -> Iterable[tuple[int, str]]:
        """Yield the number and key of each dataset."""
        return ((one["node"], one["key"]) for one in _run(self._managed, "all_datasets", {}))

    def columns(self) -> Iterator[tuple[int, int, str, bool, int]]:
        """Yield of each column its number, that of its dataset, its key, whether it is there, its parent's or -1."""
        for record in _run(self._managed, "all_columns", {}):
            for node, key, there, parent in record["columns"]:
                yield node, record["dataset"], key, there, -1 if parent is None else parent

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Yield of each live edge the numbers of its source and target, and its code."""
        for record in _run(self._managed, "all_edges", {"code": own_query("neo4j", "code")}):
            source = record["node"]
            for end in record["ends"]:
                yield source, end >> 2, end & 3

    def nodes_of(self, keys: Collection[str]) -> list[NodeRow]:
        """Return those of these tables and columns that are in the graph."""
        rows = _run(self._managed, "nodes_by_key", {}, keys=list(keys))
        return [NodeRow(one["key"], one["there"], one["parent"]) for one in rows]

    def edges_of(self, keys: Collection[str], direction: Direction) -> list[EdgeRow]:
        """Return the live edges out of (downstream) or into (upstream) these tables and columns."""
        code = own_query("neo4j", "code")
        return [
            EdgeRow(one["source"], one["target"], one["code"])
            for label, of in _by_label(keys)
            for one in _run(self._managed, f"edges_{direction}", {"label": label, "code": code}, keys=of)
        ]


def _by_label(keys: Iterable[str]) -> list[tuple[str, list[str]]]:
    columns: list[str] = []
    tables: list[str] = []
    for key in keys:
        (columns if is_column_key(key) else tables).append(key)
    return [(label, of) for label, of in (("`Column`", columns), ("`Table`", tables)) if of]


def _run(managed: Statements, name: str, names: dict[str, str], **parameters: Any) -> list[Record]:
    return list(managed.run(own_query("neo4j", name, **names), parameters))
