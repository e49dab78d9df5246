"""What stores answer with. Times are UTC; keys are those of `lineage.model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self

from lineage.model.batch import JobKind
from lineage.model.diagnostics import Diagnostic
from lineage.model.evidence import Chain, SourcePosition
from lineage.model.files import FileKey
from lineage.model.names import ColumnPath
from lineage.model.spelling import Spelled
from lineage.model.statement import Completeness, DatasetKind
from lineage.model.transformations import EdgeKind, Subtype
from lineage.model.usage import UserCounts

__all__ = [
    "AppliedChanges",
    "DatasetUsage",
    "Direction",
    "EdgeChange",
    "FeedKey",
    "FormerName",
    "GraphDump",
    "HeldText",
    "Hop",
    "JobHead",
    "JobIdentity",
    "JobSelection",
    "RetiredJobs",
    "SearchHit",
    "StoredColumn",
    "StoredDataset",
    "StoredDiagnostic",
    "StoredEdge",
    "StoredFeed",
    "StoredJob",
    "StoredRun",
    "StoredStep",
    "StoredUsage",
]


class Direction(StrEnum):
    """Towards the consumers (downstream) or towards the sources (upstream)."""

    DOWNSTREAM = "downstream"
    UPSTREAM = "upstream"


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """A dataset as the graph holds it. `dropped_at` is set from a DROP until it is created again.

    `aliases` are all other names that it is found by: those that mean it, too, and former ones (`former_names`).
    `description` and `tags` are what stewards said of it.
    `schema_at` is when its newest whole schema is known to hold. `spelling` is the name as it is written, where it is
    compared without case and written otherwise.
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

    @property
    def display_name(self) -> str:
        """The name as people write it; any spelling of it finds the dataset."""
        return self.spelling or self.name


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name that a dataset had before a RENAME, and when it had it last. By now it may be another's."""

    name: str
    until: datetime


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column or nested field; `parent` is the column's key that a field belongs to.

    `dropped_at` is set when a known schema no longer has a column whose lineage is still in the graph. `aliases` are
    paths that it had before. `first_seen` is None of a column from before that was kept. `spelling` is the path as it
    is written, where it is compared without case and written otherwise. `last_ordinal` is the ordinal that a column had
    which the newest schema has no more.
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
        if self.spelling is None:
            return self.name
        return Spelled(self.name, ColumnPath.parse(self.spelling).name)

    def without_ordinal(self) -> Self:
        """Return the column as one that the newest schema of its table has no more."""
        last = self.last_ordinal if self.ordinal is None else self.ordinal
        return replace(self, ordinal=None, last_ordinal=last)

    def is_there(self, as_of: datetime | None = None) -> bool:
        """Return whether the dataset has the column now, or had it then as far as was known."""
        if as_of is None:
            return self.dropped_at is None
        is_named = self.first_seen is None or self.first_seen <= as_of
        return is_named and (self.dropped_at is None or as_of < self.dropped_at)


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """One relationship, live (`valid_to` is None) or ended: what one job said of one pair from `valid_from` on."""

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

    @property
    def live(self) -> bool:
        """Whether the edge holds now."""
        return self.valid_to is None


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge that holds at one of two times only, or at both with another meaning; at least one is not None."""

    before: StoredEdge | None
    after: StoredEdge | None


@dataclass(frozen=True, slots=True)
class StoredStep:
    """What one job says of one pair, as far as a path shows it."""

    source: str
    target: str
    kind: EdgeKind
    job: str
    subtypes: tuple[Subtype, ...]
    masking: bool
    spans: tuple[Chain, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """An edge, and which of the asked keys it was found from: its end itself, or a parent or a field of that end."""

    via: str
    edge: StoredEdge


@dataclass(frozen=True, slots=True)
class StoredFeed:
    """Table-level lineage that one job implies."""

    source: str
    target: str
    job: str
    valid_from: datetime
    last_seen: datetime
    valid_to: datetime | None = None


class FeedKey(NamedTuple):
    """Table-level lineage from one dataset to another, by the job that implies it."""

    source: str
    target: str
    job: str


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job; `source_line` is where its SQL begins in its source, `positions` where each of its statements does.

    `observations` (how often it ran) and `duration_us` (how long, together, in microseconds) are the sums of what
    each source batch counted; `users` is None unless they are asked for.
    `reads` and `writes` are those of the latest statement of a job that defines its output, all of another's;
    none once the job is retired: since `retired_at` its source no longer holds it.
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
    observations: int
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    retired_at: datetime | None = None
    duration_us: int = 0
    users: UserCounts | None = None
    file_key: str | None = None
    positions: tuple[SourcePosition, ...] = ()

    @property
    def project(self) -> str | None:
        """The project of the SQL file that it stands in; None where that has none."""
        return (FileKey.parse(self.file_key).project or None) if self.file_key else None

    @property
    def path(self) -> str | None:
        """The path of the SQL file that it stands in, within its project; absolute where it has none."""
        return FileKey.parse(self.file_key).path if self.file_key else None

    @property
    def mean_duration_us(self) -> float | None:
        """How long a run of it takes, on average; None where no duration is known."""
        return self.duration_us / self.observations if self.duration_us and self.observations else None


@dataclass(frozen=True, slots=True)
class JobSelection:
    """Which jobs are meant; all that is given holds of each.

    `project` is that of SQL files, `source` a file or the folder that it lies in, `job` a key; a job is of the
    `namespace` that it writes, else of the one that it reads; `environment` is an `Environment`'s text. `files` are
    beginnings of file keys. Retired jobs are among them only if `retired`.
    """

    project: str | None = None
    source: str | None = None
    job: str | None = None
    namespace: str | None = None
    environment: str | None = None
    kinds: tuple[JobKind, ...] = ()
    files: tuple[str, ...] = ()
    retired: bool = False


@dataclass(frozen=True, slots=True)
class JobHead:
    """What tells a job from others, and when it was there."""

    key: str
    kind: JobKind
    source: str | None
    file_key: str | None
    dialect: str | None
    first_seen: datetime
    retired_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """The key that a SQL file's job gets, that of its file, and the file as people read it."""

    key: str
    file_key: str
    source: str


