"""Table schemas and how they are found by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from lineage.catalog.ddl import read_ddl
from lineage.catalog.table import CatalogError, TableSchema
from lineage.model.dialects import Dialect, dialect_named
from lineage.model.names import format_name, parse_table_name, split_name
from lineage.model.statement import ColumnSchema

__all__ = ["Catalog", "KnownColumn", "KnownDataset", "SchemaSource"]


class KnownDataset(Protocol):
    """A dataset as a store answers it."""

    @property
    def key(self) -> str:
        """The key of its node."""

    @property
    def name(self) -> str:
        """The full name."""

    @property
    def namespace(self) -> str:
        """The namespace of its name."""

    @property
    def schema_known(self) -> bool:
        """Whether its columns are all it has."""


class KnownColumn(Protocol):
    """A column as a store answers it."""

    @property
    def dataset(self) -> str:
        """The key of the dataset's node."""

    @property
    def name(self) -> str:
        """The column's or field's own name."""

    @property
    def data_type(self) -> str | None:
        """The type as the source wrote it."""

    @property
    def parent(self) -> str | None:
        """The key of the column that a field belongs to."""

    @property
    def inferred(self) -> bool:
        """Whether it was concluded from use, and no schema has it."""


class SchemaSource(Protocol):
    """What a catalog asks of a store: the datasets and columns that earlier ingests learnt."""

    def datasets(self) -> Iterable[KnownDataset]:
        """Return all datasets."""

    def columns(self, datasets: Collection[str]) -> Iterable[KnownColumn]:
        """Return the columns of datasets, by key, in order."""


