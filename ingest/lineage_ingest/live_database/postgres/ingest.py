"""`ingest_postgres_database`: read a PostgreSQL's catalog, resolve what it states, and store its lineage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from lineage.catalog import Catalog
from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.postgres_session import PostgresSession, postgres_session
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Severity
from lineage.model.files import FileKey, beginning
from lineage.model.names import column_key, column_text
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel import resolve_texts
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges, JobSelection
from lineage_ingest.batch_application import apply_batch
from lineage_ingest.live_database.catalog_annotations import Annotation, AnnotationResult, annotate
from lineage_ingest.live_database.postgres.database_batch import KIND, DatabaseBatch, DatabaseNames, schemas_of
from lineage_ingest.live_database.postgres.objects import LiveDatabase
from lineage_ingest.live_database.postgres.reading import read_database
from lineage_ingest.live_database.postgres.stated_texts import (
    function_name,
    is_function,
    schema_named,
    stated_texts,
)
from lineage_ingest.live_database.postgres.view_verification import verify_views
from lineage_ingest.live_database.verification.comparison import VerificationReport
from lineage_ingest.query_log.observed_models import as_observed_models

__all__ = ["DatabaseRequest", "DatabaseSummary", "ingest_postgres_database"]

Progress = Callable[[str, int, int | None], None]
_SYSTEM = "pg_catalog"
_RUNS = 1_000
"""Number of latest runs among which the earlier ingests of the database are looked for."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class DatabaseSummary:
    """What an ingest of a live database read, resolved and changed. `gone` are the objects that no longer exist."""

    batch: LineageBatch = field(repr=False)
    applied: AppliedChanges
    seconds: float
    database: str
    schemas: tuple[str, ...]
    gone: tuple[str, ...] = ()
    annotations: AnnotationResult = field(default_factory=AnnotationResult)
    notices: tuple[str, ...] = ()
    store: str = ""
    verification: VerificationReport | None = None

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """All diagnostics of the ingest."""
        return self.batch.diagnostics

    @property
    def has_errors(self) -> bool:
        """Whether some of the database could not be read, or it differs from our lineage."""
        if self.verification is not None and self.verification.has_differences:
            return True
        return any(one.diagnostic.severity is Severity.ERROR for one in self.batch.diagnostics)

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts and the elapsed seconds."""
        return {
            **self.batch.run.counts,
            "edges_created": self.applied.edges_created,
            "edges_ended": self.applied.edges_ended,
            "gone": len(self.gone),
            "descriptions": self.annotations.described,
            "tags": self.annotations.tagged,
            "seconds": round(self.seconds, 2),
        }


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
    names = DatabaseNames(database, options.naming)
    texts = list(stated_texts(database))
    batch = DatabaseBatch(database, names, texts)
    catalog = Catalog(schemas_of(database), options.naming.dialect)
    resolving = partial(notify, "resolving")
    named = {text.name: text.text for text in texts}
    # Views name every table with its schema; only the bodies of functions use the session's search path.
    # `pg_catalog` is always on it, and not written.
    default, *others = (*database.search_path, _SYSTEM)
    naming = replace(options.naming, default_schema=default, search_path=tuple(others))
    with_path = replace(options, naming=naming)
    batch.add(resolve_texts(named, with_path, catalog, jobs=request.jobs, progress=resolving))
    verification = None
    if request.verify:
        verifying = partial(notify, "verifying")
        verification, revised = verify_views(session, database, list(batch.statements()), verifying)
        for statement, other in revised:
            batch.replace_statement(statement, other)
    gone = _gone(store, database, names, not request.schemas)
    stated = as_observed_models(store, batch.records(gone, time.perf_counter() - began))
    notify("storing", 0, None)
    applied = apply_batch(store, stated)
    annotations = AnnotationResult()
    if request.annotate:
        annotations = annotate(
            store,
            _annotations(database, names),
            replace_descriptions=request.replace_descriptions,
            progress=partial(notify, "describing"),
        )
    return DatabaseSummary(
        stated,
        applied,
        time.perf_counter() - began,
        names.label,
        database.schemas,
        tuple(sorted(gone.values())),
        annotations,
        tuple(_notices(database, request, annotations)),
        store.address,
        verification,
    )


def _gone(store: GraphStore, database: LiveDatabase, names: DatabaseNames, is_whole: bool) -> dict[str, str]:
    """Return what earlier ingests stated of the database and no longer exists: file keys, each with the name.

    Only what was in the schemas that are read; `is_whole`: all schemas are read.
    """
    here = {names.file_key(database.full_name(one)) for one in (*database.relations, *database.outside)}
    here |= {names.file_key(function_name(database, one)) for one in database.functions}
    known = {
        key
        for run in store.runs(_RUNS)
        if run.kind == KIND and run.source == names.label
        for key in run.complete_sources
    }
    found: dict[str, str] = {}
    for key in known - here:
        file = FileKey.parse(key)
        if not file.path or file.environment != names.environment:
            continue
        if is_whole or schema_named(file.path) in database.schemas:
            found[key] = file.path
    return _still_stored(store, found, names, database)


def _still_stored(
    store: GraphStore, gone: Mapping[str, str], names: DatabaseNames, database: LiveDatabase
) -> dict[str, str]:
    """Return those of what no longer exists that the graph still has: live datasets, and functions with live jobs."""
    if not gone:
        return {}
    relations = {names.key_named(name): key for key, name in gone.items() if not is_function(name)}
    found = {relations[one.key]: one.name for one in store.datasets(sorted(relations)) if one.dropped_at is None}
    if database.has_functions:
        heads = store.select_jobs(JobSelection(files=(beginning(names.label),)))
        live = {head.file_key for head in heads}
        found.update((key, name) for key, name in gone.items() if is_function(name) and key in live)
    return found


def _annotations(database: LiveDatabase, names: DatabaseNames) -> dict[str, dict[str, Annotation]]:
    """Return what the database says of its relations and columns, by key of the dataset and of the node."""
    found: dict[str, dict[str, Annotation]] = {}
    for relation in database.relations:
        key = names.key_of(relation)
        own = found[key] = {key: Annotation(relation.comment, relation.owner, relation.readers)}
        for column in relation.columns:
            own[column_key(key, column_text(column.name))] = Annotation(column.comment, None, column.readers)
    return found


def _notices(database: LiveDatabase, request: DatabaseRequest, annotations: AnnotationResult) -> Iterator[str]:
    """Yield what the summary says beside the counts."""
    if database.of_extensions:
        yield f"left out: {database.of_extensions:,} tables and views of extensions"
    if request.schemas and (others := database.schemas_left_out):
        yield (
            f"left out by --schema: {len(others):,} schemas, whose views may read these tables and whose lineage "
            "was not read again"
        )
    if annotations.kept:
        yield (
            f"{annotations.kept:,} descriptions differ from the comments in the database and were kept; "
            "--replace-descriptions replaces them"
        )
