"""A batch: what one ingest writes to a store. Everything is referenced by key, and every time is event time in UTC."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import UTC, date, datetime
from enum import StrEnum

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic
from lineage.model.facts import FactsRecord
from lineage.model.influence.evidence import Chain, SourcePosition
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import ColumnPath, column_key, column_text, dataset_key, is_column_key, path_spelling
from lineage.model.statement import ChangeKind, ColumnSchema, Completeness, DatasetKind

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
    "dashboard_job_key",
    "dbt_job_key",
    "definition_job_key",
    "event_job_key",
    "event_job_key_under",
    "file_job_key",
    "file_of_job",
    "policy_job_key",
    "query_job_key",
    "target_of_file_job",
]


class JobKind(StrEnum):
    """The source of a job's lineage. A job that defines its output replaces earlier lineage; the others only add."""

    DEFINITION = "definition"
    SQL_FILE = "sql_file"
    QUERY = "query"
    ASSERTION = "assertion"
    """Lineage that a person adds by hand."""
    EVENT = "event"
    """The OpenLineage events of one job for one of its outputs."""
    DBT = "dbt"
    """A node of a dbt project: a model, snapshot, exposure, metric, semantic model or saved query."""
    DASHBOARD = "dashboard"
    """A card, chart, data source, worksheet or dashboard of a dashboard tool."""
    POLICY = "policy"
    """What a file, a query template or a database says of who may see a table: policies, tags, grants."""

    @property
    def defines_output(self) -> bool:
        """Whether new lineage of the job replaces its earlier lineage."""
        return self is not JobKind.QUERY


def definition_job_key(target: str) -> str:
    """Return the key of the job for a dataset's own definition (a view's text in a database).

    >>> definition_job_key("postgres/shop.orders_v")
    'definition:postgres/shop.orders_v'
    """
    return f"definition:{target}"


def file_job_key(file: str, target: str | None) -> str:
    """Return the job key of one target in a SQL file (given by its key); without a target, of the file's bare queries.

    >>> file_job_key("github.com/acme/shop:models/orders.sql@postgres", "postgres/shop.orders")
    'file:github.com/acme/shop:models/orders.sql@postgres>postgres/shop.orders'
    """
    return f"file:{file}>{target}" if target else f"file:{file}"


def target_of_file_job(job: str) -> str | None:
    """Return the target of a SQL file's job; None for the job of its bare queries.

    >>> target_of_file_job("file:shop:models/orders.sql@postgres>postgres/shop.orders")
    'postgres/shop.orders'
    """
    return job.partition(">")[2] or None


def file_of_job(job: str) -> str:
    """Return the key of the file of a SQL file's job.

    >>> file_of_job("file:shop:models/orders.sql@postgres>postgres/shop.orders")
    'shop:models/orders.sql@postgres'
    """
    return job.removeprefix("file:").partition(">")[0]


def dbt_job_key(file: str) -> str:
    """Return the job key of a dbt node, given by the file key of its unique id.

    >>> dbt_job_key("dbt/shop:model.shop.orders@postgres,,wh,main")
    'dbt:shop:model.shop.orders@postgres,,wh,main'
    """
    return f"dbt:{file.removeprefix('dbt/')}"


def dashboard_job_key(file: str) -> str:
    """Return the job key of a query or dashboard of a dashboard tool, given by its file key.

    >>> dashboard_job_key("bi/metabase/bi.example.com:card/12-Revenue@metabase")
    'dashboard:metabase/bi.example.com:card/12-Revenue@metabase'
    """
    return f"dashboard:{file.removeprefix('bi/')}"


def policy_job_key(origin: str, dataset: str | None) -> str:
    """Return the key of what one file or query template says of who may see a dataset, or of policies themselves.

    >>> policy_job_key("shop:policies.sql@snowflake", "snowflake/SHOP.CUSTOMERS")
    'policy:shop:policies.sql@snowflake>snowflake/SHOP.CUSTOMERS'
    """
    return f"policy:{origin}>{dataset}" if dataset else f"policy:{origin}"


def assertion_job_key(source: str, target: str) -> str:
    """Return the job key of lineage between two nodes that a person adds by hand.

    >>> assertion_job_key("pg/a#x", "pg/b#y")
    'assertion:pg/a#x>pg/b#y'
    """
    return f"assertion:{source}>{target}"


