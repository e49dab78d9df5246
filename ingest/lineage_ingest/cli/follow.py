"""`lineage follow log`: ingest a log that keeps growing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.screen.formats import OutputFormat, print_figures, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage_ingest.cli.shared.log_options import FollowFlags, LogFlags, PathsArgument
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.stop_signals import stop_signals
from lineage_ingest.cli.shared.summary_output import say_failures
from lineage_ingest.log_api import FollowSummary, StreamStart, follow_log, plan_log
from lineage_ingest.options import OptionError
from lineage_ingest.query_log import NoLogFilesError
from lineage_ingest.query_log.pipeline.engines.opening import SparkMissingError
from lineage_ingest.query_log.pipeline.log_problems import UndatedLogError
from lineage_ingest.query_log.streaming.brokers import BrokersUnreachableError
from lineage_ingest.query_log.streaming.checkpoint import CheckpointError
from lineage_ingest.query_log.streaming.stream_errors import StreamFailedError
from lineage_ingest.query_log_options import FollowOptions, LogOptions

if TYPE_CHECKING:
    from lineage_ingest.query_log.streaming.micro_batches import BatchDone

__all__ = ["app", "print_plan", "run_follow"]

_FAILURES = 10

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def follow() -> None:
    """Follow an input that keeps growing.

    Example: lineage follow log landing/ --source trino
    """


@app.command("log", short_help="Ingest a query log as it grows: a folder or a Kafka topic.")
@with_option_groups()
def log(flags: LogFlags, following: FollowFlags, paths: PathsArgument = None) -> None:
    """Follow a query log: ingest the files that land in a folder, or the messages of a Kafka topic, on Spark.

    PATHS are folders, into which whole files are moved. Every --every seconds the new ones are ingested as a
    micro-batch, until Ctrl-C. A process that is killed at any point loses nothing and counts nothing twice: the next
    one resumes from the checkpoint.

    Example: lineage follow log landing/ --source trino

    Example: lineage follow log --source trino --kafka broker:9092 --topic queries --every 10
    """
    run_follow(paths or (), flags, flags.options(), following.options())


def run_follow(paths: Sequence[str], flags: LogFlags, options: LogOptions, follow: FollowOptions) -> None:
    """Follow a log until it ends, is interrupted or fails; print a line per micro-batch, and the totals.

    Raises:
        typer.BadParameter: an option has a wrong value, or the checkpoint is of another stream.
        typer.Exit: 1 for failures that count, or if no statement has a time; 2 without Spark; 3 if Kafka does not
            answer.
        StoreError: the store could not be read or written.
    """
    totals = FollowSummary()
    failure: tuple[str, str | None, int] | None = None

    def report_batch(batch: BatchDone) -> None:
        totals.add(batch)
        _print_batch(batch, flags.show)

    try:
        if flags.explain:
            print_plan(plan_log(paths, source=flags.source, options=options, follow=follow), flags.output)
            return
        with stop_signals() as (stopping, listen):

            def report_start(stream: StreamStart) -> None:
                totals.store = stream.store
                listen()
                until = "until all is read" if follow.once else f"every {follow.every:g} s, until Ctrl-C"
                note(f"following {', '.join(stream.inputs)} {until}; checkpoint {stream.checkpoint}")

            follow_log(
                paths,
                source=flags.source,
                store=flags.store,
                options=options,
                follow=follow,
                stopping=stopping,
                on_start=report_start,
                on_batch=report_batch,
                on_notice=note,
            )
    except OptionError as error:
        raise bad_parameter(error) from error
    except NoLogFilesError as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    except CheckpointError as error:
        raise typer.BadParameter(str(error), param_hint="--checkpoint") from error
    except BrokersUnreachableError as error:
        note(f"error: {error}", "red")
        note("check --kafka; --kafka-wait sets the time to wait")
        raise typer.Exit(3) from error
    except SparkMissingError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(2) from error
    except UndatedLogError as error:
        failure = str(error), "nothing of this micro-batch is stored: start again with one of these", 1
    except StreamFailedError as error:
        failure = str(error), error.hint, 3 if error.unreachable else 1
    _print_totals(totals, flags.output)
    if failure is not None:
        message, hint, status = failure
        note(f"error: {message}", "red")
        if hint:
            note(hint)
        raise typer.Exit(status)
    if totals.fails(flags.fail_on):
        raise typer.Exit(1)


def print_plan(stages: Sequence[tuple[str, str, str, str]], output: OutputFormat) -> None:
    """Print the stages of an ingest: their names, where they run, what they do, and Spark's plans of them."""
    columns = ("stage", "where", "what", "plan")

    def people() -> None:
        print_listing(columns[:-1], [stage[:-1] for stage in stages], output, Look(words=("where", "what")))
        for name, *_, plan in stages:
            if plan:
                say(f"\nSpark's plan of {name}:\n\n{plan.strip()}", is_command=True)

    print_listing(columns, stages, output, people=people)


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


def _span(seconds: float) -> str:
    """Return a duration in the largest unit that gives a number of two or more.

    >>> _span(5.2), _span(7_300), _span(10 * 86_400)
    ('5 s', '2 h', '10 days')
    """
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _print_totals(totals: FollowSummary, output: OutputFormat) -> None:
    counts = totals.counts
    figures = {
        "batches": totals.batches,
        **{name: counts[name] for name in ("rows", "left_out")},
        "edges_created": totals.applied.edges_created,
        "edges_ended": totals.applied.edges_ended,
        "errors": totals.errors,
    }
    failures = totals.failures.most_common(_FAILURES)
    print_figures(
        figures,
        output,
        named={"store": totals.store},
        more={"failures": [{"reason": reason, "runs": runs} for reason, runs in failures]},
        people=lambda: _say_totals(totals, failures),
    )


def _say_totals(totals: FollowSummary, failures: Sequence[tuple[str, int]]) -> None:
    counts = totals.counts
    say_failures(failures)
    ended = f", {totals.applied.edges_ended:,} ended" if totals.applied.edges_ended else ""
    batches = f"{totals.batches:,} batch{'' if totals.batches == 1 else 'es'}"
    say(
        f"{batches}, {counted(counts['rows'], 'row')}, {counts['left_out']:,} left out: "
        f"{counted(totals.applied.edges_created, 'new edge')}{ended} → {totals.store}"
    )
