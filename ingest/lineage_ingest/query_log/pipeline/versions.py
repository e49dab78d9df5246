"""Determines which table a name refers to at each time, from the log's DDL in time order.

After a DROP and CREATE, a REPLACE or a RENAME, a name refers to another table. Each such table is a version, with a
unique name while the log is read (`versioned_name`), so that other modules can ignore time. A table that is recreated
by the same definition from the same versions is the same version: a nightly rebuild has one version.
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
from lineage.model.names import split_name, versioned_name
from lineage.model.statement import ChangeKind, DatasetKind, StatementLineage
from lineage.sql.scan.leading import LEADING
from lineage_ingest.query_log.pipeline.replaced_names import replaced_names

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
    "last_part",
    "made_and_left",
    "made_in",
    "names_of_parts",
    "new_in",
    "read_before_made",
    "versions_of",
    "deciding_parts",
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
    """What a statement does to a table's name."""

    CREATE = "create"
    CREATE_UNLESS_THERE = "create unless there"
    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"

    @property
    def makes(self) -> bool:
        """Whether it creates a table or view with the name."""
        return self in _MAKING


_MAKING = frozenset((NameStep.CREATE, NameStep.CREATE_UNLESS_THERE))


class NamesOfPart(NamedTuple):
    """The full names of the tables that a part of a unit mentions, except those private to its session."""

    namespace: str
    names: tuple[str, ...]
    reads: tuple[str, ...] = ()
    steps: tuple[tuple[NameStep, str, str | None], ...] = ()
    late: bool = False
    """Whether the part creates a view, whose names are resolved each time the view is read."""
    writes: bool = False
    """Whether the part writes or alters a table."""
    is_plain: bool = False
    """Whether the part is a CREATE that fails if a table or view with the name exists."""
    alters: tuple[str, ...] = ()
    """Tables whose columns it adds, renames or drops."""

    def names_any(self, table_ids: Collection[TableId]) -> bool:
        """Return whether the part mentions one of these tables."""
        return any((self.namespace, name) in table_ids for name in self.names)


class Event(NamedTuple):
    """One run of a part that changes names."""

    at: Moment
    unit: int
    part: int


class Bindings(NamedTuple):
    """The versions that the names in a part refer to in one run, for names that several tables have had.

    `versions` are pairs of a full name and the version's name. `remade` are pairs of the version that a definition
    reads and the version that it creates under the same name.
    """

    versions: tuple[tuple[str, str], ...] = ()
    remade: tuple[tuple[str, str], ...] = ()


def last_part(name: str) -> str:
    """Return the last part of a table's full name."""
    return name.rpartition(".")[2] if '"' not in name else split_name(name)[-1][0]


def keeps_what_is_there(sql: str) -> bool:
    """Return whether a statement is CREATE TABLE or VIEW with IF NOT EXISTS."""
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
    alters: list[dict[str, None]] = [{} for _ in parts]
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
        if statement.altered and statement.target in own:
            alters[part][statement.target] = None
        for change in statement.changes:
            names[part][change.table] = None
            if change.kind.of_column:
                alters[part][change.table] = None
            if change.kind is ChangeKind.DROP:
                steps[part].append((NameStep.DROP, change.table, None))
            elif not change.kind.of_column and change.other is not None:
                names[part][change.other] = None
                step = NameStep.RENAME if change.kind is ChangeKind.RENAME else NameStep.SWAP
                steps[part].append((step, change.table, change.other))
    return tuple(
        NamesOfPart(
            namespace, tuple(names[n]), tuple(reads[n]), tuple(steps[n]), late[n], writes[n], plain[n], tuple(alters[n])
        )
        for n in range(len(parts))
    )


def deciding_parts(parts: Mapping[UnitPart, NamesOfPart], before: Collection[TableId] = ()) -> frozenset[UnitPart]:
    """Return the parts whose runs decide which table has a name; empty if each name refers to one table throughout.

    `before` are names of tables that existed before the log, and that the log both reads and recreates.
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
    """A version is renamed."""

    at: Moment
    namespace: str
    version: str
    table: str
    other: str


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
    searched: dict[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """By unit, the names that each unqualified name may refer to, in the order of the search path."""

    def units(self) -> frozenset[int]:
        """Return the units that mention these names."""
        return frozenset(unit for unit, _ in self.parts)

    def bindings(self, unit: int, part: int, at: Moment) -> Bindings | None:
        """Return the versions that a part's names refer to in a run; None if every version has its plain name."""
        own = self.parts.get((unit, part))
        found = None if own is None else self._bindings(own, at)
        if own is None or found is None or not (absent := self._passed_over(unit, own, at)):
            return found
        versions = dict(found.versions)
        return found._replace(versions=tuple(sorted({**absent, **versions}.items())))

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
            times, states = self.timelines.get((part.namespace, name), ((), ()))
            index = bisect_right(times, at)
            if index and (own := states[index - 1]) is not None:
                later = (i for i in range(index, len(times)) if states[i] != own)
                return next((times[i] for i in later), None)
        return None


