"""Options that several commands share, written once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lineage.catalog import Catalog, CatalogError
from lineage.cli.listing import OutputFormat
from lineage.model.dialects import DIALECTS, UnknownDialectError, dialect_named
from lineage.sql.budget import Budget, BudgetError
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.resolve.functions import FunctionsFileError

__all__ = [
    "BudgetOption",
    "CatalogOption",
    "DatabaseOption",
    "DialectOption",
    "FormatOption",
    "JsonOption",
    "NamespaceOption",
    "SchemaOption",
    "SchemasFromOption",
    "SetOperations",
    "SetOperationsOption",
    "StoreOption",
    "chosen_format",
    "extraction_options",
    "read_catalogs",
    "read_schemas",
]


def _dialects(incomplete: str) -> list[str]:
    return [name for name in DIALECTS if name.startswith(incomplete)]


def _dialect(value: str) -> str:
    try:
        return dialect_named(value).name
    except UnknownDialectError as error:
        raise typer.BadParameter(str(error)) from error


DialectOption = Annotated[
    str,
    typer.Option(
        "--dialect",
        "-d",
        help="SQL dialect: postgres, snowflake, bigquery, spark, redshift, tsql, mysql, oracle, duckdb, …",
        autocompletion=_dialects,
        callback=_dialect,
        envvar="LINEAGE_DIALECT",
    ),
]
CatalogOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog",
        "-c",
        help="Table schemas: DDL (.sql) or JSON ({table: {column: type}}). May be given several times.",
        exists=True,
        dir_okay=False,
    ),
]
NamespaceOption = Annotated[
    str,
    typer.Option(help="OpenLineage namespace of the datasets, such as postgres://host:5432; else the dialect's name."),
]
DatabaseOption = Annotated[str | None, typer.Option(help="Database of names that have a schema and no database.")]
SchemaOption = Annotated[str | None, typer.Option(help="Schema of names that have none.")]
FunctionsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--functions",
        help="Functions that mask or aggregate, beside those that are known: a TOML file. May be given several times.",
        exists=True,
        dir_okay=False,
    ),
]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--budget",
        help="What one statement may ask for before it is traced at table level: nesting=200, characters=4000000, "
        "seconds=60, edges=2000000. May be given several times.",
        metavar="NAME=NUMBER",
    ),
]


class SetOperations(StrEnum):
    """What the output of a set operation references: what decides its rows, or all that the LineageX paper says."""

    EXACT = "exact"
    PAPER = "paper"


SetOperationsOption = Annotated[
    SetOperations,
    typer.Option(
        "--set-operations",
        help="exact: UNION ALL references nothing, since no row depends on the other branch. "
        "paper: the output of every set operation references its branches, as in the LineageX paper.",
    ),
]
FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="How to print.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="A path (embedded store), bolt://… (Neo4j) or http://… (a running service); default ./lineage.lbug.",
        envvar="LINEAGE_STORE",
    ),
]

SchemasFromOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="A store whose tables' schemas count, as in an ingest into it: a path, bolt://… or http://….",
    ),
]


def chosen_format(output: OutputFormat, as_json: bool) -> OutputFormat:
    """Return how to print: what `--format` says, or JSON for `--json`."""
    return OutputFormat.JSON if as_json else output


def extraction_options(
    dialect: str,
    namespace: str,
    default_database: str | None,
    default_schema: str | None,
    functions: list[Path] | None = None,
    budget: list[str] | None = None,
    set_operations: SetOperations = SetOperations.EXACT,
) -> ExtractionOptions:
    """Return the extraction options that the command's options amount to.

    Raises:
        typer.BadParameter: a file of functions, or a setting of the budget, is wrong.
    """
    try:
        return options_for(
            dialect,
            namespace=namespace,
            default_database=default_database,
            default_schema=default_schema,
            functions=functions or (),
            set_operation_references=set_operations.value,
            budget=Budget.parse(budget or ()),
        )
    except FunctionsFileError as error:
        raise typer.BadParameter(str(error), param_hint="--functions") from error
    except BudgetError as error:
        raise typer.BadParameter(str(error), param_hint="--budget") from error


def read_catalogs(paths: list[Path] | None, dialect: str) -> Catalog:
    """Return the schemas of several DDL and JSON files; the later of two that name a table counts.

    Raises:
        typer.BadParameter: one cannot be read.
    """
    catalog = Catalog((), dialect)
    for path in paths or ():
        try:
            read = Catalog.from_json if path.suffix.lower() == ".json" else Catalog.from_ddl
            catalog = catalog.updated(read(path, dialect))
        except (CatalogError, OSError, UnicodeDecodeError) as error:
            raise typer.BadParameter(f"{path}: {error}", param_hint="--catalog") from error
    return catalog


def read_schemas(paths: list[Path] | None, options: ExtractionOptions, store: str | None) -> Catalog:
    """Return the schemas of DDL and JSON files, and those that a store has, which count after them.

    Raises:
        typer.BadParameter: a file cannot be read, or the store has several namespaces and none is given.
        StoreError: the store could not be read.
    """
    naming = options.naming
    given = read_catalogs(paths, naming.dialect.name)
    if store is None:
        return given
    from lineage.store import open_store  # noqa: PLC0415  few calls need a store

    with open_store(store, read_only=True) as opened:
        namespace = naming.dataset_namespace
        if not naming.namespace:
            known = {dataset.namespace for dataset in opened.datasets() if dataset.schema_known}
            if namespace not in known and len(known) > 1:
                listed = ", ".join(sorted(known))
                raise typer.BadParameter(f"say which: the store has {listed}", param_hint="--namespace")
            namespace = namespace if namespace in known else next(iter(known), namespace)
        return Catalog.from_store(opened, naming.dialect, namespace).as_learnt().updated(given)
