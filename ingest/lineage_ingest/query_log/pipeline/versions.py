"""Which table a name means when: DDL of a log, in order of time.

A table that is dropped and made anew, replaced or renamed leaves its name to another one. Each of them is a version,
with a name of its own while the log is read (`versioned_name`), so that nothing else has to know of times. What is
made anew by the same definition, from the same versions, is the same version: a nightly rebuild is one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import NamedTuple, TypeAlias

from lineage.model.dialects import dialect_named
from lineage.model.names import versioned_name
from lineage.model.statement import ChangeKind, DatasetKind, StatementLineage
from lineage.sql.scan.leading import LEADING

__all__ = [
    "Bindings",
    "Event",
    "Moment",
    "NamesOfPart",
    "TableId",
    "NameStep",
    "UnitPart",
    "Versions",
    "keeps_what_is_there",
    "made_and_left",
    "made_in",
    "names_of_parts",
    "new_in",
    "read_before_made",
    "versions_of",
    "watched",
]

TableId: TypeAlias = "tuple[str, str]"
"""A table's name: namespace and full name."""
Moment: TypeAlias = "tuple[int, str, int]"
"""When something ran: microseconds since 1970, its session, and its position there."""
UnitPart: TypeAlias = "tuple[int, int]"
"""A unit, and the number of one of its parts."""

_UNLESS_THERE = re.compile(rf"{LEADING}create\s+(?:\w+\s+){{0,3}}?(?:table|view)\s+if\s+not\s+exists\b", re.IGNORECASE)
_PLAIN = re.compile(
    rf"{LEADING}create\s+(?:(?:global|local|temp|temporary|transient|unlogged|external|foreign|materialized|secure|"
    r"recursive)\s+)*(?:table|view)\s+(?!if\s+not\s+exists\b)",
    re.IGNORECASE,
)
_MAX_VERSIONS = 20
"""Maximum number of versions of a definition whose sources change; later runs share the first ones."""


class NameStep(StrEnum):
    """What a statement does to a name."""

    CREATE = "create"
    CREATE_UNLESS_THERE = "create unless there"
    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"

    @property
    def makes(self) -> bool:
        """Whether it makes a table or view of the name."""
        return self in _MAKING


_MAKING = frozenset((NameStep.CREATE, NameStep.CREATE_UNLESS_THERE))


class NamesOfPart(NamedTuple):
    """The full names of the tables that a part of a unit mentions, except those private to its session."""

    namespace: str
    names: tuple[str, ...]
    reads: tuple[str, ...] = ()
    steps: tuple[tuple[NameStep, str, str | None], ...] = ()
    late: bool = False
    """It makes a view: what that reads is what has the name whenever the view is read."""
    writes: bool = False
    """It writes some table, or changes one."""
    is_plain: bool = False
    """It is a CREATE that fails where there is a table or view of the name."""

    def names_any(self, table_ids: Collection[TableId]) -> bool:
        """Return whether the part mentions one of these tables."""
        return any((self.namespace, name) in table_ids for name in self.names)


class Event(NamedTuple):
    """A part with steps ran."""

    at: Moment
    unit: int
    part: int


class Bindings(NamedTuple):
    """Which tables the names in a part mean in a run, where others have had them too.

    `versions` are pairs of a full name and the version's own name, `remade` of the version that a definition reads
    and the one that it makes in its place.
    """

    versions: tuple[tuple[str, str], ...] = ()
    remade: tuple[tuple[str, str], ...] = ()


def keeps_what_is_there(sql: str) -> bool:
    """Return whether a statement makes a table or view only if there is none of the name."""
    return _UNLESS_THERE.match(sql) is not None


def names_of_parts(
    parts: Sequence[str], dialect: str, namespace: str, statements: Iterable[StatementLineage]
) -> tuple[NamesOfPart, ...]:
    """Return the tables that each part of a unit mentions; `parts` are their texts."""
    names: list[dict[str, None]] = [{} for _ in parts]
    reads: list[dict[str, None]] = [{} for _ in parts]
    steps: list[list[tuple[NameStep, str, str | None]]] = [[] for _ in parts]
    late = [False] * len(parts)
    writes = [False] * len(parts)
    plain = [_PLAIN.match(part) is not None for part in parts]
    follows = dialect_named(dialect).views_follow_renames
    for statement in statements:
        part = int(statement.source or 0)
        own = [name for name in statement.targets if name not in statement.temporary]
        if statement.target_kind is DatasetKind.TEMPORARY:
            own = [name for name in own if name != statement.target]
        names[part].update(dict.fromkeys((*statement.sources, *own)))
        writes[part] |= bool(statement.targets or statement.changes)
        reads[part].update(dict.fromkeys(statement.sources))
        if statement.defines and statement.target in own:
            step = NameStep.CREATE_UNLESS_THERE if keeps_what_is_there(parts[part]) else NameStep.CREATE
            steps[part].append((step, statement.target, None))
            is_view = statement.target_kind is DatasetKind.VIEW and statement.operation == "CREATE_VIEW"
            late[part] = is_view and not follows
        for change in statement.changes:
            names[part][change.table] = None
            if change.kind is ChangeKind.DROP:
                steps[part].append((NameStep.DROP, change.table, None))
            elif not change.kind.of_column and change.other is not None:
                names[part][change.other] = None
                step = NameStep.RENAME if change.kind is ChangeKind.RENAME else NameStep.SWAP
                steps[part].append((step, change.table, change.other))
    return tuple(
        NamesOfPart(namespace, tuple(names[n]), tuple(reads[n]), tuple(steps[n]), late[n], writes[n], plain[n])
        for n in range(len(parts))
    )


