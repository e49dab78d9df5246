"""`lineage ingest postgres`, as a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import JobsOption
from lineage.cli.shared_flags import ResolutionFlags, WrittenStoreFlags
from lineage.cli.wall_clock import wall_seconds
from lineage.model.batch import DiagnosticRecord
from lineage.screen.formats import OutputFormat
from lineage.screen.listing import counted, note, say
from lineage.screen.progress import progress_bar
from lineage.worker_pool import available_processors
from lineage_ingest.api import ingest_postgres
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
from lineage_ingest.cli.shared.verification import print_verification
from lineage_ingest.live_database.database_ingest import DatabaseSummary
from lineage_ingest.options import DatabaseOptions, OptionError

__all__ = ["postgres", "print_database_summary"]


@with_option_groups()
def postgres(
    uri: Annotated[str, typer.Argument(metavar="URI", help="The database: postgresql://user@host:5432/database.")],
    resolution: ResolutionFlags,
    written: WrittenStoreFlags,
    shown: SummaryFlags,
    schema: Annotated[
        list[str] | None,
        typer.Option("--schema", help="Only this schema. Repeatable. Default: all but the system's."),
    ] = None,
    namespace: Annotated[
        str,
        typer.Option(help="OpenLineage namespace of the datasets. Default: postgres://HOST:PORT of the connection."),
    ] = "",
    annotate: Annotated[
        bool,
        typer.Option(
            "--annotations/--no-annotations",
            help="Store comments as descriptions, and owners and readers as tags (owner:ROLE, reader:ROLE).",
        ),
    ] = True,
    replace_descriptions: Annotated[
        bool, typer.Option("--replace-descriptions", help="Comments replace descriptions that differ from them.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare the lineage of views with PostgreSQL's own parse trees of them."),
    ] = False,
    jobs: JobsOption = None,
) -> None:
    """Ingest a PostgreSQL database from its catalog: views, functions, generated columns, partitions, comments.

    Nothing of the database is executed, not even with --verify: PostgreSQL keeps the parse tree of each view, and our
    lineage is compared with it. The exit status is 1 if they differ.

    The catalog is read in one read-only transaction. What no longer exists since the last ingest is retired. With the
    same --namespace, the server's query log and dbt name the same tables.

    The password may be in the address, but is better in PGPASSWORD or in ~/.pgpass: a command line can be seen by
    others on the same machine.

    Example: lineage ingest postgres postgresql://reader@db.example:5432/shop --schema mart
    """
    options = DatabaseOptions(
        schemas=tuple(schema or ()),
        namespace=namespace,
        **resolution.of_api(),
        annotate=annotate,
        replace_descriptions=replace_descriptions,
        verify=verify,
        jobs=jobs or available_processors(),
    )
    try:
        with progress_bar() as progress:
            summary = ingest_postgres(uri, store=written.store, options=options, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    print_database_summary(summary, shown.output, shown.show)
    if summary.has_errors:
        raise typer.Exit(1)


def print_database_summary(summary: DatabaseSummary, output: OutputFormat, show: int = 20) -> None:
    """Print the counts of an ingest of a database, and the diagnostics, the most severe first."""
    found = worst_first(summary.diagnostics)
    verified = {"verification": summary.verification.to_dict()} if summary.verification is not None else {}
    print_ingest_figures(
        summary.to_dict(),
        output,
        named={
            "store": summary.store,
            "database": summary.database,
            "schemas": list(summary.schemas),
            **verified,
        },
        more={"notices": list(summary.notices), "retired": list(summary.gone)},
        found=({"source": d.source, **d.diagnostic.to_dict()} for d in found),
        people=lambda: _say_database_summary(summary, found, show),
    )


def _say_database_summary(summary: DatabaseSummary, found: Sequence[DiagnosticRecord], show: int) -> None:
    note_diagnostics(found, show)
    counts = summary.batch.run.counts
    schemas, relations, views, functions, statements, diagnostics = (
        counted(number, name)
        for number, name in (
            (len(summary.schemas), "schema"),
            (counts["relations"] - counts["views"], "table"),
            *((counts[f"{one}s"], one) for one in ("view", "function", "statement", "diagnostic")),
        )
    )
    say(f"{summary.database}: {schemas}, {relations}, {views}, {functions}")
    say(f"{statements}: {resolved_text(counts)}; {diagnostics}")
    columns, edges = counted(counts["columns"], "column"), counted(counts["edges"], "edge")
    say(f"{columns}, {edges} ({change_text(summary.applied)}) in {wall_seconds():.1f} s → {summary.store}")
    if summary.annotations.described or summary.annotations.tagged:
        described = counted(summary.annotations.described, "description")
        say(f"annotations: {described}, tags of {summary.annotations.tagged:,} tables and columns")
    for text in summary.notices:
        note(text, "yellow")
    if summary.verification is not None:
        print_verification(summary.verification, show)
    say_retired(summary.gone, "database")
