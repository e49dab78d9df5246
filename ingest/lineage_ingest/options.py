"""Options of an ingest, as frozen values. The command line builds the same values, so that the two cannot differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from lineage.catalog import Catalog, CatalogError
from lineage.catalog.database.errors import DatabaseError
from lineage.frozen import frozen
from lineage.sql import Budget

__all__ = [
    "DatabaseFileOptions",
    "BiOptions",
    "DatabaseOptions",
    "DbtOptions",
    "IngestOptions",
    "OptionError",
    "Paths",
    "SqlOptions",
    "in_utc",
    "listed_paths",
    "read_catalog",
]

Paths: TypeAlias = str | Path | Iterable[str | Path]
"""One path, or several."""


class OptionError(ValueError):
    """An option has a wrong value, or conflicts with another; `option` is its name."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(message)
        self.option = option


@frozen(kw_only=True)
class IngestOptions:
    """What SQL files and query logs have in common: table schemas, names, functions and limits."""

    catalog: Catalog | Paths | None = None
    """Schemas of tables that the input does not define: a catalog, files of DDL (`.sql`), JSON or information_schema
    (`.csv`), or addresses of databases (`postgresql://…`)."""
    refresh_catalog: bool = False
    """Read the schemas of databases again, not from the cache."""
    namespace: str = ""
    """OpenLineage namespace of the datasets, such as `postgres://host:5432`; by default the dialect's name."""
    default_database: str | None = None
    """Database of names that have a schema and no database."""
    default_schema: str | None = None
    """Schema of names that have none."""
    functions: tuple[Path, ...] = ()
    """TOML files of functions that mask or aggregate."""
    budget: Budget = field(default_factory=Budget)
    """Limits for one statement; a statement beyond them is traced at table level."""
    set_operations: Literal["exact", "paper"] = "exact"
    """References of a set operation's output: columns that decide its rows, or all that the LineageX paper lists."""
    observed_at: datetime | None = None
    """SQL files: time of the definitions (default: now). Logs: time of statements that have none in the log."""


@frozen(kw_only=True)
class SqlOptions(IngestOptions):
    """Options of `ingest_sql`."""

    dialect: str | None = None
    """SQL dialect of the files; by default as they were ingested before, else as their project says, else `ansi`."""
    project: str | None = None
    """Project of all files; by default the nearest `.git` or `dbt_project.yml` above each file names it."""
    project_root: Path | None = None
    """Root folder of `project`."""
    connect: str | None = None
    """Address of the database that the files are for: its tables are known, and read again for each ingest."""
    verify: bool = False
    """Let the PostgreSQL of `connect` analyse what the files define, in a transaction that is rolled back, and compare
    the lineage with its analysis."""
    retire_most: bool = False
    """Retire files that no longer exist, even if that is most of them."""
    jobs: int = 1
    """Largest number of processes that resolve the files. With more than one, a program of yours needs
    `if __name__ == "__main__":` around its main part."""
    cache: bool = False
    """Resolve only files that have changed since an earlier run, or depend on what has: what is resolved is kept in the
    user's cache folder. Not for a program that registers rules of its own: it is not known when these change."""
    full: bool = False
    """Resolve and store every file, also those that have not changed since the last ingest."""


@frozen(kw_only=True)
class DbtOptions(IngestOptions):
    """Options of `ingest_dbt`. `catalog` adds schemas of tables that neither the project nor the store describes."""

    dialect: str | None = None
    """SQL dialect; by default that of the manifest's adapter."""
    project_dir: Path | None = None
    """Folder of dbt_project.yml: seeds are read there. By default the folder that contains the target folder."""
    project: str | None = None
    """Name of the project; by default the manifest's."""
    full: bool = False
    """Resolve and store every model, also those that have not changed since the last ingest."""


@frozen(kw_only=True)
class BiOptions(IngestOptions):
    """Options of `ingest_bi`. Names and dialect are those of connections that `connections` does not map."""

    dialect: str | None = None
    """SQL dialect; by default that of the database as the export names it."""
    server: str = ""
    """Name or address of the server that the export is of: exports of different servers are kept apart."""
    connections: tuple[str, ...] = ()
    """How tables of a connection are named: `NAME=NAMESPACE[,dialect=…][,database=…][,schema=…]`."""
    is_part: bool = False
    """The files are a part of what the server has: nothing is retired."""


@frozen(kw_only=True)
class DatabaseFileOptions:
    """Options of `ingest_duckdb` and `ingest_sqlite`."""

    namespace: str = ""
    """OpenLineage namespace of the datasets; by default `postgres://HOST:PORT` of the connection, or the product."""
    functions: tuple[Path, ...] = ()
    """TOML files of functions that mask or aggregate."""
    budget: Budget = field(default_factory=Budget)
    """Limits for one statement; a statement beyond them is traced at table level."""
    set_operations: Literal["exact", "paper"] = "exact"
    """References of a set operation's output: columns that decide its rows, or all that the LineageX paper lists."""
    annotate: bool = True
    """Store comments as descriptions, and owners and readers as tags."""
    replace_descriptions: bool = False
    """Comments replace descriptions that differ from them."""
    jobs: int = 1
    """Largest number of processes that resolve the definitions. With more than one, a program of yours needs
    `if __name__ == "__main__":` around its main part."""


@frozen(kw_only=True)
class DatabaseOptions(DatabaseFileOptions):
    """Options of `ingest_postgres`."""

    schemas: tuple[str, ...] = ()
    """Schemas to read; by default all but those of the system."""
    verify: bool = False
    """Compare the lineage of views with PostgreSQL's own parse trees of them."""


def read_catalog(
    catalog: Catalog | Paths | None, dialect: str, *, refresh: bool = False, whole: bool = True, cache: bool = False
) -> Catalog:
    """Return a catalog of table schemas; its files are read in this dialect.

    `refresh`: databases are not read from the cache. `whole`: all tables of databases are read now.
    `cache`: large files of DDL are parsed when they have changed.

    Raises:
        OptionError: a file cannot be read.
        DatabaseError: a database cannot be read.
    """
    try:
        if isinstance(catalog, Catalog):
            return catalog.complete() if whole else catalog
        listed = listed_paths(catalog or (), "catalog", required=False)
        found = Catalog.from_files(listed, dialect, refresh=refresh, cache=cache)
        return found.complete() if whole else found
    except DatabaseError:
        raise
    except CatalogError as error:
        raise OptionError(str(error), "catalog") from error


def listed_paths(paths: Paths, option: str = "paths", *, required: bool = True) -> tuple[str, ...]:
    """Return one path or several as a tuple of texts.

    Raises:
        OptionError: there is none although it is required, or one is an empty text, which would mean this folder.
    """
    listed = tuple(map(str, (paths,) if isinstance(paths, str | Path) else paths))
    if "" in listed:
        raise OptionError("a path is empty; `.` is the current folder", option)
    if required and not listed:
        raise OptionError("no paths are given", option)
    return listed


def in_utc(at: datetime | None) -> datetime | None:
    """Return a time with a time zone: UTC, if it has none."""
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at
