"""Ingest edits of a few files: only these, and those that read what they define otherwise, are built and stored.

The others were ingested before, into the same store, and nothing that they depend on has changed since. Wherever that
is in doubt, all files are resolved and compared.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.batch import DatasetRecord, DiagnosticRecord, LineageBatch, file_of_job
from lineage.model.names import split_dataset_key
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.mentioned_names import name_parts
from lineage.sql.script.reuse.edited_texts import EditedTexts, edited_names, resolve_edited
from lineage.sql.script.reuse.known_text import short_digest
from lineage.sql.script.reuse.known_texts import catalog_digest
from lineage.store.planning.chunking.unchanged import edited_part
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.batch.builder import BatchBuilder, FileOrigin, of_files
from lineage_ingest.batch.star_expansion import expand_stars
from lineage_ingest.sql_files.duplicates import find_idle_definitions, find_stored_definitions
from lineage_ingest.sql_files.files.sources import Sources
from lineage_ingest.sql_files.retirement import GoneFiles, find_gone_files, notices
from lineage_ingest.sql_files.saved.known_files import (
    KnownFiles,
    are_settled,
    columns_of_edges,
    counts_by_file,
    fields_by_file,
    inputs_digest,
)
from lineage_ingest.sql_files.saved.saved_batch import BatchState, BatchStateFiles, StatedJobState, Unchanged, state_of
from lineage_ingest.sql_files.saved.stored_schemas import StoredSchemas, learnt_tables, made_in

__all__ = ["EditedFiles", "Edits", "store_edits"]

Progress = Callable[[str, int, int], None]


@frozen
class Edits:
    """What is to be stored after edits: the jobs of the files that were resolved, and the datasets that have changed.

    `batch` has the counts and diagnostics of all files. `before` and `now` are what the ingests stated, `known` what is
    known of the files; `unchanged` is only seen again. `described` are the datasets whose schema is known.
    """

    batch: LineageBatch
    before: BatchState
    now: BatchState
    known: KnownFiles
    unchanged: Unchanged
    described: frozenset[str]
    gone: GoneFiles
    resolved: int

    @property
    def stored(self) -> int:
        """The number of files whose lineage is stored again."""
        return len({job.file_key for job in self.batch.jobs if job.key not in self.unchanged.jobs})


def store_edits(edits: Edits, store: GraphStore, stated: BatchStateFiles, project: str) -> AppliedChanges | None:
    """Store edits; return what has changed. None if they cannot be stored alone; nothing is stored then.

    Raises:
        StoreError: the store could not be read or written. Ingest again: nothing is lost or doubled.
    """
    batch, unchanged = edits.batch, edits.unchanged
    if store.is_seen_after(edits.now.jobs, unchanged.datasets, edits.before.at):
        return None
    stated.forget()
    store.see_again(unchanged.jobs, unchanged.datasets, unchanged.since, batch.run.at)
    applied = store.apply(edited_part(batch, unchanged.jobs, sorted(unchanged.jobs)))
    is_repeatable = True
    for opened in expand_stars(store, edits.described, batch.run.at):
        applied += store.apply(opened)
        is_repeatable = False  # the store has more than was stated
    if is_repeatable:
        stated.write(store.last_session, project, edits.now)
    return applied


class EditedFiles:
    """The files of an ingest, with what the last ingest of them stated and what the store has now."""

    def __init__(
        self, sources: Sources, store: GraphStore, schemas: StoredSchemas, options: ExtractionOptions, given: Catalog,
        before: BatchState, at: datetime,
    ) -> None:  # fmt: skip
        """Ingest files at a time; `given` are the tables of the catalog that are not from the store."""
        self._sources = sources
        self._store = store
        self._schemas = schemas
        self._options = options
        self._given = given
        self._before = before
        self._at = at
        self._texts = {file.name: file.text for file in sources.files if file.readable}
        self._origins = {file.name: FileOrigin(file.source, str(file.key)) for file in sources.files}

    def build(self, source: str, content: Iterable[str], progress: Progress) -> Edits | None:
        """Return what is to be stored; None if all files are to be resolved.

        `source` is that of the run, `content` identifies it.
        """
        began = time.perf_counter()
        known, count = self._before.files, len(self._texts)
        edited = self._edited(known) if known is not None else None
        if known is None or edited is None:
            return None
        progress("resolving", count - len(edited), count)
        edited_texts = self._resolve(known, edited)
        if edited_texts is None:
            return None
        progress("resolving", count, count)
        built = self._built(edited_texts, source, content, began)
        if built is None:
            return None
        builder, batch, problems = built
        gone = self._gone_files(known)
        names = list(edited_texts.statements)
        jobs, changed = state_of(batch), self._changed(known, edited_texts, builder)
        if changed is None or gone.is_any or not self._have_same_jobs(jobs.jobs, names):
            return None
        if not self._has_columns(batch, changed):
            return None
        records = tuple(record for record in batch.datasets if record.key in changed)
        own = {name: key for name, key in builder.keys_by_name().items() if key in changed}
        keys = {name: self._origins[name].key for name in names}
        fields = fields_by_file(keys.values(), batch)
        if any(not known.fields[key] <= now for key, now in fields.items()):
            return None
        counts = counts_by_file(builder, keys, batch)
        order = [self._origins[file.name].key for file in self._sources.files]
        known = known.with_files(edited_texts.known, counts, fields, problems, order).with_datasets(
            changed, records, own
        )
        return self._edits(replace(batch, datasets=records), known, jobs, changed, gone, len(names))

    def _edited(self, known: KnownFiles) -> list[str] | None:
        """Return the names of the edited files; None if something else has changed, too, or may have."""
        if self._before.at >= self._at or self._given.sources:
            return None
        if known.inputs != inputs_digest(self._sources, self._options):
            return None
        edited = edited_names(known.texts, self._texts)
        if edited is None or known.texts.catalog != catalog_digest(self._given):
            return None
        own = [file for file in self._sources.files if file.name in edited]
        keys = {str(file.key) for file in own}
        if any(file.problems for file in own) or any(
            one.file_key in keys for one in (*known.said.first, *known.said.last)
        ):
            return None
        self._schemas.datasets()
        seen = self._schemas.seen_after(self._before.at)
        if not seen.isdisjoint(self._before.records) or (seen and known.texts.always):  # functions may read others
            return None
        return edited

    def _resolve(self, known: KnownFiles, edited: Collection[str]) -> EditedTexts | None:
        naming = self._options.naming
        if not known.texts.still_answers(self._catalog(known, edited), naming):
            return None

        def catalog_of(names: Collection[str]) -> Catalog:
            return self._catalog(known, names)

        return resolve_edited(known.texts, self._texts, edited, self._options, self._given, catalog_of)

    def _catalog(self, known: KnownFiles, names: Collection[str]) -> Catalog:
        """Return the catalog with the tables that files may name, and those that others asked for."""
        naming = self._options.naming
        named = [*(self._texts[name] for name in names), *names, *known.texts.asked_names(naming)]
        targets = (split_dataset_key(key)[1] for key in known.targets)
        made = made_in(self._texts[name] for name in names) | {name_parts(target)[-2:] for target in targets}
        stored = learnt_tables(self._store, self._schemas, self._sources, naming, named, made)
        return stored.with_tables(self._given)

    def _built(
        self, found: EditedTexts, source: str, content: Iterable[str], began: float
    ) -> tuple[BatchBuilder, LineageBatch, tuple[DiagnosticRecord, ...]] | None:
        """Return the batch of the files that were resolved, its builder, and the diagnostics of their statements."""
        naming, at = self._options.naming, self._at
        tables = (table for table in self._given if short_digest(str(table.name)) in found.changed)
        given, attribute = Catalog(tables, naming.dialect), of_files(at, self._origins)
        builder = BatchBuilder(naming, given, at, attribute, files=self._origins, with_uses=False)
        for name, statements in found.statements.items():
            builder.add_file(name, self._texts[name], statements)
        builder.targets()
        problems = builder.diagnostics
        by_name = {file.name: file.source for file in self._sources.files}
        if next(find_stored_definitions(self._store, builder.definitions(), by_name, self._sources.keys), None):
            return None
        if any(any(find_idle_definitions(listed, self._texts[name])) for name, listed in found.statements.items()):
            return None
        batch = builder.batch("sql", source, content, time.perf_counter() - began)
        if batch.changes or len(batch.diagnostics) != len(problems) or any(one.file_key is None for one in problems):
            return None
        return builder, batch, problems

    def _changed(self, known: KnownFiles, found: EditedTexts, builder: BatchBuilder) -> set[str] | None:
        """Return the keys of the datasets of which the files say something else; None if it is not clear which."""
        datasets = dict(known.datasets)
        datasets |= {short_digest(name): key for name, key in builder.keys_by_name().items()}
        keys = {datasets[digest] for digest in found.changed if digest in datasets}  # others are temporary tables
        names = Counter(datasets.values())
        if any(names[key] > 1 for key in keys):  # a path, and the table that it is
            return None
        if not self._schemas.seen_after(self._before.at).isdisjoint(keys):
            return None
        return keys

    def _gone_files(self, known: KnownFiles) -> GoneFiles:
        """Return the files that no longer exist: none, as before, unless the store has files of other folders."""
        folders = self._sources.found.folders
        is_whole = bool(folders) and all(one in folders for one in self._sources.found.named)
        if known.has_others or not self._before.is_last or not is_whole:
            return find_gone_files(self._store, self._sources, known.targets, self._at)
        stored = {file_of_job(key) for key in self._before.jobs} | {one.file_key for one in known.said.every}
        return GoneFiles(known=len(stored))

    def _have_same_jobs(self, jobs: Mapping[str, StatedJobState], names: Iterable[str]) -> bool:
        files = {self._origins[name].key for name in names}
        return {key for key in self._before.jobs if file_of_job(key) in files} == jobs.keys()

    def _has_columns(self, batch: LineageBatch, changed: Collection[str]) -> bool:
        """Return whether the store has all columns that edges name, where it has the schema of their tables."""
        return all(
            dataset in changed or not self._schemas.has_schema(dataset) or paths <= self._schemas.columns(dataset)
            for dataset, paths in columns_of_edges(batch).items()
        )

    def _edits(
        self, batch: LineageBatch, known: KnownFiles, stated: BatchState, changed: Collection[str], gone: GoneFiles,
        resolved: int,
    ) -> Edits | None:  # fmt: skip
        before, schemas = self._before, self._schemas
        same = frozenset(before.records.keys() - changed)
        if not all(map(schemas.is_stored, same)):
            return None
        if not before.is_last:
            found = tuple(notices(self._store, self._sources))
            known = replace(known, notices=found, has_others=gone.has_others)
        jobs = {**before.jobs, **stated.jobs}
        unchanged = Unchanged(frozenset(key for key in jobs if before.jobs[key] == jobs[key]), same, before.at)
        records = {key: digest for key, digest in before.records.items() if key not in changed}
        records |= {key: digest for key, digest in stated.records.items() if key in changed}
        batch = replace(
            batch,
            run=replace(batch.run, counts=dict(known.counts)),
            diagnostics=known.said.every,
            complete_sources=tuple(str(file.key) for file in self._sources.files if file.readable),
        )
        kept = known if are_settled(batch, schemas, ()) else None
        now = BatchState(self._at, jobs, records, kept)
        return Edits(batch, before, now, known, unchanged, _described(batch, stated, schemas), gone, resolved)


def _described(batch: LineageBatch, stated: BatchState, schemas: StoredSchemas) -> frozenset[str]:
    """Return the datasets of a batch whose schema is known: by its records, else by the store."""
    records: dict[str, DatasetRecord] = {record.key: record for record in batch.datasets}
    named = {name for job in stated.jobs.values() for name in job.datasets}
    return frozenset(
        name for name in named if (records[name].schema_known if name in records else schemas.has_schema(name))
    )
