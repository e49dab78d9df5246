"""Public functions to ingest SQL files, dbt projects and events; those for query logs are in `log_api`.

The CLI uses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lineage.garbage_collection import seldom_collecting
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.resolve.calls.functions import FunctionsFileError
from lineage.store import GraphStore, open_store
from lineage.store.errors import StoreUnreachableError
from lineage_ingest.options import (
    BiOptions,
    DatabaseFileOptions,
    DatabaseOptions,
    DbtOptions,
    IngestOptions,
    OptionError,
    Paths,
    SqlOptions,
    in_utc,
    listed_paths,
    read_catalog,
)

if TYPE_CHECKING:
    from lineage.catalog import Catalog
    from lineage_ingest.bi.ingest import BiSummary
    from lineage_ingest.dbt.project_summary import DbtSummary
    from lineage_ingest.live_database.database_files.file_ingest import ReadFile
    from lineage_ingest.live_database.database_ingest import DatabaseSummary
    from lineage_ingest.live_database.verification.file_verification import FileVerification
    from lineage_ingest.openlineage.files import EventSummary
    from lineage_ingest.query_log.pipeline.engines.engine import Progress
    from lineage_ingest.sql_files import IngestSummary
    from lineage_ingest.sql_files.saved.saved_batch import BatchStateFiles

__all__ = [
    "ingest_bi",
    "ingest_dbt",
    "ingest_duckdb",
    "ingest_openlineage",
    "ingest_postgres",
    "ingest_sql",
    "ingest_sqlite",
    "is_open_store",
    "opened_store",
]


def ingest_sql(
    paths: Paths,
    *,
    store: GraphStore | str | Path | None = None,
    options: SqlOptions | None = None,
    progress: Progress | None = None,
) -> IngestSummary:
    """Read SQL files, resolve them against each other and store their lineage.

    Nothing is executed, except with `verify`: then PostgreSQL analyses what the files define, by CREATE VIEW in a
    transaction that is rolled back. The lineage of a file replaces its earlier lineage; files that no longer exist in a
    folder are retired. With `cache`, files whose lineage has not changed are not stored again, if the store is a file,
    is given by its path, and nobody else has written to it since.

    Args:
        paths: SQL files and folders of them.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
        options: dialect, schemas, names, project.
        progress: called with the name of each stage, the amount done, and the total.

    Raises:
        OptionError: an option has a wrong value.
        NoSqlFilesError: a path does not exist, or a folder has no SQL file and never had one.
        ProjectError: the root of the project is ambiguous.
        GoneFilesError: most known files no longer exist, and `retire_most` is not set. Nothing is stored.
        StoreError: the store could not be read or written. Nothing is stored.
        WorkerError: a worker process was killed, or crashed. Nothing is stored.
        DatabaseError: a database of the catalog or of `connect` cannot be read. Nothing is stored.
    """
    # The other ingests start faster without these.
    from lineage_ingest.sql_files import ingest_sql_files  # noqa: PLC0415
    from lineage_ingest.sql_files.files.dialect_guess import guess_dialect  # noqa: PLC0415

    options = options or SqlOptions()
    if options.jobs < 1:
        raise OptionError("it must be at least 1", "jobs")
    if options.verify and options.connect is None:
        raise OptionError("it requires --connect", "verify")
    if options.project_root is not None and options.project is None:
        raise OptionError("it requires --project", "project_root")
    listed = listed_paths(paths)
    dialect, notice = options.dialect, None
    if dialect is None:
        try:
            with opened_store(store, read_only=True) as opened:
                dialect, notice = guess_dialect(map(Path, listed), opened, options.project)
        except StoreUnreachableError:  # there is none yet
            dialect, notice = guess_dialect(map(Path, listed), None, options.project)
    extraction = _extraction_options(options, dialect)
    catalog = read_catalog(options.catalog, dialect, refresh=options.refresh_catalog, whole=False, cache=options.cache)
    verification = None
    if options.connect is not None:
        catalog, verification = _connected(options, catalog)
    with seldom_collecting(), opened_store(store) as opened:
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
            verification=verification,
            cache=options.cache and not options.full,
            stated=_stated_before(store, opened, options),
            full=options.full,
        )
        notices = summary.notices if notice is None else (notice, *summary.notices)
        return replace(summary, store=opened.address, notices=notices)


def _stated_before(
    given: GraphStore | str | Path | None, store: GraphStore, options: SqlOptions
) -> BatchStateFiles | None:
    """Return the file with what the last ingest into a store stated; None if it is not to be used.

    Others may write to a store that was opened elsewhere, in the same session.
    """
    if not options.cache or is_open_store(given) or not store.is_file:
        return None
    from lineage_ingest.sql_files.saved.saved_batch import BatchStateFiles  # noqa: PLC0415  the other ingests start faster

    return BatchStateFiles(str(Path(store.address).absolute()))


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
            else `./lineage.db`.
        options: names, dialect, schemas, project.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value, or neither a target nor a project folder is given.
        NoManifestError: there is no manifest that can be read.
        OlderManifestError: the store has the project as of a later time. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    from lineage_ingest.dbt.ingest import ingest_project  # noqa: PLC0415  the other ingests start faster
    from lineage_ingest.dbt.request import prepare_project  # noqa: PLC0415

    options = options or DbtOptions()
    with seldom_collecting(), opened_store(store) as opened:
        request = prepare_project(target, options, None if is_open_store(store) else opened.address)
        return replace(ingest_project(request, opened, progress), store=opened.address)


def ingest_postgres(
    uri: str,
    *,
    store: GraphStore | str | Path | None = None,
    options: DatabaseOptions | None = None,
    progress: Progress | None = None,
) -> DatabaseSummary:
    """Read the catalog of a PostgreSQL database and store the lineage that it states. Nothing is executed.

    That is the lineage of views, materialized views, functions in SQL and PL/pgSQL, generated columns, partitions and
    inheritance. What no longer exists is retired. Comments become descriptions, owners and readers become tags.

    Args:
        uri: address of the database, `postgresql://user@host:5432/database`. The password may be in it, in PGPASSWORD
            or in ~/.pgpass.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
        options: schemas, names.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value.
        DatabaseError: the database could not be read. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    from lineage.catalog.database.address import DatabaseAddress  # noqa: PLC0415  the other ingests start faster
    from lineage_ingest.live_database.postgres.ingest import (  # noqa: PLC0415
        DatabaseRequest,
        ingest_postgres_database,
    )

    options = options or DatabaseOptions()
    if options.jobs < 1:
        raise OptionError("it must be at least 1", "jobs")

    _database_extraction(options, "postgres", "", "")  # the functions' files are read before the database is
    request = DatabaseRequest(
        DatabaseAddress.parse(uri),
        partial(_database_extraction, options, "postgres"),
        options.schemas,
        options.namespace,
        options.annotate,
        options.replace_descriptions,
        options.jobs,
        options.verify,
    )
    with seldom_collecting(), opened_store(store) as opened:
        return ingest_postgres_database(request, opened, progress)


