"""The stage "sessions": which statements of a session depend on each other, and the defaults that each ran with.

A session is read in execution order. Statements that share a temporary table or a rolled-back transaction form one
unit, a session block. Any other statement's unit is its template, or its template with other defaults after USE or
SET. Equal session blocks are one unit, across all sessions. A statement whose names refer to different tables over
time is one unit for each combination of versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.pipeline.extraction_units import session_block_key
from lineage_ingest.query_log.pipeline.members import MEMBERS_TYPE, Member
from lineage_ingest.query_log.pipeline.merging.statistics import (
    COUNTED_SCHEMA,
    RUNS_OF_UNITS_SCHEMA,
    counted,
)
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import RunsInSessions, in_order, moments_of, runs_apart
from lineage_ingest.query_log.pipeline.sessions.session_blocks import (
    TemplateInSession,
    session_blocks_of,
    tie_without_sessions,
)
from lineage_ingest.query_log.pipeline.sessions.session_defaults import defaults_of
from lineage_ingest.query_log.pipeline.versions.column_changes import ColumnChange, ColumnChanges
from lineage_ingest.query_log.pipeline.versions.versions import Moment, Versions

__all__ = ["ASSIGNED_SCHEMA", "assign_units", "whole_sessions"]

ASSIGNED_SCHEMA = pa.schema([*COUNTED_SCHEMA, pa.field("members", MEMBERS_TYPE)])
"""Counts of runs by unit; and a row of members for each unit that is not a template, when a worker first sees it."""

_AT_ONCE = 65_536
_MAX_KNOWN = 200_000
_TAKEN = ("template", "started_at", "user", "duration_us", "runs", "position")


def assign_units(
    batches: Iterable[Any],
    templates: Mapping[int, TemplateInSession],
    versions: Versions | None = None,
    changes: ColumnChanges | None = None,
    keep_runs: Callable[[pa.Table], None] | None = None,
) -> Iterator[Any]:
    """Yield counts of runs by unit, as batches of `ASSIGNED_SCHEMA`.

    Args:
        batches: runs of `RUN_SCHEMA`; if a template changes the state of its session, in the order of `in_order`,
            with each session whole in one worker.
        templates: all templates in sessions whose state a template changes.
        versions: the tables that names refer to over time, if a name refers to several.
        changes: the changes of columns that may run between the statements of a session block.
        keep_runs: takes all runs with their units (`RAN_SCHEMA`), some whole sessions at a time.
    """
    assign = _Assignment(templates, versions, changes)
    bound = pa.array(sorted(versions.units()) if versions is not None else [], pa.int64())
    for rows in whole_sessions(batches):
        inside = assign.inside(rows)
        held = _Columns()
        ran = RunsInSessions()
        for session in _sessions(rows.filter(inside)):
            assign.session(session, held)
            if keep_runs is not None:  # before its runs is what only gives context
                first = len(held.unit) - len(session.template)
                ran.add(held.unit[first:], held.part[first:], session.moments())
        rest = rows.filter(pc.invert(inside))
        if keep_runs is not None:
            keep_runs(pa.concat_tables([ran.table(), runs_apart(rest)]))
        nowhere = pc.and_(pc.is_null(rest["session"]), pc.is_in(rest["template"], value_set=assign.tied))
        for runs in _sessions(rest.filter(nowhere)):
            assign.without_session(runs, held)
        rest = rest.filter(pc.invert(nowhere))
        one_by_one = pc.is_in(rest["template"], value_set=bound)
        for runs in _sessions(in_order(rest.filter(one_by_one))):
            assign.apart(runs, held)
        counts = counted(pa.concat_tables([_plain(rest.filter(pc.invert(one_by_one))), held.runs_table()]))
        for table in (_with_members(counts, None), held.members_table()):
            yield from table.combine_chunks().to_batches()
        assign.forget_some()


def whole_sessions(batches: Iterable[Any]) -> Iterator[pa.Table]:
    """Yield runs, each session's next to each other, as tables that do not split a session.

    Runs without a session come last. The size of a table is bounded if the sessions' sizes are.
    """
    held: list[Any] = []
    size = 0
    for batch in batches:
        table = pa.Table.from_batches([batch.select(["session", *_TAKEN])])
        if not table.num_rows:
            continue
        last = table["session"][-1]
        start = pc.index(table["session"], last).as_py() if last.is_valid else table.num_rows
        begins_anew = start > 0 or bool(held and held[-1]["session"][-1] != last)
        if begins_anew and size + start >= _AT_ONCE:
            yield pa.concat_tables([*held, table.slice(0, start)])
            held, size, table = [], 0, table.slice(start)
        held.append(table)
        size += table.num_rows
    if held:
        yield pa.concat_tables(held)


def _plain(rows: Any) -> Any:
    """Return runs whose units are their templates."""
    part = pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows)
    columns = [rows["template"], part, *(rows[name] for name in _TAKEN[1:-1])]
    return pa.Table.from_arrays(columns, schema=RUNS_OF_UNITS_SCHEMA)


def _with_members(counts: Any, members: Any) -> Any:
    """Return counts as a table of `ASSIGNED_SCHEMA`."""
    return counts.append_column("members", pa.nulls(counts.num_rows, MEMBERS_TYPE) if members is None else members)


@dataclass(slots=True)
class _Columns:
    """Assigned runs by column, and the members of units that are new."""

    unit: list[int] = field(default_factory=list)
    part: list[int] = field(default_factory=list)
    started_at: list[int | None] = field(default_factory=list)
    user: list[str | None] = field(default_factory=list)
    duration_us: list[int | None] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    members: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def without_runs(self, unit: int, part: int, time: int | None) -> None:
        """Add the time of a part that only gives context to the others of its unit."""
        self.unit.append(unit)
        self.part.append(part)
        self.started_at.append(time if time is not None and time >= 0 else None)
        self.user.append(None)
        self.duration_us.append(None)
        self.runs.append(0)

    def runs_table(self) -> Any:
        return pa.table({own.name: pa.array(getattr(self, own.name), own.type) for own in RUNS_OF_UNITS_SCHEMA})

    def members_table(self) -> Any:
        units = pa.array(self.members, pa.int64())
        counts = {own.name: pa.nulls(len(units), own.type) for own in COUNTED_SCHEMA} | {"unit": units}
        return _with_members(pa.table(counts), pa.array(self.members.values(), MEMBERS_TYPE))


class _SessionRows(NamedTuple):
    session: str | None
    template: list[int]
    started_at: list[int | None]
    user: list[str | None]
    duration_us: list[int | None]
    runs: list[int]
    position: list[int | None]

    def moments(self) -> list[Moment]:
        """Return when each run started, in the order of the runs, comparable across sessions."""
        return moments_of(self.session, self.started_at, self.position)


def _sessions(rows: Any) -> Iterator[_SessionRows]:
    """Yield the sessions of a table that is sorted by session."""
    sessions = rows["session"].to_pylist()
    columns = [rows[name].to_pylist() for name in _TAKEN]
    start = 0
    for end in range(1, len(sessions) + 1):
        if end == len(sessions) or sessions[end] != sessions[start]:
            yield _SessionRows(sessions[start], *(column[start:end] for column in columns))
            start = end


class _Assignment:
    """Finds the unit of each run."""

    def __init__(
        self,
        templates: Mapping[int, TemplateInSession],
        versions: Versions | None,
        changes: ColumnChanges | None = None,
    ) -> None:
        self._templates = templates
        self._versions = versions
        self._changes = changes or ColumnChanges()
        self._stateful = pa.array([key for key, one in templates.items() if one.effects.stateful], pa.int64())
        self._known: set[int] = set()
        self._tied = tie_without_sessions({key: one.effects for key, one in templates.items()})
        self.tied = pa.array(self._tied, pa.int64())
        """Templates that use temporary tables which another template creates."""

    def inside(self, rows: Any) -> Any:
        """Return a mask of the rows whose session contains a statement that changes what later statements mean."""
        is_stateful = pc.is_in(rows["template"], value_set=self._stateful)
        touched = rows["session"].filter(is_stateful).unique().drop_null()
        return pc.fill_null(pc.is_in(rows["session"], value_set=touched), False)

    def session(self, rows: _SessionRows, held: _Columns) -> None:
        """Add the runs of a session selected by `inside` to the columns, each with its unit."""
        ran = [self._templates[number] for number in rows.template]
        units: list[int] = list(rows.template)
        parts: list[int] = [0] * len(ran)
        defaults = defaults_of(ran)
        moments = rows.moments() if self._versions is not None or self._changes else []
        session_blocks, left_open, contexts = session_blocks_of(ran)
        # What sets a variable is a part of each unit that reads it, and counts as a run only in its own.
        for own, context in zip(session_blocks, contexts, strict=True):
            together = sorted((*own, *context))
            at = together[0]
            key = rows.template[at]
            listed = [Member(rows.template[one], *defaults[one], left_open=one in left_open) for one in together]
            is_slice = len(together) > 1 or at in left_open or defaults[at] != (ran[at].database, ran[at].schema, ())
            if is_slice:
                key = session_block_key(one.identity() for one in listed)
            bound = self._bound(key, listed, [moments[one] for one in together] if moments else [])
            if bound is not None:
                is_slice, listed = True, bound
                key = session_block_key(one.identity() for one in listed)
            inside = self._changes_within(together, ran, moments)
            for number, (before, change) in enumerate(inside):
                listed.insert(before + number, change.member)
            if inside:
                key = session_block_key(one.identity() for one in listed)
            if is_slice:
                self._note(key, listed, held)
            for number, row in enumerate(together):
                part = number + sum(before <= number for before, _ in inside)
                if row in context:
                    held.without_runs(key, part, rows.started_at[row])
                else:
                    units[row], parts[row] = key, part
            for number, (before, change) in enumerate(inside):
                held.without_runs(key, before + number, change.at[0])
        self._add(rows, units, parts, held)

    def _bound(self, unit: int, listed: Sequence[Member], moments: Sequence[Moment]) -> list[Member] | None:
        """Return the members of a unit with the versions that their names refer to; None if no name has several."""
        if self._versions is None:
            return None
        bound = [self._versions.bindings(unit, n, at) for n, at in enumerate(moments)]
        return [one._replace(bound=own) for one, own in zip(listed, bound, strict=True)] if any(bound) else None

    def _changes_within(
        self, together: Sequence[int], ran: Sequence[TemplateInSession], moments: Sequence[Moment]
    ) -> list[tuple[int, ColumnChange]]:
        """Return the changes of columns between statements that share a temporary table, each with its place."""
        if not self._changes or len(together) == 1 or not any(ran[one].effects.temporary for one in together):
            return []
        return self._changes.within([moments[one] for one in together], [ran[one].effects.tables for one in together])

    def without_session(self, rows: _SessionRows, held: _Columns) -> None:
        """Add runs without a session that use temporary tables, together with the templates that create these."""
        units: list[int] = []
        parts: list[int] = []
        for template in rows.template:
            together = [*self._tied[template], template]
            listed = [Member(one, self._templates[one].database, self._templates[one].schema) for one in together]
            units.append(session_block_key(one.identity() for one in listed))
            parts.append(len(together) - 1)
            self._note(units[-1], listed, held)
        self._add(rows, units, parts, held)

    def apart(self, rows: _SessionRows, held: _Columns) -> None:
        """Add runs that depend on no other statement, each with the versions that its names refer to at that time."""
        assert self._versions is not None
        units: list[int] = list(rows.template)
        for at, moment in enumerate(rows.moments()):
            template = rows.template[at]
            bound = self._versions.bindings(template, 0, moment)
            if bound is not None:
                own = self._defaults_of(template)
                listed = [Member(template, *own, bound=bound)]
                units[at] = session_block_key(one.identity() for one in listed)
                self._note(units[at], listed, held)
        self._add(rows, units, [0] * len(units), held)

    def _defaults_of(self, template: int) -> tuple[str | None, str | None]:
        assert self._versions is not None
        return self._versions.defaults[template]

    def _note(self, key: int, listed: list[Member], held: _Columns) -> None:
        if key not in self._known:
            self._known.add(key)
            held.members[key] = [member.row() for member in listed]

    def _add(self, rows: _SessionRows, units: list[int], parts: list[int], held: _Columns) -> None:
        held.unit += units
        held.part += parts
        held.started_at += rows.started_at
        held.user += rows.user
        held.duration_us += rows.duration_us
        held.runs += rows.runs

    def forget_some(self) -> None:
        """Clear the set of known units if it is large."""
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
