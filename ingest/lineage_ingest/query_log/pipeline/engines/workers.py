"""The functions that run in Spark's workers, over Arrow batches of typed columns. `shared` is a broadcast variable."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.pipeline.engines.engine import Opener
from lineage_ingest.query_log.pipeline.extraction import Extractor, extract_batches
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, work_batches
from lineage_ingest.query_log.pipeline.fingerprinting import fingerprint_rows
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import RAN_SCHEMA, in_order
from lineage_ingest.query_log.pipeline.sessions.sessions import ASSIGNED_SCHEMA, assign_units, whole_sessions

__all__ = [
    "ASSIGNED_OR_RAN_SCHEMA",
    "AT_ONCE",
    "Normalise",
    "assign",
    "extract_templates",
    "extract_units",
    "read",
    "write",
]

Normalise = Callable[[Iterable[Any]], Iterator[Any]]
"""Maps batches of a source's rows to batches of the log schema; it is pickled for the workers."""

AT_ONCE = 64
"""Number of units per batch."""
ASSIGNED_OR_RAN_SCHEMA = pa.unify_schemas([ASSIGNED_SCHEMA, RAN_SCHEMA])
"""Rows of either schema: those of `ASSIGNED_SCHEMA` have no value in `in_order`, those of `RAN_SCHEMA` have one."""

_EXTRACTORS: WeakKeyDictionary[Any, Extractor] = WeakKeyDictionary()
"""By broadcast variable: a task reuses the extractor, and the columns it has seen, of earlier tasks in its worker."""


def read(batches: Iterable[Any], normalise: Normalise) -> Iterator[Any]:
    """Yield a source's rows as batches of `RUN_SCHEMA`."""
    return fingerprint_rows(normalise(batches))


def assign(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield runs, each session's next to each other, as batches of `ASSIGNED_OR_RAN_SCHEMA`."""
    templates, versions, changes = shared.value
    ran: list[pa.Table] = []
    keep_runs = ran.append if versions is None and changes is None else None
    ordered = (batch for rows in whole_sessions(batches) for batch in in_order(rows).to_batches())
    for counts in assign_units(ordered, templates, versions, changes, keep_runs):
        found = [pa.Table.from_batches([counts]), *(table.filter(table["in_order"]) for table in ran)]
        ran.clear()
        for table in found:
            yield from _widened(table).to_batches()


def _widened(table: pa.Table) -> pa.Table:
    names = set(table.column_names)
    columns = [
        table[own.name] if own.name in names else pa.nulls(table.num_rows, own.type) for own in ASSIGNED_OR_RAN_SCHEMA
    ]
    return pa.Table.from_arrays(columns, schema=ASSIGNED_OR_RAN_SCHEMA).combine_chunks()


def extract_templates(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield templates (key, part, times of the first and last run) as batches of `RESULT_SCHEMA`."""
    return extract_units(work_batches(_template_units(batches), AT_ONCE), shared)


def extract_units(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield batches of units as batches of `RESULT_SCHEMA`."""
    # Syntax trees are reference cycles: with fewer garbage collections, extraction takes a third less time.
    gc.set_threshold(50_000, 20, 50)
    extractor = _EXTRACTORS.get(shared)
    if extractor is None:
        extractor = _EXTRACTORS[shared] = Extractor(*shared.value)
    return extract_batches(batches, extractor)


def write(parts: Iterable[BatchPart], opener: Opener) -> Iterator[AppliedChanges]:
    """Apply parts of a batch; yield the changes of each."""
    gc.set_threshold(100_000)
    with opener() as store:
        for part in parts:
            yield store.apply(part)


def _template_units(batches: Iterable[Any]) -> Iterator[ExtractionUnit]:
    for batch in batches:
        for row in batch.to_pylist():
            yield ExtractionUnit(row["template"], (LogStatement.of(row["part"]),), row["first"], row["last"])