def ingest_bi(
    kind: str,
    paths: Paths,
    *,
    store: GraphStore | str | Path | None = None,
    options: BiOptions | None = None,
    progress: Progress | None = None,
) -> BiSummary:
    """Read an export of a dashboard tool and store the lineage of its cards, charts and dashboards.

    They are datasets of kind EXPOSURE with columns. What an earlier export of the same server had and this one lacks
    is retired. Nothing is executed, and no server is called.

    Args:
        kind: the tool: metabase, superset, lookml, tableau, powerbi, or plain for a form of our own.
        paths: files of the export, folders and zip archives of them.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
        options: the server, names of tables by connection.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value, or the export does not say which server it is of.
        StoreError: the store could not be read or written.
    """
    from lineage_ingest.bi.connections import ConnectionMap  # noqa: PLC0415  the other ingests start faster
    from lineage_ingest.bi.export_kinds import read_export  # noqa: PLC0415
    from lineage_ingest.bi.ingest import BiRequest, ingest_bi_export  # noqa: PLC0415

    options = options or BiOptions()
    extraction = _extraction_options(options, options.dialect or "ansi")
    defaults = {
        "namespace": options.namespace,
        "dialect": options.dialect,
        "database": options.default_database,
        "schema": options.default_schema,
    }
    request = BiRequest(
        kind,
        tuple(map(Path, listed_paths(paths))),
        ConnectionMap.parse(options.connections, defaults),
        extraction,
        options.server,
        not options.is_part,
        read_catalog(options.catalog, options.dialect or "ansi", refresh=options.refresh_catalog),
        in_utc(options.observed_at),
    )
    with seldom_collecting(), opened_store(store) as opened:
        return replace(ingest_bi_export(request, read_export, opened, progress), store=opened.address)


