"""Table schemas and their lookup by name."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from lineage.catalog.ddl import read_ddl
from lineage.catalog.given_names import flatten_tables, stored_names, unquote
from lineage.catalog.mentioned_tables import MentionedTables
from lineage.catalog.table import CatalogError, TableSchema
from lineage.model.dialect import Dialect
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming, format_name, plain_name, split_name
from lineage.model.spelling import Spelled, as_written
from lineage.model.statement import ColumnSchema

__all__ = ["Catalog", "KnownColumn", "KnownDataset", "SchemaSource"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*://")


class KnownDataset(Protocol):
    """A dataset as a store returns it."""

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
        """Whether its list of columns is complete."""


class KnownColumn(Protocol):
    """What a store knows of a column."""

    @property
    def dataset(self) -> str:
        """The key of the dataset's node."""

    @property
    def spelled_name(self) -> str:
        """The column's or field's own name, with its spelling if it has one."""

    @property
    def data_type(self) -> str | None:
        """The type as written in the source."""

    @property
    def nested(self) -> bool:
        """Whether it is a field of another column."""

    @property
    def inferred(self) -> bool:
        """Whether it was derived from usage, not from a schema."""


class SchemaSource(Protocol):
    """The store methods that a catalog uses: the datasets and columns known from earlier ingests."""

    def datasets(self) -> Iterable[KnownDataset]:
        """Return all datasets."""

    def column_heads(self, datasets: Collection[str]) -> Iterable[KnownColumn]:
        """Return the columns of datasets, by key, in order."""


class LiveTables(Protocol):
    """The tables of a database, which are read when they are looked up."""

    def tables(self, names: Collection[str] | None = None) -> Iterable[TableSchema]:
        """Return the tables whose own name, in lower case, is one of these in lower case (all, without names)."""

    def names_in(self, texts: Iterable[str]) -> set[str]:
        """Return the words in texts that may be names of tables."""

    def local_name(self, name: str, naming: Naming) -> str:
        """Return a table's name as files name it."""


