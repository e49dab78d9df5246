"""Read the graph around columns from SQLite: a frontier of nodes at a time, by number."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from lineage.store.exploring import Explorer, View
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.statements import KINDS, explore_statement
from lineage.store.sqlite.stored_values import to_microseconds

__all__ = ["SqliteExplorer"]


class SqliteExplorer(Explorer):
    """An explorer within a read transaction."""

    def __init__(self, connection: SqliteConnection, view: View) -> None:
        super().__init__(view)
        self._connection = connection
        self._at = None if view.as_of is None else to_microseconds(view.as_of)
        when = "now" if view.as_of is None else "then"
        self._present = explore_statement("columns", present=explore_statement(f"present_{when}"))
        self._around = explore_statement(
            str(view.direction),
            kinds=", ".join(str(KINDS[name]) for name in view.types),
            held=explore_statement(f"held_{when}"),
        )
        self._has_fields: bool | None = None
        self._families_read: set[int] = set()

    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        return self.numbers(columns, datasets)

    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        found: dict[str, int] = {}
        for sign, keys in (("", columns), ("=", datasets)):
            if keys:
                statement = explore_statement("numbers", **{"is": sign or "<>"})
                found |= dict(self._ask(statement, keys=json.dumps(list(keys))))
        return found

    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first `count` of these columns, ordered by key."""
        found = self._ask(explore_statement("first"), nodes=_listed(nodes), count=count)
        self.keys.update(found)
        return [node for node, _ in found]

    def load_keys(self, nodes: Iterable[int]) -> None:
        """Read the keys of these columns."""
        missing = [node for node in nodes if node not in self.keys]
        if missing:
            self.keys.update(self._ask(explore_statement("keys"), nodes=_listed(missing)))

    def _read_around(self, nodes: list[int]) -> None:
        self.load_keys(nodes)
        ends = self.ends
        for source, end, way in self._ask(self._around, nodes=_listed(nodes)):
            ends[way].setdefault(source, []).append(end)

    def _read_columns(self, datasets: list[int]) -> None:
        found: dict[int, list[int]] = {dataset: [] for dataset in datasets}
        for dataset, column in self._ask(self._present, nodes=_listed(datasets)):
            found[dataset].append(column)
        self._columns |= found

    def _read_family(self, nodes: list[int]) -> None:
        if self._has_fields is None:
            self._has_fields = bool(self._ask(explore_statement("any_field")))
        missing = [node for node in nodes if node not in self._families_read] if self._has_fields else []
        if not missing:
            return
        self._families_read.update(missing)
        for name in ("fields", "holders"):
            for holder, field in self._ask(explore_statement(name), nodes=_listed(missing)):
                self._nested[holder].add(field)
                self._holders[field].add(holder)

    def _ask(self, statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return self._connection.rows(statement, {**parameters, "at": self._at}, self.view.seconds_left)


def _listed(nodes: Iterable[int]) -> str:
    return json.dumps(list(nodes))
