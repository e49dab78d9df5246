"""Resolve what a database's catalog states, store its lineage, and retire what no longer exists."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from lineage.catalog import Catalog
from lineage.catalog.database.errors import DatabaseError
from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Severity
from lineage.model.files import FileKey, beginning
from lineage.model.names import Naming, column_key, column_text
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges, JobSelection, StoredRun
from lineage_ingest.batch.application import apply_batch
from lineage_ingest.batch.observed_time import observed_time
from lineage_ingest.live_database.catalog_annotations import Annotation, AnnotationResult, annotate
from lineage_ingest.live_database.database_batch import DatabaseBatch, DatabaseNames, schemas_of
from lineage_ingest.live_database.objects import LiveDatabase
from lineage_ingest.live_database.stated_text import StatedText, function_name, is_function, schema_named
from lineage_ingest.live_database.verification.view_comparison import VerificationReport
from lineage_ingest.query_log.observed_models import as_observed_models

__all__ = ["DatabaseSummary", "Progress", "StoredDatabase", "store_database"]

Progress = Callable[[str, int, int | None], None]
Verify = Callable[[DatabaseBatch], VerificationReport]
_RUNS = 1_000
"""Number of latest runs among which the earlier ingests of the database are looked for first."""


@frozen
class StoredDatabase:
    """A database that was read, and how it is stored.

    `session` is how names without a schema are looked up. `is_whole`: all its schemas were read. `verify` compares the
    resolved lineage with the database's own.
    """

    database: LiveDatabase
    texts: Sequence[StatedText]
    options: ExtractionOptions
    session: Naming
    is_whole: bool = True
    annotate: bool = True
    replace_descriptions: bool = False
    jobs: int = 1
    verify: Verify | None = None


@frozen
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
        if self.verification is not None and self.verification.has_failures:
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


def store_database(given: StoredDatabase, store: GraphStore, notify: Progress, began: float) -> DatabaseSummary:
    """Resolve what a database states, store its lineage, and retire what no longer exists; `began`: a performance time.

    Raises:
        DatabaseError: the database could not be read, or the store has another file whose tables have the same names.
        StoreError: the store could not be read or written.
    """
    options = given.options
    names = DatabaseNames(given.database, options.naming)
    at, late = observed_time(store, [beginning(names.label)], now=given.database.at)
    database = replace(given.database, at=at)
    others = _files_with_these_names(store, database, names)
    batch = DatabaseBatch(database, names, given.texts)
    catalog = Catalog(schemas_of(database), options.naming.dialect)
    named = {text.name: text.text for text in given.texts}
    in_session = replace(options, naming=given.session)
    batch.add(resolve_texts(named, in_session, catalog, jobs=given.jobs, progress=partial(notify, "resolving")))
    verification = given.verify(batch) if given.verify is not None else None
    gone = _gone(store, database, names, given.is_whole)
    stated = as_observed_models(store, batch.records(gone, time.perf_counter() - began))
    notify("storing", 0, None)
    applied = apply_batch(store, stated)
    annotations = AnnotationResult()
    if given.annotate:
        annotations = annotate(
            store,
            _annotations(database, names, batch),
            replace_descriptions=given.replace_descriptions,
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
        (*_notices(database, given.is_whole, annotations), *others, *([late] if late else [])),
        store.address,
        verification,
    )


def _earlier_runs(store: GraphStore, database: LiveDatabase, names: DatabaseNames) -> list[StoredRun]:
    """Return the latest ingests of databases of this product: back to one of this database, if there is one."""
    limit = _RUNS
    while True:
        runs = store.runs(limit)
        found = [run for run in runs if run.kind == database.product]
        if len(runs) < limit or any(run.source == names.label for run in found):
            return found
        limit *= 10


def _files_with_these_names(store: GraphStore, database: LiveDatabase, names: DatabaseNames) -> list[str]:
    """Return a notice for each file that is not here any more and whose tables have the names of this one's.

    Raises:
        DatabaseError: one of them is here: the two would be mixed.
    """
    if database.path is None:
        return []
    own = {names.key_of(one) for one in database.relations}
    found: dict[str, set[str]] = {}
    is_first = True
    for run in _earlier_runs(store, database, names):
        is_first = is_first and run.source != names.label
        if run.source and run.source != names.label:
            files = (FileKey.parse(key) for key in run.complete_sources)
            found.setdefault(run.source, set()).update(
                names.key_named(file.path) for file in files if file.path and file.environment == names.environment
            )
    notices = []
    for source, keys in found.items():
        if all(one.dropped_at is not None for one in store.datasets(sorted(keys & own))):
            continue
        path = source.partition(":")[2]
        if Path(path).exists():
            hint = f"give each file a namespace of its own, such as --namespace {database.product}:app"
            raise DatabaseError(f"the store has another file whose tables have the same names: {path}", hint)
        if is_first or store.select_jobs(JobSelection(files=(beginning(source),))):
            notices.append(
                f"the store has tables of {path} by the same names: right if the file was moved (then lineage forget "
                f"--project {source} retires what only the old one had); else give each file a --namespace of its own"
            )
    return notices


def _gone(store: GraphStore, database: LiveDatabase, names: DatabaseNames, is_whole: bool) -> dict[str, str]:
    """Return what earlier ingests stated of the database and no longer exists: file keys, each with the name.

    Only what was in the schemas that are read; `is_whole`: all schemas are read.
    """
    here = {names.file_key(database.full_name(one)) for one in (*database.relations, *database.outside)}
    here |= {names.file_key(function_name(database, one)) for one in database.functions}
    known = {
        key
        for run in _earlier_runs(store, database, names)
        if run.source == names.label
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


def _annotations(
    database: LiveDatabase, names: DatabaseNames, batch: DatabaseBatch
) -> dict[str, dict[str, Annotation]]:
    """Return what the database says of its relations and columns, by key of the dataset and of the node."""
    found: dict[str, dict[str, Annotation]] = {}
    for relation in database.relations:
        key = names.key_of(relation)
        own = found[key] = {key: Annotation(relation.comment, relation.owner, relation.readers)}
        for column, compared in zip(relation.columns, batch.schema_of(relation).columns, strict=True):
            own[column_key(key, column_text(compared.name))] = Annotation(column.comment, None, column.readers)
    return found


def _notices(database: LiveDatabase, is_whole: bool, annotations: AnnotationResult) -> Iterator[str]:
    """Yield what the summary says beside the counts."""
    if database.of_extensions:
        yield f"left out: {database.of_extensions:,} tables and views of extensions"
    if not is_whole and (others := database.schemas_left_out):
        yield (
            f"left out by --schema: {len(others):,} schemas, whose views may read these tables and whose lineage "
            "was not read again"
        )
    if annotations.kept:
        yield (
            f"{annotations.kept:,} descriptions differ from the comments in the database and were kept; "
            "--replace-descriptions replaces them"
        )
