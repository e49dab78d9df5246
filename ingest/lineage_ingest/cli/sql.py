"""The commands of `lineage ingest`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import (
    CacheOption,
    GuessedDialectOption,
    JobsOption,
    note_cached_schemas,
)
from lineage.cli.shared_flags import ResolutionFlags, SchemaFlags, WrittenStoreFlags
from lineage.cli.wall_clock import wall_seconds
from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.files import FileKey
from lineage.model.text.decoding import decode_sql
from lineage.screen.evidence import marked_line
from lineage.screen.formats import OutputFormat
from lineage.screen.listing import console, counted, note, say
from lineage.screen.progress import progress_bar
from lineage.worker_pool import available_processors
from lineage_ingest.api import ingest_sql
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.summary_output import (
    SummaryFlags,
    change_text,
    note_diagnostics,
    print_ingest_figures,
    resolved_text,
    worst_first,
)
from lineage_ingest.cli.shared.verification import print_verification
from lineage_ingest.options import OptionError, SqlOptions
from lineage_ingest.sql_files import (
    GoneFiles,
    GoneFilesError,
    IngestSummary,
    NoSqlFilesError,
    ProjectError,
)

__all__ = ["print_summary", "sql"]


@with_option_groups()
def sql(
    paths: Annotated[  # not Path, which reads an empty argument as the current folder
        list[str], typer.Argument(help="SQL files, and folders of them.")
    ],
    schemas: SchemaFlags,
    resolution: ResolutionFlags,
    written: WrittenStoreFlags,
    shown: SummaryFlags,
    dialect: GuessedDialectOption = None,
    connect: Annotated[
        str | None,
        typer.Option(
            help="Database that the files are for (postgresql://user@host:5432/database): its tables are known.",
            metavar="URI",
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Let the PostgreSQL of --connect analyse what the files define, in a transaction that is rolled "
            "back, and compare.",
        ),
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(
            help="Project of all files; by default the nearest .git or dbt_project.yml above each file names it."
        ),
    ] = None,
    project_root: Annotated[
        Path | None,
        typer.Option(help="Root folder of --project.", exists=True, file_okay=False),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Retire files that no longer exist, even if that is most of them.")
    ] = False,
    observed_at: Annotated[datetime | None, typer.Option(help="Time of the definitions (UTC); default now.")] = None,
    jobs: JobsOption = None,
    no_cache: CacheOption = False,
    full: Annotated[
        bool, typer.Option("--full", help="Resolve and store all files, also those that have not changed.")
    ] = False,
) -> None:
    """Ingest SQL files: resolve them against each other, in any order, and store their lineage.

    The lineage of a file replaces its earlier lineage; files that no longer exist in a folder are retired. A file
    is resolved again only if it, or what it depends on, has changed, and stored again only if its lineage has.

    Nothing is executed, except with --verify: then each query is created as a view in the database of --connect,
    without touching what exists, and everything is rolled back. The exit status is 1 if its analysis differs.

    Example: lineage ingest sql models/ --dialect postgres --catalog schema.sql
    """
    note_cached_schemas(schemas.catalog, refresh=schemas.refresh_catalog)
    options = SqlOptions(
        dialect=dialect,
        **schemas.of_api(),
        **resolution.of_api(),
        project=project,
        project_root=project_root,
        connect=connect,
        verify=verify,
        retire_most=yes,
        observed_at=observed_at,
        jobs=jobs or available_processors(),
        cache=not no_cache,
        full=full,
    )

    def run(options: SqlOptions) -> IngestSummary:
        with progress_bar() as progress:
            return ingest_sql(paths, store=written.store, options=options, progress=progress)

    try:
        try:
            summary = run(options)
        except GoneFilesError as error:
            if not _confirm_retirement(error.gone):
                raise
            summary = run(replace(options, retire_most=True))
    except OptionError as error:
        raise bad_parameter(error) from error
    except (NoSqlFilesError, ProjectError) as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    except GoneFilesError as error:
        note(f"error: {error}; nothing was stored", "red")
        note("to retire their lineage, give --yes; --as-of still shows it")
        raise typer.Exit(2) from error
    print_summary(summary, shown.output, shown.show)
    if summary.has_errors:
        raise typer.Exit(1)


def _confirm_retirement(gone: GoneFiles) -> bool:
    """Ask on a terminal whether to retire the files that no longer exist; elsewhere, return False."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    files = f"{len(gone.files):,} of {gone.known:,} known files"
    return typer.confirm(f"{files} are no longer there. Retire them?", err=True)