def watched(parts: Mapping[UnitPart, NamesOfPart], before: Collection[TableId] = ()) -> frozenset[UnitPart]:
    """Return the parts whose runs say which table has a name: none, where each name is of one table throughout.

    `before` are names whose tables from before the log are read in it, and made anew.
    """
    makers: dict[TableId, set[UnitPart]] = defaultdict(set)
    unsteady = set(before)
    for key, part in parts.items():
        for step, table, other in part.steps:
            table_id = part.namespace, table
            if step.makes:
                makers[table_id].add(key)
            else:
                unsteady.update((part.namespace, name) for name in (table, other) if name is not None)
    unsteady.update(table_id for table_id, keys in makers.items() if len(keys) > 1)
    return frozenset(
        key
        for key, part in parts.items()
        if any((part.namespace, n) in unsteady for _, table, other in part.steps for n in (table, other) if n)
    )


class Renaming(NamedTuple):
    """A version gets another name."""

    at: Moment
    namespace: str
    version: str
    table: str
    other: str


class End(NamedTuple):
    """What becomes of a version: its last name, whether it has that in the end, and whether the log made it."""

    name: str
    lasts: bool
    made: bool
    at: Moment | None = None
    """When it went, if it did."""
    since: Moment | None = None
    """When the log made it first."""
    named: Moment | None = None
    """When it took its last name from another version."""


