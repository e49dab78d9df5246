"""The datasets of the stage "merge": their schemas, their spellings, and their keys in the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from lineage.catalog import TableSchema
from lineage.model.batch import ColumnRecord, DatasetChange, DatasetRecord, JobRecord
from lineage.model.names import ColumnPath, column_key, is_column_key, split_column_key, split_dataset_key
from lineage.model.spelling import Spelled, likelier_spelling, own_spelling, spelling_of
from lineage.model.statement import ChangeKind, DatasetKind
from lineage_ingest.query_log.pipeline.versions.version_keys import VersionKeys

__all__ = ["MergedDatasets"]


class _MergedSchema(NamedTuple):
    """The columns that a definition gives a dataset, and when it last and first ran."""

    at: datetime
    began: datetime
    paths: frozenset[str]


class _Spelling(NamedTuple):
    """The spelling of a dataset's name in a definition, or in the statement that first reads or writes it."""

    by_definition: bool
    at: datetime | None
    text: str | None

    def joined(self, other: _Spelling) -> _Spelling:
        """Return the one that counts: the last definition, else the first reference."""
        if self.by_definition is not other.by_definition:
            return self if self.by_definition else other
        if self.at == other.at or self.at is None or other.at is None:
            return self._replace(at=self.at or other.at, text=likelier_spelling(self.text, other.text))
        return self if (self.at > other.at) is self.by_definition else other

    def into(self, record: DatasetRecord) -> DatasetRecord:
        """Return a dataset with this spelling."""
        if (record.spelling, record.is_spelled) == (self.text, self.by_definition):
            return record
        return replace(record, spelling=self.text, is_spelled=self.by_definition)


