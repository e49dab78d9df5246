"""`lineage ingest dbt`, as a command."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import (
    dialect_option,
    note_cached_schemas,
)
from lineage.cli.shared_flags import ResolutionFlags, SchemaFlags, WrittenStoreFlags
from lineage.cli.wall_clock import wall_seconds
from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.screen.formats import OutputFormat
from lineage.screen.listing import counted, note, say
from lineage.screen.progress import progress_bar
from lineage_ingest.api import ingest_dbt
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.summary_output import (
    SummaryFlags,
    change_text,
    note_diagnostics,
    print_ingest_figures,
    resolved_text,
    worst_first,
)
from lineage_ingest.dbt.artifacts.target_folder import NoManifestError
from lineage_ingest.dbt.earlier.order_of_ingests import OlderManifestError
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.options import DbtOptions, OptionError

__all__ = ["dbt", "print_dbt_summary"]


@with_option_groups()
def dbt(
    schemas: SchemaFlags,
    resolution: ResolutionFlags,
    written: WrittenStoreFlags,
    shown: SummaryFlags,
    target: Annotated[
        Path | None,
        typer.Argument(metavar="TARGET_DIR", help="Folder with manifest.json; by default target in --project-dir."),
    ] = None,
    project_dir: Annotated[
        Path | None,
        typer.Option(help="Folder of dbt_project.yml: seeds are read there.", exists=True, file_okay=False),
    ] = None,
    project: Annotated[str | None, typer.Option(help="Name of the project; default: the manifest's.")] = None,
    dialect: Annotated[str | None, dialect_option("SQL dialect; default: that of the adapter.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Resolve and store all models, also those that have not changed.")
    ] = False,
    observed_at: Annotated[
        datetime | None, typer.Option(help="Time of the definitions (UTC); default: when dbt wrote the manifest.")
    ] = None,
) -> None:
    """Ingest a dbt project from the artifacts of `dbt build`, `dbt compile` or `dbt docs generate`.

    Models get column lineage from their compiled SQL; exposures, metrics, semantic models and saved queries are
    consumers. The schemas of sources are read from catalog.json, which `dbt docs generate` writes.
    Nothing is executed.

    Models that have not changed since the last ingest are skipped; models that no longer exist are retired. Give the
    same --namespace as for the warehouse's query log, so that both name the same tables.

    Example: dbt build && lineage ingest dbt target/ --namespace postgres://host:5432
    """
    note_cached_schemas(schemas.catalog, refresh=schemas.refresh_catalog)
    options = DbtOptions(
        dialect=dialect,
        project_dir=project_dir,
        project=project,
        **schemas.of_api(),
        **resolution.of_api(),
        full=full,
        observed_at=observed_at,
    )
    try:
        with progress_bar() as progress:
            summary = ingest_dbt(target, store=written.store, options=options, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    except NoManifestError as error:
        raise typer.BadParameter(str(error), param_hint="TARGET_DIR") from error
    except OlderManifestError as error:
        note(f"error: {error}; nothing was stored", "red")
        note("run `dbt compile`, and ingest again")
        raise typer.Exit(2) from error
    print_dbt_summary(summary, shown.output, shown.show)
    if summary.has_errors:
        raise typer.Exit(1)


def print_dbt_summary(summary: DbtSummary, output: OutputFormat, show: int = 20) -> None:
    """Print the counts of an ingest of a dbt project, and the diagnostics, the most severe first."""
    records = worst_first(summary.diagnostics)
    print_ingest_figures(
        summary.to_dict(),
        output,
        named={"store": summary.store, "project": summary.project},
        more={"notices": list(summary.notices)},
        found=({"source": d.source, **d.diagnostic.to_dict()} for d in records),
        people=lambda: _say_dbt_summary(summary, records, show),
    )


def _say_dbt_summary(summary: DbtSummary, found: Sequence[DiagnosticRecord], show: int) -> None:
    counts = summary.batch.run.counts
    if counts["not_compiled"]:
        note(
            f"{counts['not_compiled']:,} of {counted(counts['models'], 'model')} were not compiled: run `dbt compile`",
            "yellow",
        )
    each = (one for one in found if one.diagnostic.severity is Severity.INFO)  # what the line above says of all
    said = {id(one) for one in each if one.diagnostic.code is DiagnosticCode.NOT_COMPILED}
    note_diagnostics([one for one in found if id(one) not in said], show)
    skipped = f" ({summary.unchanged:,} unchanged)" if summary.unchanged else ""
    models, consumers, diagnostics, tables, columns, edges = (
        counted(counts[f"{one}s"], one) for one in ("model", "consumer", "diagnostic", "table", "column", "edge")
    )
    say(f"project {summary.project} ({summary.dialect}): {models}{skipped}, {consumers}")
    say(f"{resolved_text(counts)}; {diagnostics}")
    say(f"{tables}, {columns}, {edges} ({change_text(summary.applied)}) in {wall_seconds():.1f} s → {summary.store}")
    if counts["errors"] and not any(one.diagnostic.severity is Severity.ERROR for one in found):
        note("unchanged models have errors: lineage diagnostics lists them", "yellow")
    for text in summary.notices:
        note(text, "yellow")
    if summary.gone:
        say(f"retired: {counted(len(summary.gone), 'node')} no longer in the project")
