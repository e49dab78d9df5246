"""How each SQL dialect treats the case of names, and what it is called."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import StrEnum

from lineage.model.spelling import Spelled

__all__ = ["DIALECTS", "Dialect", "Folding", "UnknownDialectError", "dialect_named"]


class Folding(StrEnum):
    """What a dialect does with the case of a name before it compares it."""

    LOWER = "lower"
    UPPER = "upper"
    KEEP = "keep"

    def apply(self, text: str) -> str:
        """Return `text` as the dialect would compare it.

        >>> Folding.UPPER.apply("Amount")
        'AMOUNT'
        """
        if self is Folding.LOWER:
            return text.lower()
        return text.upper() if self is Folding.UPPER else text


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect's names and its rules of case, for tables and for columns, unquoted and quoted.

    Sources: the vendors' pages on identifiers. PostgreSQL folds unquoted names to lower case and keeps quoted
    ones; Snowflake and Oracle fold to upper case; BigQuery's tables keep their case, its columns do not;
    MySQL's tables keep their case on Linux, its columns do not; the rest compares without case, quoted or not.

    `shows_tables` and `shows_columns` say that the product shows a name as it was written, though it compares names
    without case: T-SQL, BigQuery, MySQL, DuckDB and their like. PostgreSQL, Snowflake, Hive or Trino show what they
    fold names to; Spark's and Databricks' catalogs do so with tables only. `left_out_schema` is the schema that
    `db..t` leaves out (T-SQL's page on names of objects, Snowflake's on resolving them).
    """

    name: str
    table: Folding = Folding.LOWER
    column: Folding = Folding.LOWER
    quoted_table: Folding = Folding.LOWER
    quoted_column: Folding = Folding.LOWER
    aliases: tuple[str, ...] = ()
    shows_tables: bool = False
    shows_columns: bool = False
    left_out_schema: str | None = None

    def __hash__(self) -> int:
        """Return the hash of the name: naming options are looked up for every statement."""
        return hash(self.name)

    def fold_table(self, name: str, *, quoted: bool = False) -> str:
        """Return a catalog, schema or table name as this dialect compares it.

        >>> snowflake = dialect_named("snowflake")
        >>> snowflake.fold_table("Orders"), snowflake.fold_table("Orders", quoted=True)
        ('ORDERS', 'Orders')

        Where the product shows names as they were written, it comes with its spelling (`Spelled`).
        """
        folded = (self.quoted_table if quoted else self.table).apply(name)
        return Spelled(folded, name) if self.shows_tables and folded != name else folded

    def fold_column(self, name: str, *, quoted: bool = False) -> str:
        """Return a column name as this dialect compares it.

        >>> dialect_named("bigquery").fold_column("Id"), dialect_named("bigquery").fold_table("Id")
        ('id', 'Id')

        Where the product shows names as they were written, it comes with its spelling (`Spelled`).
        """
        folded = (self.quoted_column if quoted else self.column).apply(name)
        return Spelled(folded, name) if self.shows_columns and folded != name else folded


class UnknownDialectError(ValueError):
    """A dialect that is not known; the message offers the nearest names."""


_KEEP, _LOWER, _UPPER = Folding.KEEP, Folding.LOWER, Folding.UPPER


_SCHEMAS = {"tsql": "dbo", "fabric": "dbo"}


def _quotes_keep(name: str, folding: Folding, *aliases: str) -> Dialect:
    return Dialect(name, folding, folding, _KEEP, _KEEP, aliases)


def _keeps_tables(name: str, *aliases: str) -> Dialect:
    return Dialect(name, table=_KEEP, quoted_table=_KEEP, aliases=aliases, shows_columns=True)


def _shows_all(name: str, *aliases: str) -> Dialect:
    return Dialect(name, aliases=aliases, shows_tables=True, shows_columns=True, left_out_schema=_SCHEMAS.get(name))


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        _quotes_keep("ansi", _LOWER, ""),
        _quotes_keep("postgres", _LOWER, "postgresql"),
        _quotes_keep("materialize", _LOWER),
        _quotes_keep("risingwave", _LOWER),
        Dialect("snowflake", _UPPER, _UPPER, _KEEP, _KEEP, left_out_schema="PUBLIC"),
        _quotes_keep("oracle", _UPPER),
        _quotes_keep("teradata", _UPPER),
        _quotes_keep("exasol", _UPPER),
        _keeps_tables("bigquery"),
        _keeps_tables("mysql", "mariadb", "singlestore", "memsql"),
        _keeps_tables("doris"),
        _keeps_tables("starrocks"),
        Dialect("clickhouse", _KEEP, _KEEP, _KEEP, _KEEP),
        Dialect("redshift"),
        Dialect("spark", aliases=("sparksql", "spark2", "spark3"), shows_columns=True),
        Dialect("databricks", shows_columns=True),
        Dialect("hive"),
        _shows_all("duckdb"),
        Dialect("trino", aliases=("dune",)),
        Dialect("presto"),
        Dialect("athena"),
        _shows_all("sqlite"),
        _shows_all("tsql", "mssql", "sqlserver", "synapse"),
        _shows_all("fabric"),
        _shows_all("drill"),
        _shows_all("dremio"),
    )
}

_BY_NAME = {alias: dialect for dialect in DIALECTS.values() for alias in (dialect.name, *dialect.aliases)}


def dialect_named(name: str | Dialect) -> Dialect:
    """Return the dialect of that name or alias, in any case.

    >>> dialect_named("PostgreSQL").name
    'postgres'
    >>> dialect_named("postgras")
    Traceback (most recent call last):
    ...
    lineage.model.dialects.UnknownDialectError: unknown dialect 'postgras'; did you mean 'postgres'?

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    if isinstance(name, Dialect):
        return name
    found = _BY_NAME.get(name.strip().lower())
    if found is not None:
        return found
    near = difflib.get_close_matches(name.lower(), _BY_NAME, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(sorted(DIALECTS))
    raise UnknownDialectError(f"unknown dialect {name!r}; {hint}")
