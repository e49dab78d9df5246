"""When tables were there whose names are looked for in several schemas: DDL of the log, in order of time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from lineage_ingest.query_log.pipeline.versions import Event, NamesOfPart, NameStep, TableId, UnitPart

__all__ = ["Existence", "steps_on"]


class _Timeline(NamedTuple):
    """From when on a name is that of which table, by the name that it was made with; None: of none."""

    times: list[int]
    tables: list[TableId | None]


class Existence:
    """Tells from a log which tables exist at a time."""

    def __init__(
        self,
        events: Iterable[Event] = (),
        parts: Mapping[UnitPart, NamesOfPart] | None = None,
        searched: Mapping[int, Iterable[tuple[str, ...]]] | None = None,
        known: Collection[TableId] = (),
    ) -> None:
        """Follow events.

        Args:
            events: the runs of the parts that `steps_on` returns.
            parts: what each of these parts speaks of.
            searched: by unit, the tables that each of its names without a schema may mean, in the order of the path.
            known: the tables that were there before.
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
        """The names that the log has evidence about."""
        return self._lines

    def says(self, name: TableId, at: int) -> bool:
        """Return whether the log shows if a name was that of a table just before `at` (microseconds since 1970)."""
        return name in self._was_there or (name in self._lines and self._lines[name].times[0] < at)

    def table(self, name: TableId, at: int) -> TableId | None:
        """Return the table of a name just before a time, by the name that it was made with; None: there was none."""
        line = self._lines.get(name)
        if line is None or not (index := bisect_left(line.times, at)):
            return name
        return line.tables[index - 1]


def _schema(table: str) -> str:
    """Return the qualifier of a table's name."""
    return table[: table.rfind(".") + 1]


def steps_on(names: Iterable[TableId], parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[UnitPart]:
    """Return the parts that make, drop or rename tables that have some names, or have them before or after."""
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