def print_summary(summary: IngestSummary, output: OutputFormat, show: int = 20) -> None:
    """Print the counts of an ingest of SQL files, and its diagnostics, the most severe first."""
    found = worst_first(summary.diagnostics)
    verified = {"verification": summary.verification.to_dict()} if summary.verification is not None else {}
    print_ingest_figures(
        summary.to_dict(),
        output,
        named={"store": summary.store},
        more={**verified, "projects": summary.described_projects(), "notices": list(summary.notices)},
        found=({"source": d.source, **_file_of(d), **d.diagnostic.to_dict()} for d in found),
        people=lambda: _say_summary(summary, found, show),
    )


def _say_summary(summary: IngestSummary, found: Sequence[DiagnosticRecord], show: int) -> None:
    note_diagnostics(found, show, partial(_lines_of, summary))
    counts = summary.batch.run.counts
    files, statements, diagnostics, tables, columns, edges = (
        counted(counts[f"{one}s"], one) for one in ("file", "statement", "diagnostic", "table", "column", "edge")
    )
    say(f"{files}, {statements}: {resolved_text(counts)}; {diagnostics}")
    say(f"{tables}, {columns}, {edges} ({change_text(summary.applied)}) in {wall_seconds():.1f} s → {summary.store}")
    if summary.resolved is not None and summary.resolved < counts["files"]:
        say(f"{summary.resolved:,} of {files} resolved; the others are as in an earlier run")
    if summary.stored is not None and summary.stored < counts["files"]:
        say(f"{summary.stored:,} of {files} stored again; the others are as the last ingest stored them")
    if summary.verification is not None:
        print_verification(summary.verification, show, "definition")
    _print_projects(summary)


def _print_projects(summary: IngestSummary) -> None:
    """Print the projects of the files, the retired files, and the notices."""
    for project, count in summary.projects:
        files = counted(count, "file")
        if project.name:
            say(f"project {project.name} (by {project.found_by}): {files}")
        else:
            say(f"no project: {files}, known by absolute path")
    if summary.files_gone:
        gone = counted(summary.files_gone, "file")
        say(f"retired: {gone} no longer there, with {counted(summary.edges_of_gone, 'edge')}")
    if any(not project.is_portable for project, _ in summary.projects):
        note("give --project NAME so that the files have the same identity on other machines")
    for text in summary.notices:
        note(text, "yellow")


def _lines_of(summary: IngestSummary, record: DiagnosticRecord) -> list[str]:
    """Return the line of a file that could not be parsed, and where in it."""
    found, span = record.diagnostic, record.diagnostic.span
    if found.code is not DiagnosticCode.PARSE_ERROR or span is None or record.file_key is None:
        return []
    file = FileKey.parse(record.file_key)
    paths = [project.file_at(file.path) for project, _ in summary.projects if project.name == file.project]
    try:
        text, _ = decode_sql(paths[0].read_bytes(), record.source) if paths else (None, None)
    except OSError:  # it is gone
        text = None
    width = console(stderr=True).width
    return [] if text is None else marked_line(text, file.environment.dialect, span, width)


def _file_of(record: DiagnosticRecord) -> dict[str, str | None]:
    """Return the project of a diagnostic's file, and the file's path in it."""
    if record.file_key is None:
        return {}
    file = FileKey.parse(record.file_key)
    return {"project": file.project or None, "path": file.path}
