"""Public functions to ingest a query log, and to follow one that grows. The CLI uses them."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lineage.store import GraphStore, open_store
from lineage.store.values import AppliedChanges
from lineage_ingest.api import is_open_store, opened_store
from lineage_ingest.log_request import LogRequest, prepare_log
from lineage_ingest.options import OptionError, Paths
from lineage_ingest.query_log.ingest import FailOn, LogSummary, ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.engine import Opener, Progress
from lineage_ingest.query_log.pipeline.engines.opening import (
    EngineKind,
    SparkMissingError,
    choose_engine,
    open_engine,
    spark_plans,
)
from lineage_ingest.query_log.pipeline.plan import plan_stages
from lineage_ingest.query_log.streaming.brokers import wait_for_brokers
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint, default_checkpoint
from lineage_ingest.query_log.streaming.stream_input import StreamInput, StreamInputError
from lineage_ingest.query_log_options import FollowOptions, LogOptions

if TYPE_CHECKING:
    from lineage_ingest.query_log.streaming.micro_batches import BatchDone

__all__ = ["FollowSummary", "StreamStart", "follow_log", "ingest_log", "plan_log"]


def ingest_log(
    paths: Paths = (),
    *,
    source: str = "auto",
    store: GraphStore | str | Path | None = None,
    options: LogOptions | None = None,
    progress: Progress | None = None,
) -> LogSummary:
    """Read a query log and store the lineage of every statement, with the use of tables and columns.

    Ingesting a log again changes nothing. Nothing is executed.

    Args:
        paths: files, folders and patterns; none, if `options.jdbc` is set.
        source: the log's format, one of `lineage_ingest.query_log.SOURCES`; `auto` detects it from local files.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`. Large batches are written to Neo4j in parallel only if the address is given.
        options: format, names, schemas, engine.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value.
        NoLogFilesError: a path has no file.
        ColumnsMissingError: the log does not have the columns of this source.
        NotOverJdbcError: the source's log is not in a database.
        SparkMissingError: Spark is required, and Spark or Java is not installed.
        LogUnreachableError: the database that holds the log cannot be read.
        UndatedLogError: no statement has a time, and `observed_at` is not set.
        WorkerError: a worker process was killed, or crashed. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    request = prepare_log(paths, source, options or LogOptions())
    given = request.input
    if request.options.jobs < 1:
        raise OptionError("it must be at least 1", "jobs")
    if bool(given.paths) == (given.jdbc is not None):
        raise OptionError("give files, or --jdbc-url", "paths")
    kind = choose_engine(given, request.options.engine)
    with opened_store(store) as opened:
        if progress is not None:
            progress("starting Spark" if kind is EngineKind.SPARK else "starting", 0, None)
        with open_engine(given, kind, request.options.spark, request.options.jobs) as engine:
            opener = None if is_open_store(store) else _opener(store)
            summary = ingest_log_rows(
                engine, opened, request.context, request.catalog, opener=opener, progress=progress
            )
        return replace(summary, store=opened.address, source=given.source.name, detected_files=request.detected_files)


class StreamStart(NamedTuple):
    """A stream that is about to start."""

    inputs: tuple[str, ...]
    """Folders, or the Kafka topic."""
    store: str
    """Address of the store."""
    checkpoint: Path


@dataclass(slots=True)
class FollowSummary:
    """Totals of a stream's micro-batches."""

    batches: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    """Reasons why statements are not fully resolved or rows are skipped, with the number of runs."""
    applied: AppliedChanges = field(default_factory=AppliedChanges)
    errors: int = 0
    failed_files: int = 0
    store: str = ""
    """Address of the store."""

    def add(self, batch: BatchDone) -> None:
        """Add a micro-batch."""
        self.batches += 1
        self.counts.update(batch.run.counts)
        self.failures.update(dict(batch.failures))
        self.applied += batch.applied
        self.errors += len(batch.errors)
        self.failed_files += batch.run.counts["failed_files"]

    def fails(self, on: FailOn) -> bool:
        """Return whether failures of this kind occurred."""
        return self.failed_files > 0 if on is FailOn.FILE else self.errors > 0 and on is FailOn.STATEMENT


