"""`lineage ingest openlineage`, as a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.store_options import FormatOption, LockTimeoutOption, StoreOption
from lineage.cli.wall_clock import wall_seconds
from lineage.screen.formats import OutputFormat, print_figures
from lineage.screen.listing import counted, note, say
from lineage.screen.progress import progress_bar
from lineage_ingest.api import ingest_openlineage, opened_store
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.stop_signals import stop_signals
from lineage_ingest.cli.shared.topic_options import TopicFlags
from lineage_ingest.openlineage.event_reader import NoEventFilesError
from lineage_ingest.openlineage.files import EventSummary, Rejected
from lineage_ingest.openlineage.topics.event_topic import (
    EventTopic,
    KafkaMissingError,
    KafkaUnreachableError,
    TopicError,
)
from lineage_ingest.openlineage.topics.topic_ingest import ingest_event_topic
from lineage_ingest.openlineage.validation.event_validation import SchemasMissingError
from lineage_ingest.options import OptionError

__all__ = ["openlineage", "print_event_summary"]


@with_option_groups()
def openlineage(
    flags: TopicFlags,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, folders and patterns of events: JSON lines or arrays, also gzipped; - is standard input."
        ),
    ] = None,
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
    show: Annotated[int, typer.Option("--show", min=0, help="Number of refused events to print; 0 prints all.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Ingest OpenLineage events (run, job and dataset events): store the lineage of completed runs.

    Events of a run may come in any order, in several files, and more than once; a run counts once, when it
    completes.

    With --kafka, each message of a topic is an event. Offsets are committed after the store has the events: a process
    that is killed loses nothing and counts nothing twice. A message that is not an event is reported with its topic,
    partition and offset, and stored as a diagnostic; the rest is read.

    Example: lineage ingest openlineage events/*.ndjson

    Example: lineage ingest openlineage --kafka broker:9092 --topic openlineage.events
    """
    topic = flags.event_topic()
    if (topic is None) == (not paths):
        raise typer.BadParameter("give files of events, or --kafka and --topic", param_hint="PATHS")
    if topic is not None:
        _ingest_topic(topic, store, output, show)
        return
    try:
        with progress_bar() as progress:
            summary = ingest_openlineage(paths or (), store=store, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    except NoEventFilesError as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    except SchemasMissingError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(2) from error
    print_event_summary(summary, output, show)
    if summary.has_errors:
        raise typer.Exit(1)


def _ingest_topic(topic: EventTopic, store: str | None, output: OutputFormat, show: int) -> None:
    """Ingest a topic until its end, a signal or an error; print refused messages at once, and the counts at the end.

    Raises:
        typer.BadParameter: the topic does not exist or may not be read, or a setting of the client is wrong.
        typer.Exit: 1 if messages were refused; 2 without a package; 3 if Kafka does not answer.
        StoreError: the store could not be reached or written.
    """
    printed = 0

    def print_rejected(rejected: Rejected) -> None:
        nonlocal printed
        if show and printed >= show:
            if printed == show:
                printed += 1
                note("more are counted and not printed; --show 0 prints all")
            return
        printed += 1
        _print_rejected(rejected)

    try:
        with stop_signals() as (stopping, listen), opened_store(store) as opened, progress_bar() as progress:
            listen()

            def report_start() -> None:
                until = "until its end" if topic.once else "until Ctrl-C"
                note(f"reading topic {topic.topic} at {topic.brokers} as group {topic.group}, {until}")

            summary = ingest_event_topic(
                topic,
                opened,
                stopping,
                on_progress=progress,
                on_rejected=print_rejected,
                on_notice=note,
                on_start=report_start,
            )
            summary.store = opened.address
    except TopicError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise typer.BadParameter(f"{error}{hint}", param_hint="--kafka") from error
    except KafkaUnreachableError as error:
        note(f"error: {error}", "red")
        note("check --kafka; --kafka-wait sets the time to wait")
        raise typer.Exit(3) from error
    except (KafkaMissingError, SchemasMissingError) as error:
        note(f"error: {error}", "red")
        raise typer.Exit(2) from error
    summary.found.clear()  # printed already
    print_event_summary(summary, output, show=0)
    if summary.has_errors:
        raise typer.Exit(1)


def _print_rejected(rejected: Rejected) -> None:
    hint = f" ({rejected.hint})" if rejected.hint else ""
    severity = "error" if rejected.is_error else "warning"
    note(f"{rejected.place}: {severity}: {rejected.reason}{hint}", "red" if rejected.is_error else "yellow")


def print_event_summary(summary: EventSummary, output: OutputFormat, show: int = 20) -> None:
    """Print the accepted events and the changes; list rejected events and ignored facets, errors first."""
    found = sorted(summary.found, key=lambda one: not one.is_error)
    listed = [
        {"place": one.place, "severity": "error" if one.is_error else "warning", "reason": one.reason} for one in found
    ]
    print_figures(
        summary.to_dict(),
        output,
        named={"store": summary.store},
        more={"found": listed},
        people=lambda: _say_event_summary(summary, found, show),
    )


def _say_event_summary(summary: EventSummary, found: Sequence[Rejected], show: int) -> None:
    for one in found[: show or None]:
        _print_rejected(one)
    listed_in_all = summary.failed + summary.facets_left_out
    if show and listed_in_all > show:
        note(f"… and {listed_in_all - show:,} more; --show 0 prints all")
    changed = summary.applied
    refused = f", {summary.failed:,} refused" if summary.failed else ""
    left_out = f", {counted(summary.facets_left_out, 'facet')} left out" if summary.facets_left_out else ""
    files = f"{counted(summary.files, 'file')}, " if summary.files else ""
    read = f"{files}{counted(summary.events, 'event')}"
    say(f"{read}: {summary.accepted:,} taken{refused}{left_out}")
    ended = f", {changed.edges_ended:,} ended" if changed.edges_ended else ""
    say(f"{counted(changed.edges_created, 'new edge')}{ended} in {wall_seconds():.1f} s → {summary.store}")
