"""What every store offers. Times are UTC; keys are those of `lineage.model`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Protocol, Self, TypeVar

from lineage.model.batch import DatasetChange, LineageBatch
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.transformations import EdgeKind
from lineage.store.exploring import Explorer
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter, PageRequest
from lineage.store.planning.chunks import BatchPart
from lineage.store.values import (
    AppliedChanges,
    BufferedText,
    DatasetUsage,
    Direction,
    EdgeChange,
    FeedKey,
    FormerName,
    GraphDump,
    Hop,
    JobHead,
    JobIdentity,
    JobSelection,
    RetiredJobs,
    SearchHit,
    StoredColumn,
    StoredDataset,
    StoredDiagnostic,
    StoredEdge,
    StoredFeed,
    StoredJob,
    StoredRun,
    StoredStep,
    StoredUsage,
)

__all__ = ["GraphStore"]

T = TypeVar("T")


class GraphStore(Protocol):
    """A graph of lineage. Opening one creates or migrates its schema; it is closed, or used as a context."""

    @property
    def address(self) -> str:
        """What `--store` would name it by."""

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema, after migration."""

    @property
    def is_exclusive(self) -> bool:
        """Whether no other process can write to it as long as it is open."""

    def apply(self, batch: LineageBatch | BatchPart) -> AppliedChanges:
        """Bring the graph up to date with a batch, or with a part of one, in one transaction; twice is as once.

        Raises:
            StoreError: the store could not be reached or written; nothing of the batch is stored then.
        """

    def parts(self, batch: LineageBatch) -> list[list[BatchPart]]:
        """Return a batch in parts that together leave what `apply(batch)` leaves, to be applied by several processes.

        They come in rounds. The parts of a round can be applied (`apply`) at the same time, in any order, each by any
        process that has the store open; a round begins when all of the one before it are in. After a crash, begin
        anew with the first round: a part that is in already changes nothing.
        """

    def prune(self, older_than: datetime, *, at: datetime | None = None) -> int:
        """End live edges of jobs that only add and that were last seen before, at `at` (now); return how many.

        What such jobs did before `older_than` and is ingested later ends at that time, too.
        """

    def select_jobs(self, wanted: JobSelection) -> list[JobHead]:
        """Return the jobs that a selection means, sorted by key."""

    def diagnosed_files(self, beginnings: Collection[str]) -> list[str]:
        """Return the keys, of those that begin so, of SQL files of which something was found, sorted."""

    def retire_jobs(self, keys: Collection[str], at: datetime) -> RetiredJobs:
        """End what these jobs state, from then on; it stays in the history. What was found in them is let go.

        A job that is ingested again states it anew.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def rekey_jobs(self, identities: dict[str, JobIdentity], sources: Collection[str] = ()) -> int:
        """Give jobs (by key) another key, with their history; return how many of them there were.

        What was found of `sources`, and of no job, before files had keys is let go.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def buffer_texts(self, texts: Iterable[BufferedText], release: Collection[str] = ()) -> list[str]:
        """Hold texts, and let go of those with the keys `release`, in one transaction; twice is as once.

        Return the keys of all texts that are then held of their owners, sorted.

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """

    def apply_and_buffer(
        self, batch: LineageBatch, texts: Iterable[BufferedText], release: Collection[str] = ()
    ) -> tuple[AppliedChanges, list[str]]:
        """Apply a batch and hold texts, in one transaction; return what `apply` and `buffer_texts` return.

        Raises:
            StoreError: the store could not be reached or written; nothing of both is stored then.
        """

    def buffered_texts(self, owners: Collection[str]) -> list[BufferedText]:
        """Return what is held of these owners, sorted by key."""

    def drop_buffered_texts(self, open_before: datetime, finished_before: datetime) -> int:
        """Let go of what was held before: in any case, and of owners that have ended. Return how many texts."""

    def job_keys(self) -> list[str]:
        """Return the keys of all jobs, sorted."""

    def dataset_keys(self) -> list[str]:
        """Return the keys of all datasets, sorted."""

    def find_datasets(self, name: str) -> list[StoredDataset]:
        """Return the datasets that a typed name means: by key, else full name, else alias, else last name parts.

        Case matters only where it tells two datasets apart. Live ones come before dropped ones.
        """

    def datasets(self, keys: Collection[str] | None = None) -> list[StoredDataset]:
        """Return the datasets of these keys (all, without keys), sorted by key."""

    def dataset_names(self, keys: Collection[str]) -> dict[str, str]:
        """Return the full names of the datasets of these keys, as people write them."""

    def column_spellings(self, keys: Collection[str]) -> dict[str, str]:
        """Return the paths of those of these columns, by key, that are written otherwise than their keys have them."""

    def former_names(self, datasets: Collection[str]) -> dict[str, list[FormerName]]:
        """Return the names that these datasets had before they were renamed, in order of time."""

    def columns(self, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
        """Return the columns and fields of these datasets, by dataset, ordinal and path; past ones if `dropped`."""

    def expand(
        self,
        keys: Collection[str],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
    ) -> list[Hop]:
        """Return one hop from columns, or from datasets as which rows they have.

        Downstream: the edges out of each column, its fields at any depth and its parents, and out of the datasets
        among the keys. Upstream: the edges into them. Without `as_of` the live edges, else those that held
        then. Sorted, so that an answer is the same each time.
        """

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
        """Return what `work` makes of one state of the graph around columns, read as it asks for it.

        `work` gets an explorer and may run again. `hops` is how far it will ask; `deadline` is by `time.monotonic`.

        Raises:
            StoreTimeoutError: the deadline is past; what ran in the database was ended.
        """

    def steps(self, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None) -> list[StoredStep]:
        """Return what jobs say of these pairs (a column, a column or dataset, a kind of edge), sorted.

        Without `as_of` the live edges, else those that held then.
        """

    def feeds(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[StoredFeed]:
        """Return one hop of table-level lineage out of (downstream) or into (upstream) these datasets."""

    def feed_keys(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[FeedKey]:
        """Return the same, sorted, without what is known of each."""

    def feeds_by_columns(self, feeds: Collection[FeedKey], *, as_of: datetime | None = None) -> frozenset[FeedKey]:
        """Return those of the feeds whose job was fully resolved and states an edge between the two, by columns.

        A column that was dropped counts, too: what its job states of it shows that the job was understood.
        """

    def search(
        self, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = (), limit: int = 20
    ) -> list[SearchHit]:
        """Return datasets and columns whose name holds the text, without case: whole names first, then beginnings.

        Only those that have all `tags`; with tags, the text may be empty.
        """

    def count_search(self, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = ()) -> int:
        """Return how many datasets and columns `search` would find without a limit."""

    def describe(self, key: str, *, description: str | None = None, tags: Collection[str] | None = None) -> bool:
        """Set what is given of a dataset or column: a description, all its tags; return whether it is there.

        An empty description takes the one that there was away.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def retire_edges(self, source: str, target: str, kind: EdgeKind, *, job: str | None = None, at: datetime) -> int:
        """End the live edges between two nodes, of one job or of all, at a time; return how many there were.

        A job that states one again begins a new edge.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def jobs(self, keys: Collection[str] | None = None, *, users: bool = False) -> list[StoredJob]:
        """Return the jobs of these keys (all, without keys), sorted by key; who ran them only with `users`.

        A source batch may name a thousand users of a job, so that counting them costs more than all else.
        """

    def columns_by_key(self, keys: Collection[str]) -> list[StoredColumn]:
        """Return the columns of these keys, past ones too, sorted by key; keys without a column are left out."""

    def jobs_after(self, after: str = "", limit: int = 100, wanted: JobFilter | None = None) -> list[StoredJob]:
        """Return the next jobs by key, beginning behind `after`, at most `limit`."""

    def page_of_jobs(self, page: PageRequest, wanted: JobFilter | None = None) -> list[StoredJob]:
        """Return a page of the jobs that are wanted, by key or the time they were first or last seen."""

    def count_jobs(self, wanted: JobFilter | None = None) -> int:
        """Return how many jobs are wanted."""

    def page_of_datasets(self, page: PageRequest, wanted: DatasetFilter | None = None) -> list[StoredDataset]:
        """Return a page of the datasets that are wanted, by key, name or the time they were first or last seen."""

    def count_datasets(self, wanted: DatasetFilter | None = None) -> int:
        """Return how many datasets are wanted."""

    def page_of_diagnostics(self, page: PageRequest, wanted: DiagnosticFilter | None = None) -> list[StoredDiagnostic]:
        """Return a page of the diagnostics that are wanted, by key."""

    def count_diagnostics(self, wanted: DiagnosticFilter | None = None) -> int:
        """Return how many diagnostics are wanted."""

    def page_of_runs(self, page: PageRequest) -> list[StoredRun]:
        """Return a page of the ingests, by key or the time they were first (`AT`) or last stored."""

    def count_runs(self) -> int:
        """Return how many ingests were stored."""

    def runs_by_key(self, keys: Collection[str]) -> list[StoredRun]:
        """Return the ingests of these keys, sorted by key; keys without one are left out."""

    def job_keys_of(self, datasets: Collection[str], wanted: JobFilter | None = None) -> dict[str, list[str]]:
        """Return the keys of the jobs that read or write each of these datasets, sorted."""

    def edges_of(self, jobs: Collection[str]) -> list[StoredEdge]:
        """Return the live edges that these jobs state, sorted by job, target, source and kind."""

    def edges_into(self, datasets: Collection[str], *, as_of: datetime | None = None) -> list[StoredEdge]:
        """Return the edges into these datasets and their columns, sorted as those of jobs.

        Without `as_of` the live edges, else those that held then.
        """

    def changed_edges(
        self, since: datetime, until: datetime, *, scope: str = "", limit: int = 10_000
    ) -> tuple[list[EdgeChange], bool]:
        """Return the edges that differ between two times, sorted by target, and whether `limit` cut the list short.

        `scope` is what the targets' keys begin with: a dataset's key, a namespace, a namespace and a schema.
        """

    def dataset_changes(self, since: datetime, until: datetime) -> list[DatasetChange]:
        """Return the DROPs and renamings after one time until another, in order; datasets are named as then."""

    def runs(self, limit: int = 20) -> list[StoredRun]:
        """Return the latest ingests, the newest first."""

    def diagnostics(self, source: str | None = None) -> list[StoredDiagnostic]:
        """Return the stored diagnostics, of one source if it is named, sorted by source and place."""

    def diagnostics_after(
        self,
        after: str = "",
        limit: int = 100,
        *,
        codes: Collection[DiagnosticCode] = (),
        severities: Collection[Severity] = (),
        source: str | None = None,
    ) -> list[StoredDiagnostic]:
        """Return the next diagnostics by key, beginning behind `after`: of these codes, severities and source."""

    def diagnostics_of(self, jobs: Collection[str]) -> list[StoredDiagnostic]:
        """Return the diagnostics about these jobs, sorted by key."""

    def usages(self, of: Collection[str], *, since: date | None = None, until: date | None = None) -> list[StoredUsage]:
        """Return what `usage` does, for several datasets and columns, sorted by key and day."""

    def usage(self, of: str, *, since: date | None = None, until: date | None = None) -> list[StoredUsage]:
        """Return the use of a dataset or column (by key) by day, from the first of these days to the last, if given.

        Days without use are left out. `lineage.traversal.total_usage` sums days up.
        """

    def usage_totals(self, *, since: date | None = None, until: date | None = None) -> list[DatasetUsage]:
        """Return the use of each dataset from the first of these days to the last, if given, sorted by key.

        Datasets without use on these days are left out.
        """

    def dump(self) -> GraphDump:
        """Return the whole graph; meant for tests and small graphs."""

    def close(self) -> None:
        """Let go of files and connections. A second call does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