class Catalog:
    """The schemas of tables, by full name.

    A name with fewer or more parts than the catalog's also matches if it is the only table whose trailing parts agree.
    `sources` are databases whose tables are read when they are looked up; `prepare` reads those that texts may name at
    once, `complete` all. Tables that are given take precedence.

    >>> catalog = Catalog.from_dict({"shop.orders": {"id": "int", "amount": "numeric"}}, dialect="postgres")
    >>> list(catalog.find("orders").names)
    ['id', 'amount']
    """

    def __init__(
        self,
        tables: Iterable[TableSchema] = (),
        dialect: str | Dialect = "ansi",
        sources: Sequence[LiveTables] = (),
        naming: Naming | None = None,
    ) -> None:
        """Start with tables, and databases whose tables get their names from `naming`, if there is one."""
        self.dialect = dialect_named(dialect)
        self._tables: dict[str, TableSchema] = {}
        self._by_last: dict[str, list[str]] = {}
        self.memo: dict[Any, Any] = {}
        """A cache of values that callers derive from the catalog; cleared when a table is added."""
        for table in tables:
            self.add(table)
        self.sources = tuple(sources)
        self._given = set(self._tables) if sources else None
        self._asked: set[str] = set()
        self._naming = naming

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memo": {}}  # another process derives its own

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], dialect: str | Dialect = "ansi") -> Catalog:
        """Return a catalog of `{table: {column: type}}`, or `{table: [column, …]}`, or nested by schema.

        Names are as stored in the database, as in information_schema; see `stored_names` for their case.

        >>> catalog = Catalog.from_dict({"shop.users": {"id": "int", "userName": "text"}}, dialect="snowflake")
        >>> list(catalog.find("SHOP.USERS").names)
        ['ID', 'userName']

        Raises:
            CatalogError: the value has a different shape.
        """
        catalog = cls((), dialect)
        for name, columns in flatten_tables(tables, ()):
            catalog.add(TableSchema(catalog.full_name(name), tuple(catalog.columns(columns, name))))
        return catalog

    @classmethod
    def from_json(cls, path: str | Path, dialect: str | Dialect = "ansi") -> Catalog:
        """Return the catalog in a JSON file, in the format of `from_dict`.

        Raises:
            CatalogError: the file is not JSON, or has a different shape.
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

        Statements other than CREATE TABLE with columns, DROP and ALTER TABLE are ignored.

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
    def from_files(
        cls, paths: Iterable[str | Path], dialect: str | Dialect = "ansi", *, refresh: bool = False, cache: bool = False
    ) -> Catalog:
        """Return the schemas in files of DDL, JSON (`.json`) or information_schema (`.csv`), and of databases (URIs).

        The last of several definitions of a table applies, and files before databases. Databases are read when tables
        are looked up; with `refresh`, not from the cache. With `cache`, large files of DDL are parsed when they have
        changed.

        Raises:
            CatalogError: a file cannot be read; the message has its path.
        """
        catalog = cls((), dialect)
        addresses: list[str] = []
        readers = {".json": cls.from_json, ".csv": cls.from_information_schema}
        for given in map(str, paths):
            if _ADDRESS.match(given):
                addresses.append(given)
                continue
            path = Path(given)
            try:
                read = readers.get(path.suffix.lower(), cls._from_saved_ddl if cache else cls.from_ddl)
                catalog = catalog.with_tables(read(path, dialect))
            except UnicodeDecodeError as error:
                raise CatalogError(f"{path}: it is not text in UTF-8{_database_hint(path)}") from error
            except (CatalogError, OSError) as error:
                raise CatalogError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from error
        if not addresses:
            return catalog
        from lineage.catalog.database.address import DatabaseAddress  # noqa: PLC0415  seldom used
        from lineage.catalog.database.live_schemas import LiveSchemas  # noqa: PLC0415

        return cls(catalog, dialect, [LiveSchemas(DatabaseAddress.parse(one), refresh=refresh) for one in addresses])

    @classmethod
    def _from_saved_ddl(cls, path: Path, dialect: str | Dialect) -> Catalog:
        from lineage.catalog.saved_ddl import read_saved_ddl  # noqa: PLC0415  seldom used

        catalog = cls((), dialect)
        for table in read_saved_ddl(path, catalog.dialect):
            catalog.add(table)
        return catalog

    @classmethod
    def from_information_schema(cls, path: str | Path, dialect: str | Dialect = "ansi") -> Catalog:
        """Return the catalog in a CSV export of `information_schema.columns`, with a header.

        Raises:
            CatalogError: the header lacks `table_name` or `column_name`, or a row is too short.
            OSError: the file cannot be read.
        """
        from lineage.catalog.information_schema import read_information_schema  # noqa: PLC0415  seldom used

        catalog = cls((), dialect)
        for table in read_information_schema(Path(path)):
            catalog.add(catalog._as_compared(table))
        return catalog

    @classmethod
    def from_database(
        cls,
        address: str,
        dialect: str | Dialect = "ansi",
        *,
        prefetch: bool = False,
        max_age: timedelta = timedelta(hours=1),
        refresh: bool = False,
    ) -> Catalog:
        """Return a catalog of a live database, whose tables are read when they are looked up, or all at once.

        PostgreSQL is read through psycopg (`postgresql://user@host:5432/database`), any other database through the
        SQLAlchemy dialect that you install (`duckdb:///file`, `snowflake://…`). Schemas are kept in the user's cache
        folder, without password. Nothing is executed but queries of the database's own catalog.

        Args:
            address: the URI of the database.
            dialect: how its names compare.
            prefetch: read all tables now.
            max_age: how old schemas from the cache may be; 0 keeps none.
            refresh: read again what is in the cache.

        Raises:
            DatabaseError: the address is malformed, a driver is missing, or (with `prefetch`) the database cannot be
                read. Without `prefetch`, look-ups raise it.
        """
        from lineage.catalog.database.address import DatabaseAddress  # noqa: PLC0415  seldom used
        from lineage.catalog.database.live_schemas import LiveSchemas  # noqa: PLC0415

        source = LiveSchemas(DatabaseAddress.parse(address), max_age=max_age, refresh=refresh)
        catalog = cls((), dialect, [source])
        return catalog.complete() if prefetch else catalog

    @classmethod
    def from_store(
        cls,
        store: SchemaSource,
        dialect: str | Dialect = "ansi",
        namespace: str | None = None,
        texts: Iterable[str] | None = None,
    ) -> Catalog:
        """Return the schemas known from earlier ingests, of one namespace or (None) of all.

        With `texts`, only the tables that these may name are read. Columns derived from usage are omitted: they may
        come from the same statements that are being ingested, and ingesting these again must not change the result.
        """
        known = [d for d in store.datasets() if d.schema_known and (namespace is None or d.namespace == namespace)]
        if texts is not None:
            mentioned = MentionedTables(texts)
            known = [dataset for dataset in known if mentioned.has(dataset.name)]
        columns: dict[str, list[ColumnSchema]] = {dataset.key: [] for dataset in known}
        for column in store.column_heads(list(columns)):
            if not column.nested and not column.inferred:
                columns[column.dataset].append(ColumnSchema(column.spelled_name, column.data_type))
        tables = (TableSchema(dataset.name, tuple(columns[dataset.key])) for dataset in known)
        return cls((table for table in tables if table.columns), dialect)

    def full_name(self, name: str) -> str:
        """Return the full name of a table, from its name in a catalog file."""
        parts = split_name(name)
        return format_name(stored_names(parts, self.dialect.fold_table))

    def columns(self, columns: object, table: str = "") -> list[ColumnSchema]:
        """Return the columns, given as a mapping of names to types or a list of names, with their names as stored.

        Raises:
            CatalogError: `columns` is neither.
        """
        if isinstance(columns, Mapping):
            types = [None if data_type is None else str(data_type) for data_type in columns.values()]
        elif isinstance(columns, Collection) and not isinstance(columns, str):
            types = [None] * len(columns)
        else:
            raise CatalogError(f"table {table!r}: expected its columns, found {columns!r}")
        names = stored_names([unquote(str(name)) for name in columns], self.dialect.fold_column)
        return [ColumnSchema(name, data_type) for name, data_type in zip(names, types, strict=True)]

    def qualified(self, naming: Naming) -> Catalog:
        """Return the catalog with names as an ingest qualifies them: with the default database, date shards merged.

        What it reads later from databases is qualified, too. Without a default database, tables of a PostgreSQL have
        no database in their names, as in files.
        """
        catalog = self.memo.get((Catalog, naming))
        if catalog is None:
            tables = [(table, self._qualified_name(table.name, naming)) for table in self.given]
            catalog = self
            if self.sources or any(table.name != name for table, name in tables):
                qualified = (replace(table, name=name) for table, name in tables)
                catalog = Catalog(qualified, self.dialect, self.sources, naming)
                catalog._look_up(self._asked)
            self.memo[Catalog, naming] = catalog
        other: Catalog = catalog
        return other

    @staticmethod
    def _qualified_name(name: str, naming: Naming) -> str:
        written = as_written(name)
        pairs = zip(split_name(name), split_name(written), strict=True)
        parts = [part if part == text else Spelled(part, text) for (part, _), (text, _) in pairs]
        return naming.qualify(parts) if len(parts) > 1 else name

    def add(self, table: TableSchema) -> None:
        """Add a table; it replaces one of the same name."""
        if table.name not in self._tables:
            self._by_last.setdefault(_own_name(table.name), []).append(table.name)
        self._tables[table.name] = table
        self.memo.clear()

    def find(self, name: str) -> TableSchema | None:
        """Return the table with this full name, else the only one whose trailing parts agree with it.

        Tables of an earlier ingest (`learnt`) match by their full name only, and after the others; `exact` tables match
        by their full name only.

        Raises:
            DatabaseError: a database that has not been asked for the name cannot be read.
        """
        if self.sources:
            self._look_up({_own_name(plain_name(name))})
        exact = self._tables.get(name)
        if exact is not None and not exact.learnt:
            return exact
        ending = [
            other
            for other in self._by_last.get(_own_name(name), ())
            if not (self._tables[other].learnt or self._tables[other].exact) and _agree(name, other)
        ]
        return self._tables[ending[0]] if len(ending) == 1 else exact

    @property
    def given(self) -> list[TableSchema]:
        """The tables that come from no database."""
        return [table for table in self if self._given is None or table.name in self._given]

    def with_source(self, source: LiveTables) -> Catalog:
        """Return the catalog with a further database."""
        return Catalog(self.given, self.dialect, (*self.sources, source))

    def prepare(self, texts: Iterable[str]) -> Catalog:
        """Read the tables of databases that the texts may name, with one query for each; return the catalog.

        Raises:
            DatabaseError: a database cannot be read.
        """
        for source in self.sources[:1]:
            self._look_up(source.names_in(texts))
        return self

    def complete(self) -> Catalog:
        """Read all tables of the databases; return the catalog.

        Raises:
            DatabaseError: a database cannot be read.
        """
        for source in self.sources:
            self._add_live(source, source.tables())
        return self

    def only(self, names: Collection[str]) -> Catalog:
        """Return the given tables, and those of databases that have one of these full names."""
        if self._given is None:
            return self
        kept = (table for table in self if table.name in self._given or table.name in names)
        return Catalog(kept, self.dialect)

    def _look_up(self, names: set[str]) -> None:
        missing = names - self._asked
        if not missing:
            return
        self._asked |= missing
        for source in self.sources:
            self._add_live(source, source.tables(missing))

    def _add_live(self, source: LiveTables, tables: Iterable[TableSchema]) -> None:
        naming = self._naming
        for stored in tables:
            table = self._as_compared(stored)
            name = table.name
            if naming is not None:
                name = self._qualified_name(source.local_name(name, naming), naming)
            if name not in self._tables:
                self.add(table if name == table.name else replace(table, name=name))

    def _as_compared(self, table: TableSchema) -> TableSchema:
        """Return a table with its names as the dialect compares them, from those in the database."""
        fold_table, fold_column = self.dialect.fold_table, self.dialect.fold_column
        columns = table.columns
        if fold_column("aA", quoted=True) != "aA":
            columns = tuple(replace(one, name=fold_column(one.name, quoted=True)) for one in columns)
        elif fold_table("aA", quoted=True) == "aA":
            return table
        name = format_name([fold_table(part, quoted=True) for part, _ in split_name(table.name)])
        return replace(table, name=name, columns=columns)

    def as_learnt(self) -> Catalog:
        """Return the catalog with its tables marked as known from an earlier ingest (`TableSchema.learnt`)."""
        return Catalog((replace(table, learnt=True) for table in self._tables.values()), self.dialect)

    def with_tables(self, tables: Iterable[TableSchema]) -> Catalog:
        """Return a catalog with these tables added; they replace those of the same name."""
        return Catalog((*self._tables.values(), *tables), self.dialect)

    def __iter__(self) -> Any:
        return iter(self._tables.values())

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None


def _own_name(name: str) -> str:
    return name.rpartition(".")[2] if '"' not in name else split_name(name)[-1][0]


def _agree(name: str, other: str) -> bool:
    ours, theirs = ([part for part, _ in split_name(text)] for text in (name, other))
    shared = min(len(ours), len(theirs))
    return ours[-shared:] == theirs[-shared:]


def _database_hint(path: Path) -> str:
    """Return what to give in place of a database's file, if a file is one."""
    with path.open("rb") as file:
        head = file.read(16)
    product = "sqlite" if head.startswith(b"SQLite format 3") else "duckdb" if head[8:12] == b"DUCK" else ""
    return f"; it is a database: give {product}:///{path.as_posix()}" if product else ""
