"""The live graph of a SQLite file as numbers, and the record of what each commit changes of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from lineage.store.graph.graph_changes import KEPT, MOST
from lineage.store.live_graph import EdgeRow, NodeRow, Version
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.statements import explore_statement, write_statement
from lineage.store.values import Direction

__all__ = ["SqliteLiveGraph", "record_change", "version_of"]


def version_of(connection: SqliteConnection) -> int:
    """Return the number of the last commit that changed what traversals follow; 0 if there is none."""
    return int(connection.value(explore_statement("last_change")))


def record_change(connection: SqliteConnection, keys: Collection[str]) -> None:
    """Record in a transaction the tables and columns that it changes, if any."""
    if not keys:
        return
    many = len(keys) > MOST
    text = None if many else json.dumps(sorted(keys), ensure_ascii=False)
    number = int(connection.value(write_statement("record_change"), (text,)))
    connection.execute(write_statement("forget_changes"), (number if many else number - KEPT,))


class SqliteLiveGraph:
    """The live graph within a read transaction."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection

    @property
    def version(self) -> Version:
        """Its version: the number of a commit."""
        return version_of(self._connection)

    def changed_since(self, version: Version) -> Collection[str] | None:
        """Return the keys of the tables and columns that may have changed since a version; None if not known."""
        last = version_of(self._connection)
        if not isinstance(version, int) or version > last:
            return None
        rows = self._connection.rows(explore_statement("changes_since"), {"number": version}, None)
        if len(rows) != last - version or any(text is None for (text,) in rows):
            return None
        return {key for (text,) in rows for key in json.loads(text)}

    def datasets(self) -> Iterable[tuple[int, str]]:
        """Yield the number and key of each dataset."""
        return self._connection.execute(explore_statement("all_datasets"))

    def columns(self) -> Iterable[tuple[int, int, str, bool, int]]:
        """Yield of each column its number, that of its dataset, its key, whether it is there, its parent's or -1."""
        return self._connection.execute(explore_statement("all_columns"))

    def edges(self) -> Iterable[tuple[int, int, int]]:
        """Yield of each live edge the numbers of its source and target, and its code."""
        return self._connection.execute(explore_statement("all_edges"))

    def nodes_of(self, keys: Collection[str]) -> list[NodeRow]:
        """Return those of these tables and columns that are in the graph."""
        rows = self._connection.execute(explore_statement("nodes_by_key"), {"keys": json.dumps(list(keys))})
        return [NodeRow(key, bool(there), parent) for key, there, parent in rows]

    def edges_of(self, keys: Collection[str], direction: Direction) -> list[EdgeRow]:
        """Return the live edges out of (downstream) or into (upstream) these tables and columns."""
        rows = self._connection.execute(explore_statement(f"edges_{direction}"), {"keys": json.dumps(list(keys))})
        return [EdgeRow(*row) for row in rows]
