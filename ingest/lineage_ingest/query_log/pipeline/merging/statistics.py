"""The stage "count": runs of templates by user with their duration, and the use of tables and columns by day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.batch import JobRecord, UsageRecord
from lineage.model.names import is_column_key
from lineage_ingest.query_log.pipeline.extraction import EPOCH, moment

__all__ = [
    "COUNTED_SCHEMA",
    "DAY",
    "MEASURES",
    "RUNS_OF_UNITS_SCHEMA",
    "JobRuns",
    "counted",
    "runs_by_unit",
    "summed",
    "usage_by_day",
]

_HELD = 200_000
"""Maximum number of uses of tables and columns by templates per round."""
DAY = 86_400_000_000
"""Microseconds."""
MEASURES = {"runs": "sum", "duration_us": "sum", "first": "min", "last": "max"}
"""How each measure of runs adds up, by the name of the function in Arrow and in Spark."""
RUNS_OF_UNITS_SCHEMA = pa.schema(
    [
        pa.field("unit", pa.int64()),
        pa.field("part", pa.int64()),
        pa.field("started_at", pa.int64()),
        pa.field("user", pa.string()),
        pa.field("duration_us", pa.int64()),
        pa.field("runs", pa.int64()),
    ]
)
COUNTED_SCHEMA = pa.schema(
    [
        pa.field("unit", pa.int64()),
        pa.field("part", pa.int64()),
        pa.field("day", pa.int64()),  # days since 1970; null if the run has no time
        pa.field("user", pa.string()),
        pa.field("runs", pa.int64()),
        pa.field("duration_us", pa.int64()),
        pa.field("first", pa.int64()),
        pa.field("last", pa.int64()),
    ]
)


@dataclass(slots=True)
class JobRuns:
    """Number of runs, by user, with their total duration and first and last time (microseconds)."""

    runs: int = 0
    duration_us: int = 0
    users: dict[str, int] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None

    def add(self, other: JobRuns) -> None:
        """Add other runs."""
        self.runs += other.runs
        self.duration_us += other.duration_us
        for user, count in other.users.items():
            self.users[user] = self.users.get(user, 0) + count
        self.first = min((at for at in (self.first, other.first) if at is not None), default=None)
        self.last = max((at for at in (self.last, other.last) if at is not None), default=None)

    def into(self, record: JobRecord) -> JobRecord:
        """Return the job with these counts, and with the times of the first and last run."""
        return replace(
            record,
            observations=max(self.runs, 1),
            users=tuple(sorted(self.users.items())),
            duration_us=self.duration_us,
            first_seen=moment(self.first, record.first_seen),
            last_seen=moment(self.last, record.last_seen),
        )


def counted(table: Any) -> Any:
    """Return runs counted by unit, day and user, from runs of `RUNS_OF_UNITS_SCHEMA` or from earlier results."""
    if "day" not in table.column_names:
        day = pc.cast(pc.floor(pc.divide(pc.cast(table["started_at"], pa.float64()), DAY)), pa.int64())
        table = pa.table(
            {
                "unit": table["unit"],
                "part": table["part"],
                "day": day,
                "user": table["user"],
                "runs": table["runs"],
                "duration_us": table["duration_us"],
                "first": table["started_at"],
                "last": table["started_at"],
            }
        )
    return summed(table, "unit", "part", "day", "user").select(COUNTED_SCHEMA.names).cast(COUNTED_SCHEMA)


def summed(table: Any, *by: str) -> Any:
    """Return the measures of runs, grouped by columns."""
    grouped = table.group_by(list(by), use_threads=False).aggregate(list(MEASURES.items()))
    return grouped.rename_columns([*by, *MEASURES])


def runs_by_unit(table: Any) -> dict[int, dict[int, JobRuns]]:
    """Return the runs of each part of each unit, from counts of `COUNTED_SCHEMA` or their totals."""
    by_user = table.group_by(["unit", "part", "user"], use_threads=False).aggregate([("runs", "sum")])
    encoded = by_user["user"].combine_chunks().dictionary_encode()
    coded = pa.table(
        {"unit": by_user["unit"], "part": by_user["part"], "user": encoded.indices, "runs": by_user["runs_sum"]}
    )
    users = coded.filter(pc.is_valid(coded["user"])).group_by(["unit", "part"], use_threads=False)
    names = encoded.dictionary.to_pylist()  # one string object per user, not per count
    named: dict[tuple[int, int], dict[str, int]] = {}
    for unit, part, codes, runs in _rows(users.aggregate([("user", "list"), ("runs", "list")])):
        named[unit, part] = {names[code]: count for code, count in zip(codes, runs, strict=True)}
    found: dict[int, dict[int, JobRuns]] = {}
    for unit, part, runs, duration, first, last in _rows(summed(table, "unit", "part")):
        one = JobRuns(runs, duration or 0, named.get((unit, part), {}), first, last)
        found.setdefault(unit, {})[part] = one
    return found


def _rows(grouped: Any) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in grouped.columns), strict=True)


def usage_by_day(
    table: Any, uses: Mapping[tuple[int, int], tuple[Sequence[str], Sequence[str]]], at: datetime | None
) -> Iterator[list[UsageRecord]]:
    """Yield the use of tables and columns by day, in one or more lists per day.

    Args:
        table: counts of `COUNTED_SCHEMA`.
        uses: the keys of datasets and columns that each part of each unit reads and writes.
        at: the time of runs without one; None: such runs count for no day.
    """
    if at is not None:
        table = table.set_column(
            table.column_names.index("day"), "day", pc.fill_null(table["day"], (at.date() - EPOCH.date()).days)
        )
    for day in sorted(table["day"].unique().drop_null().to_pylist()):
        own = table.filter(pc.equal(table["day"], day))
        # Each round takes one share of the tables and columns, so that memory stays bounded.
        turns = sum(len(read) + len(written) for read, written in uses.values()) // _HELD + 1
        for turn in range(turns):
            yield list(_usage(own, uses, EPOCH.date() + timedelta(days=day), partial(_is_of, turn, turns)))


def _is_of(turn: int, turns: int, key: str) -> bool:
    return crc32(key.encode("utf-8", "surrogatepass")) % turns == turn


def _usage(
    table: Any,
    uses: Mapping[tuple[int, int], tuple[Sequence[str], Sequence[str]]],
    day: date,
    taken: Callable[[str], bool],
) -> Iterator[UsageRecord]:
    runs = _runs_by_part(table)
    by_key: dict[str, tuple[list[JobRuns], list[JobRuns]] | None] = {}
    for part, own in runs.items():
        for written, keys in enumerate(uses.get(part, ())):
            for of in keys:
                if of not in by_key:
                    by_key[of] = ([], []) if taken(of) else None
                use = by_key[of]
                if use is not None:
                    use[written].append(own)
    # Most columns of a table are read by the same statements: these are added up once.
    added: dict[tuple[object, ...], UsageRecord] = {}
    for of in sorted(key for key, use in by_key.items() if use is not None):
        read, wrote = by_key[of] or ((), ())
        is_column = is_column_key(of)
        same = (is_column, tuple(map(id, read)), tuple(map(id, wrote)))
        made = added.get(same)
        if made is None:
            reads, writes = _together(read), _together(wrote)
            # The users of a column are those who read it.
            both = reads if is_column or not wrote else _together((reads, writes))
            users = tuple(sorted(both.users.items()))
            made = UsageRecord(of, day, reads.runs, writes.runs, users, _time(reads.last), _time(writes.last))
            added[same] = made
        yield made if made.of == of else replace(made, of=of)


def _runs_by_part(table: Any) -> dict[tuple[int, int], JobRuns]:
    """Return the runs of each part of each unit; how long they took and when the first was is not looked at."""
    found: dict[tuple[int, int], JobRuns] = {}
    names = ("unit", "part", "user", "runs", "last")
    for unit, part, user, runs, last in zip(*(table[name].to_pylist() for name in names), strict=True):
        if not runs:
            continue
        own = found.get((unit, part))
        if own is None:
            own = found[unit, part] = JobRuns(last=last)
        own.runs += runs
        if user is not None:
            own.users[user] = own.users.get(user, 0) + runs
        if last is not None and (own.last is None or last > own.last):
            own.last = last
    return found


def _together(some: Sequence[JobRuns]) -> JobRuns:
    """Return runs added up, as `_runs_by_part` returns them."""
    if len(some) == 1:
        return some[0]
    users: dict[str, int] = {}
    for one in some:
        for user, count in one.users.items():
            users[user] = users.get(user, 0) + count
    last = max((one.last for one in some if one.last is not None), default=None)
    return JobRuns(sum(one.runs for one in some), users=users, last=last)


def _time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else EPOCH + timedelta(microseconds=microseconds)
