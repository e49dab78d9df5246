"""Writes SQL for what a tool states without SQL, so that one resolver reads everything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from lineage.model.dialects import dialect_named

__all__ = ["LITERAL", "asset_reference", "name_of_any_case", "number_repeated", "plain_name", "quote", "quote_any_case",
           "table_reference"]  # fmt: skip

_BACKTICKS = frozenset(("bigquery", "mysql", "spark", "databricks", "hive", "doris", "starrocks", "clickhouse"))
_BRACKETS = frozenset(("tsql", "fabric"))
_LOWER = re.compile(r"[a-z_][a-z0-9_$]*")
LITERAL = "'?'"
"""Stands for any value: values are personal data, and none can shape lineage here."""


def quote(name: str, dialect: str) -> str:
    """Return a name in the quotes of a dialect.

    >>> quote("a b", "postgres"), quote("a b", "bigquery"), quote("a b", "tsql")
    ('"a b"', '`a b`', '[a b]')
    """
    if dialect in _BACKTICKS:
        return "`" + name.replace("`", "``") + "`"
    if dialect in _BRACKETS:
        return "[" + name.replace("]", "]]") + "]"
    return '"' + name.replace('"', '""') + '"'


def plain_name(name: str, dialect: str) -> str:
    """Return the name, quoted, that a name without quotes is in a dialect.

    >>> plain_name("orders", "snowflake"), plain_name("Orders", "postgres")
    ('"ORDERS"', '"orders"')
    """
    return quote(str(dialect_named(dialect).fold_column(name)), dialect)


def name_of_any_case(name: str, dialect: str) -> str:
    """Return the name that a database has for one in lower case, by which SQLAlchemy means any case.

    https://github.com/snowflakedb/snowflake-sqlalchemy#object-name-case-handling

    >>> name_of_any_case("orders", "snowflake"), name_of_any_case("Orders", "snowflake")
    ('ORDERS', 'Orders')
    """
    return str(dialect_named(dialect).fold_column(name)) if _LOWER.fullmatch(name) else name


def quote_any_case(name: str, dialect: str) -> str:
    """Return a name, quoted, of which lower case means any case.

    >>> quote_any_case("orders", "snowflake"), quote_any_case("Orders", "snowflake")
    ('"ORDERS"', '"Orders"')
    """
    return quote(name_of_any_case(name, dialect), dialect)


def table_reference(parts: Iterable[str], dialect: str, write: Callable[[str, str], str] = quote) -> str:
    """Return a table's name, each part written by `write`."""
    return ".".join(write(part, dialect) for part in parts)


def asset_reference(key: str, dialect: str) -> str:
    """Return the reference to another query of the export, by its key."""
    return quote(key, dialect)


def number_repeated(names: Iterable[str]) -> list[str]:
    """Return names that differ: the second `x` becomes `x_2`.

    >>> number_repeated(["sum", "sum", "id"])
    ['sum', 'sum_2', 'id']
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        own, number = name, 1
        while own.casefold() in taken:
            number += 1
            own = f"{name}_{number}"
        taken.add(own.casefold())
        found.append(own)
    return found
