"""Schemas of tables that the artifacts do not describe: what earlier ingests of logs, events and SQL stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from types import MappingProxyType

from lineage.catalog import Catalog
from lineage.model.batch import JobKind
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredDataset

__all__ = ["LearntSchemas"]

_DEFINING = tuple(kind for kind in JobKind if kind.defines_output)


class LearntSchemas:
    """The complete schemas in a store, by a table's full name; those of a given catalog come first.

    Columns that were only inferred from use do not count, nor does what models and files defined that do so no more:
    a new store does not know it. `is_retired` tells whether the ingest retires what a job (by key) says of a dataset.
    The given tables are read at once, any other one when it is asked for. `created` are the columns of tables that the
    project's hooks create: what is stored is of earlier ones.
    """

    def __init__(
        self,
        store: GraphStore,
        key_of: Callable[[str], str],
        tables: Iterable[str],
        given: Catalog,
        is_retired: Callable[[str, str], bool] = lambda _job, _dataset: False,
        created: Mapping[str, tuple[str, ...] | None] = MappingProxyType({}),
    ) -> None:
        self._store = store
        self._key_of = key_of
        self._is_retired = is_retired
        self._known = {**created, **{table.name: tuple(table.names) for table in given}}
        self._read([table for table in dict.fromkeys(tables) if table not in self._known])

    def __call__(self, table: str) -> tuple[str, ...] | None:
        """Return the columns of a table in order; None if no complete schema is known."""
        if table not in self._known:
            self._read([table])
        return self._known[table]

    def _read(self, tables: list[str]) -> None:
        keys = {self._key_of(table): table for table in tables}
        there = [one for one in self._store.datasets(sorted(keys)) if one.schema_known and one.dropped_at is None]
        over = self._over(there)
        known = [one.key for one in there if one.key not in over]
        columns: dict[str, list[str]] = {key: [] for key in known}
        for column in self._store.columns(known) if known else ():
            if column.parent is None and not column.inferred:
                columns[column.dataset].append(column.spelled_name)
        for key, table in keys.items():
            self._known[table] = tuple(columns.get(key, ())) or None

    def _over(self, tables: Iterable[StoredDataset]) -> set[str]:
        """Return the tables (by key) of which all definitions have ended, if these gave their newest schemas."""
        described = {one.key: one.schema_at for one in tables if one.schema_at is not None}
        writers = self._store.writers_of(described, _DEFINING) if described else {}
        ended = {
            key: [one.job for one in listed]
            for key, listed in writers.items()
            if listed and all(one.until is not None or self._is_retired(one.job, key) for one in listed)
        }
        jobs = {one.key: one for one in self._store.jobs({*chain.from_iterable(ended.values())})} if ended else {}
        return {key for key, listed in ended.items() if described[key] <= max(jobs[job].last_seen for job in listed)}