def made_in(parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[TableId]:
    """Return the names under which the parts create a table or view, whether or not the name is in use."""
    return frozenset(
        (part.namespace, table)
        for part in parts.values()
        for step, table, _ in part.steps
        if step is NameStep.CREATE or table in part.reads
    )


def made_and_left(parts: Iterable[NamesOfPart]) -> frozenset[TableId]:
    """Return the names under which the parts create a table or view, and which they also drop or rename."""
    made: set[TableId] = set()
    left: set[TableId] = set()
    for part in parts:
        for step, table, other in part.steps:
            names = (table, other) if step is NameStep.SWAP and other is not None else (table,)
            (made if step.makes else left).update((part.namespace, name) for name in names)
    return frozenset(made & left)


def new_in(parts: Mapping[UnitPart, NamesOfPart], began: Mapping[UnitPart, int]) -> frozenset[TableId]:
    """Return the names that did not exist before the log: their first change is a plain CREATE."""
    first: dict[TableId, tuple[int, bool]] = {}
    for key, part in parts.items():
        for step, table, other in part.steps:
            for name in (table, other) if other is not None else (table,):
                done = (
                    began[key],
                    not (step is NameStep.CREATE and part.is_plain),
                )  # at equal times, a step that is not a plain CREATE wins
                first[part.namespace, name] = min(done, first.get((part.namespace, name), done))
    return frozenset(table_id for table_id, (_, is_other) in first.items() if not is_other)


def read_before_made(
    parts: Mapping[UnitPart, NamesOfPart], began: Mapping[UnitPart, int], table_ids: Collection[TableId]
) -> frozenset[TableId]:
    """Return the names in `table_ids` that a part uses before the first part that recreates the table.

    `began` is when each part first ran. Only parts that write count: a SELECT alone has no lineage, and a view resolves
    its names later.
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
    """Return the versions that the log's names refer to over time; None if each name refers to one table throughout.

    Args:
        events: the runs of the parts that `watched` returns.
        parts: all parts, with the tables that they mention.
        before: names that referred to other tables before the log.
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
        """The versions that a definition created from the same versions of its inputs."""
        self._made_by: dict[tuple[TableId, UnitPart], list[str]] = defaultdict(list)
        self._makers: dict[TableId, UnitPart] = {}
        self._numbers: dict[TableId, Iterator[int]] = defaultdict(lambda: count(1))
        self._places: dict[TableId, set[str]] = defaultdict(set)
        """The names that each version has now."""
        self._last: dict[TableId, str] = {}
        self._since: dict[TableId, Moment] = {}
        self._gone: dict[TableId, Moment] = {}
        self._named: dict[TableId, dict[str, Moment | None]] = defaultdict(dict)
        """The names that each version has taken, with the time of the first if another version had the name before."""
        self._left: dict[TableId, dict[str, Moment]] = defaultdict(dict)
        """The names that each version has lost, in order of time."""
        self._made_as: dict[TableId, str] = {}
        self._holders: dict[TableId, str] = {}
        """The last version of each name, except those that were made under it and then renamed."""
        self._replaced_by: dict[TableId, str] = {}
        """The version that took a name of each version after it."""
        self._before: set[TableId] = set()
        """The names of tables that existed before the log."""
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
        """Return the version that a name refers to now; for a name not seen yet, the one from before the log."""
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
        own = next((one for one in known if self._is_free(namespace, one, name, known)), None)
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
            self._made_as[namespace, own] = name
        self._set(table_id, own, event.at)

    def _is_free(self, namespace: str, own: str, name: str, known: Collection[str]) -> bool:
        """Return whether a version can be made again under a name; `known` are those of the same definition.

        It cannot if a table of another definition has been in its place since: what was read before must be told apart.
        """
        if not self._places[namespace, own] <= {name}:
            return False
        seen: set[str] = set()
        after = self._replaced_by.get((namespace, own))
        while after is not None and after not in seen:
            if after not in known:
                return False
            seen.add(after)
            after = self._replaced_by.get((namespace, after))
        return True

    def begin_with(self, table_id: TableId) -> None:
        """Record that a name referred to another table before the log."""
        self._touch(table_id)

    def _touch(self, table_id: TableId) -> None:
        """Record that a table with the name existed before the log."""
        self._before.add(table_id)
        self._places[table_id].add(table_id[1])
        self._last[table_id] = table_id[1]
        self._lines[table_id]  # the defaultdict creates its timeline

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
            self._left[namespace, old].pop(name, None)
            self._left[namespace, old][name] = at
            if not self._places[namespace, old]:
                self._gone[namespace, old] = at
        if own is not None:
            taken = any(state not in (None, own) for state in states) or table_id in self._before
            self._named[namespace, own].setdefault(name, at if taken else None)
            holder = self._holders.get(table_id, own)
            if holder != own:
                self._replaced_by[namespace, holder] = own
            self._replaced_by.pop((namespace, own), None)
            self._holders[table_id] = own
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
        if self._made_as.get((namespace, moving)) == table:
            self._holders.pop((namespace, table), None)
        self._places[namespace, moving].add(other)  # the version must not count as dropped between the two calls
        self._set((namespace, table), there, at)
        self._set((namespace, other), moving, at)

    def _unseen(self, table_id: TableId, at: Moment) -> str:
        """Return a new version for a dropped name that is in use again: the log does not contain its CREATE."""
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
        replaced = replaced_names(self._last, self._places, self._left)
        ends = {
            one: End(
                name,
                bool(self._places[one]),
                one not in self._before,
                gone,
                self._since.get(one),
                self._named[one].get(name),
            )
            for one, last in self._last.items()
            for name, gone in (replaced.get(one, (last, self._gone.get(one))),)
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
        renamings = [one for one in self._renamings if (one.namespace, one.version) not in replaced]
        renamed = any((one.namespace, one.version) in self._before for one in renamings)
        return Versions(
            {table_id: lines[table_id] for table_id in bound},
            parts,
            ends,
            renamings if renamed else [],
            plain={table_id: line for table_id, line in lines.items() if table_id not in bound},
        )