@dataclass(slots=True)
class Versions:
    """The tables that names of a log meant, one after the other."""

    timelines: dict[TableId, tuple[list[Moment], list[str | None]]] = field(default_factory=dict)
    """By name: from when on it means which version, or none; before that the one that was there before the log."""
    parts: dict[UnitPart, NamesOfPart] = field(default_factory=dict)
    """The parts that mention these names, restricted to them."""
    ends: dict[TableId, End] = field(default_factory=dict)
    """By namespace and a version's own name."""
    renamings: list[Renaming] = field(default_factory=list)
    """In order of time; none, if all were made by the log: these have had their last names all along."""
    defaults: dict[int, tuple[str | None, str | None]] = field(default_factory=dict)
    """The default database and schema of the templates among the units."""

    def units(self) -> frozenset[int]:
        """Return the units that mention these names."""
        return frozenset(unit for unit, _ in self.parts)

    def bindings(self, unit: int, part: int, at: Moment) -> Bindings | None:
        """Return what the names in a part mean in a run; None where that is what they mean anyway."""
        own = self.parts.get((unit, part))
        return None if own is None else self._bindings(own, at)

    def _bindings(self, part: NamesOfPart, at: Moment) -> Bindings | None:
        versions: dict[str, str] = {}
        remade: dict[str, str] = {}
        created = {table for step, table, _ in part.steps if step.makes}
        until = self._end_of_view(part, created, at) if part.late else at
        for name in part.names:
            before = self.meant(part.namespace, name, until if name not in created else at)
            if name in created:
                after = self.meant(part.namespace, name, at, after=True)
                if name in part.reads and len(part.steps) == 1:
                    remade[before] = after
                else:
                    before = after
            versions[name] = before
        for step, table, other in part.steps:
            if step is NameStep.RENAME and other is not None:
                versions[other] = self.meant(part.namespace, table, at)
        found = tuple(sorted((name, own) for name, own in versions.items() if name != own))
        made = tuple(sorted((old, new) for old, new in remade.items() if old != new))
        return Bindings(found, made) if found or made else None

    def meant(self, namespace: str, name: str, at: Moment | None, *, after: bool = False) -> str:
        """Return the version that a name means just before a time (or after it; in the end, without one).

        Where none has the name, it is the next one that gets it, else the last that had it.
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

    def _end_of_view(self, part: NamesOfPart, created: Collection[str], at: Moment) -> Moment | None:
        """Return when the view that a part makes went; None if it is there in the end."""
        for name in created:
            times, states = self.timelines.get((part.namespace, name), ((), ()))
            index = bisect_right(times, at)
            if index and (own := states[index - 1]) is not None:
                later = (i for i in range(index, len(times)) if states[i] != own)
                return next((times[i] for i in later), None)
        return None


def made_in(parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[TableId]:
    """Return the names that the parts make a table or view of, whatever has them."""
    return frozenset(
        (part.namespace, table)
        for part in parts.values()
        for step, table, _ in part.steps
        if step is NameStep.CREATE or table in part.reads
    )


def made_and_left(parts: Iterable[NamesOfPart]) -> frozenset[TableId]:
    """Return the names of which the parts make a table or view, and which they take from one."""
    made: set[TableId] = set()
    left: set[TableId] = set()
    for part in parts:
        for step, table, other in part.steps:
            names = (table, other) if step is NameStep.SWAP and other is not None else (table,)
            (made if step.makes else left).update((part.namespace, name) for name in names)
    return frozenset(made & left)


def new_in(parts: Mapping[UnitPart, NamesOfPart], began: Mapping[UnitPart, int]) -> frozenset[TableId]:
    """Return the names of which there was no table or view: the first that is done to them is a plain CREATE."""
    first: dict[TableId, tuple[int, bool]] = {}
    for key, part in parts.items():
        for step, table, other in part.steps:
            for name in (table, other) if other is not None else (table,):
                done = (
                    began[key],
                    not (step is NameStep.CREATE and part.is_plain),
                )  # of two at one time, the one that is not
                first[part.namespace, name] = min(done, first.get((part.namespace, name), done))
    return frozenset(table_id for table_id, (_, is_other) in first.items() if not is_other)


def read_before_made(
    parts: Mapping[UnitPart, NamesOfPart], began: Mapping[UnitPart, int], table_ids: Collection[TableId]
) -> frozenset[TableId]:
    """Return those of some names whose tables a part reads or fills before the first one that makes them anew.

    `began` is when each part first ran. What only reads says nothing of lineage, and a view reads what comes later.
    """
    made: dict[TableId, int] = {}
    used: dict[TableId, int] = {}
    for key, part in parts.items():
        makes = {table for step, table, _ in part.steps if step.makes}
        for name in part.names:
            table_id = part.namespace, name
            if table_id not in table_ids:
                continue
            if name in makes:
                made[table_id] = min(began[key], made.get(table_id, began[key]))
            if (name in part.reads) if name in makes else (part.writes and not part.late):
                used[table_id] = min(began[key], used.get(table_id, began[key]))
    return frozenset(table_id for table_id, at in used.items() if table_id in made and at <= made[table_id])


def versions_of(
    events: Iterable[Event], parts: Mapping[UnitPart, NamesOfPart], before: Collection[TableId] = ()
) -> Versions | None:
    """Return which tables the names of a log meant when; None where no name has meant more than one.

    Args:
        events: the runs of the parts that are `watched`.
        parts: all parts, with the tables that they speak of.
        before: names that are known to have been those of other tables before the log.
    """
    walk = _Walk(parts)
    for table_id in sorted(before):
        walk.begin_with(table_id)
    for event in sorted(events):
        walk.take(event)
    return walk.versions()


class _Walk:
    def __init__(self, parts: Mapping[UnitPart, NamesOfPart]) -> None:
        self._parts = parts
        self._lines: dict[TableId, tuple[list[Moment], list[str | None]]] = defaultdict(lambda: ([], []))
        self._known: dict[tuple[TableId, UnitPart, object], list[str]] = defaultdict(list)
        """The versions that a definition made of a table, from the same versions of others."""
        self._made_by: dict[tuple[TableId, UnitPart], list[str]] = defaultdict(list)
        self._makers: dict[TableId, UnitPart] = {}
        self._numbers: dict[TableId, Iterator[int]] = defaultdict(lambda: count(1))
        self._places: dict[TableId, set[str]] = defaultdict(set)
        """The names that each version has now."""
        self._last: dict[TableId, str] = {}
        self._since: dict[TableId, Moment] = {}
        self._gone: dict[TableId, Moment] = {}
        self._named: dict[TableId, Moment] = {}
        self._before: set[TableId] = set()
        """What was there before the log."""
        self._renamings: list[Renaming] = []

    def take(self, event: Event) -> None:
        part = self._parts[event.unit, event.part]
        meant = tuple((name, self._now(part.namespace, name)) for name in part.reads)
        for step, table, other in part.steps:
            table_id = part.namespace, table
            if step.makes:
                self._create(table_id, event, part, step, meant)
            elif step is NameStep.DROP:
                self._set(table_id, None, event.at)
            elif other is not None:
                self._move(part.namespace, table, other, event.at, swap=step is NameStep.SWAP)

    def _now(self, namespace: str, name: str) -> str | None:
        """Return the version that a name means now; for a name not seen yet, the one before the log."""
        states = self._lines[namespace, name][1] if (namespace, name) in self._lines else None
        return states[-1] if states else name

    def _create(
        self,
        table_id: TableId,
        event: Event,
        part: NamesOfPart,
        step: NameStep,
        meant: tuple[tuple[str, str | None], ...],
    ) -> None:
        touched = table_id in self._lines
        namespace, name = table_id
        reads_itself = name in part.reads
        if not touched and reads_itself:
            return
        now = self._now(namespace, name) if table_id in self._lines else None
        if now is not None and step is NameStep.CREATE_UNLESS_THERE:
            return
        maker = event.unit, event.part
        if reads_itself and now is not None and self._makers.get((namespace, now)) == maker:
            return
        known = self._known[table_id, maker, meant]
        own = next((one for one in known if self._places[namespace, one] <= {name}), None)
        every = self._made_by[table_id, maker]
        if own is None and len(every) >= _MAX_VERSIONS:
            own = next((one for one in every if self._places[namespace, one] <= {name}), None)
        if own is None:
            plain_is_free = (namespace, name) not in self._before and (namespace, name) not in self._since
            own = name if plain_is_free else versioned_name(name, next(self._numbers[table_id]))
            known.append(own)
            every.append(own)
            self._makers[namespace, own] = maker
            self._since[namespace, own] = event.at
        self._set(table_id, own, event.at)

    def begin_with(self, table_id: TableId) -> None:
        """Take in that a name was that of another table before the log."""
        self._touch(table_id)

    def _touch(self, table_id: TableId) -> None:
        """Note that there was a table of a name before the log."""
        self._before.add(table_id)
        self._places[table_id].add(table_id[1])
        self._last[table_id] = table_id[1]
        self._lines[table_id]  # it has a timeline from now on

    def _set(self, table_id: TableId, own: str | None, at: Moment) -> None:
        namespace, name = table_id
        if table_id not in self._lines and table_id not in self._since and own is None:
            self._touch(table_id)
        times, states = self._lines[table_id]
        old = states[-1] if states else (name if table_id in self._before else None)
        if old == own and states:
            return
        if old is not None and old != own:
            self._places[namespace, old].discard(name)
            if not self._places[namespace, old]:
                self._gone[namespace, old] = at
        if own is not None:
            if any(state not in (None, own) for state in states) or table_id in self._before:
                self._named[namespace, own] = at
            self._places[namespace, own].add(name)
            self._last[namespace, own] = name
            self._gone.pop((namespace, own), None)
        times.append(at)
        states.append(own)

    def _move(self, namespace: str, table: str, other: str, at: Moment, *, swap: bool) -> None:
        for name in (table, other) if swap else (table,):
            if (namespace, name) not in self._lines and (namespace, name) not in self._since:
                self._touch((namespace, name))
        moving, there = self._now(namespace, table), self._now(namespace, other) if swap else None
        if moving is None:
            moving = self._unseen((namespace, table), at)
        for old, new, version in ((table, other, moving), (other, table, there)):
            if version is not None:
                self._renamings.append(Renaming(at, namespace, version, old, new))
        self._places[namespace, moving].add(other)  # it goes nowhere between the two
        self._set((namespace, table), there, at)
        self._set((namespace, other), moving, at)

    def _unseen(self, table_id: TableId, at: Moment) -> str:
        """Return the version that has a name again which was left: one that was made where no log says it."""
        own = versioned_name(table_id[1], next(self._numbers[table_id]))
        self._set(table_id, own, at)
        return own

    def versions(self) -> Versions | None:
        lines = {table_id: line for table_id, line in self._lines.items() if line[0]}
        if not lines:
            return None
        bound = {
            table_id
            for table_id, (_, states) in lines.items()
            if any(s is not None and s != table_id[1] for s in states)
        }
        ends = {
            (namespace, own): End(
                name,
                bool(self._places[namespace, own]),
                (namespace, own) not in self._before,
                self._gone.get((namespace, own)),
                self._since.get((namespace, own)),
                self._named.get((namespace, own)),
            )
            for (namespace, own), name in self._last.items()
        }
        parts = {}
        for key, part in self._parts.items():
            names = tuple(name for name in part.names if (part.namespace, name) in bound)
            if names:
                parts[key] = NamesOfPart(
                    part.namespace,
                    names,
                    tuple(n for n in part.reads if n in names),
                    part.steps,
                    part.late,
                    part.writes,
                )
        renamed = any((one.namespace, one.version) in self._before for one in self._renamings)
        return Versions(
            {table_id: lines[table_id] for table_id in bound}, parts, ends, self._renamings if renamed else []
        )
