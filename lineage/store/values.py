"""The values that stores keep and return. Times are UTC; keys are those of `lineage.model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, field, fields, replace
from datetime import date, datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, Self

from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, JobKind
from lineage.model.facts import Facts, facts_from
from lineage.model.files import FileKey
from lineage.model.influence.evidence import Chain, SourcePosition
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import ColumnPath
from lineage.model.spelling import Spelled
from lineage.model.statement import Completeness, DatasetKind
from lineage.model.usage import UserCounts

__all__ = [
    "AppliedChanges",
    "DatasetUsage",
    "DatasetWriter",
    "Direction",
    "EdgeChange",
    "FeedKey",
    "FormerName",
    "GraphDump",
    "BufferedText",
    "Hop",
    "ColumnHead",
    "JobHead",
    "NameHolder",
    "JobIdentity",
    "JobSelection",
    "LiveDataset",
    "RetiredJobs",
    "SchemaCount",
    "SearchHit",
    "StoredColumn",
    "StoredDataset",
    "StoredDiagnostic",
    "StoredEdge",
    "StoredFeed",
    "StoredJob",
    "StoredRun",
    "StoredStep",
    "StoredTag",
    "StoredUsage",
    "TagName",
]


class Direction(StrEnum):
    """Towards the consumers (downstream) or towards the sources (upstream)."""

    DOWNSTREAM = "downstream"
    UPSTREAM = "upstream"


@frozen
class StoredDataset:
    """A dataset of the graph. `dropped_at` is set by a DROP and cleared when the dataset is created again.

    `aliases` are all other names that find it, former names included (see `former_names`). `description` and `tags`
    come from data stewards, `facts` (as text, see `lineage.model.facts`) from other sources. `schema_at` is the time of
    its newest complete schema. `spelling` is the name as written,
    where names compare without case and this one is written differently.

    Three more times decide about batches that arrive late: `written_at` is when a job last wrote it, `kind_at` when
    its kind was last stated, and `spelled_at` when a definition last wrote its name (None: only references have).
    """

    key: str
    namespace: str
    name: str
    kind: DatasetKind
    dialect: str | None
    schema_known: bool
    aliases: tuple[str, ...]
    first_seen: datetime
    last_seen: datetime
    dropped_at: datetime | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    schema_at: datetime | None = None
    spelling: str | None = None
    written_at: datetime | None = None
    kind_at: datetime | None = None
    spelled_at: datetime | None = None
    facts: str | None = None

    @property
    def stated_facts(self) -> tuple[Facts, ...]:
        """The facts that sources state of it, ordered by source."""
        return facts_from(self.facts)

    @property
    def display_name(self) -> str:
        """The name as people write it; any spelling of it finds the dataset."""
        return self.spelling or self.name

    def was_made_since(self, dropped_at: datetime) -> bool:
        """Return whether it was written at the time of a DROP or later, or described later."""
        return (self.written_at is not None and self.written_at >= dropped_at) or (
            self.schema_at is not None and self.schema_at > dropped_at
        )

    def seen(self, first: datetime, last: datetime) -> Self:
        """Return the dataset with these times within its first and last."""
        if self.first_seen <= first and last <= self.last_seen:
            return self
        return replace(self, first_seen=min(self.first_seen, first), last_seen=max(self.last_seen, last))


@frozen
class FormerName:
    """A name that a dataset had until a RENAME. Another dataset may have it by now."""

    name: str
    until: datetime


@frozen
class NameHolder:
    """The key of a dataset that had the name of another one until a RENAME or SWAP."""

    key: str
    until: datetime


@frozen
class StoredColumn:
    """A column or nested field; `parent` is the key of the column that contains a field.

    `inferred` columns are known from queries, not from a schema. `dropped_at` is set when a newer schema lacks a column
    that still has lineage. `aliases` are its earlier paths. `first_seen` is None for columns stored by versions that
    did not record it. `spelling` is the path as written, where paths compare without case and this one is written
    differently. `last_ordinal` is the former ordinal of a column that the newest schema lacks. `facts` are those of
    sources, as text.
    """

    key: str
    dataset: str
    path: str
    data_type: str | None
    ordinal: int | None
    inferred: bool
    parent: str | None = None
    dropped_at: datetime | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    first_seen: datetime | None = None
    spelling: str | None = None
    last_ordinal: int | None = None
    facts: str | None = None

    @property
    def stated_facts(self) -> tuple[Facts, ...]:
        """The facts that sources state of it, ordered by source."""
        return facts_from(self.facts)

    def with_facts(self, facts: str | None) -> StoredColumn:
        """Return the column with other facts. `replace` takes ten times as long, which every column would pay."""
        return StoredColumn(*(*_BEFORE_FACTS(self), facts))

    @property
    def name(self) -> str:
        """The column's or field's own name; `path` is the text of its whole path."""
        return ColumnPath.parse(self.path).name

    @property
    def display_path(self) -> str:
        """The path as people write it; any spelling of it finds the column."""
        return self.spelling or self.path

    @property
    def spelled_name(self) -> str:
        """Its own name, with its spelling if it has one."""
        return _spelled_name(self.path, self.spelling)

    def without_ordinal(self) -> Self:
        """Return the column without its ordinal, which becomes `last_ordinal`."""
        last = self.last_ordinal if self.ordinal is None else self.ordinal
        return replace(self, ordinal=None, last_ordinal=last)

    def is_there(self, as_of: datetime | None = None) -> bool:
        """Return whether the dataset has the column now, or had it at `as_of`."""
        if as_of is None:
            return self.dropped_at is None
        is_named = self.first_seen is None or self.first_seen <= as_of
        return is_named and (self.dropped_at is None or as_of < self.dropped_at)


def _spelled_name(path: str, spelling: str | None) -> str:
    name = ColumnPath.parse(path).name
    return name if spelling is None else Spelled(name, ColumnPath.parse(spelling).name)


_BEFORE_FACTS = attrgetter(*(one.name for one in fields(StoredColumn) if one.name != "facts"))


@frozen
class StoredEdge:
    """An edge of one job between two nodes, valid from `valid_from`: live (`valid_to` is None) or retired.

    `masking` is true if all its subtypes are masked; `partly_masking` are those that are, if others are not.
    """

    source: str
    target: str
    kind: EdgeKind
    job: str
    subtypes: tuple[Subtype, ...]
    masking: bool
    limited: bool
    ambiguous: bool
    spans: tuple[Chain, ...]
    valid_from: datetime
    last_seen: datetime
    valid_to: datetime | None = None
    partly_masking: tuple[Subtype, ...] = ()

    @property
    def live(self) -> bool:
        """Whether the edge holds now."""
        return self.valid_to is None


@frozen
class EdgeChange:
    """An edge that differs between two times: added, removed (one side is None) or changed."""

    before: StoredEdge | None
    after: StoredEdge | None


@frozen
class StoredStep:
    """An edge as a step of a path: what a path shows of it."""

    source: str
    target: str
    kind: EdgeKind
    job: str
    subtypes: tuple[Subtype, ...]
    masking: bool
    spans: tuple[Chain, ...]
    partly_masking: tuple[Subtype, ...] = ()


@frozen
class Hop:
    """An edge, and the requested key that led to it: its end, or a parent or a field of that end."""

    via: str
    edge: StoredEdge


@frozen
class StoredFeed:
    """Table-level lineage of one job."""

    source: str
    target: str
    job: str
    valid_from: datetime
    last_seen: datetime
    valid_to: datetime | None = None


class LiveDataset(NamedTuple):
    """What an overview needs of a dataset that was not dropped; `facts` and `tags` as in `StoredDataset`."""

    key: str
    namespace: str
    name: str
    kind: DatasetKind
    facts: str | None
    tags: tuple[str, ...]


class SchemaCount(NamedTuple):
    """A schema, by its full name (empty for tables without one), and the number of its tables."""

    namespace: str
    schema: str
    tables: int
    exposures: int


class FeedKey(NamedTuple):
    """The key of table-level lineage: source, target and job."""

    source: str
    target: str
    job: str


@frozen
class StoredJob:
    """A job; `source_line` is the line of its source where its SQL begins, `positions` those of its statements.

    `retired_at` is the time since when its source no longer contains it.

    `observed_at` are the latest times at which a job that defines its output was observed. `policies` is what the job
    says of who may see the tables that it reads (text, see `lineage.model.policies`).

    `observations` (number of runs), `duration_us` (their total duration in microseconds) and `users` are sums over
    all ingests; `users` is None unless requested. `reads` and `writes` are those of the latest version of a job that
    defines its output, and all of any other job; a retired job has none. None of these is a property of the job's node.
    """

    key: str
    kind: JobKind
    sql: str | None
    dialect: str | None
    operation: str | None
    source: str | None
    source_line: int | None
    completeness: Completeness
    first_seen: datetime
    last_seen: datetime
    observations: int = 0
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    retired_at: datetime | None = None
    duration_us: int = 0
    users: UserCounts | None = None
    file_key: str | None = None
    positions: tuple[SourcePosition, ...] = ()
    observed_at: tuple[datetime, ...] = ()
    policies: str | None = None

    @property
    def origin(self) -> str | None:
        """What identifies its source: the file's key, else the source itself."""
        return self.file_key or self.source

    @property
    def project(self) -> str | None:
        """The project of its SQL file; None without one."""
        return (FileKey.parse(self.file_key).project or None) if self.file_key else None

    @property
    def path(self) -> str | None:
        """The path of its SQL file within the project; absolute without a project."""
        return FileKey.parse(self.file_key).path if self.file_key else None

    @property
    def mean_duration_us(self) -> float | None:
        """The mean duration of a run in microseconds; None if no duration is known."""
        return self.duration_us / self.observations if self.duration_us and self.observations else None


