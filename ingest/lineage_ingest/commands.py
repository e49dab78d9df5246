"""`lineage ingest …`: the ways in, as commands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.listing import OutputFormat, console, counted, note, print_listing, print_object
from lineage.cli.options import (
    BudgetOption,
    CatalogOption,
    DatabaseOption,
    DialectOption,
    FormatOption,
    FunctionsOption,
    NamespaceOption,
    SchemaOption,
    StoreOption,
    extraction_options,
    read_catalogs,
)
from lineage.model.diagnostics import Severity
from lineage.store import open_store
from lineage_ingest.openlineage.command import openlineage
from lineage_ingest.progress import progress_bar
from lineage_ingest.query_log.command import log
from lineage_ingest.sql_files import IngestSummary, NoSqlFilesError, ingest_sql_files

__all__ = ["app", "print_summary"]

app = typer.Typer(
    help="Bring lineage in: SQL files, query logs, OpenLineage events.", no_args_is_help=True, add_completion=False
)


@app.callback()
def ingest() -> None:
    """Bring lineage in: SQL files, query logs, OpenLineage events."""


app.command("log")(log)
app.command("openlineage")(openlineage)


@app.command("sql")
def sql(
    paths: Annotated[list[Path], typer.Argument(help="SQL files, and folders of them.")],
    dialect: DialectOption = "ansi",
    catalog: CatalogOption = None,
    namespace: NamespaceOption = "",
    default_database: DatabaseOption = None,
    default_schema: SchemaOption = None,
    functions: FunctionsOption = None,
    budget: BudgetOption = None,
    store: StoreOption = None,
    observed_at: Annotated[
        datetime | None, typer.Option(help="When the files' definitions held (UTC); now, if left out.")
    ] = None,
    show: Annotated[int, typer.Option("--show", min=0, help="Diagnostics to print; 0 prints all.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Read SQL files, resolve them against each other in whatever order they stand, store what they say.

    A file that was ingested before replaces what it said then. Nothing is executed.

    Example: lineage ingest sql models/ --dialect postgres --catalog schema.sql
    """
    options = extraction_options(dialect, namespace, default_database, default_schema, functions, budget)
    schemas = read_catalogs(catalog, dialect)
    at = (observed_at.replace(tzinfo=UTC) if observed_at.tzinfo is None else observed_at) if observed_at else None
    try:
        with open_store(store) as opened, progress_bar() as progress:
            summary = ingest_sql_files(paths, opened, options, schemas, observed_at=at, progress=progress)
            address = opened.address
    except NoSqlFilesError as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    print_summary(summary, address, output, show)
    if summary.has_errors:
        raise typer.Exit(1)


def print_summary(summary: IngestSummary, address: str, output: OutputFormat, show: int = 20) -> None:
    """Print what an ingest found, its diagnostics (the worst first) beside it."""
    found = sorted(summary.diagnostics, key=lambda d: (list(Severity).index(d.diagnostic.severity), d.source))
    if output is not OutputFormat.TABLE:
        figures = summary.to_dict()
        if output is OutputFormat.JSON:
            listed = [{"source": d.source, **d.diagnostic.to_dict()} for d in found]
            print_object({"store": address, **figures, "found": listed})
        else:
            print_listing(tuple(figures), [tuple(figures.values())], output)
        return
    for record in found[: show or None]:
        colour = {Severity.ERROR: "red", Severity.WARNING: "yellow"}.get(record.diagnostic.severity)
        note(f"{record.source}: {record.diagnostic}", colour)
    if show and len(found) > show:
        note(f"… and {len(found) - show:,} more; --show 0 prints all")
    counts = summary.batch.run.counts
    rest = {name: counts[name] for name in ("partial", "tables_only", "unresolved") if counts.get(name)}
    unresolved = "".join(f", {count:,} {name.replace('_', ' ')}" for name, count in rest.items())
    out = console()
    files, statements, diagnostics, tables, columns, edges = (
        counted(counts[f"{one}s"], one) for one in ("file", "statement", "diagnostic", "table", "column", "edge")
    )
    out.print(f"{files}, {statements}: {counts['resolved']:,} resolved{unresolved}; {diagnostics}")
    changed = f"{summary.applied.edges_created:,} new" + (
        f", {summary.applied.edges_ended:,} ended" if summary.applied.edges_ended else ""
    )
    out.print(f"{tables}, {columns}, {edges} ({changed}) in {summary.seconds:.1f} s → {address}")
