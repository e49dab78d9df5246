"""What the statements of a folder run after, where a later statement changes what they have read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lineage.sql.canonical.digests import Part, digest
from lineage.sql.script.statement_purpose import Purpose, StatementPurpose

__all__ = ["orders_that_count"]


def orders_that_count(statements: Sequence[tuple[str, StatementPurpose]]) -> dict[str, str]:
    """Return a digest of what the statements that make a table run after, by table, from the statements of all files.

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
            later = (one for one in writers.get(name, ()) if one > number and not statements[one][1].drops)
            if earlier and next(later, None) is not None:
                found[statement.table].append([name, [statements[one][1].digest for one in earlier]])
    return {table: digest("order", orders) for table, orders in found.items()}


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