@frozen
class JobSelection:
    """A selection of jobs; all conditions must hold.

    `project` is that of SQL files, `source` a file or folder, `job` a key, `environment` the text of an `Environment`.
    A job belongs to the `namespace` that it writes, else to the one that it reads. `files` are prefixes of file keys.
    Retired jobs are included only if `retired`.
    """

    project: str | None = None
    source: str | None = None
    job: str | None = None
    namespace: str | None = None
    environment: str | None = None
    kinds: tuple[JobKind, ...] = ()
    files: tuple[str, ...] = ()
    retired: bool = False


class ColumnHead(NamedTuple):
    """What a schema says of a column or field (`nested`); `inferred` ones are known from queries."""

    dataset: str
    path: str
    ordinal: int | None
    spelling: str | None
    data_type: str | None
    nested: bool
    inferred: bool

    @property
    def spelled_name(self) -> str:
        """Its own name, with its spelling if it has one."""
        return _spelled_name(self.path, self.spelling)


@frozen
class JobHead:
    """The identity of a job, and when it was first seen and retired."""

    key: str
    kind: JobKind
    source: str | None
    file_key: str | None
    dialect: str | None
    first_seen: datetime
    retired_at: datetime | None


@frozen
class NodeAnnotation:
    """The description or the tags of a dataset or column (by key), where they are not None.

    An empty description deletes the existing one; the tags are all its tags.
    """

    key: str
    description: str | None = None
    tags: tuple[str, ...] | None = None


