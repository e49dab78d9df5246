"""Datasets of a batch: keys, columns, kinds and spellings, from statements and the catalog."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum

from lineage.catalog import TableSchema
from lineage.model.batch import ColumnRecord, DatasetRecord
from lineage.model.names import (
    Naming,
    column_text,
    dataset_key,
    path_spelling,
    plain_name,
    split_location,
)
from lineage.model.spelling import own_spelling, spelling_of
from lineage.model.statement import ChangeKind, ColumnRef, DatasetKind, StatementLineage
from lineage.sql.scan.leading import LEADING
from lineage_ingest.batch.renamed_tables import LaterNames, is_gone, table_after

__all__ = ["BatchDatasets"]

_REPLACES = re.compile(rf"{LEADING}(?:create\s+or\s+)?(?:replace|alter)\b", re.IGNORECASE)
"""How a definition begins that replaces what has the name."""


class _SpelledBy(IntEnum):
    """The origin of a name's spelling; the greater one takes precedence."""

    NOTHING = 0
    REFERENCE = 1
    CATALOG = 2
    DEFINITION = 3


@dataclass(slots=True)
class _Dataset:
    kind: DatasetKind = DatasetKind.TABLE
    columns: dict[str, ColumnRecord] = field(default_factory=dict)
    schema_known: bool = False
    is_target: bool = False
    is_ended: bool = False
    """Whether it is dropped: a definition after that is of another table."""
    at: datetime | None = None
    """Time of the last ALTER TABLE."""
    spelling: str | None = None
    spelled_by: _SpelledBy = _SpelledBy.NOTHING


