"""`follow_stream`: ingests a stream continuously; each micro-batch is a separate ingest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import functions as f

from lineage.catalog import Catalog, TableSchema
from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, LineageBatch, RunRecord
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.store import GraphStore
from lineage.store.errors import StoreAccessError, StoreUnreachableError
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.earlier_graph import EarlierGraph
from lineage_ingest.query_log.ingest import store_batches
from lineage_ingest.query_log.pipeline.engines.engine import Engine
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.engines.opening import SparkOptions, spark_session
from lineage_ingest.query_log.pipeline.engines.spark_engine import SparkEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext, TableId, moment
from lineage_ingest.query_log.pipeline.stages import Extraction, extract_log
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.streaming import open_sessions
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint
from lineage_ingest.query_log.streaming.row_blocks import PACKED, pack_blocks, unpack_blocks
from lineage_ingest.query_log.streaming.stream_input import StreamInput
from lineage_ingest.query_log.streaming.stream_query import run_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BatchDone", "follow_stream"]

SMALL = 64_000_000
"""Maximum size in bytes of a micro-batch that is processed locally; starting Spark's stages would take longer."""
_READ_AGAIN = 600
"""Seconds after which all tables are read from the store again, because other processes may write to it."""
_PATIENCE = 60
_WAIT = 0.5
"""Seconds to wait for an unreachable store (`_PATIENCE`), and between attempts (`_WAIT`)."""


@frozen
class BatchDone:
    """The result of a micro-batch, for display."""

    number: int
    run: RunRecord
    applied: AppliedChanges
    errors: tuple[DiagnosticRecord, ...]
    failures: tuple[tuple[str, int], ...]
    """Reasons for partly resolved statements or skipped rows, each with its number of runs, in descending order."""
    notes: tuple[str, ...]
    """Notes on runs without a time."""
    seconds: float
    lag: float | None
    """Seconds since the start of its latest statement; None if the log has no times."""
    again: bool
    """Whether it was replayed from the checkpoint because an earlier process ended before the store confirmed it."""


class _Header(NamedTuple):
    run: RunRecord
    errors: tuple[DiagnosticRecord, ...]
    failures: tuple[tuple[str, int], ...]
    latest: datetime | None
    notes: tuple[str, ...] = ()


def follow_stream(
    given: StreamInput,
    open_store: Callable[[], GraphStore],
    context: LogContext,
    checkpoint: Checkpoint,
    options: SparkOptions,
    catalog: Catalog | None = None,
    *,
    every: float = 30,
    once: bool = False,
    stopping: threading.Event | None = None,
    started: Callable[[], None] | None = None,
    done: Callable[[BatchDone], None] | None = None,
) -> None:
    """Ingest the stream until `stopping` is set; with `once`, until all input that exists at the start is stored.

    A process that ends at any point neither loses nor duplicates anything: the next one continues from the checkpoint,
    and a partly stored micro-batch is stored again from the checkpoint, under the same key.

    Args:
        given: the input of the stream.
        open_store: opens the store; it is closed between micro-batches.
        context: the defaults that complete names, and the name of the log.
        checkpoint: the checkpoint of this stream.
        options: options of the Spark session.
        catalog: schemas of tables that the log does not define.
        every: interval in seconds between the starts of micro-batches.
        once: stop when all input that exists at the start is stored.
        stopping: stops the stream after the current micro-batch when set.
        started: called when Spark has started.
        done: called after each micro-batch with rows is stored.

    Raises:
        SparkMissingError: Spark or Java is not installed.
        StreamFailedError: the stream cannot continue.
        StoreError: the store cannot be read or written.
    """
    with spark_session(given.spark_options(options)) as spark:
        if started is not None:
            started()
        rows, normalise = given.rows(spark)
        batches = _Follower(open_store, context, checkpoint, catalog, normalise, done)
        run_stream(rows, checkpoint, batches.take, every=every, once=once, stopping=stopping or threading.Event())


