"""Writes SQL for what a tool states without SQL, so that one resolver reads everything."""

from __future__ import annotations

from collections.abc import Iterable

from lineage.model.dialects import dialect_named

__all__ = ["LITERAL", "asset_reference", "number_repeated", "plain_name", "quote", "table_reference"]

_BACKTICKS = frozenset(("bigquery", "mysql", "spark", "databricks", "hive", "doris", "starrocks", "clickhouse"))
_BRACKETS = frozenset(("tsql", "fabric"))
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


def table_reference(parts: Iterable[str], dialect: str) -> str:
    """Return a table's name, each part quoted."""
    return ".".join(quote(part, dialect) for part in parts)


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
