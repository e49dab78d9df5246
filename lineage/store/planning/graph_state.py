"""The part of the graph that a batch may change, as values by key: loaded, changed, and compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from lineage.frozen import frozen
from lineage.model.batch import DatasetChange
from lineage.model.names import column_key
from lineage.model.usage import UserCounts, latest
from lineage.store.planning.observations import UNOBSERVED, Timeline
from lineage.store.planning.validity import History
from lineage.store.values import StoredColumn, StoredDataset, StoredDiagnostic, StoredJob, StoredRun, StoredUsage

__all__ = [
    "EdgeType",
    "GraphState",
    "JobCounts",
    "JobEdge",
    "JobOutput",
    "KnownChange",
    "Prune",
    "RunUsage",
    "Seen",
    "change_key",
    "usage_key",
]


class EdgeType(StrEnum):
    """A type of lineage. A relationship that is retired moves to the type `retired`."""

    CONTRIBUTES = "CONTRIBUTES"
    REFERENCES = "REFERENCES"
    FEEDS = "FEEDS"

    @property
    def retired(self) -> str:
        """The type of retired relationships."""
        return _RETIRED[self]


_RETIRED = {EdgeType.CONTRIBUTES: "CONTRIBUTED", EdgeType.REFERENCES: "REFERENCED", EdgeType.FEEDS: "FED"}


class JobEdge(NamedTuple):
    """The identity of an edge: source, target, type and job. Its history contains the periods in which it was valid.

    `from_dataset` and `output` are the datasets of source and target. A named tuple: a plan looks each up several
    times, and hashing a dataclass takes three times as long.
    """

    source: str
    target: str
    relation: EdgeType
    job: str
    from_dataset: str
    output: str

    @property
    def source_label(self) -> str:
        """The label of the source's node."""
        return "Table" if self.source == self.from_dataset else "Column"

    @property
    def target_label(self) -> str:
        """The label of the target's node."""
        return "Table" if self.target == self.output else "Column"


@frozen
class Seen:
    """When a job first and last read a dataset."""

    first_seen: datetime
    last_seen: datetime

    def widened(self, first: datetime, last: datetime) -> Seen:
        """Return the range extended to these times."""
        return Seen(min(self.first_seen, first), max(self.last_seen, last))

    def joined(self, other: Seen) -> Seen:
        """Return the range of both."""
        return self.widened(other.first_seen, other.last_seen)


@frozen
class JobOutput:
    """One output of a job: when the job wrote it, and all observations if the job defines it."""

    first_seen: datetime
    last_seen: datetime
    timeline: Timeline = UNOBSERVED


@frozen(order=True)
class JobCounts:
    """The counts of one run for a job."""

    observations: int
    duration_us: int = 0
    users: UserCounts = field(default_factory=UserCounts)


@frozen(kw_only=True)
class RunUsage(StoredUsage):
    """The usage of a dataset or column on a day, as counted by one run."""

    run: str

    @property
    def key(self) -> str:
        """The key of its node."""
        return usage_key(self.run, self.of, self.day)

    def joined(self, other: RunUsage) -> RunUsage:
        """Return the combined counts, for two datasets or columns that were merged."""
        return replace(
            self,
            reads=self.reads + other.reads,
            writes=self.writes + other.writes,
            users=UserCounts.joined((self.users, other.users)).bounded(),
            last_read=latest(self.last_read, other.last_read),
            last_write=latest(self.last_write, other.last_write),
        )


def usage_key(run: str, of: str, day: date) -> str:
    """Return the key of the `Usage` node for a run, a dataset or column, and a day."""
    return f"usage:{run}|{day.isoformat()}|{of}"


@frozen
class KnownChange:
    """A `Change` node. A DROP is `replaced`, without effect, if its batch creates the dataset again.

    If the dataset was re-created later (`remade`), the DROP retires edges into the dataset, but not out of it.
    """

    stated: DatasetChange
    replaced: bool = False
    remade: bool = False


@frozen
class Prune:
    """A `Prune` node: at `at`, edges of ad-hoc statements last seen before `older_than` were retired."""

    older_than: datetime
    at: datetime

    @property
    def key(self) -> str:
        """The key of its node."""
        return f"prune:{self.older_than.isoformat()}@{self.at.isoformat()}"


def change_key(change: DatasetChange) -> str:
    """Return the key of a change's node; repeated reports of a change have the same key."""
    of = change.dataset if change.column is None else column_key(change.dataset, change.column)
    return f"{change.kind}:{of}>{change.other or ''}@{change.at.isoformat()}"


@dataclass(slots=True)
class GraphState:
    """The state before or after a batch. The values are frozen; a plan changes the dictionaries of its copy."""

    datasets: dict[str, StoredDataset] = field(default_factory=dict)
    columns: dict[str, StoredColumn] = field(default_factory=dict)
    jobs: dict[str, StoredJob] = field(default_factory=dict)
    reads: dict[tuple[str, str], Seen] = field(default_factory=dict)
    units: dict[tuple[str, str], JobOutput] = field(default_factory=dict)
    histories: dict[JobEdge, History] = field(default_factory=dict)
    runs: dict[str, StoredRun] = field(default_factory=dict)
    observed: dict[tuple[str, str], JobCounts] = field(default_factory=dict)
    changes: dict[str, KnownChange] = field(default_factory=dict)
    prunes: dict[str, Prune] = field(default_factory=dict)
    diagnostics: dict[str, StoredDiagnostic] = field(default_factory=dict)
    usage: dict[str, RunUsage] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    """The main key of each key that has another one."""
    bound_columns: frozenset[str] = frozenset()
    """Columns with usage counts that were not loaded."""
    unplaced: frozenset[str] = frozenset()
    """Columns that a complete schema lacks and another file's definition kept; their lineage is fully loaded."""

    def copy(self) -> GraphState:
        """Return a state whose dictionaries can be changed apart from this one's."""
        return GraphState(
            datasets=dict(self.datasets),
            columns=dict(self.columns),
            jobs=dict(self.jobs),
            reads=dict(self.reads),
            units=dict(self.units),
            histories=dict(self.histories),
            runs=dict(self.runs),
            observed=dict(self.observed),
            changes=dict(self.changes),
            prunes=dict(self.prunes),
            diagnostics=dict(self.diagnostics),
            usage=dict(self.usage),
            aliases=dict(self.aliases),
            bound_columns=self.bound_columns,
            unplaced=self.unplaced,
        )