def follow_log(
    paths: Paths = (),
    *,
    source: str = "auto",
    store: str | Path | None = None,
    options: LogOptions | None = None,
    follow: FollowOptions | None = None,
    stopping: threading.Event | None = None,
    on_start: Callable[[StreamStart], None] | None = None,
    on_batch: Callable[[BatchDone], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> FollowSummary:
    """Ingest a log that keeps growing, in micro-batches on Spark, until `stopping` is set.

    A process that is killed at any point loses nothing and counts nothing twice: the next one continues from the
    checkpoint.

    Args:
        paths: folders, or patterns of them, into which whole files are moved; none, if `follow.kafka` is set.
        source: the log's format; `auto` detects it from the existing files.
        store: the address of a store (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`, else
            `./lineage.db`. It is closed between micro-batches.
        options: format, names, schemas, Spark.
        follow: Kafka, checkpoint, interval.
        stopping: when set, the stream stops after the current micro-batch.
        on_start: called when Spark has started.
        on_batch: called with each micro-batch that was stored and had rows.
        on_notice: called with messages to display, such as a wait for Kafka.

    Raises:
        OptionError: an option has a wrong value.
        SparkMissingError: Spark or Java is not installed, or Kafka's connector cannot be fetched.
        BrokersUnreachableError: Kafka does not answer.
        CheckpointError: the checkpoint belongs to another stream, or is in use.
        StreamFailedError: the stream failed.
        UndatedLogError: no statement has a time, and `observed_at` is not set.
        StoreError: the store could not be read or written.
    """
    follow = follow or FollowOptions()
    request, stream = _prepare_stream(paths, source, options or LogOptions(), follow)
    try:
        from lineage_ingest.query_log.streaming.micro_batches import follow_stream  # noqa: PLC0415  Spark is an extra
    except ImportError as error:
        raise SparkMissingError(
            "following a log needs Spark, which is not installed: pip install '.[spark]' in a checkout of lineage"
        ) from error
    notice = on_notice or (lambda _text: None)
    if stream.kafka is not None:
        try:
            wait_for_brokers(stream.kafka.brokers, follow.kafka_wait, notice)
        except StreamInputError as error:
            raise OptionError(str(error), "kafka") from error
    address = _identity(store)
    folder = follow.checkpoint or default_checkpoint(address, stream.source.name, stream.inputs)
    written = {"checkpoint": folder} if "://" in address else {"checkpoint": folder, "store": Path(address)}
    for option, own in written.items():
        if (followed := stream.folder_of(own)) is not None:
            raise OptionError(f"{own} is inside {followed}, whose files are read as logs", option)
    summary = FollowSummary(store=address)

    def count(batch: BatchDone) -> None:
        summary.add(batch)
        if on_batch is not None:
            on_batch(batch)

    def report_start() -> None:
        if on_start is not None:
            on_start(StreamStart(tuple(stream.inputs), address, folder))

    with Checkpoint.open(folder.absolute(), address, stream.source.name, stream.inputs) as checkpoint:
        try:
            follow_stream(
                stream,
                lambda: open_store(store),
                request.context,
                checkpoint,
                request.options.spark,
                request.catalog,
                every=follow.every,
                once=follow.once,
                stopping=stopping,
                started=report_start,
                done=count,
            )
        except SparkMissingError as error:
            if not stream.fetches_connector(request.options.spark):
                raise
            hint = "or Kafka's connector could not be fetched: name its jars, --spark-conf spark.jars=A.jar,B.jar"
            raise SparkMissingError(f"{error}; {hint}") from error
    return summary


def plan_log(
    paths: Paths = (),
    *,
    source: str = "auto",
    options: LogOptions | None = None,
    follow: FollowOptions | None = None,
) -> list[tuple[str, str, str, str]]:
    """Return the stages (name, where it runs, what it does) of `ingest_log`, or with `follow`, of `follow_log`.

    Nothing is read. If `ingest_log` would run on Spark, Spark is started, and a stage that it runs also has its plan as
    `DataFrame.explain` formats it; else this is empty. Spark may change it when it knows the sizes of tables.

    Raises:
        OptionError: an option has a wrong value.
        NoLogFilesError: a path has no file.
        NotOverJdbcError: the source's log is not in a database.
        SparkMissingError: Spark is required, and Spark or Java is not installed.
        LogUnreachableError: the database that holds the log cannot be asked for its columns.
    """
    options = options or LogOptions()
    if follow is not None:
        request, stream = _prepare_stream(paths, source, options, follow)
        return list(plan_stages(stream, EngineKind.SPARK, options.spark))
    request = prepare_log(paths, source, options)
    if bool(request.input.paths) == (request.input.jdbc is not None):
        raise OptionError("give files, or --jdbc-url", "paths")
    kind = choose_engine(request.input, options.engine)
    plans = spark_plans(request.input, options.spark) if kind is EngineKind.SPARK else None
    return list(plan_stages(request.input, kind, options.spark, plans))


def _prepare_stream(
    paths: Paths, source: str, options: LogOptions, follow: FollowOptions
) -> tuple[LogRequest, StreamInput]:
    if options.jdbc is not None or options.engine is EngineKind.LOCAL:
        raise OptionError("only files and Kafka topics can be followed, on Spark", "follow")
    request = prepare_log(paths, source, options, follow)
    stream = StreamInput(request.input.source, request.input.paths, follow.kafka, follow.at_once)
    try:
        stream.check()
    except StreamInputError as error:
        raise OptionError(str(error), "paths") from error
    return request, stream


def _opener(store: object) -> Opener | None:
    """Return a function that opens the store in other processes with the same login; None if only one may write."""
    address = str(store or os.environ.get("LINEAGE_STORE") or "")
    if "://" not in address or address.startswith("http"):  # one writer
        return None
    user, password = (os.environ.get(f"LINEAGE_NEO4J_{name}") for name in ("USER", "PASSWORD"))
    return partial(open_store, address, user=user, password=password)


def _identity(store: str | Path | None) -> str:
    """Return the address that identifies a store on this machine."""
    with open_store(store) as opened:
        return opened.address if "://" in opened.address else str(Path(opened.address).absolute())
