"""The stage "sessions": which statements of a session need each other, and with which defaults each ran.

A session is read in its order. Statements that a temporary table, a renaming or a rolled-back transaction ties
together are one unit, a slice of the session; the others are their templates, or these with other defaults after USE
or SET. Slices that repeat, in whatever sessions, are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.pipeline.extraction import SessionFacts
from lineage_ingest.query_log.pipeline.packets import bucket_of, dealt, packets, tables, unpacked
from lineage_ingest.query_log.pipeline.statistics import COUNTED_SCHEMA, RUNS_OF_UNITS_SCHEMA, counted, totals_of
from lineage_ingest.query_log.pipeline.units import slice_key

__all__ = [
    "ASSIGNED_SCHEMA",
    "BY_DAY",
    "BY_UNIT",
    "MEMBERS",
    "NO_DAY",
    "Member",
    "TemplateInSession",
    "assigned",
    "assigned_packets",
    "in_order",
]

MEMBERS, BY_DAY, BY_UNIT = "members", "by day", "by unit"
"""The kinds of packets: the parts of units that are no templates; counts by unit, day and user; by unit and user."""
NO_DAY = -1
"""The bucket of what ran nobody knows when; that of all else BY_DAY is the day."""


class Member(NamedTuple):
    """A template within a slice, and the defaults that it ran with."""

    template: int
    database: str | None
    schema: str | None
    search_path: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Member:
        """Return the member in a value of `ASSIGNED_SCHEMA`."""
        return cls(row["template"], row["database"], row["schema"], tuple(row["search_path"]))


class TemplateInSession(NamedTuple):
    """What a template does to its session, its dialect, and the defaults that the log states for it."""

    facts: SessionFacts
    dialect: str
    database: str | None
    schema: str | None


_MEMBERS = pa.list_(
    pa.struct(
        [
            ("template", pa.int64()),
            ("database", pa.string()),
            ("schema", pa.string()),
            ("search_path", pa.list_(pa.string())),
        ]
    )
)
ASSIGNED_SCHEMA = pa.schema([*COUNTED_SCHEMA, pa.field("members", _MEMBERS)])
"""Counts of runs by unit; and of each unit that is no template, where a worker meets it first, a row of its members."""

_LARGEST_SLICE = 500
_AT_ONCE = 65_536
_COUNTED_AT_ONCE = 262_144
_ORDER = ("session", "started_at", "position", "template")
_MOST_KNOWN = 200_000
_OPENS_BY_ITSELF = frozenset(("oracle", "exasol"))
_TAKEN = ("template", "started_at", "user", "duration_us", "runs")


def assigned(batches: Iterable[Any], templates: Mapping[int, TemplateInSession]) -> Iterator[Any]:
    """Yield the runs counted by the units that they are parts of, as batches of `ASSIGNED_SCHEMA`.

    Args:
        batches: of `RUN_SCHEMA`; if a template does something to its session, sorted by session, started_at and
            position, a session in one worker whole.
        templates: all that occur in sessions in which one does.
    """
    stateful = pa.array([key for key, one in templates.items() if one.facts.stateful], pa.int64())
    known: set[int] = set()
    for rows in _whole_sessions(batches):
        touched = rows["session"].filter(pc.is_in(rows["template"], value_set=stateful)).unique().drop_null()
        inside = pc.fill_null(pc.is_in(rows["session"], value_set=touched), False)
        held = _Columns()
        for session in _sessions(rows.filter(inside)):
            _assign(session, templates, known, held)
        counts = counted(pa.concat_tables([_plain(rows.filter(pc.invert(inside))), held.runs_table()]))
        for table in (_with_members(counts, None), held.members_table()):
            yield from table.combine_chunks().to_batches()
        if len(known) > _MOST_KNOWN:
            known.clear()


def in_order(runs: pa.Table) -> pa.Table:
    """Return runs with each session's together, as they ran."""
    return runs.sort_by([(name, "ascending") for name in _ORDER])


def assigned_packets(
    batches: Iterable[pa.RecordBatch], templates: Mapping[int, TemplateInSession], *, whole: bool
) -> Iterator[pa.RecordBatch]:
    """Yield packets of runs as packets of counts: MEMBERS, BY_DAY (the bucket is the day) and BY_UNIT.

    Where templates do something to their session, the packets have to come by bucket, each `whole` in one worker.
    """
    found = unpacked(batches) if whole else ([table] for table in tables(batches))
    yield from packets(_parcels(found, templates))


