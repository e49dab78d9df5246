"""A batch: what one ingest hands to a store. Everything in it is named by key, and every time is event time in UTC."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum

from lineage.model.diagnostics import Diagnostic
from lineage.model.evidence import Chain, SourcePosition
from lineage.model.names import ColumnPath, column_key, column_text, dataset_key, is_column_key, path_spelling
from lineage.model.statement import ChangeKind, ColumnSchema, Completeness, DatasetKind
from lineage.model.transformations import EdgeKind, Subtype

__all__ = [
    "ColumnRecord",
    "DatasetChange",
    "DatasetRecord",
    "DiagnosticRecord",
    "EdgeRecord",
    "JobKind",
    "JobRecord",
    "LineageBatch",
    "RunRecord",
    "assertion_job_key",
    "UNFINISHED",
    "UsageRecord",
    "definition_job_key",
    "event_job_key",
    "event_job_key_under",
    "file_job_key",
    "query_job_key",
    "target_of_file_job",
]


class JobKind(StrEnum):
    """What states lineage. A job that defines its output replaces what it said before; the others only add."""

    DEFINITION = "definition"
    SQL_FILE = "sql_file"
    QUERY = "query"
    ASSERTION = "assertion"
    """What a person states by hand."""
    EVENT = "event"
    """What OpenLineage events say of one job and one of its outputs."""

    @property
    def defines_output(self) -> bool:
        """Whether a new statement of the job replaces its earlier one."""
        return self is not JobKind.QUERY


def definition_job_key(target: str) -> str:
    """Return the key of the job that is a dataset's own definition (a view's text in a database).

    >>> definition_job_key("postgres/shop.orders_v")
    'definition:postgres/shop.orders_v'
    """
    return f"definition:{target}"


def file_job_key(file: str, target: str | None) -> str:
    """Return the key of what one SQL file (by its key) says of one target; without one, of the file's bare queries.

    >>> file_job_key("github.com/acme/shop:models/orders.sql@postgres", "postgres/shop.orders")
    'file:github.com/acme/shop:models/orders.sql@postgres>postgres/shop.orders'
    """
    return f"file:{file}>{target}" if target else f"file:{file}"


def target_of_file_job(job: str) -> str | None:
    """Return the target that a SQL file's job is of.

    >>> target_of_file_job("file:shop:models/orders.sql@postgres>postgres/shop.orders")
    'postgres/shop.orders'
    """
    return job.partition(">")[2] or None


def assertion_job_key(source: str, target: str) -> str:
    """Return the key of what a person states by hand of two nodes.

    >>> assertion_job_key("pg/a#x", "pg/b#y")
    'assertion:pg/a#x>pg/b#y'
    """
    return f"assertion:{source}>{target}"


def event_job_key(namespace: str, name: str, output: str | None, write: str = "") -> str:
    """Return the key of what the events of an OpenLineage job say of one output; without one, of what it reads.

    `write` tells writes to the same output apart that stand beside each other.

    >>> event_job_key("prod", "nightly", "s3://lake/orders", "append")
    'event:prod/nightly>s3://lake/orders+append'
    """
    if output is None:
        return f"event:{namespace}/{name}"
    return f"event:{namespace}/{name}>{output}" + (f"+{write}" if write else "")


def event_job_key_under(key: str, aliases: Mapping[str, str]) -> str:
    """Return the key of a job of events when its output goes by another key.

    >>> event_job_key_under("event:prod/nightly>s3://lake/orders+append", {"s3://lake/orders": "hive://m/db.orders"})
    'event:prod/nightly>hive://m/db.orders+append'
    """
    if key.startswith("event:"):
        for old, new in aliases.items():
            head, mark, write = key.rpartition(f">{old}")
            if mark and (not write or write.startswith("+")):
                return f"{head}>{new}{write}"
    return key


def query_job_key(fingerprint: str, *defaults: str | None) -> str:
    """Return the key of a query template: its fingerprint, and the defaults that its names were read with.

    >>> query_job_key("0a1b", "db", None)
    'query:0a1b@db/'
    """
    return f"query:{fingerprint}@{'/'.join(part or '' for part in defaults)}"


@dataclass(frozen=True, slots=True)
class ColumnRecord:
    """A column or a nested field of a dataset. `inferred`: concluded from use, in no schema.

    `path` is the text of its `ColumnPath`: a name with a dot in it stands in quotes there. `since` is when a schema
    first had it, where that is before the time of the dataset's record. `spelling` is the path as it is written, where
    that differs from `path` in its case only.
    """

    path: str
    data_type: str | None = None
    ordinal: int | None = None
    inferred: bool = False
    aliases: tuple[str, ...] = ()
    since: datetime | None = None
    spelling: str | None = None

    @property
    def name(self) -> str:
        """The column's or field's own name."""
        return ColumnPath.parse(self.path).name

    @classmethod
    def of_schema(cls, columns: Iterable[ColumnSchema]) -> tuple[ColumnRecord, ...]:
        """Return the columns of a known schema, in order."""
        return tuple(
            cls(path := str(column_text(one.name)), one.data_type, place, spelling=path_spelling(one.name, path))
            for place, one in enumerate(columns)
        )

    @property
    def is_top_level(self) -> bool:
        """Whether it is a column of its own, not a field in one."""
        return ColumnPath.parse(self.path).parent is None


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A dataset and what is known of its columns.

    `schema_known` says that `columns` are all it has, in order: columns that it had before and that are
    absent now are gone. Otherwise they are what was seen of it. `at` is when this held; without it, when the
    batch's jobs last wrote or read the dataset, else the time of the run. `aliases` are further names of it.
    `spelling` is the name as it is written, where that differs from `name` in its case only; `is_spelled` says that a
    definition or a catalog writes it so (None: as `name` is), which counts before what a mere reference writes.
    """

    namespace: str
    name: str
    kind: DatasetKind = DatasetKind.TABLE
    dialect: str | None = None
    columns: tuple[ColumnRecord, ...] = ()
    schema_known: bool = False
    at: datetime | None = None
    aliases: tuple[str, ...] = ()
    spelling: str | None = None
    is_spelled: bool = False

    @property
    def key(self) -> str:
        """The key of the dataset's node."""
        return dataset_key(self.namespace, self.name)

    def column_key(self, path: str) -> str:
        """Return the key of one of its columns."""
        return column_key(self.key, path)


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as one batch saw it: when first and last, how often, what it read and wrote (keys of datasets).

    `source` is the file it stands in, as people read it, and `file_key` the same unmistakably (`FileKey`): a batch
    that states a file whole retires the jobs that the file no longer holds (`LineageBatch.complete_sources`, by the
    key; by `source` where there is none); `source_line` is the line on which its SQL begins there, if that is one
    piece, and `positions` say where each of its statements begins there. `sql` has its literals masked. `users` are
    pairs of a user and the queries of theirs, `duration_us` is the sum over all observations, in microseconds. `ties`
    decide at `first_seen` and at `last_seen` between two statements of the job at one moment: the greater one holds,
    whichever comes last; else the last one.
    """

    key: str
    kind: JobKind
    first_seen: datetime
    last_seen: datetime
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    sql: str | None = None
    dialect: str | None = None
    source: str | None = None
    source_line: int | None = None
    operation: str | None = None
    completeness: Completeness = Completeness.FULL
    observations: int = 1
    users: tuple[tuple[str, int], ...] = ()
    duration_us: int = 0
    file_key: str | None = None
    ties: tuple[str, str] = ("", "")
    positions: tuple[SourcePosition, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """What one job says of one pair: one relationship in the graph.

    `source` is the key of a column, or of a dataset whose rows decide; `target` is the key of a column, or of a dataset
    for an influence on its rows; `output` the dataset that
    either belongs to. `spans` are the proofs in the job's `sql`. `masking` holds only if every way
    from source to target within the job masks.
    """

    source: str
    target: str
    kind: EdgeKind
    job: str
    output: str
    subtypes: tuple[Subtype, ...]
    masking: bool = False
    limited: bool = False
    ambiguous: bool = False
    spans: tuple[Chain, ...] = ()

    @property
    def of_rows(self) -> bool:
        """Whether its source is a table, whose rows decide, and not a column."""
        return not is_column_key(self.source)

    def __reduce__(self) -> tuple[object, ...]:
        # Batches go to other processes; what dataclasses do by themselves takes three times as long.
        return EdgeRecord, (
            self.source,
            self.target,
            self.kind,
            self.job,
            self.output,
            self.subtypes,
            self.masking,
            self.limited,
            self.ambiguous,
            self.spans,
        )


@dataclass(frozen=True, slots=True)
class DatasetChange:
    """A dataset (by key) was dropped, took the key `other`, or changed places with `other`.

    With a `column` (a path) that happened to it: it was dropped, or took the path `other`. `spelling` is the name or
    path that it took as it is written, where that differs from that of `other` in its case only.
    """

    kind: ChangeKind
    dataset: str
    at: datetime
    other: str | None = None
    column: str | None = None
    spelling: str | None = None

    @property
    def datasets(self) -> tuple[str, ...]:
        """The keys of the datasets that it is about, as they were called then."""
        return (self.dataset,) if self.other is None or self.kind.of_column else (self.dataset, self.other)


@dataclass(frozen=True, slots=True)
class DiagnosticRecord:
    """A diagnostic and what it speaks of: a job's key, or the source (a file) where there is no job."""

    diagnostic: Diagnostic
    source: str
    job: str | None = None
    file_key: str | None = None

    @property
    def origin(self) -> str:
        """What tells its source from all others."""
        return self.file_key or self.source

    @property
    def key(self) -> str:
        """The key of its node: the same finding at the same place is one node."""
        span = self.diagnostic.span
        place = f"{span.start}-{span.end}" if span else ""
        text = "\x1f".join((self.origin, self.job or "", self.diagnostic.code, place, self.diagnostic.message))
        return "diagnostic:" + hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """How many queries read and wrote a dataset or a column (by key) on one day (UTC), as one batch counted them.

    `users` are pairs of a user and the queries of theirs. A store names the `MAX_NAMED_USERS` with the most, and
    keeps of the others how many they are.
    """

    of: str
    day: date
    reads: int = 0
    writes: int = 0
    users: tuple[tuple[str, int], ...] = ()
    last_read: datetime | None = None
    last_write: datetime | None = None

    @property
    def midnight(self) -> datetime:
        """When the day begins."""
        return datetime.combine(self.day, datetime.min.time(), UTC)

    @property
    def named_at(self) -> datetime:
        """When it had this name: at its last use; a name that it had earlier that day counts under its later one."""
        return max((at for at in (self.last_read, self.last_write) if at is not None), default=self.midnight)


