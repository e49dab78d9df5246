"""The store over any Cypher database: it applies batches and answers queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial, wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeAlias, TypeVar

from lineage.model.batch import LineageBatch
from lineage.model.influence.transformations import EdgeKind
from lineage.store.errors import StoreWriteError
from lineage.store.exploring import Explorer, View
from lineage.store.graph.backend import Backend, EndMissingError, Transaction
from lineage.store.graph.contents import count_contents, holds_anything, recorded_contents
from lineage.store.graph.reading import lists, pages, reads, search, table_feeds
from lineage.store.graph.reading.dump import dump_graph
from lineage.store.graph.reading.known_names import load_names
from lineage.store.graph.schema import Changes
from lineage.store.graph.transfer import export_graph, import_changes
from lineage.store.graph.writing import event_buffer, forgetting
from lineage.store.graph.writing.annotations import describe, describe_all, retire_edges
from lineage.store.graph.writing.changes import count_changes, difference
from lineage.store.graph.writing.facts import fact_sources, forget_facts
from lineage.store.graph.writing.former_names import former_names, name_holders
from lineage.store.graph.writing.loading import load_state
from lineage.store.graph.writing.seen_again import is_seen_after, see_again
from lineage.store.graph.writing.tags import change_tags, tagged_columns, tags
from lineage.store.live_graph import ExplorerSource, LiveGraph, Version
from lineage.store.planning.chunking.chunks import BatchPart, Stage, split_batch, whole_batch
from lineage.store.planning.datasets import remade_since, unclaimed_since
from lineage.store.planning.graph_state import GraphState
from lineage.store.planning.intake import Intake, resolve_intake
from lineage.store.planning.naming import NamesOverTime, as_replacements
from lineage.store.planning.plan import plan
from lineage.store.values import AppliedChanges, BufferedText, Direction

__all__ = ["CypherStore"]

P = ParamSpec("P")
T = TypeVar("T")
_Beside: TypeAlias = Callable[[Transaction], tuple[Changes, list[str]]]
"""Returns further changes to write together with a batch, and the keys of the texts that are then buffered."""


class _MustBeAloneError(Exception):
    """The part deletes nodes to which writers in other stripes may add relationships at the same time."""


def _reading(function: Callable[Concatenate[Transaction, P], T]) -> Callable[Concatenate[CypherStore, P], T]:
    """Return the method that runs a function in a read transaction of the store."""

    @wraps(function)
    def method(self: CypherStore, /, *args: P.args, **named: P.kwargs) -> T:
        return self._backend.reading(lambda transaction: function(transaction, *args, **named))

    return method


def _writing(function: Callable[Concatenate[Transaction, P], T]) -> Callable[Concatenate[CypherStore, P], T]:
    """Return the method that runs a function in a write transaction of the store."""

    @wraps(function)
    def method(self: CypherStore, /, *args: P.args, **named: P.kwargs) -> T:
        return self._backend.writing(lambda transaction: function(transaction, *args, **named))

    return method


class CypherStore:
    """A `GraphStore` over a Cypher database; `lineage.store.open_store` returns one.

    `GraphStore` documents the methods. Those that only read or write rows are functions of this folder.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._beside: ExplorerSource | None = None

    @property
    def address(self) -> str:
        """The address that `--store` takes."""
        return self._backend.address

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema, after migration."""
        return self._backend.schema_version

    @property
    def is_file(self) -> bool:
        """Whether it is a file that this program opens itself, not a server."""
        return self._backend.is_file

    @property
    def last_session(self) -> int | None:
        """The number of the session that wrote last; None if another one has written meanwhile."""
        return self._backend.last_session

    def apply(self, batch: LineageBatch | BatchPart) -> AppliedChanges:
        """Apply a batch, or a part of one, in one transaction. It is idempotent.

        Raises:
            StoreError: the store could not be reached or written; nothing of the batch is stored then.
        """
        return self._apply(batch if isinstance(batch, BatchPart) else whole_batch(_with_replacements(batch)))[0]

    def apply_and_buffer(
        self, batch: LineageBatch, texts: Iterable[BufferedText], release: Collection[str] = ()
    ) -> tuple[AppliedChanges, list[str]]:
        """Apply a batch and buffer texts in one transaction; return the results of `apply` and `buffer_texts`.

        Raises:
            StoreError: the store could not be reached or written; nothing of both is stored then.
        """
        listed = list(texts)
        return self._apply(
            whole_batch(_with_replacements(batch)),
            lambda transaction: event_buffer.buffer_texts(transaction, listed, release),
        )

    def _apply(self, part: BatchPart, beside: _Beside | None = None) -> tuple[AppliedChanges, list[str]]:
        if Stage.JOBS in part.stages and not self._backend.reports_missing_ends:
            part = part.with_nodes()
        try:
            return self._apply_once(part, beside)
        except (EndMissingError, _MustBeAloneError) as conflict:
            # Another writer deleted nodes that this part needs, or this part deletes nodes that others may need.
            if not part.stripes:
                raise StoreWriteError(f"{self.address}: {conflict}") from conflict
            alone = part.with_nodes() if Stage.JOBS in part.stages else replace(part, stripes=())
            return self._apply_once(alone, beside)

    def _apply_once(self, part: BatchPart, beside: _Beside | None) -> tuple[AppliedChanges, list[str]]:
        def work(transaction: Transaction) -> tuple[AppliedChanges, list[str]]:
            naming, intake, before = _load(transaction, part, part.begins)
            earlier = [at for at in (remade_since(before, intake), unclaimed_since(before)) if at is not None]
            if earlier and min(earlier) < part.begins:
                naming, intake, before = _load(transaction, part, min(earlier))
            changes = difference(before, plan(before, intake, naming))
            if changes.deleted_nodes and part.stripes:
                raise _MustBeAloneError
            also, keys = beside(transaction) if beside is not None else (Changes(), [])
            # In one write: a transaction that copies rows in may contain nothing else.
            transaction.write(changes.joined(also))
            return count_changes(changes), keys

        return self._backend.writing(work, part.stripes)

    def parts(self, batch: LineageBatch) -> list[list[BatchPart]]:
        """Split a batch into rounds of parts for several processes."""
        batch = _with_replacements(batch)

        def work(transaction: Transaction) -> list[list[BatchPart]]:
            part = whole_batch(batch)
            return split_batch(batch, load_names(transaction, part, part.begins).naming)

        return self._backend.reading(work)

    prune = _writing(forgetting.prune)
    select_jobs = _reading(forgetting.select_jobs)
    diagnosed_files = _reading(forgetting.diagnosed_files)
    retire_jobs = _writing(forgetting.retire_jobs)
    rekey_jobs = _writing(forgetting.rekey_jobs)
    is_seen_after = _reading(is_seen_after)
    see_again = _writing(see_again)

    def buffer_texts(self, texts: Iterable[BufferedText], release: Collection[str] = ()) -> list[str]:
        """Buffer texts and delete those with the keys `release`; return the keys then buffered for their owners.

        Raises:
            StoreError: the store could not be reached or written; nothing has changed then.
        """
        listed = list(texts)
        if not listed and not release:
            return []

        def work(transaction: Transaction) -> list[str]:
            changes, keys = event_buffer.buffer_texts(transaction, listed, release)
            transaction.write(changes)
            return keys

        return self._backend.writing(work)

    buffered_texts = _reading(event_buffer.buffered_texts)
    drop_buffered_texts = _writing(event_buffer.drop_buffered_texts)

    find_datasets = _reading(search.find_datasets)
    forgotten_datasets = _reading(search.forgotten_datasets)
    count_search = _reading(search.count_search)
    search = _reading(search.search)

    describe = _writing(describe)
    describe_all = _writing(describe_all)
    retire_edges = _writing(retire_edges)
    change_tags = _writing(change_tags)
    tags = _reading(tags)
    tagged_columns = _reading(tagged_columns)
    fact_sources = _reading(fact_sources)
    forget_facts = _writing(forget_facts)

    job_keys = _reading(reads.job_keys)
    live_datasets = _reading(reads.live_datasets)
    schema_counts = _reading(reads.schema_counts)
    dataset_keys = _reading(reads.dataset_keys)
    dataset_keys_ending = _reading(reads.dataset_keys_ending)
    datasets = _reading(reads.datasets)
    dataset_names = _reading(reads.dataset_names)
    column_spellings = _reading(reads.column_spellings)
    former_names = _reading(former_names)
    name_holders = _reading(name_holders)
    columns = _reading(reads.columns)
    column_heads = _reading(reads.column_heads)
    expand = _reading(reads.expand)
    edges_of_pairs = _reading(reads.edges_of_pairs)

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
        """Return the result of `work`, which reads a consistent state of the graph through an explorer."""
        view = View(direction, frozenset(kinds), as_of, hops, deadline)
        explorer = self._beside.explorer(view) if self._beside is not None else None
        return work(explorer) if explorer is not None else self._backend.exploring(work, view)

    def explore_beside(self, source: ExplorerSource | None) -> None:
        """Have another source explore the graph while it has the same state as the store; None ends that."""
        self._beside = source

    def graph_version(self) -> Version | None:
        """Return the version of what `explore` reads; None while a commit is applied."""
        return self._backend.graph_version()

    def live_graph(self, work: Callable[[LiveGraph], T], *, whole: bool = False) -> T:
        """Return the result of `work`, which reads the live graph; with `whole`, later changes may be mixed in."""
        return self._backend.live_graph(work, whole=whole)

    steps = _reading(reads.steps)
    feeds = _reading(table_feeds.feeds)
    fed_tables = _reading(table_feeds.fed_tables)
    feed_keys = _reading(table_feeds.feed_keys)
    feeds_by_columns = _reading(table_feeds.feeds_by_columns)
    jobs = _reading(reads.jobs)
    runs = _reading(reads.runs)
    diagnostics = _reading(reads.diagnostics)
    usage = _reading(reads.usage)
    usages = _reading(reads.usages)

    columns_by_key = _reading(lists.columns_by_key)
    jobs_after = _reading(lists.jobs_after)
    job_keys_of = _reading(lists.job_keys_of)
    writers_of = _reading(lists.writers_of)
    edges_of = _reading(lists.edges_of)
    edges_into = _reading(lists.edges_into)
    changed_edges = _reading(lists.changed_edges)
    dataset_changes = _reading(lists.dataset_changes)
    diagnostics_after = _reading(lists.diagnostics_after)
    diagnostics_of = _reading(lists.diagnostics_of)

    page_of_jobs = _reading(pages.page_of_jobs)
    count_jobs = _reading(pages.count_jobs)
    page_of_datasets = _reading(pages.page_of_datasets)
    count_datasets = _reading(pages.count_datasets)
    page_of_diagnostics = _reading(pages.page_of_diagnostics)
    count_diagnostics = _reading(pages.count_diagnostics)
    page_of_runs = _reading(pages.page_of_runs)
    count_runs = _reading(pages.count_runs)
    runs_by_key = _reading(pages.runs_by_key)
    usage_totals = _reading(pages.usage_totals)

    dump = _reading(dump_graph)
    contents = _reading(recorded_contents)
    count_contents = _reading(count_contents)
    export_graph = _reading(export_graph)

    def import_graph(self, lines: Iterable[str], progress: Callable[[str, int, int | None], None]) -> None:
        """Write an exported graph into this store, which must be empty, in several transactions.

        Raises:
            StoreWriteError: the store is not empty.
            StoreError: the lines are no whole graph, or could not be written; what was written before stays.
        """
        if self._backend.reading(holds_anything):
            raise StoreWriteError(f"{self.address} is not empty", "import into a new store, or an empty database")
        for changes in import_changes(lines, progress):
            self._backend.writing(partial(_write, changes))

    def close(self) -> None:
        """Close files and connections. A second call does nothing."""
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _write(changes: Changes, transaction: Transaction) -> None:
    transaction.write(changes)


def _load(transaction: Transaction, part: BatchPart, since: datetime) -> tuple[NamesOverTime, Intake, GraphState]:
    """Return a part with resolved names, and the part of the graph that it may change."""
    names = load_names(transaction, part, since)
    intake = resolve_intake(part, names.naming)
    return names.naming, intake, load_state(transaction, intake, names)


def _with_replacements(batch: LineageBatch) -> LineageBatch:
    return replace(batch, changes=tuple(as_replacements(batch.changes)))
