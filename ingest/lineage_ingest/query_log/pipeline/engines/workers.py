"""The functions that run in Spark's workers, from blocks to blocks. `shared` is a Spark broadcast variable."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc

from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.pipeline.engines.arrow_blocks import tables, tables_by_bucket, to_blocks
from lineage_ingest.query_log.pipeline.engines.engine import Opener
from lineage_ingest.query_log.pipeline.extraction import Extractor, extract_batches
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, work_batches
from lineage_ingest.query_log.pipeline.fingerprinting import fingerprint_rows
from lineage_ingest.query_log.pipeline.merging.partial_aggregates import TEMPLATES, aggregate_rows
from lineage_ingest.query_log.pipeline.merging.statistics import totals_of
from lineage_ingest.query_log.pipeline.sessions.sessions import BY_UNIT, RAN, assign_unit_blocks

__all__ = [
    "AT_ONCE",
    "SUMMARIES",
    "LINEAGE",
    "RESULTS",
    "Normalise",
    "assign",
    "extract_templates",
    "extract_units",
    "pick",
    "pick_runs",
    "read",
    "sum_up",
    "write",
]

Normalise = Callable[[Iterable[Any]], Iterator[Any]]
"""Maps batches of a source's rows to batches of the log schema; it is pickled for the workers."""

SUMMARIES, LINEAGE, RESULTS = "summaries", "lineage", "results"
"""The kinds of blocks that extraction yields: SUMMARIES and LINEAGE of templates; RESULTS (both) of other units."""
AT_ONCE = 64
"""Number of units per block."""

_EXTRACTORS: WeakKeyDictionary[Any, Extractor] = WeakKeyDictionary()
"""By broadcast variable: a task reuses the extractor, and the columns it has seen, of earlier tasks in its worker."""


def read(batches: Iterable[Any], normalise: Normalise) -> Iterator[Any]:
    """Yield a source's rows as blocks of RUNS, TOTALS, PARTS and LEFT_OUT."""
    yield from aggregate_rows(fingerprint_rows(normalise(batches)))


def assign(batches: Iterable[Any], shared: Any, *, whole: bool) -> Iterator[Any]:
    """Yield blocks of RUNS as blocks of MEMBERS, BY_DAY and BY_UNIT."""
    return assign_unit_blocks(batches, *shared.value, whole=whole)


def pick_runs(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield blocks of RAN with only the runs of the units in `shared`."""
    for table in tables(batches):
        yield from to_blocks([(RAN, 0, table.filter(pc.is_in(table["unit"], value_set=shared.value)))])


def sum_up(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield blocks of BY_UNIT, sorted by bucket, as one block per bucket."""
    for found in tables_by_bucket(batches):
        yield from to_blocks([(BY_UNIT, 0, totals_of(pa.concat_tables(found)))])


def pick(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield blocks of TEMPLATES with only the templates whose keys are in `shared`."""
    for table in tables(batches):
        own = table.filter(pc.is_in(table["template"], value_set=shared.value)).select(["template", "part"])
        yield from to_blocks([(TEMPLATES, 0, own)])


def extract_templates(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield blocks of TEMPLATES as blocks of SUMMARIES and LINEAGE."""
    for batch in _extract(work_batches(_template_units(batches), AT_ONCE), shared):
        table = pa.Table.from_batches([batch])
        yield from to_blocks(
            [(SUMMARIES, 0, table.select(["summary"])), (LINEAGE, 0, table.select(["key", "lineage"]))]
        )


def extract_units(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Yield batches of units as blocks of RESULTS."""
    for batch in _extract(batches, shared):
        yield from to_blocks([(RESULTS, 0, pa.Table.from_batches([batch]))])


def write(parts: Iterable[BatchPart], opener: Opener) -> Iterator[AppliedChanges]:
    """Apply parts of a batch; yield the changes of each."""
    gc.set_threshold(100_000)
    with opener() as store:
        for part in parts:
            yield store.apply(part)


def _extract(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    # Syntax trees are reference cycles: with fewer garbage collections, extraction takes a third less time.
    gc.set_threshold(50_000, 20, 50)
    extractor = _EXTRACTORS.get(shared)
    if extractor is None:
        extractor = _EXTRACTORS[shared] = Extractor(*shared.value)
    return extract_batches(batches, extractor)


def _template_units(batches: Iterable[Any]) -> Iterator[ExtractionUnit]:
    for table in tables(batches):
        # Short statements first: the columns they use resolve ambiguous columns of longer ones.
        order = pc.sort_indices(pc.utf8_length(pc.struct_field(table["part"], "text")))
        for row in table.take(order).to_pylist():
            yield ExtractionUnit(row["template"], (LogStatement.of(row["part"]),), row["first"], row["last"])
