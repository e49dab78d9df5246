"""When tables existed whose names are searched for in several schemas, from the log's DDL in time order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from lineage_ingest.query_log.pipeline.versions.names_of_parts import NamesOfPart, NameStep, TableId, UnitPart
from lineage_ingest.query_log.pipeline.versions.versions import Event

__all__ = ["Existence", "steps_on"]


class _Timeline(NamedTuple):
    """The times from which a name refers to which table, given by the name it was created with; None: to no table."""

    times: list[int]
    tables: list[TableId | None]


class Existence:
    """The tables that exist at a time, as far as a log shows."""

    def __init__(
        self,
        events: Iterable[Event] = (),
        parts: Mapping[UnitPart, NamesOfPart] | None = None,
        searched: Mapping[int, Iterable[tuple[str, ...]]] | None = None,
        known: Collection[TableId] = (),
    ) -> None:
        """Apply events in time order.

        Args:
            events: the runs of the parts that `steps_on` returns.
            parts: the names that each of these parts mentions.
            searched: by unit, the tables that each unqualified name may refer to, in the order of the search path.
            known: the tables that existed before the log.
        """
        self._lines: dict[TableId, _Timeline] = {}
        self._was_there: set[TableId] = set()
        self._known = known
        for event in sorted(events):
            part = (parts or {})[event.unit, event.part]
            paths = (searched or {}).get(event.unit, ())
            for step, table, other in part.steps:
                self._follow(step, part.namespace, table, other, paths, event.at[0])

    def _follow(
        self, step: NameStep, namespace: str, table: str, other: str | None, paths: Iterable[tuple[str, ...]], at: int
    ) -> None:
        if not step.makes:
            for names in paths:
                if table in names:
                    found = next((name for name in names if self._is_there((namespace, name))), table)
                    if other is not None and _schema(other) == _schema(table):
                        other = _schema(found) + other.removeprefix(_schema(table))
                    table = found
                    break
        self._take(step, (namespace, table), (namespace, other or table), at)

    def _is_there(self, table: TableId) -> bool:
        return self._now(table) is not None if table in self._lines else table in self._known

    def _take(self, step: NameStep, table: TableId, other: TableId, at: int) -> None:
        if step is NameStep.CREATE or (step is NameStep.CREATE_UNLESS_THERE and self._now(table) is None):
            self._set(table, table, at)
        elif not step.makes:
            if table not in self._lines:
                self._was_there.add(table)
            moved = self._now(table) or table
            self._set(table, self._now(other) if step is NameStep.SWAP else None, at)
            if step is not NameStep.DROP:
                self._set(other, moved, at)

    def _now(self, table: TableId) -> TableId | None:
        return self._lines[table].tables[-1] if table in self._lines else None

    def _set(self, name: TableId, table: TableId | None, at: int) -> None:
        line = self._lines.setdefault(name, _Timeline([], []))
        line.times.append(at)
        line.tables.append(table)

    @property
    def names(self) -> Iterable[TableId]:
        """The names that the log creates, drops or renames."""
        return self._lines

    def says(self, name: TableId, at: int) -> bool:
        """Return whether the log shows if a table of the name existed just before `at` (microseconds since 1970)."""
        return name in self._was_there or (name in self._lines and self._lines[name].times[0] < at)

    def table(self, name: TableId, at: int) -> TableId | None:
        """Return the table of a name just before a time, by the name that it was created with; None if none existed."""
        line = self._lines.get(name)
        if line is None or not (index := bisect_left(line.times, at)):
            return name
        return line.tables[index - 1]


def _schema(table: str) -> str:
    """Return the qualifier of a table's name."""
    return table[: table.rfind(".") + 1]


def steps_on(names: Iterable[TableId], parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[UnitPart]:
    """Return the parts that create, drop or rename tables that have one of the names before or after a rename."""
    wanted = set(names)
    size = -1
    while size < len(wanted):
        size = len(wanted)
        for part in parts.values():
            for _, table, other in part.steps:
                pair = {(part.namespace, name) for name in (table, other) if name is not None}
                if not wanted.isdisjoint(pair):
                    wanted |= pair
    return frozenset(
        key
        for key, part in parts.items()
        if any((part.namespace, name) in wanted for _, *two in part.steps for name in two if name is not None)
    )
