"""`lineage compare`: the graph against the column lineage that a product states itself."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import dialect_option
from lineage.cli.shared_flags import NameFlags
from lineage.cli.store_options import FormatOption, RowsOption, StoreOption
from lineage.cli.traversal_flags import DATES
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.screen.progress import progress_bar
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.compare.comparison_report import COLUMNS, comparison_rows, comparison_to_dict, summary_lines
from lineage_ingest.compare.products import OpinionKind
from lineage_ingest.compare.verdicts import Comparison, DifferenceCondition, EdgeVerdict
from lineage_ingest.compare_api import CompareOptions, compare_lineage
from lineage_ingest.dbt.artifacts.target_folder import NoManifestError
from lineage_ingest.openlineage.event_reader import NoEventFilesError
from lineage_ingest.options import OptionError
from lineage_ingest.query_log.reading.log_files import NoLogFilesError
from lineage_ingest.query_log.sources.source import ColumnsMissingError

__all__ = ["app"]

_LOOK = Look(
    names=("target",),
    words=("why", "theirs", "ours"),
    cuts=("target",),
    phrases={"source": "← {}", "why": "{}", "through": "through {}", "theirs": "theirs: {}", "ours": "ours: {}"},
    styles={"target": "bold"},
)

app = typer.Typer(add_completion=False)


@app.command()
@with_option_groups()
def compare(
    kind: Annotated[OpinionKind, typer.Argument(help="The product that states the lineage.")],
    paths: Annotated[list[str], typer.Argument(metavar="PATHS", help="Its export: files, folders, patterns.")],
    names: NameFlags,
    fail_on: Annotated[
        list[DifferenceCondition] | None,
        typer.Option(help="Exit with 1 if there are such differences. Repeatable."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List the edges that agree, too.")] = False,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of",
            formats=DATES,
            metavar="TIME",
            help="Compare as of this time: the graph, and rows up to then.",
        ),
    ] = None,
    dialect: Annotated[str | None, dialect_option("SQL dialect of the names. Default: the product's.")] = None,
    store: StoreOption = None,
    rows: RowsOption = 40,
    show: Annotated[int, typer.Option("--show", min=0, help="Maximum number of bad records to list; 0: all.")] = 10,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Where does lineage that another product states differ from ours?

    Some products state column lineage themselves. This compares their export with the graph, edge by edge, over the
    tables that both know, and gives both proofs: the SQL for ours; query, time and job for theirs. A difference has a
    reason if the graph or the export shows one: our edge is only a reference, has ended since, or its statement is
    resolved in part; their edge is of a statement, column or table that the graph does not have. An edge also agrees
    with a chain of edges on the other side that leads from the same start to the same end.

    snowflake: ACCESS_HISTORY. databricks: system.access.column_lineage. bigquery: answers of the Data Lineage API.
    trino: query-completed events. hive: its lineage log. dbt: a target folder with info_schema. openlineage: events
    with columnLineage.

    Example: lineage compare snowflake access_history.csv --namespace snowflake://org-account

    Example: lineage compare dbt target/ --fail-on unexplained --json

    Exit status: 1 if a condition of --fail-on is met, or nothing could be compared with it, or some of the input could
    not be read.
    """
    options = CompareOptions(**names.of_api(), dialect=dialect, as_of=as_of, every=every)
    try:
        with progress_bar() as progress:
            comparison = compare_lineage(kind, paths, store=store, options=options, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    except (ColumnsMissingError, NoEventFilesError, NoLogFilesError, NoManifestError) as error:
        raise typer.BadParameter(str(error), param_hint="PATHS") from error
    _print(comparison, output, rows, every=every)
    for unread in comparison.unread[: show or None]:
        note(f"{unread.place}: {unread.reason}" + (f"; {unread.hint}" if unread.hint else ""), "red")
    if show and comparison.unread_count > show:
        note(f"… and {comparison.unread_count - show:,} more bad records; --show 0 lists them", "red")
    failures = comparison.failures(tuple(fail_on or ()))
    nothing = bool(fail_on) and not comparison.tables
    if nothing:
        note(f"--fail-on {' '.join(fail_on or ())}: nothing was compared", "red")
    if failures:
        note(f"--fail-on {' '.join(fail_on or ())}: {counted(len(failures), 'difference')}", "red")
    if failures or nothing or comparison.has_errors:
        raise typer.Exit(1)


def _print(comparison: Comparison, output: OutputFormat, rows: int, *, every: bool) -> None:
    listed = comparison.differences
    if every:
        listed = [*listed, *(edge for edge in comparison.edges if not edge.verdict.is_difference)]
    shown = listed[: rows or None] if output.is_for_people else listed
    values = partial(comparison_to_dict, comparison, every=every)
    print_listing(COLUMNS, comparison_rows(comparison, shown), output, _LOOK, values=values)
    if not output.is_for_people:
        return
    if len(shown) < len(listed):
        note(f"… and {len(listed) - len(shown):,} more; --rows 0 shows all")
    for line in summary_lines(comparison):
        say(line)
    for text in comparison.notices:
        note(text, "yellow")
    soft = sum(comparison.counts[one] for one in (EdgeVerdict.THROUGH, EdgeVerdict.TABLES))
    if soft and not every:
        note(f"through other tables, or at table level: {counted(soft, 'edge')}; --all lists them")
