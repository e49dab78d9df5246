"""The content of a store just before a log begins: tables with their names and columns at that time."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from operator import attrgetter

from lineage.catalog import TableSchema
from lineage.frozen import frozen
from lineage.model.batch import DatasetChange, EdgeRecord
from lineage.model.names import ColumnPath, column_key, dataset_of, is_column_key, split_column_key, split_dataset_key
from lineage.model.statement import ChangeKind, ColumnSchema, DatasetKind
from lineage.store.planning.naming import NamesOverTime
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset, StoredEdge

__all__ = ["EarlierGraph", "record_of"]

_MOMENT = timedelta(microseconds=1)
_FOR_EVER = datetime.max.replace(tzinfo=UTC)
_MOVES = (ChangeKind.RENAME, ChangeKind.SWAP)


@frozen(slots=False)
class EarlierGraph:
    """The content of a store just before a time; without a time, its current content.

    A log that is ingested again is thus resolved with the names and columns that preceded its own changes.
    """

    store: GraphStore
    at: datetime | None = None
    given: frozenset[str] = frozenset()
    """Names of tables that are known to exist, even if the store does not have them."""
    known: Mapping[tuple[str, str], TableSchema] | None = None
    """Schemas cached by the caller; if None, they are read from the store."""
    _moment: datetime = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_moment", _FOR_EVER if self.at is None else self.at - _MOMENT)

    def schemas(self, keys: Collection[str] | None = None) -> Mapping[tuple[str, str], TableSchema]:
        """Return the schemas of tables whose columns earlier ingests recorded, by namespace and name.

        Columns inferred from use are left out: they may come from the same log, and ingesting it again must have the
        same result. A table that was created after that time is included with its current name and columns.

        Args:
            keys: current dataset keys; None means all datasets.

        Raises:
            StoreError: the store could not be read.
        """
        if self.known is not None:
            return self.known
        datasets = {dataset.key: dataset for dataset in self.store.datasets(keys)}
        known = [key for key, dataset in datasets.items() if dataset.schema_known]
        columns: dict[str, list[StoredColumn]] = defaultdict(list)
        dropped = self._dropped_since
        for column in self.store.columns(known, dropped=self.at is not None):
            if column.parent is None and not column.inferred:
                columns[column.dataset].append(column)
            elif column.parent is None and column.key in dropped:  # when the schema lost it, readers kept it
                columns[column.dataset].append(replace(column, inferred=False, dropped_at=dropped[column.key]))
        found: dict[tuple[str, str], TableSchema] = {}
        for key, name in self._names(datasets):
            own = self._columns_of(datasets[key], name, columns[key])
            if own:
                namespace, plain = split_dataset_key(name, datasets[key].namespace)
                found[namespace, plain] = TableSchema(plain, own, learnt=True)
        return found

    def there(self, names: Collection[str]) -> frozenset[str]:
        """Return the subset of these keys under which datasets existed at that time.

        Raises:
            StoreError: the store could not be read.
        """
        return frozenset(self._find_datasets(names)) | {key for key in names if split_dataset_key(key)[1] in self.given}

    def views(self, names: Collection[str]) -> frozenset[str]:
        """Return the subset of these keys under which views existed at that time.

        Raises:
            StoreError: the store could not be read.
        """
        return frozenset(name for name, one in self._find_datasets(names).items() if one.kind is DatasetKind.VIEW)

    def _find_datasets(self, names: Collection[str]) -> dict[str, StoredDataset]:
        today = {name: self._naming.today(name, self._moment) for name in names}
        if not today:
            return {}
        found = {one.key: one for one in self.store.datasets(sorted(set(today.values()))) if self._was_there(one)}
        return {name: found[key] for name, key in today.items() if key in found and not self._was_other(name, key)}

    def _was_other(self, name: str, key: str) -> bool:
        """Return whether `key` belonged to another table, which was dropped before this table was renamed to it."""
        if name == key or self._naming.today(key, self._moment) != key:
            return False
        return any(change.kind is ChangeKind.DROP and change.dataset == key for change in self._changes)

    def edges_into(self, names: Collection[str]) -> list[EdgeRecord]:
        """Return the edges into these datasets. All keys, given and returned, are those at that time.

        Raises:
            StoreError: the store could not be read.
        """
        today = {self._naming.today(name, self._moment): name for name in sorted(names)}
        if not today:
            return []
        then = self._names_of_moved() | today
        edges = [record_of(edge) for edge in self.store.edges_into(sorted(today), as_of=self._as_of)]
        return edges if not self._changes else [self._rename_edge(edge, then) for edge in edges]

    @property
    def _as_of(self) -> datetime | None:
        return None if self.at is None else self._moment

    @cached_property
    def _changes(self) -> list[DatasetChange]:
        return [] if self.at is None else self.store.dataset_changes(self._moment, _FOR_EVER)

    @cached_property
    def _naming(self) -> NamesOverTime:
        return NamesOverTime.of((), self._changes)

    def _names(self, datasets: Mapping[str, StoredDataset]) -> Iterator[tuple[str, str]]:
        """Yield pairs of current key and key at that time; a dataset merged from several yields one pair for each."""
        then = [
            (key, name)
            for name in sorted(self._moved_keys)
            if (key := self._naming.today(name, self._moment)) in datasets and self._was_there(datasets[key])
        ]
        yield from then
        taken = {name for _, name in then}
        yield from ((key, key) for key in datasets if key not in taken)

    def _names_of_moved(self) -> dict[str, str]:
        return {self._naming.today(name, self._moment): name for name in sorted(self._moved_keys, reverse=True)}

    @cached_property
    def _moved_keys(self) -> frozenset[str]:
        return frozenset(key for change in self._changes if change.kind in _MOVES for key in change.datasets)

    def _was_there(self, dataset: StoredDataset) -> bool:
        if dataset.first_seen > self._moment:
            return False
        return dataset.dropped_at is None or self._moment < dataset.dropped_at

    def _columns_of(
        self, dataset: StoredDataset, name: str, columns: Iterable[StoredColumn]
    ) -> tuple[ColumnSchema, ...]:
        if self.at is None or not self._was_there(dataset):
            return tuple(ColumnSchema(one.spelled_name, one.data_type) for one in columns if one.dropped_at is None)
        return tuple(
            ColumnSchema(column.spelled_name if path == column.path else ColumnPath.parse(path).name, column.data_type)
            for column in _in_order_of(columns, self._moment)
            for path in self._paths_then(column, name)
        )

    def _paths_then(self, column: StoredColumn, name: str) -> list[str]:
        """Return the paths that a column had; all of them if it was merged from several columns."""
        if not self._naming.renames_columns(name):
            return [column.path]
        asked = dict.fromkeys((*(one for one in self._column_names if one != column.path), column.path))
        today = column.dataset, column.path
        found = [path for path in asked if self._naming.column_today(name, path, self._moment) == today]
        return [path for path in found if path != column.path] or found

    @cached_property
    def _dropped_since(self) -> dict[str, datetime]:
        """The columns, by their current keys, that a schema had at that time, with when the next one left them out."""
        found: dict[str, datetime] = {}
        for change in sorted(self._changes, key=attrgetter("at")):
            if change.kind is ChangeKind.DROP_COLUMN and change.column is not None:
                dataset, path = self._naming.column_today(change.dataset, change.column, change.at - _MOMENT)
                found.setdefault(column_key(dataset, path), change.at)
        return found

    @cached_property
    def _column_names(self) -> list[str]:
        changes = (change for change in self._changes if change.kind.of_column)
        return sorted({name for change in changes for name in (change.column, change.other) if name})

    def _rename_edge(self, edge: EdgeRecord, then: Mapping[str, str]) -> EdgeRecord:
        return replace(
            edge,
            source=self._key_then(edge.source, then),
            target=self._key_then(edge.target, then),
            output=then.get(edge.output, edge.output),
        )

    def _key_then(self, key: str, then: Mapping[str, str]) -> str:
        dataset = dataset_of(key)
        name = then.get(dataset, dataset)
        if not is_column_key(key):
            return name
        path = split_column_key(key)[1]
        column = StoredColumn(key, dataset, path, None, None, inferred=False)
        return column_key(name, next(iter(self._paths_then(column, name)), path))


def _in_order_of(columns: Iterable[StoredColumn], at: datetime) -> list[StoredColumn]:
    """Return the columns that existed at a time, in their order at that time; `columns` are in today's order."""
    there = [column for column in columns if column.is_there(at)]
    ordered = [column for column in there if column.dropped_at is None]
    dropped = [(column.dropped_at, column) for column in there if column.dropped_at is not None]
    for _, column in sorted(dropped, key=lambda one: (one[0], -_place(one[1])), reverse=True):
        ordered.insert(_place(column), column)
    return ordered


def _place(column: StoredColumn) -> int:
    """Return the ordinal that a dropped column had; if unknown, one after all others."""
    return sys.maxsize if column.last_ordinal is None else column.last_ordinal


def record_of(edge: StoredEdge) -> EdgeRecord:
    """Return the edge record of a stored edge."""
    return EdgeRecord(
        source=edge.source,
        target=edge.target,
        kind=edge.kind,
        job=edge.job,
        output=dataset_of(edge.target),
        subtypes=edge.subtypes,
        masking=edge.masking,
        limited=edge.limited,
        ambiguous=edge.ambiguous,
        spans=edge.spans,
        partly_masking=edge.partly_masking,
    )
