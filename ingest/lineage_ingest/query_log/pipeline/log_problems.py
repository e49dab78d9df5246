"""What of a log produces no lineage, and why: the notes and diagnostics of an ingest, the error of an undated log."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage_ingest.query_log.pipeline.engines.engine import LogCounts
from lineage_ingest.query_log.pipeline.extraction import LogContext

__all__ = ["UndatedLogError", "notes_of", "problems_of"]

_DATING = "--time-format names the form of the times, --observed-at dates what has none"
_MAX_FILES = 100
"""Maximum number of failed files that diagnostics name."""
_MAX_NAMED = 5
"""Maximum number of files without rows that a note names."""


class UndatedLogError(ValueError):
    """No run of the log has a time; the current time would be a guess."""

    def __init__(self, runs: int, unread: str | None) -> None:
        """Take the number of runs, and a masked example of a time that cannot be parsed."""
        if unread:
            problem = f"the times of all {runs:,} statements cannot be read{_unread(unread)}"
            advice = "Give their form (--time-format FORMAT), name another column (--map started_at=COLUMN)"
        else:
            problem = f"it is not known when the {runs:,} statements ran: no column was read as their time"
            advice = "Name the column of the source generic (--map started_at=COLUMN)"
        super().__init__(f"{problem}. {advice}, or say when they were observed (--observed-at TIME)")


def notes_of(log: LogCounts, context: LogContext) -> Iterator[str]:
    """Yield notes on a log: runs without a time, inputs without rows."""
    if log.undated and context.observed_at is None:
        yield f"{_undated_text(log)}; {_DATING}"
    if empty := log.files.empty():
        yield f"without any row: {name_list(empty, _MAX_NAMED)}"
    elif not log.rows and not log.files.failed():
        yield "no statement in it: nothing of what was read is one that ran"


def problems_of(log: LogCounts, context: LogContext) -> Iterator[DiagnosticRecord]:
    """Yield a diagnostic for each reason why rows produce no lineage, and for each file that could not be read."""
    source, code = context.source, DiagnosticCode.LOG_ROWS_LEFT_OUT
    for kind, count in sorted(log.left_out.items()):
        example = log.samples.get(kind)
        hint = f"for example: {example}" if example else None
        yield DiagnosticRecord(Diagnostic(code, Severity.WARNING, f"{count:,} rows: {kind}", None, hint), source)
    if log.undated and context.observed_at is None:
        yield DiagnosticRecord(Diagnostic(code, Severity.WARNING, _undated_text(log), None, _DATING), source)
    failed = log.files.failed()
    for number, (name, reason) in enumerate(failed.items(), 1):
        text = f"{name}: {reason}"
        if number == _MAX_FILES and len(failed) > number:
            text += f"; and {len(failed) - number:,} more files"
        yield DiagnosticRecord(Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.ERROR, text), source)
        if number == _MAX_FILES:
            return


def _undated_text(log: LogCounts) -> str:
    runs = "1 run" if log.undated == 1 else f"{log.undated:,} runs"
    return f"{runs} without a readable time, in no day of use{_unread(log.unread_time)}"


def _unread(shape: str | None) -> str:
    return f" (one is written {shape}, with 9 for each digit and x for each letter)" if shape else ""
