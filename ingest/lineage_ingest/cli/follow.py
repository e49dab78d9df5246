"""`lineage ingest log --follow`: its options, what it says of each micro-batch, and how it ends."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lineage.catalog import Catalog
from lineage.cli.listing import Look, OutputFormat, counted, note, print_listing, print_object, say
from lineage.store import open_store
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.ingest import FailOn
from lineage_ingest.query_log.pipeline.engines import SparkMissingError, SparkOptions
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.stages import UndatedLogError
from lineage_ingest.query_log.sources import Source
from lineage_ingest.query_log.streaming.brokers import BrokersUnreachableError, wait_for_brokers
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint, CheckpointError, default_checkpoint
from lineage_ingest.query_log.streaming.inputs import Kafka, StreamInput, StreamInputError

if TYPE_CHECKING:
    from lineage_ingest.query_log.streaming.following import BatchDone

__all__ = [
    "AtOnceOption",
    "CheckpointOption",
    "EveryOption",
    "FollowOption",
    "Following",
    "KafkaOption",
    "KafkaOptionsOption",
    "OnceOption",
    "TopicOption",
    "follow",
]

FollowOption = Annotated[
    bool,
    typer.Option(
        "--follow",
        help="Go on for ever: PATHS are folders, and what lands in them (whole, by being moved there) is ingested.",
        rich_help_panel="Following a log",
    ),
]
KafkaOption = Annotated[
    str | None,
    typer.Option(
        "--kafka",
        metavar="BROKERS",
        help="Follow a topic of Kafka at host:port,host:port; a message holds what a file would. Spark's connector is "
        "fetched by its package, or named by --spark-conf spark.jars=….",
        rich_help_panel="Following a log",
    ),
]
TopicOption = Annotated[str | None, typer.Option(help="The topic that it follows.", rich_help_panel="Following a log")]
KafkaOptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kafka-option",
        metavar="NAME=VALUE",
        help="Of Spark's Kafka source: startingOffsets=latest, kafka.security.protocol=SASL_SSL, … Several times.",
        rich_help_panel="Following a log",
    ),
]
KafkaWaitOption = Annotated[
    float,
    typer.Option(
        "--kafka-wait",
        metavar="SECONDS",
        min=0,
        help="How long Kafka may take to answer at the beginning.",
        rich_help_panel="Following a log",
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FOLDER",
        help="Where the stream keeps how far it is, to go on from after whatever end; beside the embedded store, or in "
        "your state folder for Neo4j, if left out.",
        file_okay=False,
        rich_help_panel="Following a log",
    ),
]
EveryOption = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", min=0.1, help="How often it looks.", rich_help_panel="Following a log"),
]
OnceOption = Annotated[
    bool,
    typer.Option(
        "--once",
        help="Follow as far as there is something, from where the last time ended, and end: for a scheduler.",
        rich_help_panel="Following a log",
    ),
]
AtOnceOption = Annotated[
    int | None,
    typer.Option(
        "--at-once",
        metavar="N",
        min=1,
        help="Files (1,000, if left out) or messages (1,000,000) that one micro-batch takes at most.",
        rich_help_panel="Following a log",
    ),
]

_FAILURES = 10


class Following(NamedTuple):
    """How a log is followed, as it stands on the command line."""

    wanted: bool
    kafka: str | None
    topic: str | None
    options: dict[str, str]
    checkpoint: Path | None
    every: float
    once: bool
    at_once: int | None
    kafka_wait: float

    def input(self, source: Source, paths: tuple[str, ...], *, other: bool) -> StreamInput | None:
        """Return what is followed; None where nothing is to be.

        Raises:
            typer.BadParameter: options that do not go together.
        """
        if not (self.wanted or self.kafka or self.once):
            if self.topic or self.options or self.checkpoint or self.at_once:
                raise typer.BadParameter("it says that the log is followed", param_hint="--follow")
            return None
        if other:
            raise typer.BadParameter("files and topics are followed, on Spark", param_hint="--follow")
        if (self.kafka is None) != (self.topic is None):
            raise typer.BadParameter("--kafka and --topic go together", param_hint="--kafka")
        kafka = Kafka(self.kafka, self.topic, self.options) if self.kafka and self.topic else None
        given = StreamInput(source, paths, kafka, self.at_once)
        try:
            given.check()
        except StreamInputError as error:
            raise typer.BadParameter(str(error), param_hint="PATHS") from error
        return given


@dataclass(slots=True)
class _Totals:
    """What all micro-batches were together."""

    batches: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    applied: AppliedChanges = field(default_factory=AppliedChanges)
    errors: int = 0
    failed_files: int = 0

    def add(self, batch: BatchDone) -> None:
        """Add a micro-batch."""
        self.batches += 1
        self.counts.update(batch.run.counts)
        self.failures.update(dict(batch.failures))
        self.applied += batch.applied
        self.errors += len(batch.errors)
        self.failed_files += batch.run.counts["failed_files"]

    def fails(self, on: FailOn) -> bool:
        """Return whether the stream has failed, where these failures count."""
        return self.failed_files > 0 if on is FailOn.FILE else self.errors > 0 and on is FailOn.STATEMENT


def follow(
    given: StreamInput,
    how: Following,
    store: str | None,
    context: LogContext,
    schemas: Catalog,
    spark: SparkOptions,
    output: OutputFormat,
    show: int,
    fail_on: FailOn,
) -> None:
    """Follow a log until it ends, is interrupted or fails; print a line a micro-batch, and what all were together.

    Raises:
        typer.BadParameter: the checkpoint is another stream's, or Spark is missing.
        typer.Exit: 1 with failures that count, or where nobody says when anything ran; 3 where Kafka does not answer.
        StoreError: the store could not be read or written.
    """
    try:
        from lineage_ingest.query_log.streaming.following import follow_log  # noqa: PLC0415  Spark is an extra
        from lineage_ingest.query_log.streaming.running import StreamFailedError  # noqa: PLC0415
    except ImportError as error:
        message = "a log is followed by Spark, which is not installed: pip install 'lineage-graph[spark]'"
        raise typer.BadParameter(message, param_hint="--follow") from error
    if given.kafka is not None:
        _wait_for_kafka(given.kafka, how.kafka_wait)
    with open_store(store) as opened:
        address = opened.address if "://" in opened.address else str(Path(opened.address).absolute())
    folder = how.checkpoint or default_checkpoint(address, given.source.name, given.inputs)
    totals = _Totals()
    failed: StreamFailedError | None = None

    def done(batch: BatchDone) -> None:
        totals.add(batch)
        _print_batch(batch, show)

    try:
        with (
            Checkpoint.open(folder.absolute(), address, given.source.name, given.inputs) as checkpoint,
            _asked_to_end() as (stopping, listen),
        ):

            def started() -> None:
                listen()
                until = "until all is read" if how.once else f"every {how.every:g} s, until Ctrl-C"
                note(f"following {', '.join(given.inputs)} {until}; checkpoint {folder}")

            follow_log(
                given,
                lambda: open_store(store),
                context,
                checkpoint,
                spark,
                schemas,
                every=how.every,
                once=how.once,
                stopping=stopping,
                started=started,
                done=done,
            )
    except CheckpointError as error:
        raise typer.BadParameter(str(error), param_hint="--checkpoint") from error
    except SparkMissingError as error:
        fetched = "; or Kafka's connector could not be fetched: name its jars, --spark-conf spark.jars=A.jar,B.jar"
        message = f"{error}{fetched if given.fetches_connector(spark) else ''}"
        raise typer.BadParameter(message, param_hint="--follow") from error
    except StreamFailedError as error:
        failed = error
    except UndatedLogError as error:
        failed = StreamFailedError(str(error), "nothing of this micro-batch is stored: start again with one of these")
    _print_totals(totals, address, output)
    if failed is not None:
        note(f"error: {failed}", "red")
        if failed.hint:
            note(failed.hint)
        raise typer.Exit(3 if failed.unreachable else 1)
    if totals.fails(fail_on):
        raise typer.Exit(1)


def _wait_for_kafka(kafka: Kafka, seconds: float) -> None:
    try:
        wait_for_brokers(kafka.brokers, seconds, note)
    except StreamInputError as error:
        raise typer.BadParameter(str(error), param_hint="--kafka") from error
    except BrokersUnreachableError as error:
        note(f"error: {error}", "red")
        note("look at --kafka; --kafka-wait sets how long is waited")
        raise typer.Exit(3) from error


def _print_batch(batch: BatchDone, show: int) -> None:
    for record in batch.errors[: show or None]:
        note(f"{record.job or record.source}: {record.diagnostic}", "red")
    for text in batch.notes:
        note(text, "yellow")
    counts = batch.run.counts
    lag = f", {_span(batch.lag)} behind" if batch.lag is not None else ""
    again = ", stored again" if batch.again else ""
    note(
        f"batch {batch.number}: {counted(counts['rows'], 'row')}, {counted(counts['templates'], 'template')}, "
        f"{counted(batch.applied.edges_created, 'new edge')}, {batch.seconds:.1f} s{lag}{again}"
    )


@contextmanager
def _asked_to_end() -> Iterator[tuple[threading.Event, Callable[[], None]]]:
    """Yield what Ctrl-C and SIGTERM set, and a function that makes them do so; a second Ctrl-C ends at once."""
    stopping = threading.Event()
    before: dict[signal.Signals, object] = {}

    def asked(_number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        note("ending after the batch in hand")

    def listen() -> None:
        for which in (signal.SIGINT, signal.SIGTERM):
            before[which] = signal.signal(which, asked)

    if threading.current_thread() is not threading.main_thread():
        yield stopping, lambda: None
        return
    try:
        yield stopping, listen
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)  # type: ignore[arg-type]  # as it was


def _span(seconds: float) -> str:
    """Return a length of time in the largest unit of which it is two or more.

    >>> _span(5.2), _span(7_300), _span(10 * 86_400)
    ('5 s', '2 h', '10 days')
    """
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _print_totals(totals: _Totals, address: str, output: OutputFormat) -> None:
    counts = totals.counts
    figures = {
        "batches": totals.batches,
        **{name: counts[name] for name in ("rows", "left_out")},
        "edges_created": totals.applied.edges_created,
        "edges_ended": totals.applied.edges_ended,
        "errors": totals.errors,
    }
    failures = totals.failures.most_common(_FAILURES)
    if output is OutputFormat.JSON:
        listed = [{"reason": reason, "runs": runs} for reason, runs in failures]
        print_object({"store": address, **figures, "failures": listed})
        return
    if output is OutputFormat.CSV:
        print_listing(tuple(figures), [tuple(figures.values())], output)
        return
    if failures:
        say("most frequent failures:")
        print_listing(
            ("runs", "reason"), [(runs, reason) for reason, runs in failures], output, Look(words=("reason",))
        )
    ended = f", {totals.applied.edges_ended:,} ended" if totals.applied.edges_ended else ""
    batches = f"{totals.batches:,} batch{'' if totals.batches == 1 else 'es'}"
    say(
        f"{batches}, {counted(counts['rows'], 'row')}, {counts['left_out']:,} left out: "
        f"{counted(totals.applied.edges_created, 'new edge')}{ended} → {address}"
    )
