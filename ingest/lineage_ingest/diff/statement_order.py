"""What the statements of a folder run after, where a later statement changes what they have read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lineage.frozen import frozen
from lineage.sql.canonical.digests import Part, digest
from lineage.sql.script.statement_purpose import Purpose, StatementPurpose

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
    writers: dict[str, list[int]] = defaultdict(list)
    contexts: dict[str, list[int]] = defaultdict(list)
    views: dict[str, tuple[str, ...]] = {}
    for number, (source, statement) in enumerate(statements):
        if statement.table is not None:
            writers[statement.table].append(number)
            if statement.is_view:
                views[statement.table] = statement.reads
        elif statement.purpose is Purpose.CONTEXT:
            contexts[source].append(number)
    found: dict[str, list[Part]] = defaultdict(list)
    altered: dict[str, dict[str, None]] = defaultdict(dict)
    for number, (source, statement) in enumerate(statements):
        if statement.table is None:
            continue
        before = [one for one in contexts[source] if one < number]
        if len(before) < len(contexts[source]):
            found[statement.table].append([statements[one][1].digest for one in before])
        if statement.is_view:  # it is read later
            continue
        for name in _tables_read(statement.reads, views):
            if name == statement.table:
                continue
            earlier = [one for one in writers.get(name, ()) if one < number]
            later = [statements[one][1] for one in writers.get(name, ()) if one > number]
            if earlier and not all(one.drops for one in later):
                found[statement.table].append([name, [statements[one][1].digest for one in earlier]])
                if any(one.alterations for one in later):
                    altered[statement.table][name] = None
    return {
        table: StatementOrder(digest("order", orders), tuple(altered.get(table, ()))) for table, orders in found.items()
    }


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
