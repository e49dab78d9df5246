"""Diagnostics of a batch: each with its source, its job and the key of its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import Diagnostic
from lineage_ingest.batch.attribution import FileOrigin

__all__ = ["BatchDiagnostics"]


class BatchDiagnostics:
    """Collects the diagnostics of a batch."""

    def __init__(self, source: str | None, files: Mapping[str, FileOrigin]) -> None:
        """Start without diagnostics. `source` replaces the names of texts; `files` are the files by text name."""
        self._source = source
        self._files = files
        self.records: list[DiagnosticRecord] = []

    def add(self, text: str, diagnostics: Iterable[Diagnostic], job: str | None = None) -> None:
        """Add diagnostics of a text, by its name."""
        file = self._files.get(text)
        source, file_key = (file.source, file.key) if file is not None else (self._source or text, None)
        self.records.extend(DiagnosticRecord(diagnostic, source, job, file_key) for diagnostic in diagnostics)

    def add_of_job(self, job: str, source: str | None, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics about the SQL of a job as a whole; `source` is the job's."""
        named = self._source or source or ""
        self.records.extend(DiagnosticRecord(diagnostic, named, job) for diagnostic in diagnostics)
