"""Counts of a log's rows: all, those without lineage by reason with a sample of each, and runs without a time."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Problem
from lineage_ingest.query_log.pipeline.engines.engine import LogCounts

__all__ = ["add_counts", "count_rows"]


def count_rows(counts: LogCounts, rows: pa.RecordBatch) -> None:
    """Add rows of `RUN_SCHEMA` to `counts`."""
    ran = pc.and_(pc.is_valid(rows["template"]), pc.is_null(rows["started_at"]))
    given = {"outcome": rows["outcome"], "sample": rows["sample"], "undated": pc.if_else(ran, rows["runs"], 0)}
    grouped = pa.table(given).group_by(["outcome", "sample"], use_threads=False)
    add_counts(counts, grouped.aggregate([([], "count_all"), ("undated", "sum")]))


def add_counts(counts: LogCounts, grouped: pa.Table) -> None:
    """Add rows grouped by their outcome and sample: of each group these, the number of rows, and of undated runs."""
    for outcome, sample, rows, undated in zip(*(column.to_pylist() for column in grouped.columns), strict=True):
        if outcome == Problem.FILE_REPORT:
            for _ in range(rows):  # two pieces of a file may have equal reports
                counts.files.add(sample)
            continue
        counts.rows += rows
        counts.undated += undated
        if outcome is None:
            counts.unread_time = _smaller(counts.unread_time, sample)
            continue
        counts.left_out[outcome] = counts.left_out.get(outcome, 0) + rows
        if sample is not None:
            counts.samples[outcome] = _smaller(counts.samples.get(outcome), sample) or ""


def _smaller(one: str | None, other: str | None) -> str | None:
    return min((text for text in (one, other) if text is not None), key=lambda text: (len(text), text), default=None)
