"""Reports on reading the files of a log. A report is passed on with the file's rows and says why the file failed.

A file fails if it is truncated, cannot be opened, or has no readable record with a statement; other unreadable
records count as bad rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Problem, log_batch

__all__ = ["REPORT", "FileReport", "FileReports", "report_batch", "without_reports"]

REPORT = "_file_report"
"""The column for reports, in addition to the source's columns; null in rows of the log."""
_MAX_LENGTH = 300


class FileReport(NamedTuple):
    """The result of reading a file, or a chunk of it."""

    file: str
    rows: int
    unreadable: int
    """Number of rows that could not be read."""
    error: str | None = None
    """Why the file could not be read completely."""
    without_text: int = 0
    """Number of readable rows if none of them has a statement, else 0."""

    @property
    def reason(self) -> str | None:
        """The reason why the file failed, or None. Valid only for a report on the whole file."""
        if self.error is not None:
            return self.error
        if self.rows and self.unreadable == self.rows:
            return f"none of its {self.rows:,} records could be read" if self.rows > 1 else "it could not be read"
        if self.rows and self.unreadable + self.without_text == self.rows:
            return f"none of its {self.rows:,} records has a statement" if self.rows > 1 else "it has no statement"
        return None

    def dumps(self) -> str:
        """Return the report as JSON."""
        return json.dumps(
            [self.file, self.rows, self.unreadable, self.error and self.error[:_MAX_LENGTH], self.without_text]
        )


class FileReports:
    """The reports of all files; the reports on the chunks of a file can be added in any order."""

    def __init__(self) -> None:
        self._files: dict[str, FileReport] = {}

    def add(self, text: str) -> None:
        """Add a report that `FileReport.dumps` wrote."""
        report = FileReport(*json.loads(text))
        known = self._files.get(report.file, FileReport(report.file, 0, 0))
        errors = [error for error in (known.error, report.error) if error is not None]
        self._files[report.file] = FileReport(
            report.file,
            known.rows + report.rows,
            known.unreadable + report.unreadable,
            min(errors, default=None),
            known.without_text + report.without_text,
        )

    def failed(self) -> dict[str, str]:
        """Return the reason for each failed file, ordered by file name."""
        reasons = {name: self._files[name].reason for name in sorted(self._files)}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def empty(self) -> list[str]:
        """Return the names of files without rows, sorted: empty files, and files with only a header."""
        return [name for name, found in sorted(self._files.items()) if not found.rows and found.error is None]

    def texts(self) -> list[str]:
        """Return the reports as strings that `add` accepts."""
        return [self._files[name].dumps() for name in sorted(self._files)]


def report_batch(report: FileReport) -> Any:
    """Return a record batch with only a report, to be sent among the batches of a source's rows."""
    return pa.record_batch({REPORT: pa.array([report.dumps()], pa.string())})


def without_reports(batches: Iterator[Any], held: list[Any]) -> Iterator[Any]:
    """Yield the batches of a source's rows; append reports to `held` as batches of the log schema."""
    for batch in batches:
        if REPORT not in batch.schema.names:
            yield batch
            continue
        reports = batch.column(REPORT)
        given = reports.drop_null()
        if len(given):
            held.append(log_batch(len(given), query_text=given.cast(pa.string()), problem=str(Problem.FILE_REPORT)))
        rest = batch.filter(pc.is_null(reports)).drop_columns([REPORT])
        if rest.num_rows and rest.num_columns:
            yield rest
