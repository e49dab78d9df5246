"""`lineage ingest log`; `python -m lineage_ingest.query_log` and spark-submit run it, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import JobsOption
from lineage.cli.wall_clock import wall_seconds
from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.screen.formats import OutputFormat, print_figures
from lineage.screen.listing import counted, note, say
from lineage.screen.progress import progress_bar
from lineage.sql import scan
from lineage.worker_pool import available_processors
from lineage_ingest.cli.follow import print_plan, run_follow
from lineage_ingest.cli.shared.log_options import FollowFlags, JdbcFlags, LogFlags, PathsArgument
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.summary_output import say_failures
from lineage_ingest.log_api import ingest_log, plan_log
from lineage_ingest.options import OptionError
from lineage_ingest.query_log import SOURCES, ColumnsMissingError, NoLogFilesError, NotOverJdbcError
from lineage_ingest.query_log.ingest import LogSummary
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, LogUnreachableError, SparkMissingError
from lineage_ingest.query_log.pipeline.log_problems import UndatedLogError

__all__ = ["log", "print_log_summary"]

_FAILURES = 10
_MAX_NAMED = 3
"""Number of files to name of those from which the format was detected."""


@with_option_groups(hidden=(FollowFlags,))
def log(
    flags: LogFlags,
    jdbc: JdbcFlags,
    following: FollowFlags,
    paths: PathsArgument = None,
    engine: Annotated[
        EngineKind, typer.Option(help="Run in this process or on Spark; auto: on Spark from 200 MB on.")
    ] = EngineKind.AUTO,
    jobs: JobsOption = None,
    followed: Annotated[bool, typer.Option("--follow", hidden=True)] = False,
) -> None:
    """Ingest a query log: the lineage of every statement, and who used which tables and columns.

    Statements that differ only in literals are one template. Within a session, temporary tables are resolved to their
    sources, and USE and SET search_path take effect. Ingesting a log again changes nothing. Nothing is executed.

    For a log that keeps growing, see lineage follow log.

    Example: lineage ingest log history/*.parquet --source snowflake --namespace snowflake://org-account

    Example: lineage ingest log --jdbc-url jdbc:redshift://host/db --source redshift --since 2026-01-01
    """
    database = jdbc.jdbc()
    options = replace(flags.options(engine, database), jobs=jobs or available_processors())
    if followed or following.kafka or following.once:
        note("lineage ingest log --follow is deprecated: use lineage follow log, with the same options", "yellow")
        run_follow(paths or (), flags, options, following.options())
        return
    if any(getattr(following, one.name) != one.default for one in fields(following)):
        raise typer.BadParameter("it is an option of lineage follow log", param_hint="--follow")
    try:
        if flags.explain:
            print_plan(plan_log(paths or (), source=flags.source, options=options), flags.output)
            return
        with progress_bar() as progress:
            summary = ingest_log(
                paths or (), source=flags.source, store=flags.store, options=options, progress=progress
            )
    except OptionError as error:
        raise bad_parameter(error) from error
    except (NoLogFilesError, ColumnsMissingError, NotOverJdbcError) as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    except SparkMissingError as error:
        raise typer.BadParameter(str(error), param_hint="--engine") from error
    except UndatedLogError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(1) from error
    except LogUnreachableError as error:
        note(str(error), "red")
        raise typer.Exit(3) from error
    if summary.detected_files and flags.output.is_for_people:
        note(_detection_line(summary))
    print_log_summary(summary, flags.output, flags.show)
    if summary.fails(flags.fail_on):
        raise typer.Exit(1)


def _detection_line(summary: LogSummary) -> str:
    """Return the line that names the detected format, and the files that show it."""
    files = ", ".join(map(str, summary.detected_files[:_MAX_NAMED]))
    more = len(summary.detected_files) - _MAX_NAMED
    rest = f" and {counted(more, 'more file')}" if more > 0 else ""
    return f"read as --source {summary.source} ({SOURCES[summary.source].title}): {files}{rest}"


def print_log_summary(summary: LogSummary, output: OutputFormat, show: int = 5) -> None:
    """Print the counts of an ingest of a log, and the most frequent failures."""
    # Unreadable files come first, in every output format: nothing else shows the lost data.
    errors = [d for d in summary.diagnostics if d.diagnostic.severity is Severity.ERROR]
    files = [d for d in errors if d.diagnostic.code is DiagnosticCode.UNREADABLE_FILE]
    for record in files:
        note(f"error: file not read: {record.diagnostic.message}", "red")
    failures = summary.failures[:_FAILURES]
    print_figures(
        summary.to_dict(),
        output,
        named={"store": summary.store, "run": summary.run.key, "source": summary.source},
        more={
            "failures": [{"reason": reason, "runs": runs} for reason, runs in failures],
            "notes": list(summary.notes),
        },
        people=lambda: _say_log_summary(summary, [one for one in errors if one not in files], show),
    )


def _say_log_summary(summary: LogSummary, errors: Sequence[DiagnosticRecord], show: int) -> None:
    for record in errors[: show or None]:
        note(f"{record.job or record.source}: {record.diagnostic}", "red")
    if show and len(errors) > show:
        note(f"… and {counted(len(errors) - show, 'more error')}; --show 0 prints all")
    for text in summary.notes:
        note(text, "yellow")
    counts = summary.run.counts
    say_failures(summary.failures[:_FAILURES])
    if scan.engine() == "python":
        note("the native scanner is not installed: one in Python, 100 times slower, is used", "yellow")
    rest = {name: counts[name] for name in ("partial", "tables_only", "unresolved") if counts.get(name)}
    unresolved = "".join(f", {count:,} {name.replace('_', ' ')}" for name, count in rest.items())
    say(
        f"{counted(counts['rows'], 'row')}, {counts['left_out']:,} left out; "
        f"{counted(counts['templates'], 'template')}, {counted(counts['statements'], 'statement')}: "
        f"{counts['resolved']:,} resolved{unresolved}"
    )
    ended = f", {summary.applied.edges_ended:,} ended" if summary.applied.edges_ended else ""
    say(
        f"{counted(counts['tables'], 'table')}, {counted(counts['columns'], 'column')}, "
        f"{counted(counts['edges'], 'edge')} ({summary.applied.edges_created:,} new{ended}) "
        f"in {wall_seconds():.1f} s ({summary.storing:.1f} s storing) → {summary.store}"
    )
