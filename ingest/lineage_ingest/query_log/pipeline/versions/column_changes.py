"""Statements, mostly of other sessions, that change the columns of a table between those of a session block.

What a temporary table contains has the names that its sources' columns had when it was filled. If a column is renamed,
added or dropped before the temporary table is read, the ALTER is resolved within the session block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage_ingest.query_log.pipeline.members import Member
from lineage_ingest.query_log.pipeline.versions.names_of_parts import NamesOfPart, UnitPart, last_part
from lineage_ingest.query_log.pipeline.versions.versions import Event, Moment

__all__ = ["ColumnChange", "ColumnChanges", "column_changes_of", "parts_that_change_columns"]

_MAX_INSIDE = 500
"""Maximum number of changes that a session block takes in."""


class ColumnChange(NamedTuple):
    """A run of a statement that changes columns."""

    at: Moment
    member: Member


@dataclass(slots=True)
class ColumnChanges:
    """The changes of columns in a log."""

    by_table: dict[str, list[ColumnChange]] = field(default_factory=dict)
    """In time order, by the last part of the table's name."""

    def __bool__(self) -> bool:
        return bool(self.by_table)

    def within(self, moments: Sequence[Moment], mentioned: Sequence[Collection[str]]) -> list[tuple[int, ColumnChange]]:
        """Return what statements outside of a session block change of tables that it has mentioned, in time order.

        Args:
            moments: when each of its statements ran, in order.
            mentioned: the last parts of the names of the tables that each of them reads or writes.

        Returns:
            Each change, with the number of the statement of the block that it precedes.
        """
        first: dict[str, Moment] = {}
        for at, tables in zip(moments, mentioned, strict=True):
            for table in tables:
                first.setdefault(table, at)
        own = frozenset(moments)
        found: dict[Moment, ColumnChange] = {}
        for table in first.keys() & self.by_table.keys():
            changes = self.by_table[table]
            start = bisect_right(changes, first[table], key=lambda one: one.at)
            for change in changes[start : bisect_right(changes, moments[-1], key=lambda one: one.at)]:
                if change.at not in own:
                    found[change.at] = change
        inside = [found[at] for at in sorted(found)][:_MAX_INSIDE]
        return [(bisect_right(moments, one.at), one) for one in inside]


def parts_that_change_columns(parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[UnitPart]:
    """Return the parts that change the columns of tables, and do nothing else to names."""
    return frozenset(key for key, part in parts.items() if part.alters and not part.steps)


def column_changes_of(events: Iterable[tuple[Event, Member]], parts: Mapping[UnitPart, NamesOfPart]) -> ColumnChanges:
    """Return the changes of columns in a log, from the runs of the parts that make them; `parts` are all of the log."""
    names = _names_of_same_tables(parts.values())
    changes_by_table: dict[str, list[ColumnChange]] = defaultdict(list)
    for event, member in events:
        altered = map(last_part, parts[event.unit, event.part].alters)
        for table in {other for one in altered for other in names.get(one, (one,))}:
            changes_by_table[table].append(ColumnChange(event.at, member))
    for changes in changes_by_table.values():
        changes.sort(key=lambda one: one.at)
    return ColumnChanges(dict(changes_by_table))


def _names_of_same_tables(parts: Iterable[NamesOfPart]) -> dict[str, set[str]]:
    """Return, for the last part of each name that a table loses or gets in a RENAME, those of its other names."""
    names: dict[str, set[str]] = {}
    for part in parts:
        for _, table, other in part.steps:
            if other is not None:
                old, new = last_part(table), last_part(other)
                together = names.get(old, {old}) | names.get(new, {new})
                names.update(dict.fromkeys(together, together))
    return names
