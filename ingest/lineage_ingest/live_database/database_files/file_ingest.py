"""Databases that are a file, opened read-only: DuckDB and SQLite."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lineage.catalog.database.errors import DatabaseError
from lineage.frozen import frozen
from lineage.model.dialects import dialect_named
from lineage.sql.extraction import ExtractionOptions
from lineage.store.protocol import GraphStore
from lineage_ingest.live_database.database_ingest import DatabaseSummary, Progress, StoredDatabase, store_database
from lineage_ingest.live_database.objects import LiveDatabase
from lineage_ingest.live_database.stated_text import StatedText

__all__ = ["FileRequest", "ReadFile", "existing_file", "ingest_database_file"]

_OF_SYSTEM = ("information_schema", "pg_catalog")
ReadFile = Callable[[Path, str], tuple[LiveDatabase, list[StatedText]]]
"""Reads the catalog of a file; takes the namespace. Raises DatabaseError."""


@frozen
class FileRequest:
    """A database file to ingest, and how; `default_schema` is where its names without a schema are looked up."""

    path: Path
    read: ReadFile
    extraction: Callable[[str], ExtractionOptions]
    """Takes the name of the database."""
    namespace: str = ""
    default_schema: str | None = None
    annotate: bool = True
    replace_descriptions: bool = False
    jobs: int = 1


def ingest_database_file(request: FileRequest, store: GraphStore, progress: Progress | None = None) -> DatabaseSummary:
    """Read the catalog of a database file and store the lineage that it states. Nothing is executed.

    Raises:
        DatabaseError: the file could not be read.
        StoreError: the store could not be read or written.
    """
    began = time.perf_counter()
    notify = progress or (lambda _stage, _done, _total: None)
    notify("reading", 0, None)
    database, texts = request.read(request.path, request.namespace)
    options = request.extraction(database.name)
    given = StoredDatabase(
        database,
        texts,
        options,
        replace(options.naming, default_schema=request.default_schema, schemas=_schemas(database)),
        annotate=request.annotate,
        replace_descriptions=request.replace_descriptions,
        jobs=request.jobs,
    )
    return store_database(given, store, notify, began)


def _schemas(database: LiveDatabase) -> tuple[str, ...]:
    """Return all schemas of a database, those of the system included, as its dialect compares them."""
    fold = dialect_named(database.product).fold_table
    return tuple(str(fold(name, quoted=True)) for name in (*database.schemas, *_OF_SYSTEM))


def existing_file(path: Path) -> Path:
    """Return the path if it is a file's.

    Raises:
        DatabaseError: there is no such file, or it is empty.
    """
    if path.is_dir():
        raise DatabaseError(f"{path} is a folder, not a database file")
    if not path.exists():
        raise DatabaseError(f"{path} does not exist")
    if not path.stat().st_size:
        raise DatabaseError(f"{path} is empty, and no database yet")
    return path