class MergedDatasets:
    """The datasets of all units, one record for each key."""

    def __init__(self) -> None:
        self._records: dict[str, DatasetRecord] = {}
        self._spellings: dict[str, _Spelling] = {}
        self._schemas: dict[str, set[_MergedSchema]] = defaultdict(set)
        """The schemas that definitions and ALTERs give the datasets."""

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[DatasetRecord]:
        """Yield the datasets, ordered by key, with the time since when their columns exist."""
        return (self._with_column_times(self._records[key]) for key in sorted(self._records))

    @property
    def column_count(self) -> int:
        """Number of columns of all datasets."""
        return sum(len(record.columns) for record in self._records.values())

    def add(
        self,
        dataset: DatasetRecord,
        jobs: Sequence[JobRecord],
        made_by: Sequence[JobRecord],
        start_of_unit: datetime | None,
    ) -> None:
        """Merge a dataset of a unit with these jobs; `made_by` are those that define it, with their own times."""
        known = self._records.get(dataset.key)
        at = dataset.at or max((job.last_seen for job in made_by), default=None)
        found = replace(dataset, at=at) if dataset.schema_known else dataset
        if dataset.schema_known and at is not None:
            began = (job.first_seen for job in made_by)
            paths = frozenset(column.path for column in dataset.schema_columns)
            self._schemas[dataset.key].add(_MergedSchema(at, dataset.at or min(began, default=at), paths))
        merged = found if known is None else _merge(known, found)
        at = max((job.last_seen for job in jobs if dataset.key in job.writes), default=at)
        spelling = _Spelling(dataset.is_spelled, at if dataset.is_spelled else start_of_unit, dataset.spelling)
        if known is not None:
            spelling = spelling.joined(self._spellings[dataset.key])
        self._spellings[dataset.key] = spelling
        self._records[dataset.key] = spelling.into(merged)

    def add_given(self, namespace: str, table: TableSchema) -> None:
        """Add the schema of a given table if the log mentions the table and does not define it."""
        record = DatasetRecord(
            namespace,
            str(table.name),
            columns=ColumnRecord.of_schema(table.columns),
            schema_known=True,
            spelling=own_spelling(table.name),
            is_spelled=isinstance(table.name, Spelled),
        )
        known = self._records.get(record.key)
        if known is not None and known.is_spelled:
            record = replace(record, spelling=known.spelling, is_spelled=True)
        if known is None or not known.schema_known:
            self._records[record.key] = (
                record if known is None else replace(record, kind=known.kind, dialect=known.dialect)
            )

    def rename_versions(self, keys: VersionKeys, last_seen: Mapping[str, datetime]) -> None:
        """Give the datasets their keys in the graph, and drop those that are not in it.

        `last_seen` has the last time that the log reads or writes each dataset that it renames.
        """
        records: dict[str, DatasetRecord] = {}
        for key in sorted(self._records, key=lambda one: (keys.is_last(one), one)):
            if not keys.is_unseen(key):
                record = self._records[key]
                if key in last_seen:
                    record = replace(record, at=record.at or last_seen[key])
                new_key = keys.key(key, record.at)
                namespace, name = split_dataset_key(new_key, record.namespace)
                since = record.at and keys.since(key, record.at)
                spelling = spelling_of(name, record.spelling) or spelling_of(name, keys.spelling(new_key))
                records[new_key] = replace(record, namespace=namespace, name=name, at=since, spelling=spelling)
        self._records = records
        schemas, self._schemas = self._schemas, defaultdict(set)
        for key, found in schemas.items():
            if not keys.is_unseen(key):
                self._schemas[keys.key(key)] |= {
                    one._replace(at=keys.since(key, one.at), began=keys.since(key, one.began)) for one in found
                }

    def replaced_columns(self, changes: Iterable[DatasetChange], copied: Container[str]) -> Iterator[DatasetChange]:
        """Yield a DROP of each column of a replaced definition that the newest one no longer has.

        `changes` are those already known: columns that they name and tables that they rename are skipped. So are those
        that were `copied`, by key, and have no other source: what was copied goes on coming from them.
        """
        listed = list(changes)
        moves = (ChangeKind.RENAME, ChangeKind.SWAP)
        moved = {key for change in listed if change.kind in moves for key in change.datasets}
        named = {(change.dataset, change.column) for change in listed}
        for key, schemas in self._schemas.items():
            newest = max(schemas, key=lambda one: (one.at, one.began, sorted(one.paths)))
            for old in schemas - {newest}:
                at = newest.began if newest.began > old.at else newest.at
                for path in sorted(old.paths - newest.paths):
                    is_said = key in moved or (key, path) in named or column_key(key, path) in copied
                    if not is_said and at > old.at:
                        yield DatasetChange(ChangeKind.DROP_COLUMN, key, at, column=path)

    def is_view(self, key: str) -> bool:
        """Return whether a dataset is a view."""
        known = self._records.get(key)
        return known is not None and known.kind is DatasetKind.VIEW

    def columns(self, key: str) -> tuple[str, ...]:
        """Return the columns of a dataset in their order if its schema is known, else nothing."""
        known = self._records.get(key)
        if known is None or not known.schema_known:
            return ()
        return tuple(column.path for column in known.schema_columns)

    def may_have(self, key: str | None, column: str) -> bool:
        """Return whether a dataset may have a column of the same name as this one, which is given by its key."""
        known = self._records.get(key) if key is not None else None
        if known is None or not known.schema_known or not is_column_key(column):
            return True
        name = ColumnPath.parse(split_column_key(column)[1]).parts[0]
        return any(ColumnPath.parse(one.path).parts[0] == name for one in known.columns)

    def _with_column_times(self, dataset: DatasetRecord) -> DatasetRecord:
        """Return a dataset whose columns have the time of their first schema, where that is before its own."""
        schemas = self._schemas.get(dataset.key, ())
        if dataset.at is None or not any(schema.began < dataset.at for schema in schemas):
            return dataset
        since: dict[str, datetime] = {}
        for schema in schemas:
            for path in schema.paths:
                since[path] = min(schema.began, since.get(path, schema.began))
        return replace(dataset, columns=tuple(replace(c, since=since.get(c.path)) for c in dataset.columns))


def _merge(dataset: DatasetRecord, other: DatasetRecord) -> DatasetRecord:
    """Return a dataset of two units as one: a schema wins over columns inferred from use, the later of two schemas."""
    if dataset == other:
        return dataset
    ranks = _rank(dataset), _rank(other)
    first = ranks[0] > ranks[1] or (ranks[0] == ranks[1] and repr(dataset.columns) > repr(other.columns))
    best, rest = (dataset, other) if first else (other, dataset)
    kind = best.kind if best.kind is not DatasetKind.TABLE or best.schema_known else rest.kind
    if best.schema_known:
        return replace(best, kind=kind)
    columns = {column.path: column for column in rest.columns}
    for column in best.columns:
        known = columns.get(column.path)
        if known is None or not column.inferred:
            columns[column.path] = column
        elif known.inferred and known.spelling != column.spelling:
            columns[column.path] = replace(known, spelling=likelier_spelling(known.spelling, column.spelling))
    return replace(best, kind=kind, columns=tuple(columns[path] for path in sorted(columns)))


def _rank(record: DatasetRecord) -> tuple[bool, bool, float, int]:
    at = record.at.timestamp() if record.at is not None else 0.0
    return record.schema_known, record.kind is not DatasetKind.TABLE, at // 1, len(record.columns)
