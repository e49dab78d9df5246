"""Partial aggregates of the rows that a worker reads: runs, templates, and counts of rows that are left out.

They are computed for each 262,144 rows, and packed into Arrow blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Problem
from lineage_ingest.query_log.pipeline.engines.arrow_blocks import (
    bucket_of,
    partition_by_bucket,
    tables_by_bucket,
    to_blocks,
)
from lineage_ingest.query_log.pipeline.engines.engine import LogCounts
from lineage_ingest.query_log.pipeline.extraction_units import PART_TYPE
from lineage_ingest.query_log.pipeline.fingerprinting import RUN_SCHEMA

__all__ = [
    "LEFT_OUT",
    "NAMES",
    "OF_RUNS",
    "PARTS",
    "RUNS",
    "TEMPLATES",
    "TOTALS",
    "add_counts",
    "count_rows",
    "aggregate_rows",
    "templates_from",
]

RUNS, TOTALS, PARTS, LEFT_OUT = "runs", "totals", "parts", "left out"
"""The kinds of blocks: runs; times and counts of templates; texts of templates; counts of rows without lineage."""
TEMPLATES, NAMES = "templates", "names"
"""The kinds of merged blocks: complete templates; templates without text, with dialect, database and schema."""

OF_RUNS = [name for name in RUN_SCHEMA.names if name not in ("outcome", "sample", "part")]

TEMPLATE_SCHEMA = pa.schema(
    [
        pa.field("template", pa.int64()),
        pa.field("part", PART_TYPE),
        pa.field("first", pa.int64()),
        pa.field("last", pa.int64()),
        pa.field("runs", pa.int64()),
    ]
)
_TOTALS = ("template", "first", "last", "runs")
_AT_ONCE = 262_144
_UNDATED = "undated"


def aggregate_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches of `RUN_SCHEMA` as blocks: runs bucketed by session, TOTALS and PARTS bucketed by template."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.num_rows
        if size >= _AT_ONCE:
            yield from to_blocks(_blocks_of(pa.Table.from_batches(held)))
            held, size = [], 0
    if held:
        yield from to_blocks(_blocks_of(pa.Table.from_batches(held)))


def _blocks_of(rows: pa.Table) -> Iterator[tuple[str, int, pa.Table]]:
    counts = LogCounts()
    count_rows(counts, rows)
    yield LEFT_OUT, 0, _counts_table(counts)
    texts = _smallest(rows.filter(pc.is_valid(rows["part"])).select(["template", "part"]))
    runs = rows.filter(pc.is_valid(rows["template"])).select(OF_RUNS)
    totals = runs.group_by("template", use_threads=False).aggregate(
        [("started_at", "min"), ("started_at", "max"), ("runs", "sum")]
    )
    totals = totals.select(["template", "started_at_min", "started_at_max", "runs_sum"]).rename_columns(_TOTALS)
    for kind, table, buckets in (
        (RUNS, runs, bucket_of(runs["template"], runs["session"])),
        (TOTALS, totals, bucket_of(totals["template"])),
        (PARTS, texts, bucket_of(texts["template"])),
    ):
        for bucket, own in partition_by_bucket(table, buckets):
            yield kind, bucket, own


def templates_from(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield blocks of TOTALS and PARTS, sorted by bucket, as blocks of TEMPLATES and NAMES, each template once."""
    yield from to_blocks(block for found in tables_by_bucket(batches) for block in _whole(found))


