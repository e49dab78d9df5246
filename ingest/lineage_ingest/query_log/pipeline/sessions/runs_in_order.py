"""When each part of a unit ran: kept once sessions are read, for the stages that ask about some parts (`events_of`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from operator import le

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.pipeline.versions.versions import Event, Moment

__all__ = ["RAN_SCHEMA", "RunsInSessions", "events_of", "in_order", "moments_of", "runs_apart"]

RAN_SCHEMA = pa.schema(
    [
        pa.field("started_at", pa.int64()),
        pa.field("session", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("unit", pa.int64()),
        pa.field("part", pa.int64()),
        pa.field("in_order", pa.bool_()),
    ]
)
"""Runs with their units. Of those `in_order`, time, session and position are their moment; others are as in the log."""


@dataclass(slots=True)
class RunsInSessions:
    """The runs of sessions of which a statement changes what later ones mean."""

    unit: list[int] = field(default_factory=list)
    part: list[int] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)

    def add(self, unit: list[int], part: list[int], moments: list[Moment]) -> None:
        """Add the runs of a session."""
        self.unit += unit
        self.part += part
        self.moments += moments

    def table(self) -> pa.Table:
        """Return them as a table of `RAN_SCHEMA`."""
        times, sessions, positions = zip(*self.moments, strict=True) if self.moments else ((), (), ())
        return pa.table([times, sessions, positions, self.unit, self.part, [True] * len(times)], schema=RAN_SCHEMA)


def runs_apart(rows: pa.Table) -> pa.Table:
    """Return runs whose unit is their template as a table of `RAN_SCHEMA`."""
    count = rows.num_rows
    part, in_order = pa.repeat(pa.scalar(0, pa.int64()), count), pa.repeat(pa.scalar(False), count)
    columns = [rows["started_at"], rows["session"], rows["position"], rows["template"], part, in_order]
    return pa.Table.from_arrays(columns, schema=RAN_SCHEMA)


def in_order(runs: pa.Table, last: str = "template") -> pa.Table:
    """Return runs sorted by session, and in a session by position in the log, else by time; then by the column `last`.

    A log's times can be computed, rounded, or from a clock that was adjusted; positions within a session cannot.
    """
    names = ("started_at", "position"), ("position", "started_at")
    by_time, by_position = ([(name, "ascending") for name in ("session", *own, last)] for own in names)
    unplaced = pc.and_(pc.is_null(runs["position"]), pc.is_valid(runs["session"]))
    if not pc.any(unplaced, min_count=0).as_py():
        return runs.sort_by(by_position)
    partly = runs["session"].filter(unplaced).unique()
    of_time = pc.fill_null(pc.is_in(runs["session"], value_set=partly), True)
    if pc.all(of_time, min_count=0).as_py():
        return runs.sort_by(by_time)
    apart = [runs.filter(of_time).sort_by(by_time), runs.filter(pc.invert(of_time)).sort_by(by_position)]
    return pa.concat_tables(apart)


def events_of(ran: Iterable[pa.Table], wanted: frozenset[tuple[int, int]]) -> Iterator[Event]:
    """Yield the runs of the wanted parts of units, from tables of `RAN_SCHEMA`."""
    units = pa.array(sorted({unit for unit, _ in wanted}), pa.int64())
    apart: list[pa.Table] = [RAN_SCHEMA.empty_table()]
    for table in ran:
        rows = table.filter(pc.is_in(table["unit"], value_set=units))
        inside = rows.filter(rows["in_order"])
        for time, session, position, unit, part, _ in zip(*(c.to_pylist() for c in inside.columns), strict=True):
            if (unit, part) in wanted:
                yield Event((time, session, position), unit, part)
        apart.append(rows.filter(pc.invert(rows["in_order"])))
    yield from _events_apart(in_order(pa.concat_tables(apart), "unit"), wanted)


def _events_apart(rows: pa.Table, wanted: frozenset[tuple[int, int]]) -> Iterator[Event]:
    times, sessions, positions, units, *_ = (column.to_pylist() for column in rows.columns)
    start = 0
    for end in range(1, len(units) + 1):
        if end == len(units) or sessions[end] != sessions[start]:
            moments = moments_of(sessions[start], times[start:end], positions[start:end])
            for unit, at in zip(units[start:end], moments, strict=True):
                if (unit, 0) in wanted:
                    yield Event(at, unit, 0)
            start = end


def moments_of(session: str | None, started_at: list[int | None], positions: list[int | None]) -> list[Moment]:
    """Return when each run of a session started, in the order of the runs, comparable across sessions."""
    if session is None or None in positions:
        times = zip(started_at, positions, strict=True)
        return [(-1 if time is None else time, session or "", position or 0) for time, position in times]
    placed = zip(_order_times(started_at), positions, strict=True)
    return [(time, session, position or 0) for time, position in placed]


def _order_times(times: list[int | None]) -> list[int]:
    """Return a session's times in non-decreasing order; a time out of order becomes that of the run before.

    As many times as possible are kept, so that a clock that was wrong for a while does not change other times.

    >>> _order_times([5, None, 9, 7, 8]), _order_times([None, 99, 1, 2])
    ([5, 5, 5, 7, 8], [1, 1, 1, 2])
    """
    known = [time for time in times if time is not None]
    if len(known) == len(times) and all(map(le, known, islice(known, 1, None))):
        return known
    ends: list[tuple[int, int]] = []  # by length of rising subsequence: its lowest last time, and its index
    before: dict[int, int] = {}
    for index, time in enumerate(times):
        if time is not None:
            length = bisect_right(ends, (time, len(times)))
            before[index] = ends[length - 1][1] if length else -1
            ends[length : length + 1] = [(time, index)]
    kept: dict[int, int] = {}
    index = ends[-1][1] if ends else -1
    while index >= 0:
        kept[index] = times[index] or 0
        index = before[index]
    last = min(kept.values(), default=-1)
    return [last := kept.get(index, last) for index in range(len(times))]
