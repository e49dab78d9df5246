"""Expand stored stars (`SELECT *`) over tables of unknown schema, once the schema is known.

`SELECT * FROM t` over an unknown t is stored as an edge from the column `*` of t. When an ingest adds t's columns, the
jobs with such edges are stored again, with an edge from each column instead of the star, and the star's edges are
retired. The schema of a view that only lacked these columns is then known, so stars over the view can be expanded too.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from lineage import extract
from lineage.catalog import Catalog, TableSchema
from lineage.model.batch import ColumnRecord, DatasetRecord, EdgeRecord, JobRecord, LineageBatch, RunRecord
from lineage.model.dialects import UnknownDialectError
from lineage.model.names import column_key, column_text, split_column_key
from lineage.model.spelling import own_spelling
from lineage.model.statement import ColumnSchema, Completeness, StatementLineage
from lineage.model.text.name_lists import name_list
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredDataset, StoredEdge, StoredJob
from lineage_ingest.batch.restated_jobs import StatedOutput, observe_again, stated_outputs

__all__ = ["may_open_stars", "expand_stars"]

_STAR = "*"
_LEVELS = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)


def may_open_stars(store: GraphStore, batch: LineageBatch) -> bool:
    """Return, before a batch is applied, whether `expand_stars` may find a star over a dataset whose schema it has.

    Raises:
        StoreError: the store could not be read.
    """
    described = {record.key for record in batch.datasets if record.schema_known}
    if not described:
        return False
    if batch.changes or batch.aliases or any(edge.source.endswith(_STAR) for edge in batch.edges):
        return True
    return _have_stars(store, described)


def expand_stars(store: GraphStore, described: Iterable[str], at: datetime) -> Iterator[LineageBatch]:
    """Yield batches that expand the stars over datasets (by key) of known schema, one for each level of views.

    Apply each batch before requesting the next: it makes the schemas of views known, except of those among `described`:
    what the ingest itself states of them is their schema, also where another file defines them by a star.

    Raises:
        StoreError: the store could not be read.
    """
    listed = sorted(set(described))
    if not _have_stars(store, listed):
        return
    known = {dataset.key for dataset in store.datasets(listed) if dataset.schema_known}
    settled = frozenset(listed)
    done: set[tuple[str, str]] = set()
    while known:
        columns = _columns(store, known)
        stars = [column_key(key, _STAR) for key, names in sorted(columns.items()) if _STAR in names]
        stated = [one for one in stated_outputs(store, stars) if (one.job.key, one.output) not in done]
        if not stated:
            return
        done.update((one.job.key, one.output) for one in stated)
        opened = {key: [name for name in names if name != _STAR] for key, names in columns.items()}
        fresh = _batch(store, stated, opened, settled, at)
        yield replace(fresh, datasets=(*fresh.datasets, *_records_without_star(store, columns, at)))
        known = {record.key for record in fresh.datasets}


def _have_stars(store: GraphStore, datasets: Iterable[str]) -> bool:
    return bool(store.columns_by_key([column_key(key, _STAR) for key in sorted(datasets)]))


def _columns(store: GraphStore, datasets: Iterable[str]) -> dict[str, list[str]]:
    """Return the top-level columns of datasets in order, including the star if an edge still reads it."""
    columns_by_dataset: dict[str, list[str]] = {key: [] for key in datasets}
    for column in store.columns(sorted(columns_by_dataset), dropped=True):
        if column.path == _STAR or (column.parent is None and column.dropped_at is None):
            columns_by_dataset[column.dataset].append(column.path)
    return columns_by_dataset


def _records_without_star(store: GraphStore, columns: dict[str, list[str]], at: datetime) -> Iterator[DatasetRecord]:
    """Yield the datasets whose stars were expanded, with their columns except the star."""
    expanded = sorted(key for key, names in columns.items() if _STAR in names)
    of: dict[str, list[ColumnRecord]] = defaultdict(list)
    for column in store.columns(expanded):
        is_unplaced = column.ordinal is None and column.parent is None
        if column.path != _STAR and not is_unplaced:  # the newest schema lacks what has no place
            of[column.dataset].append(
                ColumnRecord(column.path, column.data_type, column.ordinal, column.inferred, spelling=column.spelling)
            )
    for dataset in store.datasets(expanded):
        yield DatasetRecord(
            dataset.namespace, dataset.name, dataset.kind, dataset.dialect, tuple(of[dataset.key]), True, at
        )


def _batch(
    store: GraphStore,
    stated: list[StatedOutput],
    columns: dict[str, list[str]],
    settled: Container[str],
    at: datetime,
) -> LineageBatch:
    """Return what the jobs state with these columns in place of stars; `settled` outputs have a schema."""
    stored = {dataset.key: dataset for dataset in store.datasets(sorted({one.output for one in stated}))}
    edges: dict[tuple[str, str, str, str], EdgeRecord] = {}
    for one in stated:
        for edge in one.edges:
            for record in _expand(edge, one.output, columns):
                edges.setdefault((record.job, record.source, record.target, record.kind), record)
    again = {one.job.key: _extract_again(store, one.job) for one in stated}
    jobs = {one.job.key: _with_completeness(observe_again(one.job, at), again[one.job.key]) for one in stated}
    named = "\x1f".join(sorted(f"{record.source}>{record.target}" for record in edges.values()))
    read = {split_column_key(edge.source) for one in stated for edge in one.edges}
    run = RunRecord(
        f"stars:{hashlib.sha256(named.encode()).hexdigest()[:24]}",
        "stars",
        name_list(sorted(dataset for dataset, path in read if path == _STAR and dataset in columns), 3),
        at,
        {"jobs": len(jobs), "edges": len(edges)},
    )
    datasets = (
        _output_record(store, stored[one.output], one, again[one.job.key], list(edges.values()), at)
        for one in stated
        if one.output not in settled
    )
    return LineageBatch(run, tuple(d for d in datasets if d is not None), tuple(jobs.values()), tuple(edges.values()))


def _expand(edge: StoredEdge, output: str, columns: dict[str, list[str]]) -> Iterator[EdgeRecord]:
    """Yield the edge, or one for each column that its star expands to."""
    dataset, path = split_column_key(edge.source) if "#" in edge.source else (edge.source, "")
    stands_for = columns.get(dataset) if path == _STAR else None
    for name in stands_for or [path]:
        target = edge.target
        if stands_for and target == column_key(output, _STAR):
            target = column_key(output, name)
        yield EdgeRecord(
            source=column_key(dataset, name) if path else edge.source,
            target=target,
            kind=edge.kind,
            job=edge.job,
            output=output,
            subtypes=edge.subtypes,
            masking=edge.masking,
            limited=edge.limited,
            ambiguous=edge.ambiguous,
            spans=edge.spans,
            partly_masking=edge.partly_masking,
        )


def _output_record(
    store: GraphStore,
    output: StoredDataset,
    stated: StatedOutput,
    statements: list[StatementLineage],
    edges: list[EdgeRecord],
    at: datetime,
) -> DatasetRecord | None:
    """Return the output with its columns, if its job defines it and no star is left in it.

    An older full schema is replaced: the definition is newer.
    """
    star = column_key(output.key, _STAR)
    if not stated.job.kind.defines_output or any(edge.target == star for edge in edges):
        return None
    is_newer = output.schema_at is None or output.schema_at <= stated.job.last_seen
    there = store.columns([output.key])
    if output.schema_known and not (is_newer and any(column.path == _STAR for column in there)):
        return None
    fresh = dict.fromkeys(
        split_column_key(edge.target)[1] for edge in edges if edge.output == output.key and edge.target != output.key
    )
    names = _defined_columns(statements)
    if names is None or not fresh.keys() <= names.keys():
        if output.schema_known:
            return None
        names = {}
        for column in there:
            if column.path == _STAR:  # its columns, at its position
                names.update(fresh)
            elif column.parent is None:
                names[column.path] = None
        names.update(fresh)
    written = {column.path: column.spelling for column in there}
    columns = tuple(
        ColumnRecord(
            str(name),
            None,
            position,
            spelling=own_spelling(name) or written.get(name),
        )
        for position, name in enumerate(names)
    )
    return DatasetRecord(output.namespace, output.name, output.kind, output.dialect, columns, True, at)


def _extract_again(store: GraphStore, job: StoredJob) -> list[StatementLineage]:
    """Extract the lineage of a job's SQL again, with the schemas that are known now.

    The stored edges alone would lose columns that come from a constant.
    """
    known = [*job.reads, *job.writes]
    read = {dataset.key: dataset for dataset in store.datasets(sorted(known)) if dataset.schema_known}
    columns: dict[str, list[ColumnSchema]] = defaultdict(list)
    for column in store.columns(sorted(read)):
        if column.parent is None and not column.inferred:
            columns[column.dataset].append(ColumnSchema(column.spelled_name, column.data_type))
    dialect = job.dialect or "ansi"
    tables = (TableSchema(read[key].name, tuple(listed)) for key, listed in columns.items())
    try:
        return extract(job.sql or "", dialect, Catalog(tables, dialect))
    except UnknownDialectError:  # defined by a package that is not installed
        return []


def _defined_columns(statements: list[StatementLineage]) -> dict[str, None] | None:
    """Return the columns that the last definition among statements gives its target, or None if they are unknown."""
    schemas = [statement.schema for statement in statements if statement.defines]
    if not schemas or not schemas[-1]:
        return None
    return dict.fromkeys(column_text(column.name) for column in schemas[-1])


def _with_completeness(job: JobRecord, statements: list[StatementLineage]) -> JobRecord:
    """Return the job with the completeness of its statements, if that is worse than its own."""
    worst = max((statement.completeness for statement in statements), key=_LEVELS.index, default=job.completeness)
    return replace(job, completeness=min(worst, job.completeness, key=_LEVELS.index))