UNFINISHED = "unfinished"
"""The only count of a run of which not everything is stored yet, or ever will be, since it was interrupted."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One ingest: where from, when, and its counts (statements, resolved, …).

    `key` is that of the source batch: the same content ingested again has the same key, so counts that are
    stored by run are overwritten, never added up.
    """

    key: str
    kind: str
    source: str
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    began: datetime | None = None
    """When it begins, where several batches are of one run, in any order: an hour of events."""

    @property
    def is_unfinished(self) -> bool:
        """Whether more is to be stored of it."""
        return UNFINISHED in self.counts


@dataclass(frozen=True, slots=True)
class LineageBatch:
    """What one ingest hands to a store. Applying it twice leaves what applying it once left.

    Changes to datasets happen at their own time, between the observations of jobs; `complete_sources` are
    the files that this batch states whole, by key; one that is gone is stated whole, without any job. `aliases` are
    pairs of keys that name one dataset, whenever (a path, and the table that a catalog knows it as).
    """

    run: RunRecord
    datasets: tuple[DatasetRecord, ...] = ()
    jobs: tuple[JobRecord, ...] = ()
    edges: tuple[EdgeRecord, ...] = ()
    changes: tuple[DatasetChange, ...] = ()
    diagnostics: tuple[DiagnosticRecord, ...] = ()
    usage: tuple[UsageRecord, ...] = ()
    complete_sources: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
