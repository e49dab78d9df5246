"""`trace_tables`: which tables a text reads and writes, without columns.

As in SQL Table Tracer, traces form a monoid: combining is associative, and the empty trace is its identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NoReturn

from lineage.model.dialect import Dialect
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import extract

__all__ = ["TableTrace", "trace_tables"]

_NOTHING = "EMPTY"


def _immutable(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is immutable; combine traces with | or +")


class _Names(list[str]):
    """An immutable list of table names, in order."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _immutable
    append = extend = insert = remove = pop = clear = sort = reverse = _immutable

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (tuple(self),)

    def __deepcopy__(self, _: object) -> Any:
        return self


class TableTrace(dict[str, Any]):
    """A text's operation, the table that it writes and the tables that it reads, in order: an immutable value.

    A dictionary of `operation`, `destination` and `upstream`, with an attribute `destinations`: all tables that the
    text writes. Two operators combine traces. Both are associative, with the empty trace as identity:

    `a | b`, or `a.combine(b)`, is the union, in any order of execution: no table is left out; the operation and the
    destination are those of the first trace that writes.

    >>> first = trace_tables("CREATE TABLE a AS SELECT * FROM x", "postgres")
    >>> second = trace_tables("INSERT INTO b SELECT * FROM a, y", "postgres")
    >>> first | second
    {'operation': 'CREATE_TABLE_AS', 'destination': 'a', 'upstream': ['x', 'a', 'y']}
    >>> (first | second).destinations
    ('a', 'b')

    `a + b` is b after a: the operation and the destination are those of the last trace that writes, and tables that a
    writes and b reads are not upstream.

    >>> first + second
    {'operation': 'INSERT', 'destination': 'b', 'upstream': ['x', 'y']}
    """

    def __init__(
        self,
        operation: str = _NOTHING,
        destination: str | None = None,
        upstream: Iterable[str] = (),
        written: Iterable[str] = (),
    ) -> None:
        super().__init__(operation=operation, destination=destination, upstream=_Names(dict.fromkeys(upstream)))
        object.__setattr__(self, "written", tuple(dict.fromkeys(written)))

    written: tuple[str, ...]
    """All tables that the text writes, in order."""

    @property
    def destinations(self) -> tuple[str, ...]:
        """All tables that the text writes, in order."""
        return self.written

    def combine(self, other: TableTrace) -> TableTrace:
        """Return the union of two traces; operation and destination are those of the first that writes."""
        names_it = next((one for one in (self, other) if one["destination"] is not None), None)
        names_it = names_it or next((one for one in (self, other) if one["operation"] != _NOTHING), self)
        return TableTrace(
            names_it["operation"],
            names_it["destination"],
            [*self["upstream"], *other["upstream"]],
            [*self.written, *other.written],
        )

    def __or__(self, other: Any) -> Any:
        return self.combine(other) if isinstance(other, TableTrace) else NotImplemented

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

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self["operation"], self["destination"], tuple(self["upstream"])))

    def __reduce__(self) -> tuple[Any, ...]:
        return TableTrace, (self["operation"], self["destination"], list(self["upstream"]), self.written)

    __setattr__ = __delattr__ = __setitem__ = __delitem__ = _immutable
    __ior__ = clear = pop = popitem = setdefault = update = _immutable


def trace_tables(
    sql: str,
    dialect: str | Dialect = "ansi",
    *,
    default_database: str | None = None,
    default_schema: str | None = None,
) -> TableTrace:
    """Return the tables that a text reads and writes.

    Of several statements, the last one that writes determines the operation and the destination. Statements that
    cannot be parsed are traced by their keywords.

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
    return TableTrace(statement.operation, statement.target, statement.sources, [*statement.targets, *written])
