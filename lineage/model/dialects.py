"""How each SQL dialect treats the case of names, and what it is called."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import StrEnum

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
    """

    name: str
    table: Folding = Folding.LOWER
    column: Folding = Folding.LOWER
    quoted_table: Folding = Folding.LOWER
    quoted_column: Folding = Folding.LOWER
    aliases: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return the hash of the name: naming options are looked up for every statement."""
        return hash(self.name)

    def fold_table(self, name: str, *, quoted: bool = False) -> str:
        """Return a catalog, schema or table name as this dialect compares it.

        >>> snowflake = dialect_named("snowflake")
        >>> snowflake.fold_table("Orders"), snowflake.fold_table("Orders", quoted=True)
        ('ORDERS', 'Orders')
        """
        return (self.quoted_table if quoted else self.table).apply(name)

    def fold_column(self, name: str, *, quoted: bool = False) -> str:
        """Return a column name as this dialect compares it.

        >>> dialect_named("bigquery").fold_column("Id"), dialect_named("bigquery").fold_table("Id")
        ('id', 'Id')
        """
        return (self.quoted_column if quoted else self.column).apply(name)


class UnknownDialectError(ValueError):
    """A dialect that is not known; the message offers the nearest names."""


_KEEP, _LOWER, _UPPER = Folding.KEEP, Folding.LOWER, Folding.UPPER


def _quotes_keep(name: str, folding: Folding, *aliases: str) -> Dialect:
    return Dialect(name, folding, folding, _KEEP, _KEEP, aliases)


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        _quotes_keep("ansi", _LOWER, ""),
        _quotes_keep("postgres", _LOWER, "postgresql"),
        _quotes_keep("materialize", _LOWER),
        _quotes_keep("risingwave", _LOWER),
        _quotes_keep("snowflake", _UPPER),
        _quotes_keep("oracle", _UPPER),
        _quotes_keep("teradata", _UPPER),
        _quotes_keep("exasol", _UPPER),
        Dialect("bigquery", table=_KEEP, quoted_table=_KEEP),
        Dialect("mysql", table=_KEEP, quoted_table=_KEEP, aliases=("mariadb", "singlestore", "memsql")),
        Dialect("doris", table=_KEEP, quoted_table=_KEEP),
        Dialect("starrocks", table=_KEEP, quoted_table=_KEEP),
        Dialect("clickhouse", _KEEP, _KEEP, _KEEP, _KEEP),
        Dialect("redshift"),
        Dialect("spark", aliases=("sparksql", "spark2", "spark3")),
        Dialect("databricks"),
        Dialect("hive"),
        Dialect("duckdb"),
        Dialect("trino", aliases=("dune",)),
        Dialect("presto"),
        Dialect("athena"),
        Dialect("sqlite"),
        Dialect("tsql", aliases=("mssql", "sqlserver", "synapse")),
        Dialect("fabric"),
        Dialect("drill"),
        Dialect("dremio"),
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