class _Follower:
    """Stores micro-batches, one after the other."""

    def __init__(
        self,
        open_store: Callable[[], GraphStore],
        context: LogContext,
        checkpoint: Checkpoint,
        catalog: Catalog | None,
        normalise: Callable[[Iterable[Any]], Iterator[Any]],
        done: Callable[[BatchDone], None] | None,
    ) -> None:
        self._open_store = open_store
        self._context = context
        self._checkpoint = checkpoint
        self._given = tuple(catalog) if catalog is not None else ()
        self._given_names = frozenset(table.name for table in self._given)
        self._normalise = normalise
        self._done = done
        self._learnt: dict[TableId, TableSchema] = {}
        self._read_at: float | None = None

    def take(self, frame: DataFrame, number: int) -> None:
        """Store a micro-batch."""
        began = time.perf_counter()
        self._checkpoint.settle(number)
        with _patiently(self._open_store) as store:
            header = self._checkpoint.header(number)
            again = header is not None
            if header is None:
                header = self._write_down(frame, number, store, began)
            if header is None:
                return
            applied = self._store(number, header, store)
        if self._done is not None:
            lag = (datetime.now(UTC) - header.latest).total_seconds() if header.latest is not None else None
            seconds = time.perf_counter() - began
            self._done(
                BatchDone(
                    number, header.run, applied, header.errors, header.failures, header.notes, seconds, lag, again
                )
            )

    def _store(self, number: int, header: _Header, store: GraphStore) -> AppliedChanges:
        touched: dict[str, None] = {}
        moved = False

        def note_changes() -> Iterator[LineageBatch]:
            nonlocal moved
            for batch in self._checkpoint.stated(number):
                moved = moved or bool(batch.changes)
                yield batch

        applied = store_batches(store, note_changes(), header.run, touched=touched)
        if moved or self._read_at is None or time.monotonic() - self._read_at > _READ_AGAIN:
            self._read_at = None  # names changed: read all tables again
        else:
            self._learnt.update(EarlierGraph(store).schemas(list(touched)))
        return applied

    def _write_down(self, frame: DataFrame, number: int, store: GraphStore, began: float) -> _Header | None:
        """Extract the lineage of a micro-batch and write it to the checkpoint; return None if it has no rows."""
        if self._read_at is None:
            self._learnt = dict(EarlierGraph(store).schemas())
            self._read_at = time.monotonic()
        opened = self._checkpoint.sessions_before(number)
        opened = open_sessions.EMPTY if opened is None else opened
        context = replace(self._context, at=datetime.now(UTC), goes_on=True)
        rows = _BatchRows(frame, self._normalise, opened)
        try:
            if not rows.count:
                return None
            engine = rows.engine()
            try:
                earlier = partial(EarlierGraph, store, given=self._given_names, known=self._learnt)
                extraction = extract_log(engine, context, self._given, _unheard, earlier)
                extraction.counts["rows"] -= rows.carried
                after = rows.open_after(extraction.templates.values(), context.at)
                if after is not None:
                    self._checkpoint.write_sessions(number, after)
                return self._write(extraction, number, began)
            finally:
                engine.close()
        finally:
            rows.close()

    def _write(self, extraction: Extraction, number: int, began: float) -> _Header:
        context = extraction.context
        seconds = time.perf_counter() - began
        run = RunRecord(
            f"log:{self._checkpoint.stream}/{number}", "log", context.source, context.at, extraction.counts, seconds
        )
        moments = [one.last for parts in extraction.runs.values() for one in parts.values() if one.runs and one.last]
        errors = [d for d in extraction.merger.diagnostics if d.diagnostic.severity is Severity.ERROR]
        header = _Header(
            run,
            # Unreadable files first: their lost rows are reported nowhere else.
            tuple(sorted(errors, key=lambda d: d.diagnostic.code is not DiagnosticCode.UNREADABLE_FILE)),
            tuple(extraction.failures),
            moment(max(moments), context.at) if moments else None,
            extraction.notes,
        )
        self._checkpoint.write_stated(number, header, extraction.batches(run))
        return header


class _BatchRows:
    """The rows of a micro-batch in the log schema, and the state of the open sessions that continue in it."""

    def __init__(self, frame: DataFrame, normalise: Callable[[Iterable[Any]], Iterator[Any]], opened: Any) -> None:
        self._opened = opened
        self._spark = frame.sparkSession
        work = partial(pack_blocks, normalise=normalise, open_sessions=open_sessions.names(opened))
        self._packed = frame.mapInArrow(work, PACKED).persist(StorageLevel.DISK_ONLY)
        sums = self._packed.agg(f.sum("rows").alias("rows"), f.sum("bytes").alias("bytes")).first()
        assert sums is not None
        self.count: int = sums["rows"] or 0
        self._is_small = (sums["bytes"] or 0) <= SMALL
        named = self._packed.select(f.explode("continued").alias("session")).distinct()
        self._there = [row["session"] for row in named.collect()] if opened.num_rows else []
        self._before = open_sessions.continued(opened, self._there)
        self.carried = sum(batch.num_rows for batch in self._before)
        self._batches: list[Any] = []
        self._frame = self._packed

    def engine(self) -> Engine:
        """Return an engine for the rows: local for a small micro-batch, otherwise Spark."""
        if self._is_small:
            self._batches = [*self._before, *unpack_blocks(self._packed.select("log").toArrow().to_batches())]
            return LocalEngine(lambda: self._batches)
        if self._before:
            kept = pack_blocks([], lambda _: iter(self._before), frozenset())
            listed = [tuple(row.values()) for batch in kept for row in batch.to_pylist()]
            self._frame = self._packed.union(self._spark.createDataFrame(listed, PACKED))
        spread = self._frame.repartition(self._spark.sparkContext.defaultParallelism * 4)
        return SparkEngine(self._spark, spread, unpack_blocks)

    def open_after(self, summaries: Iterable[UnitSummary], at: datetime) -> Any | None:
        """Return the sessions that are open after these rows; None if there were none and none is opened."""
        templates = open_sessions.opening(summaries)
        if not templates and not self._there and not self._opened.num_rows:
            return None
        batches: Iterable[Any] = ()
        if templates and self._is_small:
            batches = open_sessions.statements(self._batches, templates)
        elif templates:
            work = partial(_statements, keys=frozenset(templates))
            batches = unpack_blocks(self._frame.mapInArrow(work, PACKED).select("log").toArrow().to_batches())
        return open_sessions.open_after(self._opened, self._there, batches, templates, at)

    def close(self) -> None:
        """Release the rows that Spark persisted."""
        self._packed.unpersist()


def _statements(batches: Iterable[Any], keys: frozenset[int]) -> Iterator[Any]:
    return pack_blocks(batches, lambda given: open_sessions.statements(unpack_blocks(given), keys), frozenset())


def _patiently(open_store: Callable[[], GraphStore]) -> GraphStore:
    """Return the opened store; retry while another process locks it or its server restarts."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return open_store()
        except StoreAccessError:
            raise
        except StoreUnreachableError:
            if time.monotonic() > until:
                raise
        time.sleep(_WAIT)


def _unheard(stage: str, done: int, total: int | None) -> None:
    """Ignore progress: micro-batches are reported as a whole."""
