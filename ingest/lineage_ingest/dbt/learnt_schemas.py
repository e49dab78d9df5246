"""Schemas of tables that the artifacts do not describe: what earlier ingests of logs, events and SQL stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from lineage.catalog import Catalog
from lineage.store.protocol import GraphStore

__all__ = ["LearntSchemas"]


class LearntSchemas:
    """The complete schemas in a store, by a table's full name; those of a given catalog come first.

    Columns that were only inferred from use do not count. The given tables are read at once, any other one when it is
    asked for. `created` are the columns of tables that the project's hooks create: what is stored is of earlier ones.
    """

    def __init__(
        self,
        store: GraphStore,
        key_of: Callable[[str], str],
        tables: Iterable[str],
        given: Catalog,
        created: Mapping[str, tuple[str, ...] | None] = MappingProxyType({}),
    ) -> None:
        self._store = store
        self._key_of = key_of
        self._known = {**created, **{table.name: tuple(table.names) for table in given}}
        self._read([table for table in dict.fromkeys(tables) if table not in self._known])

    def __call__(self, table: str) -> tuple[str, ...] | None:
        """Return the columns of a table in order; None if no complete schema is known."""
        if table not in self._known:
            self._read([table])
        return self._known[table]

    def _read(self, tables: list[str]) -> None:
        keys = {self._key_of(table): table for table in tables}
        known = [one.key for one in self._store.datasets(sorted(keys)) if one.schema_known and one.dropped_at is None]
        columns: dict[str, list[str]] = {key: [] for key in known}
        for column in self._store.columns(known) if known else ():
            if column.parent is None and not column.inferred:
                columns[column.dataset].append(column.spelled_name)
        for key, table in keys.items():
            self._known[table] = tuple(columns.get(key, ())) or None
