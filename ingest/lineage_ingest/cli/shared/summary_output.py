"""What all ingests print at their end: figures for programs, diagnostics, how much was resolved and changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar

import typer

from lineage.cli.store_options import FormatOption
from lineage.cli.wall_clock import wall_seconds
from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import Severity
from lineage.model.text.name_lists import name_list
from lineage.screen.formats import OutputFormat, print_figures, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import note, say
from lineage.store.values import AppliedChanges

__all__ = [
    "SummaryFlags",
    "change_text",
    "note_diagnostics",
    "print_ingest_figures",
    "resolved_text",
    "say_failures",
    "say_retired",
    "worst_first",
]

_ORDER = list(Severity)
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@frozen(slots=False)
class SummaryFlags:
    """Options of what an ingest prints at its end."""

    panel: ClassVar[str | None] = None

    show: Annotated[int, typer.Option("--show", min=0, help="Number of diagnostics to print; 0 prints all.")] = 20
    output: FormatOption = OutputFormat.TABLE


def worst_first(diagnostics: Iterable[DiagnosticRecord]) -> list[DiagnosticRecord]:
    """Return the diagnostics by severity, then by source."""
    return sorted(diagnostics, key=lambda one: (_ORDER.index(one.diagnostic.severity), one.source))


def print_ingest_figures(
    figures: Mapping[str, object],
    output: OutputFormat,
    *,
    named: Mapping[str, object],
    more: Mapping[str, object],
    found: Iterable[Mapping[str, object]],
    people: Callable[[], None],
) -> None:
    """Print the figures of an ingest, with the seconds that it took; JSON shows what was `found` last."""
    timed = {**figures, "seconds": round(wall_seconds(), 2)}
    print_figures(timed, output, named=named, more={**more, "found": list(found)}, people=people)


def say_failures(failures: Sequence[tuple[str, int]]) -> None:
    """Print the most frequent reasons why SQL is not fully resolved, if there are any."""
    if failures:
        say("most frequent reasons why SQL is not fully resolved:")
    rows = ((runs, reason) for reason, runs in failures)
    print_listing(("runs", "reason"), rows, OutputFormat.TABLE, Look(words=("reason",)))


def note_diagnostics(
    records: Sequence[DiagnosticRecord], show: int, lines_of: Callable[[DiagnosticRecord], Iterable[str]] = lambda _: ()
) -> None:
    """Print the first diagnostics, each with its `lines_of` SQL, and how many more there are; all if `show` is 0."""
    for record in records[: show or None]:
        note(f"{record.source}: {record.diagnostic}", _COLOURS.get(record.diagnostic.severity))
        for line in lines_of(record):
            note(line)
    if show and len(records) > show:
        note(f"… and {len(records) - show:,} more; --show 0 prints all")


def resolved_text(counts: Mapping[str, int]) -> str:
    """Return how many statements were resolved, and how many were not in full: `12 resolved, 1 tables only`."""
    rest = {name: counts[name] for name in ("partial", "tables_only", "unresolved") if counts.get(name)}
    return f"{counts['resolved']:,} resolved" + "".join(
        f", {count:,} {name.replace('_', ' ')}" for name, count in rest.items()
    )


def change_text(applied: AppliedChanges) -> str:
    """Return how many edges are new, and how many ended: `40 new, 2 ended`."""
    ended = f", {applied.edges_ended:,} ended" if applied.edges_ended else ""
    return f"{applied.edges_created:,} new{ended}"


def say_retired(gone: Sequence[str], where: str) -> None:
    """Print the number of what is no longer there, and the first names."""
    if gone:
        say(f"retired: {len(gone):,} no longer in the {where}: {name_list(gone, 5)}")