class BatchDatasets:
    """Collects the datasets of a batch, by name.

    Names of tables and columns are those at the end of the batch, which `LaterNames` knows.
    """

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._keys: dict[str, str] = {}
        self._datasets: dict[str, _Dataset] = {}
        self._earlier_paths: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
        """The earlier names of columns that the batch renames, by table and column."""

    def key_of(self, name: str) -> str:
        """Return the key of a dataset."""
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = dataset_key(*self._location(name))
        return key

    def keys_by_name(self) -> dict[str, str]:
        """Return the keys of the datasets, by the names that statements use."""
        return {name: self.key_of(name) for name in self._datasets}

    def add(self, name: str) -> None:
        """Add a dataset, unless the batch has it."""
        if name not in self._datasets:
            self._datasets[name] = _Dataset()

    def records(self) -> tuple[DatasetRecord, ...]:
        """Return the datasets, ordered by name."""
        return tuple(self._record(name, dataset) for name, dataset in sorted(self._datasets.items()))

    # Columns

    def add_schema(self, table: TableSchema) -> None:
        """Add a table of the catalog. Columns that a statement defines take precedence."""
        self._define(table.name, ColumnRecord.of_schema(table.columns))
        spelling = own_spelling(table.name)
        self._spell(table.name, spelling, _SpelledBy.CATALOG)

    def add_inferred(self, reference: ColumnRef, later: LaterNames) -> None:
        """Add a column that is known only from a statement that reads it."""
        if reference.table is None:
            return
        path = later.column(reference.table, reference.column)
        if is_gone(path):
            return
        written = own_spelling(reference.column)
        dataset = self._dataset(later.table(reference.table))
        spelling = spelling_of(path, written)
        dataset.columns.setdefault(path, ColumnRecord(str(path), inferred=True, spelling=spelling))

    def end(self, name: str) -> None:
        """Note that a dataset is dropped."""
        if name in self._datasets:
            self._datasets[name].is_ended = True

    def add_output(self, target: str, statement: StatementLineage, later: LaterNames, text: str) -> None:
        """Add the columns that a statement writes to its target; `text` is the statement's."""
        dataset = self._dataset(target)
        if statement.target_kind is DatasetKind.FILE:  # a relative path is written as a table's name is
            dataset.kind = DatasetKind.FILE
        if statement.defines:
            dataset.kind = statement.target_kind
            if dataset.is_ended or _REPLACES.match(text):
                dataset.columns, dataset.schema_known, dataset.is_ended = {}, False, False
        dataset.is_target = True
        if statement.schema and not statement.altered:
            self._define(target, _schema_columns(statement, later))
        if dataset.schema_known:
            return
        table = str(table_after(statement))
        named = ((later.column(table, column_text(name)), name) for name in statement.output_columns)
        written = [(str(path), path_spelling(name, path)) for path, name in named if not is_gone(path)]
        for position, (path, spelling) in enumerate(written):
            ordinal = position if statement.defines else None
            known = dataset.columns.setdefault(path, ColumnRecord(path, None, ordinal, True, spelling=spelling))
            if statement.defines and known.spelling != spelling:
                dataset.columns[path] = replace(known, spelling=spelling)

    def alter(self, target: str, statement: StatementLineage, later: LaterNames, at: datetime | None) -> None:
        """Apply the ALTER TABLE of a statement to its target's columns; other statements change nothing."""
        if statement.changes:
            self._rename_columns(target, statement, later, at)
        if statement.altered or (statement.changes and statement.schema):
            self._change_columns(target, statement, later, at)

    def _rename_columns(self, target: str, statement: StatementLineage, later: LaterNames, at: datetime | None) -> None:
        table = str(table_after(statement))
        for change in statement.changes:
            if change.kind is ChangeKind.RENAME_COLUMN and change.column is not None and change.other is not None:
                path = later.column(table, change.other)
                if is_gone(path):
                    continue
                self._earlier_paths[target][path][change.column] = None
                dataset = self._dataset(target)
                dataset.at = at
                spelling = path_spelling(change.other, path)
                dataset.columns.setdefault(path, ColumnRecord(str(path), inferred=True, spelling=spelling))

    def _change_columns(self, target: str, statement: StatementLineage, later: LaterNames, at: datetime | None) -> None:
        """Replace the columns of the target; if its schema is unknown, add the columns that the statement names."""
        dataset = self._dataset(target)
        dataset.at = at
        table = str(table_after(statement))
        known = dataset.columns
        if statement.schema:
            dataset.columns = {
                one.path: replace(one, data_type=one.data_type or getattr(known.get(one.path), "data_type", None))
                for one in _schema_columns(statement, later)
            }
            dataset.schema_known = dataset.is_target = True
            return
        for column in statement.altered:
            path = later.column(table, column_text(column.name))
            if not is_gone(path):
                known[path] = ColumnRecord(str(path), column.data_type, spelling=path_spelling(column.name, path))

    def _define(self, name: str, columns: Iterable[ColumnRecord]) -> None:
        dataset = self._dataset(name)
        if dataset.schema_known and dataset.is_target:
            return
        dataset.columns = {column.path: column for column in columns}
        dataset.schema_known = True

    # Spelling

    def spell_tables(self, statement: StatementLineage, later: LaterNames) -> None:
        """Set the spelling of the tables that a statement names."""
        target = table_after(statement)
        written = dict(statement.spellings)
        for name in dict.fromkeys((*([target] if target is not None else []), *statement.sources, *written)):
            by = _SpelledBy.DEFINITION if statement.spells and name == target else _SpelledBy.REFERENCE
            self._spell(later.table(name), written.get(name), by)

    def _spell(self, name: str, spelling: str | None, by: _SpelledBy) -> None:
        """Set the spelling of a table's name: the last definition, else the first reference, takes precedence."""
        dataset = self._datasets.get(name)
        if dataset is not None and (by > dataset.spelled_by or by is _SpelledBy.DEFINITION):
            dataset.spelling, dataset.spelled_by = spelling_of(plain_name(name), spelling), by

    # Records

    def _dataset(self, name: str) -> _Dataset:
        dataset = self._datasets.get(name)
        if dataset is None:
            dataset = self._datasets[name] = _Dataset()
        return dataset

    def _location(self, name: str) -> tuple[str, str]:
        """Return the namespace and name of a dataset; those of a file come from its path."""
        return split_location(name) or (self._naming.dataset_namespace, name)

    def _record(self, name: str, dataset: _Dataset) -> DatasetRecord:
        namespace, own = self._location(name)
        earlier = self._earlier_paths.get(name, {})
        is_file = split_location(name) is not None or name.startswith("@")
        shows_tables = self._naming.dialect.shows_tables
        return DatasetRecord(
            namespace=namespace,
            name=str(own),
            kind=DatasetKind.FILE if is_file else dataset.kind,
            dialect=self._naming.dialect.name,
            columns=tuple(
                replace(column, aliases=tuple(earlier[path])) if path in earlier else column
                for path, column in dataset.columns.items()
            ),
            schema_known=dataset.schema_known,
            at=dataset.at,
            spelling=dataset.spelling if shows_tables and not is_file else None,
            is_spelled=shows_tables and dataset.spelled_by >= _SpelledBy.CATALOG,
        )


def _schema_columns(statement: StatementLineage, later: LaterNames) -> list[ColumnRecord]:
    """Return the columns of a statement's schema, by the names that they have at the end of the batch."""
    table = str(table_after(statement))
    return [
        column if path == column.path else replace(column, path=path, spelling=spelling_of(path, column.spelling))
        for column in ColumnRecord.of_schema(statement.schema)
        if not is_gone(path := later.column(table, column.path))
    ]
