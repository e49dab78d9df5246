"""What PostgreSQL's catalog says of a database, as values."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from lineage.catalog import TableSchema
from lineage.frozen import frozen
from lineage.model.dialects import dialect_named
from lineage.model.names import format_name
from lineage.model.statement import ColumnSchema, DatasetKind, RowIdType

__all__ = [
    "ForeignServer",
    "Inheritance",
    "LiveColumn",
    "LiveDatabase",
    "LiveFunction",
    "LiveRelation",
    "RelationKind",
    "quoted",
]


class RelationKind(StrEnum):
    """`pg_class.relkind` of what has columns that data flows through."""

    TABLE = "r"
    PARTITIONED = "p"
    VIEW = "v"
    MATERIALIZED_VIEW = "m"
    FOREIGN = "f"

    @property
    def is_view(self) -> bool:
        """Whether it is defined by a query."""
        return self in (RelationKind.VIEW, RelationKind.MATERIALIZED_VIEW)

    @property
    def dataset_kind(self) -> DatasetKind:
        """The kind of its dataset, the same as that of `CREATE VIEW` or `CREATE MATERIALIZED VIEW` in a file."""
        return DatasetKind.VIEW if self.is_view else DatasetKind.TABLE


@frozen
class LiveColumn:
    """A column. `generated` is the expression of a generated column, `remote` its name on a foreign server."""

    number: int
    name: str
    data_type: str
    comment: str | None = None
    generated: str | None = None
    is_virtual: bool = False
    readers: tuple[str, ...] = ()
    """The roles that may read this column and not the whole relation."""
    remote: str | None = None
    is_row_id: bool = False
    """Whether it is another name of the row's number (SQLite)."""


@frozen
class ForeignServer:
    """Where the data of a foreign table is: the server, its wrapper, and the options of both."""

    name: str
    wrapper: str
    options: dict[str, str]


@frozen
class LiveRelation:
    """A table or view. `definition` is a view's query; `problem` says why it could not be read."""

    oid: int
    schema: str
    name: str
    kind: RelationKind
    owner: str
    comment: str | None = None
    columns: tuple[LiveColumn, ...] = ()
    definition: str | None = None
    problem: str | None = None
    readers: tuple[str, ...] = ()
    server: ForeignServer | None = None
    triggers: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    calls: tuple[int, ...] = ()
    """The functions that a view calls, by oid, those behind operators, casts and aggregates included."""

    @property
    def local_name(self) -> str:
        """Its name with its schema."""
        return format_name([part for part in (self.schema, self.name) if part])

    @property
    def generated(self) -> tuple[LiveColumn, ...]:
        """Its generated columns."""
        return tuple(column for column in self.columns if column.generated is not None)


@frozen
class LiveFunction:
    """A function or procedure in SQL or PL/pgSQL. `signature` is its name with schema and argument types."""

    signature: str
    language: str
    definition: str
    search_path: tuple[str, ...]
    oid: int = 0


@frozen
class Inheritance:
    """A child and its parent (by oid): a partition, or a table that inherits."""

    child: int
    parent: int
    is_partition: bool


@frozen
class LiveDatabase:
    """A database at one moment. `schemas` are those that were read; `problems` say what could not be."""

    namespace: str
    name: str
    at: datetime
    schemas: tuple[str, ...]
    relations: tuple[LiveRelation, ...]
    functions: tuple[LiveFunction, ...] = ()
    search_path: tuple[str, ...] = ()
    """The search path of the user's sessions: where functions look for tables."""
    inheritance: tuple[Inheritance, ...] = ()
    has_functions: bool = True
    """Whether functions could be read."""
    aggregates: tuple[str, ...] = ()
    """The names of aggregate functions that are not the system's."""
    other_languages: tuple[tuple[str, int], ...] = ()
    """Languages of functions that are not read, with the number of functions."""
    of_extensions: int = 0
    """Number of relations that belong to extensions and are left out."""
    members: tuple[tuple[str, str], ...] = ()
    """The roles, with each of their members."""
    problems: tuple[str, ...] = ()
    product: str = "postgres"
    """The name of the product's dialect."""
    path: str | None = None
    """The file, with its product, if the database is one."""
    system_tables: frozenset[str] = field(default=frozenset(), repr=False)
    """The product's own tables that need no schema, if it lets a view outlive the tables that it reads."""
    outside: tuple[LiveRelation, ...] = field(default=(), repr=False)
    """Relations of other schemas, the system's included: their columns are known, and nothing is stated of them."""

    @property
    def schemas_left_out(self) -> set[str]:
        """The schemas that were not read, without those of the system."""
        others = {one.schema for one in self.outside} - set(self.schemas)
        return {name for name in others if name != "information_schema" and not name.startswith("pg_")}

    def full_name(self, relation: LiveRelation) -> str:
        """Return the full name of a relation, as the dialect compares it: database, schema and name."""
        fold = dialect_named(self.product).fold_table
        parts = (self.name, relation.schema, relation.name)
        return format_name([fold(part, quoted=True) for part in parts if part])

    def schema_of(self, relation: LiveRelation) -> TableSchema:
        """Return the schema of a relation, by its full name."""
        fold = dialect_named(self.product).fold_column
        columns = (
            ColumnSchema(
                fold(one.name, quoted=True), RowIdType(one.data_type) if one.is_row_id else one.data_type or None
            )
            for one in relation.columns
        )
        return TableSchema(self.full_name(relation), tuple(columns))


def quoted(name: str) -> str:
    """Return an identifier in quotes.

    >>> quoted('my "own" table')
    '"my ""own"" table"'
    """
    return '"' + name.replace('"', '""') + '"'
