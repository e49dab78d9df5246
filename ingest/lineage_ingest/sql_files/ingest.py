"""`ingest_sql_files`: ingest folders of SQL files in one batch."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from lineage.catalog import Catalog
from lineage.model.files import SQL_SUFFIXES, Environment
from lineage.model.name_lists import name_list
from lineage.model.names import is_column_key
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel import resolve_texts
from lineage.sql.script.saved_resolutions import SavedResolutions, folder_of
from lineage.store.protocol import GraphStore
from lineage_ingest.batch_builder import BatchBuilder, FileOrigin, of_files
from lineage_ingest.live_database.verification.file_verification import FileVerification
from lineage_ingest.live_database.verification.view_comparison import VerificationReport
from lineage_ingest.sql_files.adoption import adopt_earlier_jobs
from lineage_ingest.sql_files.discovery import NoSqlFilesError
from lineage_ingest.sql_files.duplicates import find_duplicate_definitions, find_stored_definitions
from lineage_ingest.sql_files.retirement import GoneFiles, GoneFilesError, find_gone_files, notices
from lineage_ingest.sql_files.saved_batch import BatchStateFiles
from lineage_ingest.sql_files.sources import Sources, read_sources
from lineage_ingest.sql_files.stored_schemas import StoredSchemas
from lineage_ingest.sql_files.storing import store_batch
from lineage_ingest.sql_files.summary import IngestSummary

__all__ = ["ingest_sql_files"]

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the amount done, and the total."""


def ingest_sql_files(
    paths: Iterable[Path],
    store: GraphStore,
    options: ExtractionOptions,
    catalog: Catalog | None = None,
    *,
    observed_at: datetime | None = None,
    progress: Progress | None = None,
    project: str | None = None,
    project_root: Path | None = None,
    retire_most: bool = False,
    jobs: int = 1,
    verification: FileVerification | None = None,
    cache: bool = False,
    stated: BatchStateFiles | None = None,
    full: bool = False,
) -> IngestSummary:
    """Read SQL files, resolve them against each other, the catalog and the store, and store their lineage.

    `observed_at` is the time of the files' definitions (default: now). Files that the store has of the folders and
    that no longer exist are retired at that time; if they are most of the known files, only with `retire_most`.
    `project` names the project of all files and `project_root` its root folder; by default both are found from the
    files' paths. `jobs` is the largest number of processes that resolve the files. `verification` compares their
    lineage with a database's own analysis. With `cache`, files are resolved only if they, or what they depend on, have
    changed since an earlier run. `stated` has what the last ingests into the store stated: what is unchanged is only
    seen again, unless everything is to be stored (`full`).

    Raises:
        NoSqlFilesError: a path does not exist, or a folder has no SQL file and never had one.
        ProjectError: the root of the project is ambiguous.
        GoneFilesError: most known files no longer exist, and `retire_most` is not set. Nothing is stored.
        StoreError: the store could not be read or written. Nothing is stored.
        DatabaseError: a database of the catalog, or the one that verifies, cannot be read. Nothing is stored.
    """
    began = time.perf_counter()
    notify = progress or (lambda _stage, _done, _total: None)
    at = observed_at or datetime.now(UTC)
    sources = read_sources(paths, store, Environment.of(options.naming), project, project_root)
    name = _name_of(sources)
    before = stated.read(store.last_session, name) if stated is not None else None
    saved = _saved_resolutions(sources, options) if cache else None
    schemas = StoredSchemas(store)
    builder, report = _resolve(sources, schemas, options, catalog, at, notify, jobs, verification, saved)
    gone = find_gone_files(store, sources, builder.targets(), at)
    if sources.found.empty_folders and not gone.files:
        suffixes = ", ".join(sorted(SQL_SUFFIXES))
        raise NoSqlFilesError(f"no SQL files ({suffixes}) under {sources.found.empty_folders[0]}")
    if gone.are_most and not retire_most:
        raise GoneFilesError(gone)
    for key in (*gone.files, *gone.moved, *gone.mended):
        builder.add_gone_file(key)
    by_name = {file.name: file.source for file in sources.files}
    known = {*sources.keys, *gone.files, *gone.moved}
    for name, problem in find_stored_definitions(store, builder.definitions(), by_name, known):
        builder.add_diagnostic(name, problem)
    names = sorted(file.source for file in sources.files) or [str(folder) for folder in sources.found.named]
    batch = builder.batch("sql", name_list(names, 3), _content(sources, gone), time.perf_counter() - began)
    notify("storing", 0, 1)
    edges_of_gone = _column_edges(store, gone.jobs)
    if stated is not None:
        stated.forget()
    adopted = adopt_earlier_jobs(store, batch.jobs, sources.paths)
    before = None if full else before
    applied, stored = store_batch(store, batch, stated, before, project=name, schemas=schemas, alone=not adopted)
    notify("storing", 1, 1)
    return IngestSummary(
        batch,
        applied,
        time.perf_counter() - began,
        tuple(sorted(sources.projects().items(), key=lambda one: one[0].name)),
        gone,
        edges_of_gone,
        adopted,
        tuple(notices(store, sources)),
        verification=report,
        resolved=None if saved is None else saved.resolved,
        stored=stored,
    )


