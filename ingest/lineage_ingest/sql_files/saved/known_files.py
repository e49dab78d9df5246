"""What an ingest keeps of the files of a folder, so that after edits of a few only these are built and stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from lineage.frozen import frozen
from lineage.model.batch import DatasetRecord, DiagnosticRecord, LineageBatch
from lineage.model.names import is_column_key, split_column_key
from lineage.saved_file import digest_of
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.reuse.known_text import short_digest
from lineage.sql.script.reuse.known_texts import KnownTexts
from lineage.store.planning.columns import with_parents
from lineage_ingest.batch.builder import BatchBuilder
from lineage_ingest.sql_files.files.sources import Sources
from lineage_ingest.sql_files.saved.stored_schemas import StoredSchemas, top_level

__all__ = [
    "KnownFiles",
    "SaidOfFiles",
    "are_settled",
    "columns_of_edges",
    "counts_by_file",
    "fields_by_file",
    "fields_of_edges",
    "inputs_digest",
    "known_files",
]

_OF_FILES = ("statements", "resolved", "partial", "tables_only", "unresolved", "edges")
"""The counts of a run that are sums over its files."""


@frozen
class SaidOfFiles:
    """The diagnostics of an ingest: those of statements, in the order of the files, and those before and after them."""

    first: tuple[DiagnosticRecord, ...]
    of_statements: tuple[DiagnosticRecord, ...]
    last: tuple[DiagnosticRecord, ...]

    @property
    def every(self) -> tuple[DiagnosticRecord, ...]:
        """All diagnostics, in order."""
        return (*self.first, *self.of_statements, *self.last)


@frozen
class KnownFiles:
    """The files of an ingest, in order: what their texts say, and what the ingest said of them.

    `inputs` is the digest of all that decides besides the texts; `counts` are those of the run, `by_file` those of each
    file by its key, and `fields` the digests of the nested fields that its edges name. `datasets` are the datasets, by
    the digests of their names, and `columns` the numbers of their columns. `targets` are those that the files write.
    `notices` are those of the ingest; `has_others`: the store has files of the projects in other folders.
    """

    inputs: str
    texts: KnownTexts
    counts: Mapping[str, int]
    by_file: Mapping[str, Mapping[str, int]]
    fields: Mapping[str, frozenset[bytes]]
    said: SaidOfFiles
    datasets: Mapping[bytes, str]
    columns: Mapping[str, int]
    targets: tuple[str, ...]
    notices: tuple[str, ...]
    has_others: bool

    def with_files(
        self, texts: KnownTexts, by_file: Mapping[str, Mapping[str, int]], fields: Mapping[str, frozenset[bytes]],
        problems: Iterable[DiagnosticRecord], order: Sequence[str],
    ) -> KnownFiles:  # fmt: skip
        """Return what is known after some files were resolved again.

        `by_file` are their counts, `fields` their fields, `problems` their diagnostics; `order` are the keys of all
        files.
        """
        position = {key: number for number, key in enumerate(order)}
        kept = [one for one in self.said.of_statements if one.file_key not in by_file]
        listed = sorted((*kept, *problems), key=lambda one: position[str(one.file_key)])
        said = replace(self.said, of_statements=tuple(listed))
        counts = {**self.counts, "diagnostics": len(said.every)}
        for key, own in by_file.items():
            for what in _OF_FILES:
                counts[what] += own[what] - self.by_file[key][what]
        every, named = {**self.by_file, **by_file}, {**self.fields, **fields}
        return replace(self, texts=texts, by_file=every, fields=named, said=said, counts=counts)

    def with_datasets(
        self, gone: Collection[str], records: Collection[DatasetRecord], names: Mapping[str, str]
    ) -> KnownFiles:
        """Return what is known with other datasets, by key, and records of those that have changed.

        `names` are the keys of datasets by name.
        """
        datasets = {digest: key for digest, key in self.datasets.items() if key not in gone}
        datasets |= {short_digest(name): key for name, key in names.items()}
        columns = {key: count for key, count in self.columns.items() if key not in gone}
        columns |= {record.key: len(record.columns) for record in records}
        counts = {**self.counts, "tables": len(columns), "columns": sum(columns.values())}
        return replace(self, datasets=datasets, columns=columns, counts=counts)


def known_files(
    sources: Sources,
    options: ExtractionOptions,
    texts: KnownTexts,
    builder: BatchBuilder,
    batch: LineageBatch,
    said: SaidOfFiles,
    notices: tuple[str, ...],
    *,
    has_others: bool,
) -> KnownFiles | None:
    """Return what is to be kept of an ingest; None if the file of a diagnostic is not known.

    None, too, if a dataset has two names, such as `s3://b/x` and `s3a://b/x`: each counts, and may say something of it.
    """
    if any(one.file_key is None for one in said.every):
        return None
    if len({record.key for record in batch.datasets}) < len(batch.datasets):
        return None
    keys = {file.name: str(file.key) for file in sources.files}
    return KnownFiles(
        inputs_digest(sources, options),
        texts,
        dict(batch.run.counts),
        counts_by_file(builder, keys, batch),
        fields_by_file(keys.values(), batch),
        said,
        {short_digest(name): key for name, key in builder.keys_by_name().items()},
        {record.key: len(record.columns) for record in batch.datasets},
        tuple(dict.fromkeys(key for job in batch.jobs for key in job.writes)),
        notices,
        has_others,
    )


def inputs_digest(sources: Sources, options: ExtractionOptions) -> str:
    """Return the digest of all that decides the result besides texts, given tables and the store."""
    files = [(str(file.key), file.source, file.name, file.readable, file.problems) for file in sources.files]
    how = (options.naming, options.functions.listed(), options.set_operation_references, options.budget)
    return digest_of(str(sources.environment), files, *how)


def counts_by_file(builder: BatchBuilder, keys: Mapping[str, str], batch: LineageBatch) -> dict[str, Mapping[str, int]]:
    """Return what each file adds to the counts of a run, by the file's key; `keys` are these by the names of texts."""
    counts = builder.counts_by_text()
    file_of = {job.key: job.file_key for job in batch.jobs}
    edges = Counter(file_of[edge.job] for edge in batch.edges if not edge.of_rows)
    return {key: {**counts[name], "edges": edges[key]} for name, key in keys.items()}


