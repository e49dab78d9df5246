"""`lineage ingest openlineage`, as a command."""

from __future__ import annotations

from typing import Annotated

import typer

from lineage.cli.listing import OutputFormat, counted, note, print_listing, print_object, say
from lineage.cli.options import FormatOption, StoreOption
from lineage.cli.progress import progress_bar
from lineage_ingest.api import ingest_openlineage
from lineage_ingest.cli.option_groups import with_option_groups
from lineage_ingest.cli.parameter_errors import bad_parameter
from lineage_ingest.openlineage.event_reader import NoEventFilesError
from lineage_ingest.openlineage.files import EventSummary
from lineage_ingest.openlineage.validation import SchemasMissingError
from lineage_ingest.options import OptionError

__all__ = ["openlineage", "print_event_summary"]


@with_option_groups()
def openlineage(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders and patterns of events: JSON lines or arrays, also gzipped; - is standard input."
        ),
    ],
    store: StoreOption = None,
    show: Annotated[int, typer.Option("--show", min=0, help="Number of refused events to print; 0 prints all.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Ingest OpenLineage events (run, job and dataset events): store the lineage of completed runs.

    Events of a run may come in any order, in several files, and more than once; a run counts once, when it
    completes.

    Example: lineage ingest openlineage events/*.ndjson
    """
    try:
        with progress_bar() as progress:
            summary = ingest_openlineage(paths, store=store, progress=progress)
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


def print_event_summary(summary: EventSummary, output: OutputFormat, show: int = 20) -> None:
    """Print the accepted events and the changes; list rejected events and ignored facets, errors first."""
    found = sorted(summary.found, key=lambda one: not one.is_error)
    if output is not OutputFormat.TABLE:
        figures = summary.to_dict()
        if output is OutputFormat.JSON:
            listed = [
                {"place": one.place, "severity": "error" if one.is_error else "warning", "reason": one.reason}
                for one in found
            ]
            print_object({"store": summary.store, **figures, "found": listed})
        else:
            print_listing(tuple(figures), [tuple(figures.values())], output)
        return
    for one in found[: show or None]:
        hint = f" ({one.hint})" if one.hint else ""
        severity = "error" if one.is_error else "warning"
        note(f"{one.place}: {severity}: {one.reason}{hint}", "red" if one.is_error else "yellow")
    listed_in_all = summary.failed + summary.facets_left_out
    if show and listed_in_all > show:
        note(f"… and {listed_in_all - show:,} more; --show 0 prints all")
    changed = summary.applied
    refused = f", {summary.failed:,} refused" if summary.failed else ""
    left_out = f", {counted(summary.facets_left_out, 'facet')} left out" if summary.facets_left_out else ""
    read = f"{counted(summary.files, 'file')}, {counted(summary.events, 'event')}"
    say(f"{read}: {summary.accepted:,} taken{refused}{left_out}")
    ended = f", {changed.edges_ended:,} ended" if changed.edges_ended else ""
    say(f"{counted(changed.edges_created, 'new edge')}{ended} in {summary.seconds:.1f} s → {summary.store}")
