"""Options that several commands share, written once."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lineage.catalog import Catalog, CatalogError
from lineage.catalog.database.address import is_database_address
from lineage.catalog.database.errors import DatabaseError
from lineage.model.dialects import DIALECTS, UnknownDialectError, dialect_named
from lineage.screen.listing import note
from lineage.sql.extraction import ExtractionOptions

__all__ = [
    "BudgetOption",
    "CacheOption",
    "CatalogOption",
    "DatabaseOption",
    "DialectOption",
    "GuessedDialectOption",
    "JobsOption",
    "RefreshOption",
    "NamespaceOption",
    "SchemaOption",
    "SchemasFromOption",
    "SetOperations",
    "SetOperationsOption",
    "dialect_option",
    "note_cached_schemas",
    "read_catalogs",
    "read_schemas",
]


def _dialects(incomplete: str) -> list[str]:
    return [name for name in DIALECTS if name.startswith(incomplete)]


def dialect_option(text: str, panel: str | None = None) -> Any:
    """Return the option `--dialect` of a command that knows a dialect without it; `text` is its help."""
    return typer.Option("--dialect", "-d", help=text, autocompletion=_dialects, rich_help_panel=panel)


def _dialect(value: str | None) -> str | None:
    try:
        return None if value is None else dialect_named(value).name
    except UnknownDialectError as error:
        raise typer.BadParameter(str(error)) from error


_DIALECT: Any = typer.Option(
    "--dialect",
    "-d",
    help="SQL dialect: postgres, snowflake, bigquery, spark, redshift, tsql, mysql, oracle, duckdb, …",
    autocompletion=_dialects,
    callback=_dialect,
    envvar="LINEAGE_DIALECT",
)
DialectOption = Annotated[str, _DIALECT]
GuessedDialectOption = Annotated[str | None, _DIALECT]
"""Without it, the dialect is found from what is read."""


def _catalogs(values: list[str] | None) -> list[str] | None:
    for value in values or ():
        if not is_database_address(value) and not Path(value).is_file():
            what = "is a directory" if Path(value).is_dir() else "does not exist"
            raise typer.BadParameter(f"File {value!r} {what}.")
    return values


CatalogOption = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        "-c",
        help="Table schemas: a DDL file (.sql), JSON ({table: {column: type}}), information_schema.columns as CSV, or "
        "a live database (postgresql://user@host/database, or any SQLAlchemy address). Repeatable.",
        metavar="FILE|URI",
        callback=_catalogs,
    ),
]
RefreshOption = Annotated[
    bool,
    typer.Option(
        "--refresh-catalog", help="Read the schemas of a --catalog database again; else they are kept for an hour."
    ),
]
NamespaceOption = Annotated[
    str,
    typer.Option(
        help="OpenLineage namespace of the datasets, such as postgres://host:5432. Default: the name of the dialect."
    ),
]
DatabaseOption = Annotated[str | None, typer.Option(help="Database for names that have a schema only.")]
SchemaOption = Annotated[str | None, typer.Option(help="Schema for names without one.")]
FunctionsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--functions",
        help="TOML file with your masking, aggregating and deterministic functions. Repeatable.",
        metavar="FILE",
        exists=True,
        dir_okay=False,
    ),
]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--budget",
        help="Limit for one statement; beyond it, the statement is traced at table level. Defaults: nesting=200, "
        "characters=4000000, seconds=60, edges=2000000. Repeatable.",
        metavar="NAME=NUMBER",
    ),
]


class SetOperations(StrEnum):
    """What the output of a set operation references: what decides its rows, or (LineageX paper) all branches."""

    EXACT = "exact"
    PAPER = "paper"


SetOperationsOption = Annotated[
    SetOperations,
    typer.Option(
        "--set-operations",
        help="exact: UNION ALL references nothing, because no row depends on the other branch. "
        "paper: the output of every set operation references all its branches, as in the LineageX paper.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        help="Number of processes that resolve the SQL. Default: all processors; small inputs take one.",
        show_default=False,
    ),
]
CacheOption = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Resolve all files, also those that have not changed since an earlier run.",
    ),
]

SchemasFromOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="Use the table schemas of this store as well: a path, bolt://… or http://….",
    ),
]


def note_cached_schemas(catalogs: list[str] | None, *, refresh: bool) -> None:
    """Print which databases' schemas are taken from the cache, and from when they are."""
    for given in catalogs or ():
        if refresh or not is_database_address(given):
            continue
        # Imported here: few commands read a database.
        from lineage.catalog.database.address import DatabaseAddress  # noqa: PLC0415
        from lineage.catalog.database.live_schemas import DEFAULT_AGE  # noqa: PLC0415
        from lineage.catalog.database.saved_schemas import SchemasFile  # noqa: PLC0415

        address = DatabaseAddress.parse(given)
        at = SchemasFile(address).saved_at(datetime.now(UTC) - DEFAULT_AGE)
        if at is not None:
            note(f"schemas of {address} as of {at:%H:%M} UTC, from the cache; --refresh-catalog reads them again")


def read_catalogs(paths: list[str] | None, dialect: str, *, refresh: bool = False, cache: bool = False) -> Catalog:
    """Return the schemas of several files and databases. A later file overrides an earlier one.

    Raises:
        typer.BadParameter: a file cannot be read.
        DatabaseError: a database's address is malformed, or its driver is missing.
    """
    try:
        return Catalog.from_files(paths or (), dialect, refresh=refresh, cache=cache)
    except DatabaseError:
        raise
    except CatalogError as error:
        raise typer.BadParameter(str(error), param_hint="--catalog") from error


def read_schemas(
    paths: list[str] | None,
    options: ExtractionOptions,
    store: str | None,
    texts: Collection[str] | None = None,
    *,
    refresh: bool = False,
    cache: bool = False,
) -> Catalog:
    """Return the schemas of files, databases and a store. Files take precedence.

    Of databases and the store, the tables that `texts` may name are read; without `texts`, all tables. With `cache`,
    large files of DDL are parsed when they have changed.

    Raises:
        typer.BadParameter: a file cannot be read, or the store has several namespaces and none was given.
        DatabaseError: a database cannot be read.
        StoreError: the store could not be read.
    """
    naming = options.naming
    note_cached_schemas(paths, refresh=refresh)
    given = read_catalogs(paths, naming.dialect.name, refresh=refresh, cache=cache)
    given = given.complete() if texts is None else given.prepare(texts)
    if store is None:
        return given
    from lineage.store import open_store  # noqa: PLC0415  few calls need a store

    with open_store(store, read_only=True) as opened:
        namespace = naming.dataset_namespace
        if not naming.namespace:
            known = {dataset.namespace for dataset in opened.datasets() if dataset.schema_known}
            if namespace not in known and len(known) > 1:
                listed = ", ".join(sorted(known))
                raise typer.BadParameter(
                    f"the store has several namespaces, choose one of: {listed}", param_hint="--namespace"
                )
            namespace = namespace if namespace in known else next(iter(known), namespace)
        return Catalog.from_store(opened, naming.dialect, namespace, texts).as_learnt().with_tables(given)
