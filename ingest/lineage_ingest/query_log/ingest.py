"""`ingest_log_rows` ingests a query log into the graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from lineage.catalog import Catalog, TableSchema
from lineage.frozen import frozen
from lineage.garbage_collection import seldom_collecting
from lineage.model.batch import UNFINISHED, DiagnosticRecord, LineageBatch, RunRecord
from lineage.model.diagnostics import Severity
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.batch.star_expansion import expand_stars
from lineage_ingest.query_log.earlier_graph import EarlierGraph
from lineage_ingest.query_log.earlier_sources import copies_of_later_logs, with_earlier_sources
from lineage_ingest.query_log.observed_models import as_observed_models
from lineage_ingest.query_log.pipeline.engines.engine import Engine, Opener, Progress
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.stages import extract_log
from lineage_ingest.query_log.views_by_name import ViewsByName

__all__ = ["FailOn", "LogSummary", "ingest_log_rows", "store_batches"]

_LARGE = 20_000
"""Number of edges and usage records from which a batch is written in parts."""


class FailOn(StrEnum):
    """Which failures make the ingest of a log fail."""

    FILE = "file"
    STATEMENT = "statement"
    """Files, and statements without lineage."""
    NEVER = "never"


@frozen
class LogSummary:
    """What an ingest of a log read, resolved and changed."""

    run: RunRecord
    applied: AppliedChanges
    diagnostics: tuple[DiagnosticRecord, ...]
    failures: tuple[tuple[str, int], ...]
    """Reasons why statements are not fully resolved or rows are skipped, each with its number of runs; most first."""
    notes: tuple[str, ...]
    """Notes on runs without a time."""
    seconds: float
    storing: float
    """Seconds spent in the store."""
    store: str = ""
    """Address of the store."""
    source: str = ""
    """The log's format."""
    detected_files: tuple[Path, ...] = ()
    """Files from which the format was detected; none, if it was named."""

    @property
    def failed_files(self) -> int:
        """Number of files that could not be read, or not to their end."""
        return self.run.counts["failed_files"]

    @property
    def is_empty(self) -> bool:
        """Whether the log has files, but none of them has a row."""
        return not self.run.counts["rows"] and bool(self.run.counts["empty_files"])

    @property
    def has_errors(self) -> bool:
        """Whether a file or a statement could not be used."""
        return any(d.diagnostic.severity is Severity.ERROR for d in self.diagnostics)

    def fails(self, on: FailOn) -> bool:
        """Return whether the ingest has failed, given the failures that count."""
        if on is FailOn.FILE:
            return self.failed_files > 0 or self.is_empty
        return on is FailOn.STATEMENT and (self.has_errors or self.is_empty)

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts, and the seconds that it took."""
        return {
            **self.run.counts,
            "edges_created": self.applied.edges_created,
            "seconds": round(self.seconds, 2),
            "storing_seconds": round(self.storing, 2),
        }


def ingest_log_rows(
    engine: Engine,
    store: GraphStore,
    context: LogContext,
    catalog: Catalog | None = None,
    *,
    run_key: str | None = None,
    opener: Opener | None = None,
    progress: Progress | None = None,
) -> LogSummary:
    """Extract the lineage of a log, store it, and return a summary.

    Args:
        engine: the engine over the log's rows; it is not closed.
        store: the store for the lineage; its schemas are used, too.
        context: default namespace, database and schema, and the name of the log's source.
        catalog: schemas of tables that the log does not define.
        run_key: identifies the log, so that its counts are overwritten when it is ingested again; default: a hash of
            what ran in it and when.
        opener: opens the store in other processes, so that several can write a large batch in parallel; without it,
            only this process writes.
        progress: called with each stage and its progress.

    Raises:
        StoreError: the store could not be read or written.
        ColumnsMissingError: the log is not of this source.
        UndatedLogError: none of the runs has a time, and `context` does not say when they were observed.
    """
    began = time.perf_counter()
    notify = progress or (lambda _stage, _done, _total: None)
    with seldom_collecting():
        given = _given_schemas(catalog)
        earlier = partial(EarlierGraph, store, given=frozenset(table.name for table in given))
        extraction = extract_log(engine, context, given, notify, earlier)
        extracted = time.perf_counter()
        run = RunRecord(
            run_key or extraction.key, "log", context.source, context.at, extraction.counts, extracted - began
        )
        apply = partial(_write_batch, store=store, engine=engine, opener=opener)
        applied = store_batches(store, extraction.batches(run), run, notify, apply=apply)
    ended = time.perf_counter()
    return LogSummary(
        run,
        applied,
        extraction.merger.diagnostics,
        tuple(extraction.failures),
        extraction.notes,
        ended - began,
        ended - extracted,
    )


def store_batches(
    store: GraphStore,
    batches: Iterable[LineageBatch],
    run: RunRecord,
    progress: Progress | None = None,
    touched: dict[str, None] | None = None,
    apply: Callable[[LineageBatch], AppliedChanges] | None = None,
) -> AppliedChanges:
    """Store the lineage of a log in order, and expand stars over the tables that it describes.

    A write of several transactions can be interrupted: until the last one commits, the run is marked `unfinished`.

    Args:
        store: the store for the batches.
        batches: the lineage of the log.
        run: the run under which it is stored.
        progress: called with the number of stored batches.
        touched: receives the keys of the datasets that the batches change.
        apply: stores a batch; default: the store's own `apply`.

    Raises:
        StoreError: the store could not be read or written.
    """
    applied = AppliedChanges()
    described: dict[str, None] = {}
    written: list[LineageBatch] = []
    every = touched if touched is not None else {}
    write = apply or store.apply
    marked = False
    # What a batch adds to stored jobs is made one by one: each looks at what the one before has stored.
    every_batch = (
        (as_observed_models(store, one), is_last and one.run.key == own.run.key)
        for own, is_last in _with_last(batches)
        for one in with_earlier_sources(store, own)
    )
    views = ViewsByName(store)
    for done, (batch, is_last) in enumerate(every_batch):
        views.note(batch)
        if progress is not None:
            progress("storing", done, None)
        if not marked and (not is_last or _is_large(batch)):
            store.apply(LineageBatch(run=_mark_unfinished(run)))
            marked = True
        applied += write(replace(batch, run=_mark_unfinished(run)) if marked and batch.run.key == run.key else batch)
        views.note_defined(batch)
        every.update(dict.fromkeys(record.key for record in batch.datasets))
        described.update(dict.fromkeys(record.key for record in batch.datasets if record.schema_known))
        written.append(LineageBatch(batch.run, jobs=batch.jobs, changes=batch.changes))
    for late in copies_of_later_logs(store, written):
        applied += store.apply(late)
    for again in views.read_again():
        applied += store.apply(again)
        every.update(dict.fromkeys(edge.output for edge in again.edges))
    for opened in expand_stars(store, described, run.at):
        applied += store.apply(opened)
        every.update(dict.fromkeys(record.key for record in opened.datasets))
    if marked:
        store.apply(LineageBatch(run=run))
    return applied


def _with_last(batches: Iterable[LineageBatch]) -> Iterator[tuple[LineageBatch, bool]]:
    """Yield batches, each with whether it is the last one."""
    held: LineageBatch | None = None
    for batch in batches:
        if held is not None:
            yield held, False
        held = batch
    if held is not None:
        yield held, True


def _mark_unfinished(run: RunRecord) -> RunRecord:
    return replace(run, counts={UNFINISHED: 1}, seconds=None)


def _is_large(batch: LineageBatch) -> bool:
    return len(batch.edges) + len(batch.usage) >= _LARGE


def _write_batch(batch: LineageBatch, store: GraphStore, engine: Engine, opener: Opener | None) -> AppliedChanges:
    if not _is_large(batch):
        return store.apply(batch)
    applied = AppliedChanges()
    for parts in store.parts(batch):
        if opener is not None:
            applied += engine.write(parts, opener)
        else:  # what is planned at once is a part, and does not grow with the batch
            applied += sum(map(store.apply, parts), start=AppliedChanges())
    return applied


def _given_schemas(catalog: Catalog | None) -> tuple[TableSchema, ...]:
    return tuple(catalog) if catalog is not None else ()