def fields_by_file(files: Iterable[str], batch: LineageBatch) -> dict[str, frozenset[bytes]]:
    """Return the digests of the nested fields that the edges of each file (by key) name.

    The schema of a table may lack them, so that they are gone once nothing names them any more.
    """
    found: dict[str, set[bytes]] = {key: set() for key in files}
    file_of = {job.key: str(job.file_key) for job in batch.jobs}
    for edge in batch.edges:
        for key in filter(is_column_key, (edge.source, edge.target)):
            path = split_column_key(key)[1]
            if path != top_level(path):
                found[file_of[edge.job]].add(short_digest(key))
    return {key: frozenset(fields) for key, fields in found.items()}


def columns_of_edges(batch: LineageBatch) -> Mapping[str, set[str]]:
    """Return the columns that the edges of a batch name, without nested fields, by dataset."""
    named: dict[str, set[str]] = defaultdict(set)
    for key in {end for edge in batch.edges for end in (edge.source, edge.target)}:
        if is_column_key(key):
            dataset, path = split_column_key(key)
            named[dataset].add(top_level(path))
    return named


def fields_of_edges(batch: LineageBatch) -> Mapping[str, set[str]]:
    """Return the nested fields that the edges of a batch name, with those that contain them, by dataset."""
    named: dict[str, set[str]] = defaultdict(set)
    for key in {end for edge in batch.edges for end in (edge.source, edge.target) if is_column_key(end)}:
        dataset, path = split_column_key(key)
        if path != top_level(path):
            named[dataset].update(with_parents(path))
    return named


def are_settled(batch: LineageBatch, schemas: StoredSchemas, unchanged: Collection[str]) -> bool:
    """Return whether stating the datasets of an applied batch again would decide nothing about their columns.

    `schemas` are those from before the batch, `unchanged` the datasets that it only saw again.
    """
    named, fields = columns_of_edges(batch), fields_of_edges(batch)
    for record in batch.datasets:
        if record.key in unchanged or not (record.schema_known or schemas.has_schema(record.key)):
            continue
        paths = {top_level(column.path) for column in record.columns}
        if not named[record.key] <= paths or any(column.ordinal is None for column in record.columns):
            return False
        if not (schemas.is_placed(record, fields[record.key]) and schemas.columns(record.key) <= paths):
            return False
    return True