def _whole(found: list[pa.Table]) -> Iterator[tuple[str, int, pa.Table]]:
    """Yield the TEMPLATES and NAMES of one bucket."""
    totals = pa.concat_tables([table for table in found if "first" in table.column_names])
    texts = pa.concat_tables([table for table in found if "part" in table.column_names])
    summed = totals.group_by("template", use_threads=False).aggregate(
        [("first", "min"), ("last", "max"), ("runs", "sum")]
    )
    summed = summed.select(["template", "first_min", "last_max", "runs_sum"]).rename_columns(_TOTALS)
    summed = summed.sort_by("template")
    parts = _smallest(texts)
    columns = [parts["template"], parts["part"], *(summed[name] for name in _TOTALS[1:])]
    yield TEMPLATES, 0, pa.Table.from_arrays(columns, schema=TEMPLATE_SCHEMA)
    named = {name: pc.struct_field(parts["part"], name) for name in ("dialect", "database", "schema")}
    yield NAMES, 0, pa.table({**named, **{name: summed[name] for name in _TOTALS}})


def _smallest(texts: pa.Table) -> pa.Table:
    """Return each template's smallest text, sorted by template."""
    words = pc.struct_field(texts["part"], "text")
    keys = pa.table({"template": texts["template"], "length": pc.utf8_length(words), "text": words})
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    counts = pc.value_counts(keys["template"].take(order)).field("counts")
    first = pc.subtract(pc.cumulative_sum(counts), counts)
    return texts.take(order.take(first))


def _counts_table(counts: LogCounts) -> pa.Table:
    """Return counts as the table that `add_counts` reads."""
    kinds = sorted(counts.left_out)
    counted = [(counts.rows, None, None), (counts.undated, _UNDATED, counts.unread_time)]
    counted += [(counts.left_out[kind], kind, counts.samples.get(kind)) for kind in kinds]
    counted += [(0, str(Problem.FILE_REPORT), text) for text in counts.files.texts()]
    types = (pa.int64(), pa.string(), pa.string())
    columns = [pa.array(values, kind) for values, kind in zip(zip(*counted, strict=True), types, strict=True)]
    return pa.table(columns, ["rows", "outcome", "sample"])


def add_counts(counts: LogCounts, table: pa.Table) -> None:
    """Add the counts of a block of LEFT_OUT."""
    for row in table.to_pylist():
        kind, sample = row["outcome"], row["sample"]
        if kind is None:
            counts.rows += row["rows"]
        elif kind == _UNDATED:
            counts.undated += row["rows"]
            counts.unread_time = _smaller(counts.unread_time, sample)
        elif kind == Problem.FILE_REPORT:
            counts.files.add(sample)
        else:
            counts.left_out[kind] = counts.left_out.get(kind, 0) + row["rows"]
            if sample is not None:
                counts.samples[kind] = _smaller(counts.samples.get(kind), sample) or ""


def count_rows(counts: LogCounts, rows: pa.RecordBatch | pa.Table) -> None:
    """Add rows of `RUN_SCHEMA` to `counts`: all rows, rows without lineage by reason, runs without a time; samples."""
    is_report = pc.fill_null(pc.equal(rows["outcome"], str(Problem.FILE_REPORT)), False)
    reports = rows.filter(is_report)
    for text in reports["sample"].to_pylist():
        counts.files.add(text)
    counts.rows += rows.num_rows - reports.num_rows
    rows = rows.filter(pc.invert(is_report)) if reports.num_rows else rows
    for entry in pc.value_counts(rows["outcome"].drop_null()).to_pylist():
        counts.left_out[entry["values"]] = counts.left_out.get(entry["values"], 0) + entry["counts"]
    ran = pc.and_(pc.is_valid(rows["template"]), pc.greater(rows["runs"], 0))
    undated = rows.filter(pc.and_(ran, pc.is_null(rows["started_at"])))
    counts.undated += pc.sum(undated["runs"]).as_py() or 0
    samples = rows.filter(pc.is_valid(rows["sample"]))
    for kind, sample in zip(samples["outcome"].to_pylist(), samples["sample"].to_pylist(), strict=True):
        if kind is None:
            counts.unread_time = _smaller(counts.unread_time, sample)
        else:
            counts.samples[kind] = _smaller(counts.samples.get(kind), sample) or ""


def _smaller(one: str | None, other: str | None) -> str | None:
    return min((text for text in (one, other) if text is not None), key=lambda text: (len(text), text), default=None)
