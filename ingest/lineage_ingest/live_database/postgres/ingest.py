"""`ingest_postgres_database`: read a PostgreSQL's catalog, resolve what it states, and store its lineage."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.postgres_session import PostgresSession, postgres_session
from lineage.frozen import frozen
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.resolve.calls.functions import FunctionEffects
from lineage.store.protocol import GraphStore
from lineage_ingest.live_database.database_batch import DatabaseBatch
from lineage_ingest.live_database.database_ingest import DatabaseSummary, Progress, StoredDatabase, store_database
from lineage_ingest.live_database.postgres.reading import read_database
from lineage_ingest.live_database.postgres.stated_texts import stated_texts
from lineage_ingest.live_database.postgres.view_verification import verify_views
from lineage_ingest.live_database.verification.view_comparison import VerificationReport

__all__ = ["DatabaseRequest", "ingest_postgres_database"]

_SYSTEM = "pg_catalog"


@frozen
class DatabaseRequest:
    """A database to ingest, and how. `extraction` is made of the name of the database that is connected to."""

    address: DatabaseAddress
    extraction: Callable[[str, str], ExtractionOptions]
    """Takes the namespace and the name of the database."""
    schemas: tuple[str, ...] = ()
    namespace: str = ""
    annotate: bool = True
    replace_descriptions: bool = False
    jobs: int = 1
    verify: bool = False


def ingest_postgres_database(
    request: DatabaseRequest, store: GraphStore, progress: Progress | None = None
) -> DatabaseSummary:
    """Read a database's catalog and store the lineage of its views, functions and generated columns.

    Nothing of the database is executed. What no longer exists in the schemas that are read is retired.

    Raises:
        DatabaseError: the database could not be read.
        StoreError: the store could not be read or written.
    """
    began = time.perf_counter()
    notify = progress or (lambda _stage, _done, _total: None)
    with postgres_session(request.address) as session:
        return _ingest(request, session, store, notify, began)


def _ingest(
    request: DatabaseRequest, session: PostgresSession, store: GraphStore, notify: Progress, began: float
) -> DatabaseSummary:
    database = read_database(session, request.schemas, request.namespace, notify)
    options = request.extraction(database.namespace, database.name)
    masking, aggregates = options.functions.listed()
    options = replace(options, functions=FunctionEffects(masking, (*aggregates, *database.aggregates)))

    def verify(batch: DatabaseBatch) -> VerificationReport:
        report, revised = verify_views(session, database, list(batch.statements()), partial(notify, "verifying"))
        for statement, other in revised:
            batch.replace_statement(statement, other)
        return report

    # Views name every table with its schema; only the bodies of functions use the session's search path.
    # `pg_catalog` is always on it, and not written.
    default, *others = (*database.search_path, _SYSTEM)
    given = StoredDatabase(
        database,
        list(stated_texts(database)),
        options,
        replace(options.naming, default_schema=default, search_path=tuple(others)),
        is_whole=not request.schemas,
        annotate=request.annotate,
        replace_descriptions=request.replace_descriptions,
        jobs=request.jobs,
        verify=verify if request.verify else None,
    )
    return store_database(given, store, notify, began)