def event_job_key(namespace: str, name: str, output: str | None, write: str = "") -> str:
    """Return the job key of one output of an OpenLineage job; without an output, of what the job reads.

    `write` distinguishes several writes to the same output that are all valid.

    >>> event_job_key("prod", "nightly", "s3://lake/orders", "append")
    'event:prod/nightly>s3://lake/orders+append'
    """
    if output is None:
        return f"event:{namespace}/{name}"
    return f"event:{namespace}/{name}>{output}" + (f"+{write}" if write else "")


def event_job_key_under(key: str, aliases: Mapping[str, str]) -> str:
    """Return the key of an event job with its output's key replaced by the key that is an alias of it.

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
    """Return the key of a query template: its fingerprint, and the defaults that complete its names.

    >>> query_job_key("0a1b", "db", None)
    'query:0a1b@db/'
    """
    return f"query:{fingerprint}@{'/'.join(part or '' for part in defaults)}"


@frozen
class ColumnRecord:
    """A column or a nested field of a dataset. `inferred`: derived from usage, not from a schema.

    `path` is the text of its `ColumnPath`: a name that contains a dot is quoted. `since` is when a schema first had
    it, if that is before the time of the dataset's record. `spelling` is the path as written, if it differs from
    `path` in case only. What is only `described` may be out of date: it adds no column to a dataset of known schema.
    """

    path: str
    data_type: str | None = None
    ordinal: int | None = None
    inferred: bool = False
    aliases: tuple[str, ...] = ()
    since: datetime | None = None
    spelling: str | None = None
    described: bool = False

    @property
    def is_only_used(self) -> bool:
        """Whether only statements that read or write it have it: a complete schema does not."""
        return self.inferred and self.ordinal is None

    @property
    def is_added(self) -> bool:
        """Whether a statement adds it to a table whose other columns it does not know (ALTER TABLE)."""
        return not self.inferred and self.ordinal is None

    @property
    def name(self) -> str:
        """The column's or field's own name."""
        return ColumnPath.parse(self.path).name

    @classmethod
    def of_schema(cls, columns: Iterable[ColumnSchema]) -> tuple[ColumnRecord, ...]:
        """Return the columns of a known schema, in order."""
        return tuple(
            cls(path := str(column_text(one.name)), one.data_type, index, spelling=path_spelling(one.name, path))
            for index, one in enumerate(columns)
        )

    @property
    def is_top_level(self) -> bool:
        """Whether it is a top-level column, not a nested field."""
        return ColumnPath.parse(self.path).parent is None


@frozen
class DatasetRecord:
    """A dataset and its known columns.

    With `schema_known`, `columns` is the complete schema in order: earlier columns that are absent are dropped. Those
    that are only used are not part of it. Otherwise it lists the columns observed so far. `at` is when this was true;
    without it, when the batch's jobs last wrote or read the dataset, else the time of the run. `aliases` are further
    names of it. `spelling` is the name as written, if it differs from `name` in case only; `is_spelled` means that a
    definition or a catalog gives the spelling (None: same as `name`), which takes precedence over that of a reference.
    `is_kind_stated` means that a database's catalog says which kind it is; a mere reference is to a table.
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
    is_kind_stated: bool = False

    @property
    def schema_columns(self) -> tuple[ColumnRecord, ...]:
        """The columns without those that are only used: of a known schema, its own."""
        return tuple(column for column in self.columns if not column.is_only_used)

    @property
    def key(self) -> str:
        """The key of the dataset's node."""
        return dataset_key(self.namespace, self.name)

    def column_key(self, path: str) -> str:
        """Return the key of one of its columns."""
        return column_key(self.key, path)


