"""`trace_tables`: which tables a text reads and writes, for those who need no columns."""

from __future__ import annotations

from typing import TypedDict

from lineage.model.dialects import Dialect
from lineage.sql.extractor import extract

__all__ = ["TableTrace", "trace_tables"]


class TableTrace(TypedDict):
    """What a text does, the table that it writes (the last, of several) and those that it reads, in order."""

    operation: str
    destination: str | None
    upstream: list[str]


def trace_tables(
    sql: str,
    dialect: str | Dialect = "ansi",
    *,
    default_database: str | None = None,
    default_schema: str | None = None,
) -> TableTrace:
    """Return the tables that a text reads and writes.

    Of several statements the last that writes names the operation and the destination; what a statement writes
    and a later one reads is not upstream. What cannot be parsed is read off its keywords.

    >>> trace_tables("INSERT INTO report SELECT * FROM orders JOIN users USING (id)", "postgres")
    {'operation': 'INSERT', 'destination': 'report', 'upstream': ['orders', 'users']}

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    statements = extract(sql, dialect, default_database=default_database, default_schema=default_schema)
    written: dict[str, None] = {}
    upstream: dict[str, None] = {}
    last = None
    for statement in statements:
        upstream.update((name, None) for name in statement.sources if name not in written)
        if statement.target is not None and not statement.changes:
            written[statement.target] = None
            last = statement
    if last is None and statements:
        last = statements[-1]
    return TableTrace(
        operation=last.operation if last is not None else "EMPTY",
        destination=last.target if last is not None else None,
        upstream=list(upstream),
    )