@dataclass(frozen=True, slots=True)
class RetiredJobs:
    """How many jobs were retired, and how many edges that ended."""

    jobs: int = 0
    edges: int = 0


@dataclass(frozen=True, slots=True)
class StoredRun:
    """An ingest that was stored."""

    key: str
    kind: str
    source: str
    at: datetime
    last_seen: datetime
    counts: Mapping[str, int]
    seconds: float | None


@dataclass(frozen=True, slots=True)
class StoredDiagnostic:
    """A diagnostic and what it speaks of."""

    key: str
    diagnostic: Diagnostic
    source: str
    job: str | None
    file_key: str | None = None

    @property
    def project(self) -> str | None:
        """The project of the SQL file that it speaks of; None where that has none."""
        return (FileKey.parse(self.file_key).project or None) if self.file_key else None

    @property
    def path(self) -> str | None:
        """The path of the SQL file that it speaks of, within its project; absolute where it has none."""
        return FileKey.parse(self.file_key).path if self.file_key else None


@dataclass(frozen=True, slots=True)
class StoredUsage:
    """Use of a dataset or a column on a day (UTC), summed over source batches: queries that read and that wrote it."""

    of: str
    day: date
    reads: int
    writes: int
    users: UserCounts = field(default_factory=UserCounts)
    last_read: datetime | None = None
    last_write: datetime | None = None


@dataclass(frozen=True, slots=True)
class DatasetUsage:
    """Use of a dataset over a span of days: queries that read and that wrote it."""

    of: str
    reads: int
    writes: int
    first_day: date
    last_day: date
    last_read: datetime | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A dataset or column whose name matched; `score` orders hits, the best first and highest."""

    key: str
    type: str
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class AppliedChanges:
    """How many relationships of lineage a batch created, refreshed and ended, and how many nodes it created."""

    nodes_created: int = 0
    edges_created: int = 0
    edges_refreshed: int = 0
    edges_ended: int = 0

    def __add__(self, other: AppliedChanges) -> AppliedChanges:
        """Return the counts of two batches together."""
        return AppliedChanges(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text that is held for its owner (a run that has not ended, say); `key` is the owner, a `~` and a name.

    Neither owner nor name holds a `~`.

    `held_at` is the time of the clock, not of an event: what is old is let go (`GraphStore.drop_held`).
    """

    key: str
    owner: str
    text: str
    finished: bool
    held_at: datetime


@dataclass(frozen=True, slots=True)
class GraphDump:
    """The whole graph as sorted plain values: (label, key, properties) and (type, from, to, properties).

    What is only held for a while is no part of it.
    """

    nodes: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    relationships: list[tuple[str, str, str, dict[str, Any]]] = field(default_factory=list)