def ingest_openlineage(
    paths: Paths, *, store: GraphStore | str | Path | None = None, progress: Progress | None = None
) -> EventSummary:
    """Read files of OpenLineage events and store the lineage of the runs that completed.

    Events of a run may come in any order, in several files, and more than once.

    Args:
        paths: files, folders and patterns of JSON lines or arrays, gzipped or not; `-` is standard input.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
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


def ingest_duckdb(
    path: str | Path,
    *,
    store: GraphStore | str | Path | None = None,
    options: DatabaseFileOptions | None = None,
    progress: Progress | None = None,
) -> DatabaseSummary:
    """Read the catalog of a DuckDB file, opened read-only, and store the lineage of its views and generated columns.

    Nothing is executed. Macros are followed where views call them. What no longer exists is retired.

    Args:
        path: the file.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
        options: names, limits.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value.
        DatabaseError: the file could not be read: it is locked, damaged, or of a newer version. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    from lineage_ingest.live_database.database_files.duckdb_file import read_duckdb_file  # noqa: PLC0415

    return _ingest_file(path, "duckdb", "main", read_duckdb_file, store, options, progress)


def ingest_sqlite(
    path: str | Path,
    *,
    store: GraphStore | str | Path | None = None,
    options: DatabaseFileOptions | None = None,
    progress: Progress | None = None,
) -> DatabaseSummary:
    """Read the catalog of an SQLite file, opened read-only, and store the lineage of views, triggers and columns.

    Nothing is executed. What no longer exists is retired.

    Args:
        path: the file.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
        options: names, limits.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value.
        DatabaseError: the file could not be read: it is locked, damaged, or no database. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    from lineage_ingest.live_database.database_files.sqlite_file import read_sqlite_file  # noqa: PLC0415

    return _ingest_file(path, "sqlite", None, read_sqlite_file, store, options, progress)


def _ingest_file(
    path: str | Path,
    product: str,
    default_schema: str | None,
    read: ReadFile,
    store: GraphStore | str | Path | None,
    options: DatabaseFileOptions | None,
    progress: Progress | None,
) -> DatabaseSummary:
    from lineage_ingest.live_database.database_files.file_ingest import FileRequest, ingest_database_file  # noqa: PLC0415

    options = options or DatabaseFileOptions()
    if options.jobs < 1:
        raise OptionError("it must be at least 1", "jobs")
    (given,) = listed_paths(path, "path")
    request = FileRequest(
        Path(given),
        read,
        partial(_database_extraction, options, product, options.namespace),
        options.namespace,
        default_schema,
        options.annotate,
        options.replace_descriptions,
        options.jobs,
    )
    with seldom_collecting(), opened_store(store) as opened:
        return ingest_database_file(request, opened, progress)


def _database_extraction(
    options: DatabaseFileOptions, dialect: str, namespace: str, database: str
) -> ExtractionOptions:
    """Return the options for the SQL of a database, by its namespace and name."""
    try:
        found = options_for(
            dialect,
            namespace=namespace,
            functions=options.functions,
            set_operation_references=options.set_operations,
            budget=options.budget,
        )
    except FunctionsFileError as error:
        raise OptionError(str(error), "functions") from error
    name = found.naming.dialect.fold_table(database, quoted=True) if database else None
    return replace(found, naming=replace(found.naming, default_database=name))


def _connected(options: SqlOptions, catalog: Catalog) -> tuple[Catalog, FileVerification | None]:
    """Return the catalog with the tables of the database of `connect`, and what verifies in it, if wanted."""
    from lineage.catalog.database.address import DatabaseAddress  # noqa: PLC0415  seldom used
    from lineage.catalog.database.live_schemas import LiveSchemas  # noqa: PLC0415
    from lineage_ingest.live_database.verification.file_verification import FileVerification  # noqa: PLC0415

    address = DatabaseAddress.parse(str(options.connect))
    verification = FileVerification(address) if options.verify else None
    return catalog.with_source(LiveSchemas(address, max_age=timedelta(0))), verification


def _extraction_options(options: IngestOptions, dialect: str) -> ExtractionOptions:
    try:
        return options_for(
            dialect,
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
