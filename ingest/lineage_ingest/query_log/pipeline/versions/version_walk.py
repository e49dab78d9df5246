"""Determines which table a name refers to at each time, from the log's DDL in time order.

A table that is recreated by the same definition from the same versions is the same version: a nightly rebuild has one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile

from lineage.model.names import dataset_key, versioned_name
from lineage_ingest.query_log.pipeline.versions.names_of_parts import NamesOfPart, NameStep, TableId, UnitPart
from lineage_ingest.query_log.pipeline.versions.recorded_renamings import recorded_renamings
from lineage_ingest.query_log.pipeline.versions.replaced_names import replaced_names
from lineage_ingest.query_log.pipeline.versions.versions import End, Event, Moment, Renaming, Versions

__all__ = ["versions_of"]

_MAX_VERSIONS = 20
"""Maximum number of versions of a definition whose sources change; later runs share the first ones."""


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
        self._there_since: dict[TableId, Moment] = {}
        """When each version was last created."""
        self._before: set[TableId] = set()
        """The names of tables that existed before the log."""
        self._renamings: list[Renaming] = []
        self._idle: dict[UnitPart, tuple[tuple[str, str], ...]] = {}
        """The parts with IF NOT EXISTS that found a table at a run, and those that did not at one."""
        self._active: set[UnitPart] = set()
        self._anew: set[TableId] = set()
        """The names that IF NOT EXISTS created after the log had dropped or renamed the table."""
        self._again: set[TableId] = set()
        """The versions that were renamed and dropped, and then made again under their first name."""

    def take(self, event: Event) -> None:
        part = self._parts[event.unit, event.part]
        at = event.at
        meant = tuple((name, self._now(part.namespace, name)) for name in part.reads)
        for step, table, other in part.steps:
            table_id = part.namespace, table
            if step.makes:
                self._create(table_id, event, part, step, meant)
            elif step is NameStep.DROP:
                self._set(table_id, None, event.at)
            elif other is not None:
                self._move(part.namespace, table, other, at, swap=step is NameStep.SWAP)
                at = (at[0] + 1, *at[1:])  # the renames of one statement are in order, also in the graph

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
        if step is NameStep.CREATE_UNLESS_THERE:
            key = event.unit, event.part
            if now is not None:
                self._idle[key] = ((name, name),)
                return
            self._active.add(key)
            if touched:
                self._anew.add(table_id)
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
        elif self._last[namespace, own] != name:
            self._again.add((namespace, own))
        self._set(table_id, own, event.at)

    def _is_free(self, namespace: str, own: str, name: str, known: Collection[str]) -> bool:
        """Return whether a version can be made again under a name; `known` are those of the same definition.

        It cannot if a table of another definition has been in its place since: what was read before is not of that one.
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
            if not self._places[namespace, own]:
                self._there_since[namespace, own] = at
            elif self._is_back(namespace, own, name, states):
                self._named[namespace, own][name] = at
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

    def _is_back(self, namespace: str, own: str, name: str, states: Sequence[str | None]) -> bool:
        """Return whether a version had a name, was there under another one, and another version had the name then."""
        lost = self._left[namespace, own].get(name)
        since = self._there_since.get((namespace, own))
        if lost is None or (since is not None and lost < since):
            return False
        return any(one is not None for one in takewhile(lambda one: one != own, reversed(states)))

    def _move(self, namespace: str, table: str, other: str, at: Moment, *, swap: bool) -> None:
        for name in (table, other) if swap else (table,):
            if (namespace, name) not in self._lines and (namespace, name) not in self._since:
                self._touch((namespace, name))
        moving, there = self._now(namespace, table), self._now(namespace, other) if swap else None
        if moving is None:
            moving = self._unseen((namespace, table), at)
        for old, new, version in ((table, other, moving), (other, table, there)):
            if version is not None:
                self._renamings.append(Renaming(at, namespace, version, old, new, swaps=there is not None))
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
        idle = {key: names for key, names in self._idle.items() if key not in self._active}
        if not lines:
            return Versions(idle=idle) if idle else None
        bound = {
            table_id
            for table_id, (_, states) in lines.items()
            if any(s is not None and s != table_id[1] for s in states)
        }
        replaced = replaced_names(self._last, self._places, self._left)
        taken: dict[TableId, dict[str, Moment]] = defaultdict(dict)
        for move in self._renamings:
            if self._now(move.namespace, move.table) not in (None, move.version):
                taken[move.namespace, move.version][move.table] = move.at
        ends = {
            table_version: End(
                name,
                bool(self._places[table_version]),
                table_version not in self._before,
                gone,
                self._since.get(table_version),
                self._named[table_version].get(name),
                tuple(taken[table_version].items()),
            )
            for table_version, last in self._last.items()
            for name, gone in (replaced.get(table_version, (last, self._gone.get(table_version))),)
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
        renamings = recorded_renamings(renamings, self._before, self._again)
        return Versions(
            {table_id: lines[table_id] for table_id in bound},
            parts,
            ends,
            renamings,
            plain={table_id: line for table_id, line in lines.items() if table_id not in bound},
            idle=idle,
            anew=frozenset(dataset_key(*table_id) for table_id in self._anew),
        )
