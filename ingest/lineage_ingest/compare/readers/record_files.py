"""Read files of records (CSV, JSON lines, JSON arrays, Parquet, packed or not) as batches, with the readers of logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lineage.frozen import frozen
from lineage_ingest.compare.opinions import UnreadRow
from lineage_ingest.query_log.reading.file_reports import REPORT, FileReports
from lineage_ingest.query_log.reading.log_files import find_log_files
from lineage_ingest.query_log.reading.log_reader import check_log_files, read_log_file
from lineage_ingest.query_log.sources.source import Source

__all__ = ["RecordBatch", "read_record_batches"]


@frozen
class RecordBatch:
    """Records of a file, and how many of its records come before them."""

    file: str
    before: int
    batch: Any


def read_record_batches(source: Source, paths: Sequence[str | Path]) -> Iterator[RecordBatch | UnreadRow]:
    """Yield the records of files in batches of bounded size, and the files that could not be read to their end.

    Raises:
        NoLogFilesError: a path matches no file.
        ColumnsMissingError: no file is from this source.
    """
    files = find_log_files(paths, source)
    check_log_files(source, files)
    for file in files:
        before, reports = 0, FileReports()
        for batch in read_log_file(source, file):
            if REPORT in batch.schema.names:
                for text in batch.column(REPORT).drop_null().to_pylist():
                    reports.add(text)
                continue
            yield RecordBatch(str(file), before, batch)
            before += batch.num_rows
        for name, reason in reports.failed().items():
            yield UnreadRow(name, reason, "records before that are compared" if before else None)
        for name in reports.empty():
            yield UnreadRow(name, f"{name}: the file has no records", is_error=False)