class Catalog:
    """The schemas of tables, by full name.

    A name with fewer parts than the catalog's (or more) finds a table too, if it is the only one that ends so.

    >>> catalog = Catalog.from_dict({"shop.orders": {"id": "int", "amount": "numeric"}}, dialect="postgres")
    >>> list(catalog.find("orders").names)
    ['id', 'amount']
    """

    def __init__(self, tables: Iterable[TableSchema] = (), dialect: str | Dialect = "ansi") -> None:
        self.dialect = dialect_named(dialect)
        self._tables: dict[str, TableSchema] = {}
        self._by_last: dict[str, list[str]] = {}
        self.memo: dict[Any, Any] = {}
        """What others have worked out from it; forgotten when a table is added."""
        for table in tables:
            self.add(table)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], dialect: str | Dialect = "ansi") -> Catalog:
        """Return a catalog of `{table: {column: type}}`, or `{table: [column, …]}`, or nested by schema.

        Raises:
            CatalogError: the value has another shape.
        """
        catalog = cls((), dialect)
        for name, columns in _flatten(tables, ()):
            catalog.add(TableSchema(catalog.full_name(name), tuple(catalog.columns(columns, name))))
        return catalog

    @classmethod
    def from_json(cls, path: str | Path, dialect: str | Dialect = "ansi") -> Catalog:
        """Return the catalog in a JSON file of the shape that `from_dict` takes.

        Raises:
            CatalogError: the file is not JSON, or of another shape.
            OSError: the file cannot be read.
        """
        text = Path(path).read_text(encoding="utf-8")
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise CatalogError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
        if not isinstance(data, dict):
            raise CatalogError(f"{path}: expected an object of tables, found {type(data).__name__}")
        return cls.from_dict(data, dialect)

    @classmethod
    def from_ddl(cls, ddl: str | Path, dialect: str | Dialect = "ansi") -> Catalog:
        """Return the catalog that DDL creates; `ddl` is its text, or the path of a file.

        Statements other than CREATE TABLE with columns, DROP and ALTER TABLE are passed over.

        Raises:
            CatalogError: the DDL cannot be parsed.
            OSError: the file cannot be read.
        """
        catalog = cls((), dialect)
        is_path = isinstance(ddl, Path) or (len(ddl) < 1000 and "\n" not in ddl and "(" not in ddl)
        text = Path(ddl).read_text(encoding="utf-8") if is_path else str(ddl)
        for table in read_ddl(text, catalog.dialect, source=str(ddl) if is_path else "DDL"):
            catalog.add(table)
        return catalog

    @classmethod
    def from_store(cls, store: SchemaSource, dialect: str | Dialect = "ansi", namespace: str | None = None) -> Catalog:
        """Return the schemas that earlier ingests learnt, of one namespace or (without it) of all.

        What was concluded from use is left out: what is ingested may be what it was concluded from, and ingesting it
        again must not decide anything otherwise.
        """
        known = [d for d in store.datasets() if d.schema_known and (namespace is None or d.namespace == namespace)]
        columns: dict[str, list[ColumnSchema]] = {dataset.key: [] for dataset in known}
        for column in store.columns(list(columns)):
            if column.parent is None and not column.inferred:
                columns[column.dataset].append(ColumnSchema(column.name, column.data_type))
        tables = (TableSchema(dataset.name, tuple(columns[dataset.key])) for dataset in known)
        return cls((table for table in tables if table.columns), dialect)

    def full_name(self, name: str) -> str:
        """Return a typed table name as this catalog's dialect compares it."""
        return format_name(parse_table_name(name, self.dialect))

    def columns(self, columns: object, table: str = "") -> list[ColumnSchema]:
        """Return columns given as a mapping to types or a list of names, folded.

        Raises:
            CatalogError: it is neither.
        """
        fold = self.dialect.fold_column
        if isinstance(columns, Mapping):
            return [ColumnSchema(fold(str(n)), None if t is None else str(t)) for n, t in columns.items()]
        if isinstance(columns, Collection) and not isinstance(columns, str):
            return [ColumnSchema(fold(str(name))) for name in columns]
        raise CatalogError(f"table {table!r}: expected its columns, found {columns!r}")

    def add(self, table: TableSchema) -> None:
        """Add a table, in place of one of that name."""
        if table.name not in self._tables:
            self._by_last.setdefault(_last(table.name), []).append(table.name)
        self._tables[table.name] = table
        self.memo.clear()

    def find(self, name: str) -> TableSchema | None:
        """Return the table of that full name, else the only one that agrees in all parts that both names have.

        Tables that an earlier ingest told are found by their full name only, and after the others.
        """
        exact = self._tables.get(name)
        if exact is not None and not exact.learnt:
            return exact
        ending = [
            other
            for other in self._by_last.get(_last(name), ())
            if not self._tables[other].learnt and _agree(name, other)
        ]
        return self._tables[ending[0]] if len(ending) == 1 else exact

    def as_learnt(self) -> Catalog:
        """Return the catalog as one that an earlier ingest told (`TableSchema.learnt`)."""
        return Catalog((replace(table, learnt=True) for table in self._tables.values()), self.dialect)

    def updated(self, tables: Iterable[TableSchema]) -> Catalog:
        """Return a catalog that has these tables besides, in place of those of the same name."""
        return Catalog((*self._tables.values(), *tables), self.dialect)

    def __iter__(self) -> Any:
        return iter(self._tables.values())

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None


def _flatten(tables: Mapping[str, Any], path: tuple[str, ...]) -> Iterable[tuple[str, Any]]:
    for name, value in tables.items():
        full = (*path, str(name))
        if isinstance(value, Mapping) and value and all(isinstance(v, Mapping | list) for v in value.values()):
            yield from _flatten(value, full)
        else:
            yield ".".join(full), value


def _last(name: str) -> str:
    return name.rpartition(".")[2] if '"' not in name else split_name(name)[-1][0]


def _agree(name: str, other: str) -> bool:
    ours, theirs = ([part for part, _ in split_name(text)] for text in (name, other))
    shared = min(len(ours), len(theirs))
    return ours[-shared:] == theirs[-shared:]
