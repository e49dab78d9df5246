"""`trace_tables`: which tables a text reads and writes, for those who need no columns.

Traces combine as in SQL Table Tracer: `a + b` is the trace of a text and the one after it, in any grouping, and the
trace of nothing changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from lineage.model.dialects import Dialect
from lineage.model.statement import StatementLineage
from lineage.sql.extractor import extract

__all__ = ["TableTrace", "trace_tables"]

_NOTHING = "EMPTY"


class TableTrace(dict[str, Any]):
    """What a text does, the table that it writes (the last, of several) and those that it reads, in order.

    A dictionary of `operation`, `destination` and `upstream`; `written` are all tables that the text writes: what
    it reads of them afterwards is not upstream.

    >>> first = trace_tables("CREATE TABLE a AS SELECT * FROM x", "postgres")
    >>> first + trace_tables("INSERT INTO b SELECT * FROM a, y", "postgres")
    {'operation': 'INSERT', 'destination': 'b', 'upstream': ['x', 'y']}
    """

    def __init__(
        self,
        operation: str = _NOTHING,
        destination: str | None = None,
        upstream: Iterable[str] = (),
        written: Iterable[str] = (),
    ) -> None:
        super().__init__(operation=operation, destination=destination, upstream=list(dict.fromkeys(upstream)))
        self.written = tuple(dict.fromkeys(written))

    def __add__(self, after: TableTrace) -> TableTrace:
        names_it = after if after["destination"] is not None or self["destination"] is None else self
        if after["operation"] == _NOTHING:
            names_it = self
        read_after = (table for table in after["upstream"] if table not in self.written)
        return TableTrace(
            names_it["operation"],
            names_it["destination"],
            [*self["upstream"], *read_after],
            [*self.written, *after.written],
        )


def trace_tables(
    sql: str,
    dialect: str | Dialect = "ansi",
    *,
    default_database: str | None = None,
    default_schema: str | None = None,
) -> TableTrace:
    """Return the tables that a text reads and writes.

    Of several statements the last that writes names the operation and the destination. What cannot be parsed is
    read off its keywords.

    >>> trace_tables("INSERT INTO report SELECT * FROM orders JOIN users USING (id)", "postgres")
    {'operation': 'INSERT', 'destination': 'report', 'upstream': ['orders', 'users']}

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    statements = extract(sql, dialect, default_database=default_database, default_schema=default_schema)
    return reduce(TableTrace.__add__, map(_of, statements), TableTrace())


def _of(statement: StatementLineage) -> TableTrace:
    if statement.changes:  # a DROP or RENAME writes no rows
        return TableTrace(statement.operation, None, statement.sources)
    written = dict.fromkeys(edge.target.table for edge in statement.edges if edge.target.table is not None)
    targets = [statement.target] if statement.target is not None else []
    return TableTrace(statement.operation, statement.target, statement.sources, [*targets, *written])
