"""Renames that make room for another table: `RENAME t TO t_old; RENAME t_new TO t` replaces `t`, and keeps a copy.

What reads `t` by its name reads the table that takes the name over, and `t_old` is a copy of what `t` was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lineage_ingest.query_log.pipeline.names_of_parts import NamesOfPart, NameStep, TableId, UnitPart
from lineage_ingest.query_log.pipeline.versions import Event, Moment

__all__ = ["Backup", "kept_backups", "moment_of_move"]

Backup: TypeAlias = "tuple[Moment, TableId]"
"""A rename that leaves a copy: when it ran, and the name that the table had."""

_AT_ONCE = 60_000_000
"""Microseconds within which a CREATE follows the rename that makes room for it."""


def moment_of_move(at: Moment, number: int) -> Moment:
    """Return when the rename or swap of this number ran, within a statement: they are in order, also in the graph."""
    return at[0] + number, at[1], at[2]


def kept_backups(events: Iterable[Event], parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[Backup]:
    """Return the renames of tables whose name another table takes over in the same session.

    It does so by a rename, or by a CREATE right after. If two tables change places, both are moved.
    """
    sessions: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        sessions[event.at[1]].append(event)
    return frozenset(backup for one in sessions.values() for backup in _Session(parts).backups(one))


@dataclass(eq=False, slots=True)
class _Table:
    """A table, with the names that it left and took by renames in a session."""

    left: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Session:
    _parts: Mapping[UnitPart, NamesOfPart]
    _named: dict[TableId, _Table] = field(default_factory=lambda: defaultdict(_Table))
    """The table of each name now."""
    _left: dict[TableId, tuple[Moment, _Table]] = field(default_factory=dict)
    """The names that nothing has since a rename: when it ran, and the table that had it."""
    _found: dict[Backup, tuple[_Table, _Table]] = field(default_factory=dict)
    """The renames that made room, each with the table that had the name and the one that took it over."""

    def backups(self, events: Sequence[Event]) -> Iterable[Backup]:
        """Return the renames that leave a copy."""
        for event in events:
            part = self._parts[event.unit, event.part]
            moves = 0
            for step, name, other in part.steps:
                table_id = part.namespace, name
                at = moment_of_move(event.at, moves)
                moves += other is not None
                if other is None:
                    self._make_or_drop(step, table_id, at, is_next=len(part.steps) == 1)
                elif step is NameStep.RENAME:
                    self._rename(table_id, (part.namespace, other), at)
                else:
                    one, two = table_id, (part.namespace, other)
                    self._named[one], self._named[two] = self._named[two], self._named[one]
                    self._left.pop(one, None)
                    self._left.pop(two, None)
        return self._found

    def _make_or_drop(self, step: NameStep, table_id: TableId, at: Moment, *, is_next: bool) -> None:
        if step is NameStep.DROP:
            self._named.pop(table_id, None)
            return
        if step is NameStep.CREATE_UNLESS_THERE and table_id in self._named:
            return
        made = self._named[table_id] = _Table()
        before = self._left.pop(table_id, None)
        if before is not None and is_next and at[0] - before[0][0] <= _AT_ONCE:
            self._found[before[0], table_id] = before[1], made

    def _rename(self, old: TableId, new: TableId, at: Moment) -> None:
        table = self._named.pop(old) if old in self._named else _Table()
        table.left.add(old[1])
        table.taken.add(new[1])
        self._named[new] = table
        self._left[old] = at, table
        before = self._left.pop(new, None)
        if before is None or before[1] is table:
            return
        if before[1].taken.isdisjoint(table.left):
            self._found[before[0], new] = before[1], table
        else:  # they change places
            places = {before[1], table}
            self._found = {backup: both for backup, both in self._found.items() if set(both) != places}
