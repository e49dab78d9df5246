"""The interface of every store. Times are UTC; keys are those of `lineage.model`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Protocol, Self, TypeVar

from lineage.model.batch import DatasetChange, JobKind, LineageBatch
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind
from lineage.store.exploring import Explorer
from lineage.store.live_graph import ExplorerSource, LiveGraph, Version
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter, PageRequest
from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import (
    AppliedChanges,
    BufferedText,
    ColumnHead,
    DatasetUsage,
    DatasetWriter,
    Direction,
    EdgeChange,
    FeedKey,
    FormerName,
    GraphDump,
    Hop,
    JobHead,
    JobIdentity,
    JobSelection,
    LiveDataset,
    NameHolder,
    NodeAnnotation,
    RetiredJobs,
    SchemaCount,
    SearchHit,
    StoredColumn,
    StoredDataset,
    StoredDiagnostic,
    StoredEdge,
    StoredFeed,
    StoredJob,
    StoredRun,
    StoredStep,
    StoredTag,
    StoredUsage,
    TagName,
)

__all__ = ["GraphStore"]

T = TypeVar("T")


class GraphStore(Protocol):
    """A lineage graph. Opening one creates or migrates its schema. Close it, or use it as a context manager."""

    @property
    def address(self) -> str:
        """The address that `--store` takes."""

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema, after migration."""

    @property
    def is_file(self) -> bool:
        """Whether it is a file that this program opens itself, not a server."""

    @property
    def last_session(self) -> int | None:
        """The number of the session that wrote last, this one included; None if another one has written meanwhile.

        A session is an open store of one process. It has no number before its first write. A server has none: any
        number of processes write to it.
        """

    def apply(self, batch: LineageBatch | BatchPart) -> AppliedChanges:
        """Apply a batch, or a part of one, in one transaction. It is idempotent.

        Raises:
            StoreError: the store could not be reached or written; nothing of the batch is stored then.
        """

    def parts(self, batch: LineageBatch) -> list[list[BatchPart]]:
        """Split a batch into parts for several processes; together they have the effect of `apply(batch)`.

        Parts come in rounds. The parts of one round can be applied (`apply`) concurrently and in any order, by any
        process that has the store open. A round starts when all parts of the previous one are applied. After a crash,
        start again with the first round: a part that was applied already changes nothing.
        """

    def is_seen_after(self, jobs: Collection[str], datasets: Collection[str], at: datetime) -> bool:
        """Return whether anything from after a time is known of jobs, of what they read and write, or of datasets.

        A DROP, rename or prune counts whatever it is of, a retired job whenever it was.
        """

    def see_again(self, jobs: Collection[str], datasets: Collection[str], since: datetime, at: datetime) -> None:
        """Record that jobs which define their outputs, and datasets, were observed again at `at`, as at `since`.

        The result is that of applying what was stated of them at `since` again, as of `at`, but for counts of
        observations. It holds only if nothing has been written since, and nothing is known from after `since`
        (`is_seen_after`).

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """

    def prune(self, older_than: datetime, *, at: datetime | None = None) -> int:
        """Retire the live edges of ad-hoc jobs last seen before `older_than`; return how many.

        They end at `at` (default: now). So do edges of such jobs from before `older_than` that are ingested later.
        """

    def select_jobs(self, wanted: JobSelection) -> list[JobHead]:
        """Return the jobs that match a selection, sorted by key."""

    def diagnosed_files(self, beginnings: Collection[str]) -> list[str]:
        """Return the keys of SQL files with diagnostics that start with one of `beginnings`, sorted."""

    def retire_jobs(self, keys: Collection[str], at: datetime) -> RetiredJobs:
        """Retire the lineage of these jobs from `at` on, and delete their diagnostics. The history is kept.

        Ingesting a job again makes its lineage live again.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def rekey_jobs(self, identities: dict[str, JobIdentity]) -> int:
        """Change the keys of jobs, with their history; return how many of them existed.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def buffer_texts(self, texts: Iterable[BufferedText], release: Collection[str] = ()) -> list[str]:
        """Buffer texts and delete those with the keys `release`, in one transaction. It is idempotent.

        Return the keys of all texts that are then buffered for their owners, sorted.

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """

    def apply_and_buffer(
        self, batch: LineageBatch, texts: Iterable[BufferedText], release: Collection[str] = ()
    ) -> tuple[AppliedChanges, list[str]]:
        """Apply a batch and buffer texts in one transaction; return the results of `apply` and `buffer_texts`.

        Raises:
            StoreError: the store could not be reached or written; nothing is stored then.
        """

    def buffered_texts(self, owners: Collection[str]) -> list[BufferedText]:
        """Return the buffered texts of these owners, sorted by key."""

    def drop_buffered_texts(self, open_before: datetime, finished_before: datetime) -> int:
        """Delete texts buffered before `open_before`, and those of finished owners buffered before `finished_before`.

        Return how many were deleted.
        """

    def job_keys(self) -> list[str]:
        """Return the keys of all jobs, sorted."""

    def live_datasets(self) -> list[LiveDataset]:
        """Return what an overview needs of all datasets but dropped ones, sorted by key."""

    def schema_counts(self) -> list[SchemaCount]:
        """Return how many tables each schema has, without dropped ones, sorted by namespace and schema."""

    def dataset_keys(self) -> list[str]:
        """Return the keys of all datasets, sorted."""

    def forgotten_datasets(self) -> list[str]:
        """Return the datasets that only retired jobs read or write, and that were not seen since, sorted by key.

        They stay in the graph for its history; searches and exports of the present leave them out.
        """

    def dataset_keys_ending(self, names: Collection[str]) -> list[str]:
        """Return the keys of the datasets whose full names end in a dot and one of these names, sorted.

        Case does not matter.
        """

    def find_datasets(self, name: str) -> list[StoredDataset]:
        """Return the datasets that match a name: by key, else full name, else alias, else last parts of the name.

        Case matters only to distinguish two datasets. Live datasets come before dropped ones.
        """

    def datasets(self, keys: Collection[str] | None = None) -> list[StoredDataset]:
        """Return the datasets of these keys (all, without keys), sorted by key."""

    def dataset_names(self, keys: Collection[str]) -> dict[str, str]:
        """Return the full names of the datasets of these keys, as people write them."""

    def column_spellings(self, keys: Collection[str]) -> dict[str, str]:
        """Return the paths of these columns by key, as written, where that differs from the key."""

    def former_names(self, datasets: Collection[str]) -> dict[str, list[FormerName]]:
        """Return the names that these datasets had before they were renamed, in order of time."""

    def name_holders(self, datasets: Collection[str]) -> dict[str, list[NameHolder]]:
        """Return which datasets had the names of these before them, until a RENAME or SWAP, in order of time."""

    def columns(self, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
        """Return the columns and fields of these datasets, by dataset, ordinal and path; dropped ones if `dropped`."""

    def column_heads(self, datasets: Collection[str]) -> list[ColumnHead]:
        """Return what the schemas of these datasets say of their columns and fields, as `columns` sorts them."""

    def expand(
        self,
        keys: Collection[str],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
    ) -> list[Hop]:
        """Return one hop from columns, or from the rows of datasets, sorted.

        Downstream: the edges out of each column, its fields at any depth and its parents, and out of the datasets
        among the keys. Upstream: the edges into them. These are the live edges, or those valid at `as_of`.
        """

    def edges_of_pairs(
        self,
        pairs: Collection[tuple[str, str]],
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
    ) -> list[StoredEdge]:
        """Return the edges of these pairs (source, target), job by job, sorted: the live ones, or those at `as_of`."""

    def explore(
        self,
        work: Callable[[Explorer], T],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
        hops: int = 1,
        deadline: float | None = None,
    ) -> T:
        """Return the result of `work`, which reads a consistent state of the graph through an explorer.

        `work` may be retried. `hops` is the distance it will read; `deadline` is a time of `time.monotonic`.

        Raises:
            StoreTimeoutError: the deadline has passed; running queries were cancelled.
        """

    def explore_beside(self, source: ExplorerSource | None) -> None:
        """Have another source explore the graph while it has the same state as the store; None ends that."""

    def graph_version(self) -> Version | None:
        """Return the version of what `explore` reads; None while a commit is applied.

        Raises:
            StoreError: the store could not be read.
        """

    def live_graph(self, work: Callable[[LiveGraph], T], *, whole: bool = False) -> T:
        """Return the result of `work`, which reads the live graph of one committed state and may be retried.

        With `whole`, what has changed since the version of that state may be mixed in.

        Raises:
            StoreError: the store could not be read.
        """

    def steps(self, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None) -> list[StoredStep]:
        """Return the edges of these pairs (source, target, kind) job by job, sorted.

        These are the live edges, or those valid at `as_of`.
        """

    def feeds(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[StoredFeed]:
        """Return one hop of table-level lineage out of (downstream) or into (upstream) these datasets."""

    def fed_tables(self) -> list[tuple[str, str]]:
        """Return the pairs of tables (keys) of which the first feeds the second now, each once, in any order."""

    def feed_keys(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[FeedKey]:
        """Return the keys of what `feeds` returns, sorted."""

    def feeds_by_columns(self, feeds: Collection[FeedKey], *, as_of: datetime | None = None) -> frozenset[FeedKey]:
        """Return the feeds whose job was fully resolved and has an edge between columns of the two datasets.

        Dropped columns count as well: their edges show that the job was resolved.
        """

    def search(
        self, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = (), limit: int = 20
    ) -> list[SearchHit]:
        """Return datasets and columns whose name contains the text, ignoring case: exact matches first, then prefixes.

        Only those with all `tags`; with tags, the text may be empty.
        """

    def count_search(self, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = ()) -> int:
        """Return how many datasets and columns `search` finds without a limit."""

    def describe(self, key: str, *, description: str | None = None, tags: Collection[str] | None = None) -> bool:
        """Set the description or all tags of a dataset or column; return whether it exists.

        An empty description deletes the existing one.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def describe_all(self, annotations: Collection[NodeAnnotation]) -> int:
        """Set descriptions and tags of datasets and columns in one transaction; return how many of these exist.

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """

    def change_tags(self, added: Collection[StoredTag] = (), removed: Collection[TagName] = ()) -> tuple[int, int]:
        """Add tags of columns and remove others, in one transaction; return how many changed and how many are gone.

        A tag that says what is stored already stays as it is. The columns need not be known.

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """

    def tags(self, columns: Collection[str] | None = None) -> list[StoredTag]:
        """Return the tags of these columns (by key; all tags, without keys), sorted."""

    def tagged_columns(self) -> list[StoredColumn]:
        """Return the columns with tags that `describe` set or that sources state, sorted by key.

        The tags of `change_tags` are not among them; dropped columns are left out.
        """

    def fact_sources(self, beginning: str) -> list[tuple[str, str]]:
        """Return the sources of facts (`StoredDataset.facts`) whose keys begin with this text, sorted.

        Each is listed with every dataset that it states facts of.
        """

    def forget_facts(self, stated: Collection[tuple[str, str]]) -> int:
        """Delete facts, given by source and dataset; return the number of datasets that had any of them.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def retire_edges(self, source: str, target: str, kind: EdgeKind, *, job: str | None = None, at: datetime) -> int:
        """Retire the live edges between two nodes, of one job or of all; return how many.

        A job that is ingested again creates a new edge.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def jobs(self, keys: Collection[str] | None = None, *, users: bool = False, runs: bool = True) -> list[StoredJob]:
        """Return the jobs of these keys (all, without keys), sorted by key; their users only with `users`.

        A job may have a thousand users per ingest, so counting them costs more than everything else. Without `runs`
        nothing is read but the jobs' own properties: not what they read and write, nor how often they ran.
        """

    def columns_by_key(self, keys: Collection[str]) -> list[StoredColumn]:
        """Return the columns of these keys, dropped ones included, sorted by key; unknown keys are left out."""

    def jobs_after(self, after: str = "", limit: int = 100, wanted: JobFilter | None = None) -> list[StoredJob]:
        """Return at most `limit` jobs whose keys follow `after`, sorted by key."""

    def page_of_jobs(self, page: PageRequest, wanted: JobFilter | None = None) -> list[StoredJob]:
        """Return a page of the jobs that match, by key or the time they were first or last seen."""

    def count_jobs(self, wanted: JobFilter | None = None) -> int:
        """Return how many jobs match."""

    def page_of_datasets(self, page: PageRequest, wanted: DatasetFilter | None = None) -> list[StoredDataset]:
        """Return a page of the datasets that match, by key, name or the time they were first or last seen."""

    def count_datasets(self, wanted: DatasetFilter | None = None) -> int:
        """Return how many datasets match."""

    def page_of_diagnostics(self, page: PageRequest, wanted: DiagnosticFilter | None = None) -> list[StoredDiagnostic]:
        """Return a page of the diagnostics that match, by key."""

    def count_diagnostics(self, wanted: DiagnosticFilter | None = None) -> int:
        """Return how many diagnostics match."""

    def page_of_runs(self, page: PageRequest) -> list[StoredRun]:
        """Return a page of the ingests, by key or the time they were first (`AT`) or last stored."""

    def count_runs(self) -> int:
        """Return how many ingests were stored."""

    def runs_by_key(self, keys: Collection[str]) -> list[StoredRun]:
        """Return the ingests of these keys, sorted by key; unknown keys are left out."""

    def job_keys_of(self, datasets: Collection[str], wanted: JobFilter | None = None) -> dict[str, list[str]]:
        """Return the keys of the jobs that read or write each of these datasets, sorted.

        Of a job that defines its output the latest version counts, as in `jobs`.
        """

    def writers_of(self, datasets: Collection[str], kinds: Collection[JobKind]) -> dict[str, list[DatasetWriter]]:
        """Return the jobs of these kinds which write each of these datasets, or did, sorted by key.

        The kinds are those of jobs that define their outputs.
        """

    def edges_of(self, jobs: Collection[str]) -> list[StoredEdge]:
        """Return the live edges of these jobs, sorted by job, target, source and kind."""

    def edges_into(self, datasets: Collection[str], *, as_of: datetime | None = None) -> list[StoredEdge]:
        """Return the edges into these datasets and their columns, sorted like those of `edges_of`.

        These are the live edges, or those valid at `as_of`.
        """

    def changed_edges(
        self, since: datetime, until: datetime, *, scope: str = "", limit: int = 10_000
    ) -> tuple[list[EdgeChange], bool]:
        """Return the edges that differ between two times, sorted by target, and whether `limit` truncated the list.

        `scope` is a prefix of the targets' keys: a dataset's key, a namespace, or a namespace and a schema.
        """

    def dataset_changes(self, since: datetime, until: datetime) -> list[DatasetChange]:
        """Return the DROPs and renames after `since` and up to `until`, in order, with the names of their time."""

    def runs(self, limit: int = 20) -> list[StoredRun]:
        """Return the latest ingests, newest first."""

    def diagnostics(self, source: str | None = None) -> list[StoredDiagnostic]:
        """Return the stored diagnostics, of one source if given, sorted by source and position."""

    def diagnostics_after(
        self,
        after: str = "",
        limit: int = 100,
        *,
        codes: Collection[DiagnosticCode] = (),
        severities: Collection[Severity] = (),
        source: str | None = None,
    ) -> list[StoredDiagnostic]:
        """Return at most `limit` diagnostics whose keys follow `after`, with these codes, severities and source."""

    def diagnostics_of(self, jobs: Collection[str]) -> list[StoredDiagnostic]:
        """Return the diagnostics about these jobs, sorted by key."""

    def usages(self, of: Collection[str], *, since: date | None = None, until: date | None = None) -> list[StoredUsage]:
        """Return the use of several datasets and columns by day, sorted by key and day; see `usage`."""

    def usage(self, of: str, *, since: date | None = None, until: date | None = None) -> list[StoredUsage]:
        """Return the use of a dataset or column (by key) by day, from `since` to `until` inclusive.

        Days without use are left out. `lineage.traversal.total_usage` sums the days.
        """

    def usage_totals(self, *, since: date | None = None, until: date | None = None) -> list[DatasetUsage]:
        """Return the use of each dataset from `since` to `until` inclusive, sorted by key.

        Datasets without use are left out.
        """

    def dump(self) -> GraphDump:
        """Return the whole graph; meant for tests and small graphs."""

    def close(self) -> None:
        """Close files and connections. A second call does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