@frozen
class JobRecord:
    """A job as one batch observed it: first and last time, number of observations, datasets read and written (keys).

    `source` is the display name of the file that contains it, `file_key` its unique key (`FileKey`). A batch with the
    complete content of a file retires the jobs that the file no longer contains (`LineageBatch.complete_sources`, by
    key, or by `source` if there is no key). `source_line` is the line in the file on which its SQL begins, if the SQL
    is contiguous, and `positions` are the positions of its statements in the file. Literals in `sql` are masked.
    `users` are pairs of a user and that user's number of queries; `duration_us` is the sum over all observations, in
    microseconds. `ties` breaks ties between two statements of the job with the same `first_seen` or `last_seen`: the
    greater value wins whatever the order of arrival; if they are equal, the last one wins. `policies` is what a job of
    the kind POLICY says of who may see its `reads` (`lineage.model.policies`).
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
    policies: str | None = None


@frozen
class EdgeRecord:
    """An edge from one source to one target in one job: one relationship in the graph.

    `source` is the key of a column, or of a dataset whose rows determine the target; `target` is the key of a column,
    or of a dataset if its rows are influenced; `output` is the dataset of the target. `spans` are the proofs in the
    job's `sql`. `masking` is true only if every path from source to target within the job masks the value;
    `partly_masking` are the subtypes whose every path masks it, if there are others.
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
    partly_masking: tuple[Subtype, ...] = ()

    @property
    def of_rows(self) -> bool:
        """Whether its source is a table (its rows determine the target), not a column."""
        return not is_column_key(self.source)

    def __reduce__(self) -> tuple[object, ...]:
        # Batches are pickled between processes; the dataclass default takes three times as long.
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
            self.partly_masking,
        )


@frozen
class DatasetChange:
    """A dataset (by key) was dropped, renamed to the key `other`, or swapped with `other`.

    A FORMER_NAME changes nothing: `other` had the key `dataset` until then, before that was another dataset's.
    With `column` (a path), the change is to that column: it was dropped, or renamed to the path `other`. `spelling` is
    the new name or path as written, if it differs from `other` in case only.
    """

    kind: ChangeKind
    dataset: str
    at: datetime
    other: str | None = None
    column: str | None = None
    spelling: str | None = None

    @property
    def datasets(self) -> tuple[str, ...]:
        """The keys of the affected datasets, as they were at that time."""
        return (self.dataset,) if self.other is None or self.kind.of_column else (self.dataset, self.other)


@frozen
class DiagnosticRecord:
    """A diagnostic and what it refers to: a job's key, or the source (a file) if there is no job."""

    diagnostic: Diagnostic
    source: str
    job: str | None = None
    file_key: str | None = None

    @property
    def origin(self) -> str:
        """The unique identifier of its source."""
        return self.file_key or self.source

    @property
    def key(self) -> str:
        """The key of its node: the same diagnostic at the same span is one node."""
        span = self.diagnostic.span
        range_text = f"{span.start}-{span.end}" if span else ""
        text = "\x1f".join((self.origin, self.job or "", self.diagnostic.code, range_text, self.diagnostic.message))
        return "diagnostic:" + hashlib.sha256(text.encode()).hexdigest()[:24]


@frozen
class UsageRecord:
    """Number of queries that read and wrote a dataset or a column (by key) on one day (UTC), as one batch counted them.

    `users` are pairs of a user and that user's number of queries: of a column those that read it, of a dataset those
    that read or wrote it. A store keeps the names of the `MAX_NAMED_USERS` most frequent users, and only the number of
    the others.
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
        """The start of the day."""
        return datetime.combine(self.day, datetime.min.time(), UTC)

    @property
    def named_at(self) -> datetime:
        """When it had this name: its last use. Usage under an earlier name that day counts for the later name."""
        return max((at for at in (self.last_read, self.last_write) if at is not None), default=self.midnight)


UNFINISHED = "unfinished"
"""The only count of a run that is not stored completely: it is in progress, or was interrupted."""


@frozen
class RunRecord:
    """One ingest: its source, its time, and its counts (statements, resolved, …).

    `key` is that of the source batch: the same content ingested again has the same key, so the counts of a run are
    overwritten, not added up.
    """

    key: str
    kind: str
    source: str
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    began: datetime | None = None
    """When the run began, if it has several batches in any order (an hour of events)."""

    @property
    def is_unfinished(self) -> bool:
        """Whether the run is not stored completely."""
        return UNFINISHED in self.counts


@frozen
class LineageBatch:
    """What one ingest writes to a store. Applying a batch is idempotent.

    Changes to datasets apply at their own time, between the observations of jobs. `complete_sources` are the keys of
    the files whose complete content is in this batch; a deleted file is listed too, without any job. `aliases` are
    pairs of keys that identify one dataset at all times (a path, and the catalog table at that path). `facts` replace
    what their source stated before of the same dataset.
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
    facts: tuple[FactsRecord, ...] = ()