def _parcels(
    found: Iterable[list[pa.Table]], templates: Mapping[int, TemplateInSession]
) -> Iterator[tuple[str, int, pa.Table]]:
    held: list[pa.Table] = []
    size = 0
    for runs in found:
        rows = in_order(pa.concat_tables(runs))
        made = pa.Table.from_batches(assigned(rows.to_batches(), templates), ASSIGNED_SCHEMA)
        is_count = pc.is_null(made["members"])
        yield MEMBERS, 0, made.filter(pc.invert(is_count)).select(["unit", "members"])
        held.append(made.filter(is_count).select(COUNTED_SCHEMA.names))
        size += held[-1].num_rows
        if size >= _COUNTED_AT_ONCE:
            yield from _counts(held)
            held, size = [], 0
    if held:
        yield from _counts(held)


def _counts(held: list[pa.Table]) -> Iterator[tuple[str, int, pa.Table]]:
    counts = counted(pa.concat_tables(held))
    for day, own in dealt(counts, pc.fill_null(counts["day"], NO_DAY)):
        yield BY_DAY, day, own
    totals = totals_of(counts)
    for bucket, own in dealt(totals, bucket_of(totals["unit"])):
        yield BY_UNIT, bucket, own


def _whole_sessions(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the runs as tables in which no session is cut, of a bounded size if sessions are."""
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
    columns = [rows["template"], part, *(rows[name] for name in _TAKEN[1:])]
    return pa.Table.from_arrays(columns, schema=RUNS_OF_UNITS_SCHEMA)


def _with_members(counts: Any, members: Any) -> Any:
    """Return counts as a table of `ASSIGNED_SCHEMA`."""
    return counts.append_column("members", pa.nulls(counts.num_rows, _MEMBERS) if members is None else members)


@dataclass(slots=True)
class _Columns:
    """Assigned runs by column, and the members of units that were met first."""

    unit: list[int] = field(default_factory=list)
    part: list[int] = field(default_factory=list)
    started_at: list[int | None] = field(default_factory=list)
    user: list[str | None] = field(default_factory=list)
    duration_us: list[int | None] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    members: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def runs_table(self) -> Any:
        return pa.table({own.name: pa.array(getattr(self, own.name), own.type) for own in RUNS_OF_UNITS_SCHEMA})

    def members_table(self) -> Any:
        units = pa.array(self.members, pa.int64())
        counts = {own.name: pa.nulls(len(units), own.type) for own in COUNTED_SCHEMA} | {"unit": units}
        return _with_members(pa.table(counts), pa.array(self.members.values(), _MEMBERS))


class _Rows(NamedTuple):
    template: list[int]
    started_at: list[int | None]
    user: list[str | None]
    duration_us: list[int | None]
    runs: list[int]


def _sessions(rows: Any) -> Iterator[_Rows]:
    """Yield the sessions of a table that is sorted by them."""
    sessions = rows["session"].to_pylist()
    columns = [rows[name].to_pylist() for name in _TAKEN]
    start = 0
    for end in range(1, len(sessions) + 1):
        if end == len(sessions) or sessions[end] != sessions[start]:
            yield _Rows(*(column[start:end] for column in columns))
            start = end


def _assign(rows: _Rows, templates: Mapping[int, TemplateInSession], known: set[int], held: _Columns) -> None:
    """Add a session's runs to the columns, each with its unit."""
    ran = [templates[number] for number in rows.template]
    units: list[int] = list(rows.template)
    parts: list[int] = [0] * len(ran)
    defaults = _defaults(ran)
    for together in _slices(ran):
        at = together[0]
        if len(together) == 1 and defaults[at] == (ran[at].database, ran[at].schema, ()):
            continue
        listed = [Member(rows.template[one], *defaults[one]) for one in together]
        key = slice_key(listed)
        if key not in known:
            known.add(key)
            held.members[key] = [member._asdict() for member in listed]
        for number, one in enumerate(together):
            units[one], parts[one] = key, number
    held.unit += units
    held.part += parts
    held.started_at += rows.started_at
    held.user += rows.user
    held.duration_us += rows.duration_us
    held.runs += rows.runs


def _defaults(ran: list[TemplateInSession]) -> list[tuple[str | None, str | None, tuple[str, ...]]]:
    """Return the default database and schema that each statement ran with, and the schemas searched after that one.

    What the log states counts where it changes: some sources state what the session has now, others what it logged on
    with. In between the session's own USE and SET count.
    """
    found: list[tuple[str | None, str | None, tuple[str, ...]]] = []
    stated: tuple[str | None, str | None] | None = None
    database = schema = None
    path: tuple[str, ...] = ()
    for template in ran:
        if (template.database, template.schema) != stated:
            path = path if template.schema == schema else ()
            stated = database, schema = template.database, template.schema
        found.append((database, schema, path))
        database = template.facts.database or database
        schema = template.facts.schema or schema
        if template.facts.schema or template.facts.search_path:
            path = template.facts.search_path
    return found


@dataclass(slots=True)
class _Ties:
    """Which statements belong together: a forest, whose roots are their first statements."""

    above: list[int]

    def root(self, at: int) -> int:
        while self.above[at] != at:
            self.above[at] = self.above[self.above[at]]
            at = self.above[at]
        return at

    def tie(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self.above[second] = first

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for at in range(len(self.above)):
            found.setdefault(self.root(at), []).append(at)
        return list(found.values())


@dataclass(slots=True)
class _Reading:
    """What a session has, while it is read."""

    ties: _Ties
    temporary: dict[str, int] = field(default_factory=dict)
    """Which statement made each temporary table that is there."""
    hiding: set[str] = field(default_factory=set)
    """The names of tables of the session itself."""
    made: dict[str, int] = field(default_factory=dict)
    """Which statement made each other table, and may see it renamed."""
    mentioned: dict[str, list[int]] = field(default_factory=dict)
    renamed: dict[str, int] = field(default_factory=dict)
    opened: int | None = None
    """Where the transaction that is open began."""


def _slices(ran: list[TemplateInSession]) -> list[list[int]]:
    """Return which statements of a session belong together, each group in order."""
    reading = _Reading(_Ties(list(range(len(ran)))))
    staged = _staged(ran)
    for at, template in enumerate(ran):
        _read(reading, at, template, staged.get(at, ()), ran)
    slices: list[list[int]] = []
    for group in reading.ties.groups():
        if len(group) <= _LARGEST_SLICE:
            slices.append(group)
            continue
        writers = [at for at in group if ran[at].facts.writes or ran[at].facts.stateful]
        slices.append(writers)
        slices.extend([at] for at in group if at not in set(writers))
    return slices


def _read(
    reading: _Reading, at: int, template: TemplateInSession, staged: Iterable[str], ran: list[TemplateInSession]
) -> None:
    facts, ties = template.facts, reading.ties
    fresh = {*facts.temporary, *staged}
    for table in facts.tables:
        if table in reading.temporary and (table not in fresh or table in facts.rebuilds):
            ties.tie(reading.temporary[table], at)
        if table in reading.made and table in fresh and table in facts.rebuilds:
            ties.tie(reading.made[table], at)
        reading.mentioned.setdefault(table, []).append(at)
    for table in facts.drops:
        if table not in reading.hiding:  # what is dropped may be a real one of the name, with its schema
            reading.temporary.pop(table, None)
        reading.made.pop(table, None)
        if table in reading.renamed:
            ties.tie(reading.renamed.pop(table), at)
    for table in fresh:
        reading.temporary[table] = at
    reading.hiding.update(facts.temporary)
    for table in facts.creates:
        if table not in fresh:
            reading.made[table] = at
            reading.mentioned[table] = [at]
    for old, new in facts.renames:
        if old in reading.temporary:
            reading.temporary[new] = reading.temporary.pop(old)
        _rename(reading, at, old, new)
    if facts.transaction == "begin":
        reading.opened = at
    elif facts.transaction == "commit":
        reading.opened = None
    elif facts.transaction == "rollback" and reading.opened is not None:
        inside = range(reading.opened, at)
        if any(ran[number].facts.writes for number in inside):
            for number in inside:
                ties.tie(number, at)
    if reading.opened is None and not facts.transaction and template.dialect in _OPENS_BY_ITSELF:
        reading.opened = at


def _rename(reading: _Reading, at: int, old: str, new: str) -> None:
    made = [reading.made[name] for name in (old, new) if name in reading.made]
    for since in made[:1]:
        for name in (old, new):
            for mention in reading.mentioned.get(name, ()):
                if mention >= since:
                    reading.ties.tie(mention, at)
        reading.made[new] = since
        reading.made.pop(old, None)
    reading.renamed[new] = at


def _staged(ran: list[TemplateInSession]) -> dict[int, list[str]]:
    """Return the tables that statements make, which the session drops again and does not make anew after that."""
    found: dict[int, list[str]] = {}
    gone: set[str] = set()
    made_later: set[str] = set()
    for at in range(len(ran) - 1, -1, -1):
        facts = ran[at].facts
        for table in facts.creates:
            if table in gone and table not in made_later:
                found.setdefault(at, []).append(table)
            made_later.add(table)
        gone.update(facts.drops)
    return found
