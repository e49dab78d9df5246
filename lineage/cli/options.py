"""Options that several commands share, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lineage.catalog import Catalog, CatalogError
from lineage.cli.listing import OutputFormat
from lineage.model.dialects import DIALECTS, UnknownDialectError, dialect_named
from lineage.sql.extractor import ExtractionOptions, options_for

__all__ = [
    "CatalogOption",
    "DatabaseOption",
    "DialectOption",
    "FormatOption",
    "NamespaceOption",
    "SchemaOption",
    "StoreOption",
    "extraction_options",
    "read_catalogs",
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
FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="How to print.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="A path (embedded store) or bolt://… (Neo4j); default ./lineage.lbug.",
        envvar="LINEAGE_STORE",
    ),
]


def extraction_options(
    dialect: str, namespace: str, default_database: str | None, default_schema: str | None
) -> ExtractionOptions:
    """Return the extraction options that the naming options amount to."""
    return options_for(dialect, namespace=namespace, default_database=default_database, default_schema=default_schema)


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
