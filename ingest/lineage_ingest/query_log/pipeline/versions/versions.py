"""Which table a name refers to at each time of a log.

After a DROP and CREATE, a REPLACE or a RENAME, a name refers to another table. Each such table is a version, with a
unique name while the log is read (`versioned_name`), so that other modules can ignore time. `version_walk` finds them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from lineage.model.names import versioned_name
from lineage_ingest.query_log.pipeline.versions.names_of_parts import NamesOfPart, NameStep, TableId, UnitPart

__all__ = ["Bindings", "End", "Event", "Moment", "Renaming", "Versions"]

Moment: TypeAlias = "tuple[int, str, int]"
"""When something ran: microseconds since 1970, its session, and its position there."""


class Event(NamedTuple):
    """One run of a part that changes names."""

    at: Moment
    unit: int
    part: int


class Bindings(NamedTuple):
    """The versions that the names in a part refer to in one run, for names that several tables have had.

    `versions` are pairs of a full name and the version's name. `remade` are pairs of the version that a definition
    reads and the version that it creates under the same name. `idle` are pairs of equal names: tables that the part
    does not create, because they are there.
    """

    versions: tuple[tuple[str, str], ...] = ()
    remade: tuple[tuple[str, str], ...] = ()
    idle: tuple[tuple[str, str], ...] = ()


class Renaming(NamedTuple):
    """A version is renamed; if it is swapped with another one, that one's renaming is next to it."""

    at: Moment
    namespace: str
    version: str
    table: str
    other: str
    swaps: bool = False


class End(NamedTuple):
    """A version's last name, whether it still exists at the end of the log, and whether the log created it."""

    name: str
    lasts: bool
    made: bool
    at: Moment | None = None
    """When it was dropped or replaced, if it was."""
    since: Moment | None = None
    """When the log first created it."""
    named: Moment | None = None
    """When it first took its last name, if another version had the name before."""
    left: tuple[tuple[str, Moment], ...] = ()
    """The names that it had until a rename, and when, if another version has them at the end of the log."""


@dataclass(slots=True)
class Versions:
    """The tables that each name in a log refers to over time."""

    timelines: dict[TableId, tuple[list[Moment], list[str | None]]] = field(default_factory=dict)
    """By name: the times from which it refers to which version, or to none; before the first, the pre-log version."""
    parts: dict[UnitPart, NamesOfPart] = field(default_factory=dict)
    """The parts that mention these names, restricted to these names."""
    ends: dict[TableId, End] = field(default_factory=dict)
    """The last state of each version, by namespace and the version's name."""
    renamings: list[Renaming] = field(default_factory=list)
    """Renames in time order; empty if the log created every renamed version: it has its last name throughout."""
    defaults: dict[int, tuple[str | None, str | None]] = field(default_factory=dict)
    """The default database and schema of the templates among the units."""
    plain: dict[TableId, tuple[list[Moment], list[str | None]]] = field(default_factory=dict)
    """The timelines of the other names that the log creates, renames or drops: they refer to one table or to none."""
    idle: Mapping[UnitPart, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """The parts with IF NOT EXISTS that found a table of the name at each run, the name twice: they did nothing."""
    anew: frozenset[str] = frozenset()
    """The keys of the tables that IF NOT EXISTS created after the log had dropped or renamed one of the name."""
    searched: dict[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """By unit, the names that each unqualified name may refer to, in the order of the search path."""

    def units(self) -> frozenset[int]:
        """Return the units that mention these names."""
        return frozenset(unit for unit, _ in (*self.parts, *self.idle))

    def bindings(self, unit: int, part: int, at: Moment) -> Bindings | None:
        """Return the versions that a part's names refer to in a run; None if every version has its plain name."""
        own = self.parts.get((unit, part))
        bindings = None if own is None else self._bindings(own, at)
        if (unit, part) in self.idle:
            bindings = (bindings or Bindings())._replace(idle=self.idle[unit, part])
        if own is None or bindings is None or not (absent := self._passed_over(unit, own, at)):
            return bindings
        versions = dict(bindings.versions)
        return bindings._replace(versions=tuple(sorted({**absent, **versions}.items())))

    def _passed_over(self, unit: int, part: NamesOfPart, at: Moment) -> dict[str, str]:
        """Return the names that a search passes over because no table has them then, with a version that none has.

        The table that had such a name before, or that gets it later, may be known by it as a version.
        """
        absent: dict[str, str] = {}
        for names in self.searched.get(unit, ()):
            for name in names:
                times, states = self.plain.get((part.namespace, name), ((), ()))
                index = bisect_left(times, at)
                if index and states[index - 1] is None:
                    absent[name] = versioned_name(name, 0)
        return absent

    def _bindings(self, part: NamesOfPart, at: Moment) -> Bindings | None:
        versions: dict[str, str] = {}
        remade: dict[str, str] = {}
        created = {table for step, table, _ in part.steps if step.makes}
        until = self._end_of_view(part, created, at) if part.late else at
        for name in part.names:
            before = self.version_at(part.namespace, name, until if name not in created else at)
            if name in created:
                after = self.version_at(part.namespace, name, at, after=True)
                if name in part.reads and len(part.steps) == 1:
                    remade[before] = after
                else:
                    before = after
            versions[name] = before
        for step, table, other in part.steps:
            if step is NameStep.RENAME and other is not None:
                versions[other] = self.version_at(part.namespace, table, at)
        found = tuple(sorted((name, own) for name, own in versions.items() if name != own))
        made = tuple(sorted((old, new) for old, new in remade.items() if old != new))
        return Bindings(found, made) if found or made else None

    def version_at(self, namespace: str, name: str, at: Moment | None, *, after: bool = False) -> str:
        """Return the version that a name refers to just before `at` (with `after`, just after it; None: at the end).

        If no version has the name then, return the next one that takes it, else the last one that had it.
        """
        line = self.timelines.get((namespace, name))
        if line is None:
            return name
        times, states = line
        index = len(times) if at is None else (bisect_right if after else bisect_left)(times, at)
        if index == 0:
            return name if (namespace, name) in self.ends else next(state for state in states if state is not None)
        if (state := states[index - 1]) is not None:
            return state
        later = (state for state in states[index:] if state is not None)
        earlier = (state for state in reversed(states[: index - 1]) if state is not None)
        return next(later, None) or next(earlier, name)

    def successor(self, namespace: str, name: str, version: str) -> str | None:
        """Return the version that took a name over from a version, and None if none did.

        For a version that never had the name, return the first one that took it.
        """
        _, states = self.timelines.get((namespace, name), ((), ()))
        last = max((index for index, state in enumerate(states) if state == version), default=-1)
        return next((state for state in states[last + 1 :] if state not in (None, version)), None)

    def _end_of_view(self, part: NamesOfPart, created: Collection[str], at: Moment) -> Moment | None:
        """Return when the view that a part creates is dropped or replaced; None if it exists at the end."""
        for name in created:
            line = self.timelines.get((part.namespace, name)) or self.plain.get((part.namespace, name))
            times, states = line or ((), ())
            index = bisect_right(times, at)
            if index and (own := states[index - 1]) is not None:
                later = (i for i in range(index, len(times)) if states[i] != own)
                return next((times[i] for i in later), None)
        return None