class TagName(NamedTuple):
    """What identifies a tag: the key of its column, its class, and what stated it."""

    column: str
    name: str
    source: str


@frozen(order=True)
class StoredTag:
    """The statement that a column holds values of a class (`name`), or, if `denied`, that it does not.

    `source` is what states it (`manual`, `rules`, `csv`, …): each has one tag of a column and class. `stated_by` is the
    person or the file, `why` the reason, `confidence` a number up to 1. A tag is no property of the column: it is kept
    when the column is dropped, and may be stated before the column is known.
    """

    column: str
    name: str
    source: str
    at: datetime
    stated_by: str = ""
    why: str = ""
    confidence: float = 1.0
    denied: bool = False

    @property
    def identity(self) -> TagName:
        """What identifies it."""
        return TagName(self.column, self.name, self.source)


@frozen
class DatasetWriter:
    """A job that writes a dataset, or, with `until`, did so before that time."""

    job: str
    until: datetime | None = None


@frozen
class JobIdentity:
    """The new key of a SQL file's job, the key of its file, and the name of the file.

    `kind` and `operation` are those that it has from then on; without them, they stay.
    """

    key: str
    file_key: str
    source: str
    kind: JobKind | None = None
    operation: str | None = None


@frozen
class RetiredJobs:
    """Numbers of jobs and edges retired."""

    jobs: int = 0
    edges: int = 0


@frozen
class StoredRun:
    """An ingest. `last_seen` moves when the same content is ingested again.

    `complete_sources` are the sources that it stated as a whole: jobs that they no longer contain are retired.
    """

    key: str
    kind: str
    source: str
    at: datetime
    last_seen: datetime
    counts: Mapping[str, int]
    seconds: float | None
    complete_sources: tuple[str, ...] = ()


@frozen(kw_only=True)
class StoredDiagnostic(DiagnosticRecord):
    """A diagnostic, the run that last reported it, and the time of that run."""

    run: str
    last_seen: datetime

    @property
    def project(self) -> str | None:
        """The project of the SQL file it is about; None without one."""
        return (FileKey.parse(self.file_key).project or None) if self.file_key else None

    @property
    def path(self) -> str | None:
        """The path of the SQL file it is about, within the project; absolute without a project."""
        return FileKey.parse(self.file_key).path if self.file_key else None


@frozen
class StoredUsage:
    """Use of a dataset or column on a day (UTC), summed over ingests: numbers of queries that read and wrote it.

    `users` of a column are those who read it; of a dataset, those who read or wrote it.
    """

    of: str
    day: date
    reads: int
    writes: int
    users: UserCounts = field(default_factory=UserCounts)
    last_read: datetime | None = None
    last_write: datetime | None = None


@frozen
class DatasetUsage:
    """Use of a dataset over several days: numbers of queries that read and wrote it."""

    of: str
    reads: int
    writes: int
    first_day: date
    last_day: date
    last_read: datetime | None = None


@frozen
class SearchHit:
    """A dataset or column whose name matches; a higher `score` is a better match."""

    key: str
    type: str
    name: str
    score: float


@frozen
class AppliedChanges:
    """Numbers of nodes that a batch created, and of edges that it created, refreshed and retired."""

    nodes_created: int = 0
    edges_created: int = 0
    edges_refreshed: int = 0
    edges_ended: int = 0

    def __add__(self, other: AppliedChanges) -> AppliedChanges:
        """Return the sum of both counts."""
        return AppliedChanges(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@frozen
class BufferedText:
    """A text buffered for its owner, such as an unfinished run. `key` is the owner, a `~` and a name without `~`.

    `buffered_at` is wall-clock time, not event time: old texts are deleted (`GraphStore.drop_buffered_texts`).
    """

    key: str
    owner: str
    text: str
    finished: bool
    buffered_at: datetime


@frozen
class GraphDump:
    """The whole graph as sorted plain values: (label, key, properties) and (type, from, to, properties).

    Buffered texts are not included.
    """

    nodes: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    relationships: list[tuple[str, str, str, dict[str, Any]]] = field(default_factory=list)
