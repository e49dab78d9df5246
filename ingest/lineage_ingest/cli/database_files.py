"""`lineage ingest duckdb` and `lineage ingest sqlite`, as commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar

import typer

from lineage.cli.option_groups import with_option_groups
from lineage.cli.options import JobsOption
from lineage.cli.shared_flags import ResolutionFlags, WrittenStoreFlags
from lineage.frozen import frozen
from lineage.screen.progress import progress_bar
from lineage.worker_pool import available_processors
from lineage_ingest.api import ingest_duckdb, ingest_sqlite
from lineage_ingest.cli.postgres import print_database_summary
from lineage_ingest.cli.shared.parameter_errors import bad_parameter
from lineage_ingest.cli.shared.summary_output import SummaryFlags
from lineage_ingest.live_database.database_ingest import DatabaseSummary
from lineage_ingest.options import DatabaseFileOptions, OptionError

__all__ = ["duckdb", "sqlite"]

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="The database file; it is opened read-only.")]


@frozen
class _FileOptions(ResolutionFlags, WrittenStoreFlags, SummaryFlags):
    """The options of both commands."""

    panel: ClassVar[str | None] = None
    namespace: Annotated[
        str, typer.Option(help="OpenLineage namespace of the datasets. Default: the name of the product.")
    ] = ""
    jobs: JobsOption = None


@with_option_groups()
def duckdb(file: FileArgument, given: _FileOptions) -> None:
    """Ingest a DuckDB file from its catalog: views, macros, generated columns, comments. Nothing is executed.

    What no longer exists since the last ingest is retired. The file must not be open for writing elsewhere.

    Example: lineage ingest duckdb warehouse.duckdb
    """
    _ingest(ingest_duckdb, file, given)


@with_option_groups()
def sqlite(file: FileArgument, given: _FileOptions) -> None:
    """Ingest an SQLite file from its catalog: views, triggers, generated columns. Nothing is executed.

    What no longer exists since the last ingest is retired. Tables have no schema in their names; give each file a
    --namespace of its own.

    Example: lineage ingest sqlite app.sqlite --namespace sqlite:app
    """
    _ingest(ingest_sqlite, file, given)


def _ingest(ingest: Callable[..., DatabaseSummary], file: str, given: _FileOptions) -> None:
    options = DatabaseFileOptions(
        namespace=given.namespace,
        **given.of_api(),
        jobs=given.jobs or available_processors(),
    )
    try:
        with progress_bar() as progress:
            summary = ingest(file, store=given.store, options=options, progress=progress)
    except OptionError as error:
        raise bad_parameter(error) from error
    print_database_summary(summary, given.output, given.show)
    if summary.has_errors:
        raise typer.Exit(1)
