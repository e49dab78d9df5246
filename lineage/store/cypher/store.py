"""The store, over whatever database speaks Cypher: applying batches and answering, the same for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Self, TypeAlias, TypeVar

from lineage.model.batch import DatasetChange, LineageBatch
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.transformations import EdgeKind
from lineage.store.cypher import event_buffer, forgetting, lists, pages, reads, search
from lineage.store.cypher.annotations import describe, retire_edges
from lineage.store.cypher.backend import Backend, EndMissingError, Transaction
from lineage.store.cypher.changes import counted, difference
from lineage.store.cypher.dump import dump_graph
from lineage.store.cypher.former_names import former_names
from lineage.store.cypher.known_names import load_names
from lineage.store.cypher.loading import load_state, load_units_that_only_add
from lineage.store.cypher.schema import Changes
from lineage.store.cypher.statements import query
from lineage.store.errors import StoreWriteError
from lineage.store.exploring import Explorer, View
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter, PageRequest
from lineage.store.planning.chunks import BatchPart, Stage, parted, whole
from lineage.store.planning.datasets import remade_since
from lineage.store.planning.graph_state import GraphState, Prune
from lineage.store.planning.intake import Intake, take_in
from lineage.store.planning.naming import NamesOverTime, as_replacements
from lineage.store.planning.plan import plan, plan_pruning
from lineage.store.values import (
    AppliedChanges,
    DatasetUsage,
    Direction,
    EdgeChange,
    FeedKey,
    FormerName,
    GraphDump,
    HeldText,
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

__all__ = ["CypherStore"]

T = TypeVar("T")
_Beside: TypeAlias = Callable[[Transaction], tuple[Changes, list[str]]]
"""What else a transaction reads, to be written along with a batch, and keys of what is held then."""


class _MustBeAloneError(Exception):
    """Nodes go, to which writers in other lanes may tie something at this moment."""


class CypherStore:
    """A `GraphStore` over a database; `lineage.store.open_store` makes one."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def address(self) -> str:
        """What `--store` would name it by."""
        return self._backend.address

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema, after migration."""
        return self._backend.schema_version

    @property
    def is_exclusive(self) -> bool:
        """Whether no other process can write to it as long as it is open."""
        return self._backend.is_exclusive

    def apply(self, batch: LineageBatch | BatchPart) -> AppliedChanges:
        """Bring the graph up to date with a batch, or with a part of one, in one transaction; twice is as once.

        Raises:
            StoreError: the store could not be reached or written; nothing of the batch is stored then.
        """
        return self._apply(batch if isinstance(batch, BatchPart) else whole(_with_replacements(batch)))[0]

    def apply_and_hold(
        self, batch: LineageBatch, texts: Iterable[HeldText], release: Collection[str] = ()
    ) -> tuple[AppliedChanges, list[str]]:
        """Apply a batch and hold texts, in one transaction; return what `apply` and `hold` return.

        Raises:
            StoreError: the store could not be reached or written; nothing of both is stored then.
        """
        listed = list(texts)
        return self._apply(
            whole(_with_replacements(batch)), lambda transaction: event_buffer.hold(transaction, listed, release)
        )

    def _apply(self, part: BatchPart, beside: _Beside | None = None) -> tuple[AppliedChanges, list[str]]:
        if Stage.JOBS in part.stages and not self._backend.says_missing_ends:
            part = part.with_nodes()
        try:
            return self._apply_once(part, beside)
        except (EndMissingError, _MustBeAloneError) as conflict:
            # Another writer took away nodes that this part counts on, or this one takes away what others may.
            if not part.lanes:
                raise StoreWriteError(f"{self.address}: {conflict}") from conflict
            alone = part.with_nodes() if Stage.JOBS in part.stages else replace(part, lanes=())
            return self._apply_once(alone, beside)

    def _apply_once(self, part: BatchPart, beside: _Beside | None) -> tuple[AppliedChanges, list[str]]:
        def work(transaction: Transaction) -> tuple[AppliedChanges, list[str]]:
            naming, intake, before = _load(transaction, part, part.begins)
            since = remade_since(before, intake)
            if since is not None and since < part.begins:
                naming, intake, before = _load(transaction, part, since)
            changes = difference(before, plan(before, intake, naming))
            if changes.deleted_nodes and part.lanes:
                raise _MustBeAloneError
            also, keys = beside(transaction) if beside is not None else (Changes(), [])
            # As one: of a batch whose rows are copied in, nothing else may be in the transaction.
            transaction.write(changes.joined(also))
            return counted(changes), keys

        return self._backend.writing(work, part.lanes)

    def parts(self, batch: LineageBatch) -> list[list[BatchPart]]:
        """Return a batch in parts that together leave what `apply(batch)` leaves, to be applied by several processes.

        They come in rounds. The parts of a round can be applied (`apply`) at the same time, in any order, each by any
        process that has the store open; a round begins when all of the one before it are in. After a crash, begin
        anew with the first round: a part that is in already changes nothing.
        """
        batch = _with_replacements(batch)

        def work(transaction: Transaction) -> list[list[BatchPart]]:
            part = whole(batch)
            return parted(batch, load_names(transaction, part, part.begins).naming)

        return self._backend.reading(work)

    def prune(self, older_than: datetime, *, at: datetime | None = None) -> int:
        """End live edges of jobs that only add and that were last seen before, at `at` (now); return how many.

        What such jobs did before `older_than` and is ingested later ends at that time, too.
        """
        ended_at = datetime.now(UTC) if at is None else at
        prune = Prune(min(older_than, ended_at), ended_at)

        def work(transaction: Transaction) -> int:
            before = load_units_that_only_add(transaction, prune)
            changes = difference(before, plan_pruning(before, prune))
            transaction.write(changes)
            return counted(changes).edges_ended

        return self._backend.writing(work)

    def select_jobs(self, wanted: JobSelection) -> list[JobHead]:
        """Return the jobs that a selection means, sorted by key."""
        return self._backend.reading(lambda transaction: forgetting.select_jobs(transaction, wanted))

    def diagnosed_files(self, beginnings: Collection[str]) -> list[str]:
        """Return the keys, of those that begin so, of SQL files of which something was found, sorted."""
        rows = [{"beginning": text} for text in beginnings]
        return self._backend.reading(
            lambda transaction: sorted({row["file_key"] for row in transaction.read(query("diagnosed_files"), rows)})
        )

    def retire_jobs(self, keys: Collection[str], at: datetime) -> RetiredJobs:
        """End what these jobs state, from then on; it stays in the history. What was found in them is let go."""
        return self._backend.writing(lambda transaction: forgetting.retire_jobs(transaction, keys, at))

    def rekey_jobs(self, identities: dict[str, JobIdentity], sources: Collection[str] = ()) -> int:
        """Give jobs (by key) another key, with their history; return how many of them there were."""
        return self._backend.writing(lambda transaction: forgetting.rekey_jobs(transaction, identities, sources))

    def hold(self, texts: Iterable[HeldText], release: Collection[str] = ()) -> list[str]:
        """Hold texts, and let go of those with the keys `release`, in one transaction; twice is as once.

        Return the keys of all texts that are then held of their owners, sorted.

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """
        listed = list(texts)
        if not listed and not release:
            return []

        def work(transaction: Transaction) -> list[str]:
            changes, keys = event_buffer.hold(transaction, listed, release)
            transaction.write(changes)
            return keys

        return self._backend.writing(work)

    def held(self, owners: Collection[str]) -> list[HeldText]:
        """Return what is held of these owners, sorted by key."""
        return self._backend.reading(lambda transaction: event_buffer.held(transaction, owners))

    def drop_held(self, open_before: datetime, finished_before: datetime) -> int:
        """Let go of what was held before: in any case, and of owners that have ended. Return how many texts."""
        return self._backend.writing(
            lambda transaction: event_buffer.drop_held(transaction, open_before, finished_before)
        )

    def job_keys(self) -> list[str]:
        """Return the keys of all jobs, sorted."""
        return self._backend.reading(lambda transaction: reads.keys(transaction, "all_job_keys"))

    def dataset_keys(self) -> list[str]:
        """Return the keys of all datasets, sorted."""
        return self._backend.reading(lambda transaction: reads.keys(transaction, "all_dataset_keys"))

    def find_datasets(self, name: str) -> list[StoredDataset]:
        """Return the datasets that a typed name means: by key, else full name, else alias, else last name parts."""
        return self._backend.reading(lambda transaction: search.find_datasets(transaction, name))

    def search(
        self, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = (), limit: int = 20
    ) -> list[SearchHit]:
        """Return datasets and columns whose name holds the text, without case: whole names first, then beginnings."""
        return self._backend.reading(lambda transaction: search.search(transaction, text, types, tags, limit))

    def count_search(self, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = ()) -> int:
        """Return how many datasets and columns `search` would find without a limit."""
        return self._backend.reading(lambda transaction: search.count_search(transaction, text, types, tags))

    def describe(self, key: str, *, description: str | None = None, tags: Collection[str] | None = None) -> bool:
        """Set what is given of a dataset or column: a description, all its tags; return whether it is there."""
        return self._backend.writing(lambda transaction: describe(transaction, key, description, tags))

    def retire_edges(self, source: str, target: str, kind: EdgeKind, *, job: str | None = None, at: datetime) -> int:
        """End the live edges between two nodes, of one job or of all, at a time; return how many there were."""
        return self._backend.writing(lambda transaction: retire_edges(transaction, source, target, kind, job, at))

    def datasets(self, keys: Collection[str] | None = None) -> list[StoredDataset]:
        """Return the datasets of these keys (all, without keys), sorted by key."""
        return self._backend.reading(lambda transaction: reads.datasets(transaction, keys))

    def dataset_names(self, keys: Collection[str]) -> dict[str, str]:
        """Return the full names of the datasets of these keys."""
        return self._backend.reading(lambda transaction: reads.dataset_names(transaction, keys))

    def column_spellings(self, keys: Collection[str]) -> dict[str, str]:
        """Return the paths of columns that are written otherwise than their keys have them."""
        return self._backend.reading(lambda transaction: reads.column_spellings(transaction, keys))

    def former_names(self, datasets: Collection[str]) -> dict[str, list[FormerName]]:
        """Return the names that these datasets had before they were renamed, in order of time."""
        return self._backend.reading(lambda transaction: former_names(transaction, datasets))

    def columns(self, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
        """Return the columns and fields of these datasets, by dataset, ordinal and path; past ones if `dropped`."""
        return self._backend.reading(lambda transaction: reads.columns(transaction, datasets, dropped=dropped))

    def expand(
        self,
        keys: Collection[str],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
    ) -> list[Hop]:
        """Return one hop from columns (or datasets, as targets of influence on rows)."""
        return self._backend.reading(lambda transaction: reads.expand(transaction, keys, direction, kinds, as_of))

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
        """Return what `work` makes of one state of the graph around columns, read as it asks for it."""
        return self._backend.exploring(work, View(direction, frozenset(kinds), as_of, hops, deadline))

    def steps(self, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None) -> list[StoredStep]:
        """Return what jobs say of these pairs (a column, a column or dataset, a kind of edge)."""
        return self._backend.reading(lambda transaction: reads.steps(transaction, pairs, as_of))

    def feeds(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[StoredFeed]:
        """Return one hop of table-level lineage out of (downstream) or into (upstream) these datasets."""
        return self._backend.reading(lambda transaction: reads.feeds(transaction, datasets, direction, as_of))

    def feed_keys(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[FeedKey]:
        """Return one hop of table-level lineage, without what is known of each."""
        return self._backend.reading(lambda transaction: reads.feed_keys(transaction, datasets, direction, as_of))

    def feeds_by_columns(self, feeds: Collection[FeedKey], *, as_of: datetime | None = None) -> frozenset[FeedKey]:
        """Return those of the feeds whose job was fully resolved and states an edge between the two, by columns."""
        return self._backend.reading(lambda transaction: reads.feeds_by_columns(transaction, feeds, as_of))

    def jobs(self, keys: Collection[str] | None = None, *, users: bool = False) -> list[StoredJob]:
        """Return the jobs of these keys (all, without keys), sorted by key; who ran them only with `users`."""
        return self._backend.reading(lambda transaction: reads.jobs(transaction, keys, users=users))

    def columns_by_key(self, keys: Collection[str]) -> list[StoredColumn]:
        """Return the columns of these keys, past ones too, sorted by key; keys without a column are left out."""
        return self._backend.reading(lambda transaction: lists.columns_by_key(transaction, keys))

    def jobs_after(self, after: str = "", limit: int = 100, wanted: JobFilter | None = None) -> list[StoredJob]:
        """Return the next jobs by key, beginning behind `after`, at most `limit`."""
        of = wanted or JobFilter()
        return self._backend.reading(lambda transaction: lists.jobs_after(transaction, after, limit, of))

    def page_of_jobs(self, page: PageRequest, wanted: JobFilter | None = None) -> list[StoredJob]:
        """Return a page of the jobs that are wanted, by key or the time they were first or last seen."""
        of = wanted or JobFilter()
        return self._backend.reading(lambda transaction: pages.page_of_jobs(transaction, page, of))

    def count_jobs(self, wanted: JobFilter | None = None) -> int:
        """Return how many jobs are wanted."""
        return self._backend.reading(lambda transaction: pages.count_jobs(transaction, wanted or JobFilter()))

    def page_of_datasets(self, page: PageRequest, wanted: DatasetFilter | None = None) -> list[StoredDataset]:
        """Return a page of the datasets that are wanted, by key, name or the time they were first or last seen."""
        of = wanted or DatasetFilter()
        return self._backend.reading(lambda transaction: pages.page_of_datasets(transaction, page, of))

    def count_datasets(self, wanted: DatasetFilter | None = None) -> int:
        """Return how many datasets are wanted."""
        return self._backend.reading(lambda transaction: pages.count_datasets(transaction, wanted or DatasetFilter()))

    def page_of_diagnostics(self, page: PageRequest, wanted: DiagnosticFilter | None = None) -> list[StoredDiagnostic]:
        """Return a page of the diagnostics that are wanted, by key."""
        of = wanted or DiagnosticFilter()
        return self._backend.reading(lambda transaction: pages.page_of_diagnostics(transaction, page, of))

    def count_diagnostics(self, wanted: DiagnosticFilter | None = None) -> int:
        """Return how many diagnostics are wanted."""
        of = wanted or DiagnosticFilter()
        return self._backend.reading(lambda transaction: pages.count_diagnostics(transaction, of))

    def page_of_runs(self, page: PageRequest) -> list[StoredRun]:
        """Return a page of the ingests, by key or the time they were first (`AT`) or last stored."""
        return self._backend.reading(lambda transaction: pages.page_of_runs(transaction, page))

    def count_runs(self) -> int:
        """Return how many ingests were stored."""
        return self._backend.reading(pages.count_runs)

    def runs_by_key(self, keys: Collection[str]) -> list[StoredRun]:
        """Return the ingests of these keys, sorted by key; keys without one are left out."""
        return self._backend.reading(lambda transaction: pages.runs_by_key(transaction, keys))

    def job_keys_of(self, datasets: Collection[str], wanted: JobFilter | None = None) -> dict[str, list[str]]:
        """Return the keys of the jobs that read or write each of these datasets, sorted."""
        of = wanted or JobFilter()
        return self._backend.reading(lambda transaction: lists.job_keys_of(transaction, datasets, of))

    def edges_of(self, jobs: Collection[str]) -> list[StoredEdge]:
        """Return the live edges that these jobs state, sorted by job, target, source and kind."""
        return self._backend.reading(lambda transaction: lists.edges_of(transaction, jobs))

    def edges_into(self, datasets: Collection[str], *, as_of: datetime | None = None) -> list[StoredEdge]:
        """Return the edges into these datasets and their columns, sorted as those of jobs.

        Without `as_of` the live edges, else those that held then.
        """
        return self._backend.reading(lambda transaction: lists.edges_into(transaction, datasets, as_of))

    def changed_edges(
        self, since: datetime, until: datetime, *, scope: str = "", limit: int = 10_000
    ) -> tuple[list[EdgeChange], bool]:
        """Return the edges that differ between two times, sorted by target, and whether `limit` cut the list short."""
        return self._backend.reading(lambda transaction: lists.changed_edges(transaction, since, until, scope, limit))

    def dataset_changes(self, since: datetime, until: datetime) -> list[DatasetChange]:
        """Return the DROPs and renamings after one time until another, in order; datasets are named as then."""
        return self._backend.reading(lambda transaction: lists.dataset_changes(transaction, since, until))

    def runs(self, limit: int = 20) -> list[StoredRun]:
        """Return the latest ingests, the newest first."""
        return self._backend.reading(lambda transaction: reads.runs(transaction, limit))

    def diagnostics(self, source: str | None = None) -> list[StoredDiagnostic]:
        """Return the stored diagnostics, of one source if it is named, sorted by source and place."""
        return self._backend.reading(lambda transaction: reads.diagnostics(transaction, source))

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
        return self._backend.reading(
            lambda transaction: lists.diagnostics_after(
                transaction, after, limit, codes=codes, severities=severities, source=source
            )
        )

    def diagnostics_of(self, jobs: Collection[str]) -> list[StoredDiagnostic]:
        """Return the diagnostics about these jobs, sorted by key."""
        return self._backend.reading(lambda transaction: lists.diagnostics_of(transaction, jobs))

    def usages(self, of: Collection[str], *, since: date | None = None, until: date | None = None) -> list[StoredUsage]:
        """Return what `usage` does, for several datasets and columns, sorted by key and day."""
        return self._backend.reading(lambda transaction: reads.usage(transaction, of, since, until))

    def usage(self, of: str, *, since: date | None = None, until: date | None = None) -> list[StoredUsage]:
        """Return the use of a dataset or column (by key) by day, from the first of these days to the last, if given."""
        return self._backend.reading(lambda transaction: reads.usage(transaction, [of], since, until))

    def usage_totals(self, *, since: date | None = None, until: date | None = None) -> list[DatasetUsage]:
        """Return the use of each dataset from the first of these days to the last, if given, sorted by key."""
        return self._backend.reading(lambda transaction: pages.usage_totals(transaction, since, until))

    def dump(self) -> GraphDump:
        """Return the whole graph; meant for tests and small graphs."""
        return self._backend.reading(dump_graph)

    def close(self) -> None:
        """Let go of files and connections. A second call does nothing."""
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _load(transaction: Transaction, part: BatchPart, since: datetime) -> tuple[NamesOverTime, Intake, GraphState]:
    """Return what a part says, and what it may change in a graph whose changes since a time are known."""
    names = load_names(transaction, part, since)
    intake = take_in(part, names.naming)
    return names.naming, intake, load_state(transaction, intake, names)


def _with_replacements(batch: LineageBatch) -> LineageBatch:
    return replace(batch, changes=tuple(as_replacements(batch.changes)))
