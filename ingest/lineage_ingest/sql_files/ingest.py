"""`ingest_sql_files`: ingest folders of SQL files in one batch."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from lineage.catalog import Catalog
from lineage.model.batch import LineageBatch
from lineage.model.files import SQL_SUFFIXES, Environment
from lineage.model.names import is_column_key
from lineage.model.statement import StatementLineage
from lineage.model.text.name_lists import name_list
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.sql.script.reuse.known_texts import KnownTexts, known_texts
from lineage.sql.script.reuse.saved_resolutions import SavedResolutions, folder_of
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.batch.builder import BatchBuilder, FileOrigin, of_files
from lineage_ingest.batch.observed_time import observed_time
from lineage_ingest.live_database.verification.file_verification import FileVerification
from lineage_ingest.live_database.verification.view_comparison import VerificationReport
from lineage_ingest.sql_files.duplicates import (
    find_duplicate_definitions,
    find_idle_definitions,
    find_stored_definitions,
)
from lineage_ingest.sql_files.files.discovery import NoSqlFilesError
from lineage_ingest.sql_files.files.sources import Sources, read_sources
from lineage_ingest.sql_files.retirement import GoneFiles, GoneFilesError, find_gone_files, notices
from lineage_ingest.sql_files.saved.edited_files import EditedFiles, store_edits
from lineage_ingest.sql_files.saved.known_files import SaidOfFiles, known_files
from lineage_ingest.sql_files.saved.saved_batch import BatchStateFiles
from lineage_ingest.sql_files.saved.stored_schemas import StoredSchemas, learnt_tables, made_in
from lineage_ingest.sql_files.saved.storing import store_batch
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
    sources = read_sources(paths, store, Environment.of(options.naming), project, project_root)
    at, late = observed_time(store, sources.keys, observed_at)
    name = _name_of(sources)
    before = stated.read(store.last_session, name) if stated is not None else None
    schemas = StoredSchemas(store)
    given = catalog if catalog is not None else Catalog((), options.naming.dialect)
    given = given.prepare(file.text for file in sources.files if file.readable).qualified(options.naming)
    source = name_list(sorted(file.source for file in sources.files) or [str(one) for one in sources.found.named], 3)
    if stated is not None and before is not None and cache and verification is None:
        ingest = EditedFiles(sources, store, schemas, options, given, before, at)
        edits = ingest.build(source, _content(sources, GoneFiles()), notify)
        if edits is not None and (done := store_edits(edits, store, stated, name)) is not None:
            notify("storing", 1, 1)
            return _summary(
                edits.batch,
                done,
                began,
                sources,
                gone=edits.gone,
                notices=(*edits.known.notices, *([late] if late else [])),
                resolved=edits.resolved,
                stored=edits.stored,
            )
    saved = _saved_resolutions(sources, options) if cache else None
    builder, report, texts = _resolve(sources, store, schemas, options, given, at, notify, jobs, verification, saved)
    first = len(builder.diagnostics)
    targets = builder.targets()
    of_statements = len(builder.diagnostics)
    gone = find_gone_files(store, sources, targets, at)
    _refuse_missing(sources, gone, retire_most=retire_most)
    _add_gone(builder, store, sources, gone)
    batch = builder.batch("sql", source, _content(sources, gone), time.perf_counter() - began)
    notify("storing", 0, 1)
    edges_of_gone = _column_edges(store, gone.jobs)
    if stated is not None:
        stated.forget()
    found = tuple(notices(store, sources, gone.replaced))
    kept = None
    if texts is not None and not gone.is_any:
        listed = batch.diagnostics
        said = SaidOfFiles(listed[:first], listed[first:of_statements], listed[of_statements:])
        kept = known_files(sources, options, texts, builder, batch, said, found, has_others=gone.has_others)
    applied, stored = store_batch(
        store, batch, stated, None if full else before, project=name, schemas=schemas, files=kept
    )
    notify("storing", 1, 1)
    return _summary(
        batch,
        applied,
        began,
        sources,
        gone=gone,
        notices=(*found, *([late] if late else [])),
        edges_of_gone=edges_of_gone,
        verification=report,
        resolved=None if saved is None else saved.resolved,
        stored=stored,
    )


def _refuse_missing(sources: Sources, gone: GoneFiles, *, retire_most: bool) -> None:
    """Refuse folders that never had a file, and those that lack most of theirs unless these are to be retired.

    Raises:
        NoSqlFilesError: a folder has no SQL file and never had one.
        GoneFilesError: most known files no longer exist.
    """
    if sources.found.empty_folders and not gone.files:
        suffixes = ", ".join(sorted(SQL_SUFFIXES))
        raise NoSqlFilesError(f"no SQL files ({suffixes}) under {sources.found.empty_folders[0]}")
    if gone.are_most and not retire_most:
        raise GoneFilesError(gone)


def _add_gone(builder: BatchBuilder, store: GraphStore, sources: Sources, gone: GoneFiles) -> None:
    """Retire the files that are gone; report definitions that the store has from files of elsewhere."""
    for key in (*gone.files, *gone.moved, *gone.mended, *gone.replaced):
        builder.add_gone_file(key)
    by_name = {file.name: file.source for file in sources.files}
    known = {*sources.keys, *gone.files, *gone.moved, *gone.replaced}
    for file, problem in find_stored_definitions(store, builder.definitions(), by_name, known):
        builder.add_diagnostic(file, problem)


def _summary(
    batch: LineageBatch, applied: AppliedChanges, began: float, sources: Sources, **more: Any
) -> IngestSummary:
    projects = tuple(sorted(sources.projects().items(), key=lambda one: one[0].name))
    return IngestSummary(batch, applied, time.perf_counter() - began, projects, **more)


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
    store: GraphStore,
    schemas: StoredSchemas,
    options: ExtractionOptions,
    given: Catalog,
    at: datetime,
    notify: Progress,
    jobs: int,
    verification: FileVerification | None,
    saved: SavedResolutions | None,
) -> tuple[BatchBuilder, VerificationReport | None, KnownTexts | None]:
    """Return a batch builder with the statements, resolved against each other, the given tables and the store.

    Also return what the verification has found, if there is one, and what is to be kept of the texts, if it can be.
    """
    naming = options.naming
    texts = {file.name: file.text for file in sources.files if file.readable}
    named = (*texts.values(), *texts, *(table.name for table in given))  # a query defines a table of its file's name
    stored = learnt_tables(store, schemas, sources, naming, named, made_in(texts.values()))
    resolving = partial(notify, "resolving")
    statements = resolve_texts(texts, options, stored.with_tables(given), jobs=jobs, progress=resolving, saved=saved)
    report, known = None, None
    if saved is not None and saved.script is not None and verification is None and not given.sources:
        known = known_texts(texts, saved.script, saved.resolutions, statements, given)
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
            for problem in find_idle_definitions(by_file[file.name], file.text):
                builder.add_diagnostic(file.name, problem)
    names = {file.name: file.source for file in sources.files}
    for name, problem in find_duplicate_definitions(by_file, names):
        builder.add_diagnostic(name, problem)
    return builder, report, known


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
