"""What the statements of a folder run after, where a later statement changes what they have read."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lineage.frozen import frozen
from lineage.sql.canonical.forms.digests import Part, digest
from lineage.sql.canonical.statement_purpose import Purpose, StatementPurpose

__all__ = ["StatementOrder", "orders_that_count"]


@frozen
class StatementOrder:
    """A digest of what the statements that make a table run after, and the tables read whose columns change later."""

    digest: str
    altered: tuple[str, ...] = ()


def orders_that_count(statements: Sequence[tuple[str, StatementPurpose]]) -> dict[str, StatementOrder]:
    """Return what the statements that make a table run after, by table, from the statements of all files.

    The order counts of a table that is changed after it is read, and of functions and settings that follow in the
    file. Of others it does not: files may define a table after the view that reads it.
    """
    writers: dict[str, _Line] = defaultdict(_Line)
    contexts: dict[str, _Line] = defaultdict(_Line)
    views: dict[str, tuple[str, ...]] = {}
    for number, (source, statement) in enumerate(statements):
        if statement.table is not None:
            writers[statement.table].add(number, statement)
            if statement.is_view:
                views[statement.table] = statement.reads
        elif statement.purpose is Purpose.CONTEXT:
            contexts[source].add(number, statement)
    orders_by_table: dict[str, list[Part]] = defaultdict(list)
    altered: dict[str, dict[str, None]] = defaultdict(dict)
    for number, (source, statement) in enumerate(statements):
        if statement.table is None:
            continue
        context = contexts.get(source)
        if context is not None and context.numbers[-1] > number:
            orders_by_table[statement.table].append(context.before(number))
        if statement.is_view:  # it is read later
            continue
        for name in _tables_read(statement.reads, views):
            line = writers.get(name)
            if line is None or name == statement.table or not (earlier := line.before(number)):
                continue
            if line.last > number:
                orders_by_table[statement.table].append([name, earlier])
                if line.last_altering > number:
                    altered[statement.table][name] = None
    return {
        table: StatementOrder(digest("order", orders), tuple(altered.get(table, ())))
        for table, orders in orders_by_table.items()
    }


@dataclass(slots=True)
class _Line:
    """The statements that write a table, or change what others of a file mean, by their numbers, in order.

    `last` is the last that leaves a table, `last_altering` the last that changes its columns.
    """

    numbers: list[int] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    """Of each of them, with all before it."""
    last: int = -1
    last_altering: int = -1

    def add(self, number: int, statement: StatementPurpose) -> None:
        """Add the next statement."""
        self.digests.append(digest(self.digests[-1] if self.digests else "", statement.digest))
        self.numbers.append(number)
        if not statement.drops:
            self.last = number
            if statement.alterations:
                self.last_altering = number

    def before(self, number: int) -> str:
        """Return a digest of the statements before one; empty if there is none."""
        place = bisect_left(self.numbers, number)
        return self.digests[place - 1] if place else ""


def _tables_read(names: Sequence[str], views: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield these tables, and those behind the views among them."""
    seen: set[str] = set()
    pending = list(reversed(names))
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            yield name
            pending.extend(reversed(views.get(name, ())))
