"""`lineage ingest bi`, as a command."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import (
    dialect_option,
)
from lineage.cli.shared_flags import ResolutionFlags, SchemaFlags, WrittenStoreFlags
from lineage.cli.wall_clock import wall_seconds
from lineage.model.batch import DiagnosticRecord
from lineage.screen.formats import OutputFormat
from lineage.screen.listing import counted, note, say
from lineage.screen.progress import progress_bar
from lineage_ingest.api import ingest_bi
from lineage_ingest.bi.export_kinds import KINDS
from lineage_ingest.bi.ingest import BiSummary
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.summary_output import (
    SummaryFlags,
    change_text,
    note_diagnostics,
    print_ingest_figures,
    resolved_text,
    say_retired,
    worst_first,
)
from lineage_ingest.options import BiOptions, OptionError

__all__ = ["bi", "print_bi_summary"]


def _kinds(incomplete: str) -> list[str]:
    return [name for name in KINDS if name.startswith(incomplete)]


@with_option_groups()
def bi(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"The tool: {', '.join(KINDS)}.", autocompletion=_kinds)],
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Files of the export, or folders and zip archives of them.")
    ],
    schemas: SchemaFlags,
    resolution: ResolutionFlags,
    written: WrittenStoreFlags,
    shown: SummaryFlags,
    server: Annotated[
        str,
        typer.Option(help="Name or address of the server that the export is of, if the export does not say it."),
    ] = "",
    connection: Annotated[
        list[str] | None,
        typer.Option(
            "--connection",
            help="How tables of one of the tool's connections (by name or id) are named: "
            "NAME=NAMESPACE, then any of ,dialect=… ,database=… ,schema=… without spaces. Repeatable.",
            metavar="NAME=NAMESPACE",
        ),
    ] = None,
    part: Annotated[
        bool, typer.Option("--part", help="The files are a part of what the server has: retire nothing.")
    ] = False,
    dialect: Annotated[
        str | None,
        dialect_option("SQL dialect of connections whose database the export does not name."),
    ] = None,
    observed_at: Annotated[datetime | None, typer.Option(help="Time of the export (UTC); default: now.")] = None,
) -> None:
    """Ingest the export of a dashboard tool: cards, charts, worksheets and dashboards, down to their columns.

    They become datasets of kind exposure, downstream of the tables that they read. No server is called, and no query
    is executed. What an earlier export of the same server had and this one lacks is retired, unless --part.

    Give tables the names that query logs and dbt give them: --connection maps a connection of the tool to the
    namespace, database and schema of its tables; --namespace and the other naming options are for all connections
    without one.

    Example: lineage ingest bi metabase export/ --server bi.example.com
    --connection 'Warehouse=postgres://db:5432,database=shop,schema=public'
    """
    options = BiOptions(
        dialect=dialect,
        server=server,
        connections=tuple(connection or ()),
        is_part=part,
        **schemas.of_api(),
        **resolution.of_api(),
        observed_at=observed_at,
    )
    try:
        with progress_bar() as progress:
            summary = ingest_bi(kind, paths, store=written.store, options=options, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    print_bi_summary(summary, shown.output, shown.show)
    if summary.has_errors:
        raise typer.Exit(1)


def print_bi_summary(summary: BiSummary, output: OutputFormat, show: int = 20) -> None:
    """Print the counts of an ingest of an export, and the diagnostics, the most severe first."""
    found = worst_first(summary.diagnostics)
    print_ingest_figures(
        summary.to_dict(),
        output,
        named={"store": summary.store, "kind": summary.kind, "server": summary.server},
        more={"notices": list(summary.notices), "retired": list(summary.gone)},
        found=({"source": d.source, **d.diagnostic.to_dict()} for d in found),
        people=lambda: _say_bi_summary(summary, found, show),
    )


def _say_bi_summary(summary: BiSummary, found: Sequence[DiagnosticRecord], show: int) -> None:
    note_diagnostics(found, show)
    counts = summary.batch.run.counts
    queries = f"{counts['queries']:,} {'query' if counts['queries'] == 1 else 'queries'}"
    dashboards, diagnostics, columns, edges = (
        counted(counts[f"{one}s"], one) for one in ("dashboard", "diagnostic", "column", "edge")
    )
    say(f"{summary.kind} {summary.server}: {queries}, {dashboards}")
    say(f"{resolved_text(counts)}; {diagnostics}")
    say(f"{columns}, {edges} ({change_text(summary.applied)}) in {wall_seconds():.1f} s → {summary.store}")
    for text in summary.notices:
        note(text, "yellow")
    say_retired(summary.gone, "export")