def _name_of(sources: Sources) -> str:
    """Return what an ingest is remembered by: its projects, or the paths that were given, and the environment."""
    names = sorted(project.name for project in sources.projects())
    paths = [] if names and all(names) else sorted(str(path.absolute()) for path in sources.found.named)
    return "\n".join((*names, *paths, str(sources.environment)))


def _saved_resolutions(sources: Sources, options: ExtractionOptions) -> SavedResolutions | None:
    """Return what earlier runs over the same folder resolved its files to; None if it is one file."""
    folder = folder_of([str(path) for path in sources.found.files])
    return SavedResolutions(folder, options) if folder is not None else None


def _resolve(
    sources: Sources,
    schemas: StoredSchemas,
    options: ExtractionOptions,
    catalog: Catalog | None,
    at: datetime,
    notify: Progress,
    jobs: int,
    verification: FileVerification | None,
    saved: SavedResolutions | None,
) -> tuple[BatchBuilder, VerificationReport | None]:
    """Return a batch builder with the statements, resolved against each other, the catalog and the store.

    Also return what the verification has found, if there is one.
    """
    naming = options.naming
    given = catalog if catalog is not None else Catalog((), naming.dialect)
    texts = {file.name: file.text for file in sources.files if file.readable}
    given = given.prepare(texts.values()).qualified(naming)
    named = (*texts.values(), *texts, *(table.name for table in given))  # a query defines a table of its file's name
    stored = Catalog.from_store(schemas, naming.dialect, naming.dataset_namespace, named).as_learnt()
    resolving = partial(notify, "resolving")
    statements = resolve_texts(texts, options, stored.with_tables(given), jobs=jobs, progress=resolving, saved=saved)
    report = None
    if verification is not None:
        statements, report = verification.verify(texts, statements, given, partial(notify, "verifying"))
    by_file: dict[str, list[StatementLineage]] = defaultdict(list)
    for statement in statements:
        by_file[statement.source or ""].append(statement)
    origins = {file.name: FileOrigin(file.source, str(file.key)) for file in sources.files}
    used = {name for statement in statements for name in (*statement.targets, *statement.sources)}
    builder = BatchBuilder(naming, given.only(used), at, of_files(at, origins), files=origins, with_uses=False)
    for file in sources.files:
        for problem in file.problems:
            builder.add_diagnostic(file.name, problem)
        if file.readable:
            builder.add_file(file.name, file.text, by_file[file.name])
    names = {file.name: file.source for file in sources.files}
    for name, problem in find_duplicate_definitions(by_file, names):
        builder.add_diagnostic(name, problem)
    return builder, report


def _column_edges(store: GraphStore, jobs: Collection[str]) -> int:
    """Return the number of live edges from columns of these jobs: the edges that an ingest counts."""
    return sum(is_column_key(edge.source) for edge in store.edges_of(jobs)) if jobs else 0


def _content(sources: Sources, gone: GoneFiles) -> Iterator[str]:
    """Yield the content that identifies the ingest."""
    yield str(sources.environment)
    for file in sorted(sources.files, key=lambda file: str(file.key)):
        yield f"{file.key}={hashlib.sha256(file.text.encode()).hexdigest()}"
    for job in sorted(gone.jobs):
        yield f"-{job}"
