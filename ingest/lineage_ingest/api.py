"""Public functions to ingest SQL files, dbt projects and events; those for query logs are in `log_api`.

The CLI uses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lineage.garbage_collection import seldom_collecting
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.resolve.functions import FunctionsFileError
from lineage.store import GraphStore, open_store
from lineage_ingest.dbt.ingest import ingest_project
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.dbt.request import prepare_project
from lineage_ingest.options import (
    DbtOptions,
    OptionError,
    Paths,
    SqlOptions,
    in_utc,
    listed_paths,
    read_catalog,
)
from lineage_ingest.sql_files import IngestSummary, ingest_sql_files

if TYPE_CHECKING:
    from lineage_ingest.openlineage.files import EventSummary
    from lineage_ingest.query_log.pipeline.engine import Progress

__all__ = ["ingest_dbt", "ingest_openlineage", "ingest_sql", "is_open_store", "opened_store"]


def ingest_sql(
    paths: Paths,
    *,
    store: GraphStore | str | Path | None = None,
    options: SqlOptions | None = None,
    progress: Progress | None = None,
) -> IngestSummary:
    """Read SQL files, resolve them against each other and store their lineage. Nothing is executed.

    The lineage of a file replaces its earlier lineage; files that no longer exist in a folder are retired.

    Args:
        paths: SQL files and folders of them.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.lbug`.
        options: dialect, schemas, names, project.
        progress: called with the name of each stage, the amount done, and the total.

    Raises:
        OptionError: an option has a wrong value.
        NoSqlFilesError: a path does not exist, or a folder has no SQL file and never had one.
        ProjectError: the root of the project is ambiguous.
        GoneFilesError: most known files no longer exist, and `retire_most` is not set. Nothing is stored.
        StoreError: the store could not be read or written. Nothing is stored.
        WorkerError: a worker process was killed, or crashed. Nothing is stored.
    """
    options = options or SqlOptions()
    if options.jobs < 1:
        raise OptionError("it must be at least 1", "jobs")
    if options.project_root is not None and options.project is None:
        raise OptionError("it requires --project", "project_root")
    listed = listed_paths(paths)
    extraction, catalog = _extraction_options(options), read_catalog(options.catalog, options.dialect)
    with opened_store(store) as opened:
        summary = ingest_sql_files(
            map(Path, listed),
            opened,
            extraction,
            catalog,
            observed_at=in_utc(options.observed_at),
            progress=progress,
            project=options.project,
            project_root=options.project_root,
            retire_most=options.retire_most,
            jobs=options.jobs,
        )
        return replace(summary, store=opened.address)


def ingest_dbt(
    target: str | Path | None = None,
    *,
    store: GraphStore | str | Path | None = None,
    options: DbtOptions | None = None,
    progress: Progress | None = None,
) -> DbtSummary:
    """Read the artifacts that dbt wrote for a project and store the lineage of its models. Nothing is executed.

    The lineage of a model replaces its earlier lineage; models that no longer exist are retired. Models whose SQL,
    upstream schemas and descriptions are unchanged are neither resolved nor stored again, if the store is a file, is
    given by its path, and nobody else has written to it since.

    Args:
        target: dbt's target folder, which has `manifest.json`; by default `target` in `options.project_dir`.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.lbug`.
        options: names, dialect, schemas, project.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value, or neither a target nor a project folder is given.
        NoManifestError: there is no manifest that can be read.
        OlderManifestError: the store has the project as of a later time. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    options = options or DbtOptions()
    with seldom_collecting(), opened_store(store) as opened:
        request = prepare_project(target, options, None if is_open_store(store) else opened.address)
        return replace(ingest_project(request, opened, progress), store=opened.address)


def ingest_openlineage(
    paths: Paths, *, store: GraphStore | str | Path | None = None, progress: Progress | None = None
) -> EventSummary:
    """Read files of OpenLineage events and store the lineage of the runs that completed.

    Events of a run may come in any order, in several files, and more than once.

    Args:
        paths: files, folders and patterns of JSON lines or arrays, gzipped or not; `-` is standard input.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.lbug`.
        progress: called with the number of events read.

    Raises:
        OptionError: no path is given, or an empty one.
        NoEventFilesError: a path has no file.
        SchemasMissingError: jsonschema-rs is not installed.
        StoreError: the store could not be read or written. Ingest the files again: nothing is lost or doubled.
    """
    from lineage_ingest.openlineage.files import ingest_event_files  # noqa: PLC0415  the other ingests start faster

    listed = listed_paths(paths)
    with opened_store(store) as opened:
        return replace(ingest_event_files(listed, opened, progress), store=opened.address)


def _extraction_options(options: SqlOptions) -> ExtractionOptions:
    try:
        return options_for(
            options.dialect,
            namespace=options.namespace,
            default_database=options.default_database,
            default_schema=options.default_schema,
            functions=options.functions,
            set_operation_references=options.set_operations,
            budget=options.budget,
        )
    except FunctionsFileError as error:
        raise OptionError(str(error), "functions") from error


def is_open_store(store: GraphStore | str | Path | None) -> bool:
    """Return whether this is an open store, not the address of one."""
    return store is not None and not isinstance(store, str | Path)


@contextmanager
def opened_store(store: GraphStore | str | Path | None, *, read_only: bool = False) -> Iterator[GraphStore]:
    """Yield the store, and close it afterwards if this function opened it."""
    if store is not None and not isinstance(store, str | Path):
        yield store
        return
    with open_store(store, read_only=read_only) as opened:
        yield opened
