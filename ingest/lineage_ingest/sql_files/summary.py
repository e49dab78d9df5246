"""Summary of an ingest of SQL files."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Severity
from lineage.store.values import AppliedChanges
from lineage_ingest.live_database.verification.view_comparison import VerificationReport
from lineage_ingest.sql_files.files.projects import Project
from lineage_ingest.sql_files.retirement import GoneFiles

__all__ = ["IngestSummary"]

_NOTHING_GONE = GoneFiles()


@frozen
class IngestSummary:
    """What an ingest read, resolved and changed.

    `projects` are the projects of the files, with the number of files of each; `gone` are the files that no longer
    exist, and `edges_of_gone` is the number of live edges they had. `notices` are about the same files stored
    elsewhere in the graph. `store` is the address of the store. `verification` is what the
    comparison with a database has found, if there was one.
    `resolved` is the number of files that were resolved, the others being as in an earlier run; None: without a cache.
    `stored` is the number of files that were stored, the others being as the last ingest stored them; None: all were.
    """

    batch: LineageBatch = field(repr=False)
    applied: AppliedChanges
    seconds: float
    projects: tuple[tuple[Project, int], ...] = ()
    gone: GoneFiles = _NOTHING_GONE
    edges_of_gone: int = 0
    notices: tuple[str, ...] = ()
    store: str = ""
    verification: VerificationReport | None = None
    resolved: int | None = None
    stored: int | None = None

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """All diagnostics of the ingest."""
        return self.batch.diagnostics

    @property
    def has_errors(self) -> bool:
        """Whether some of the input could not be used, or a database that verifies it differs or rejects it."""
        if self.verification is not None and self.verification.has_failures:
            return True
        return any(d.diagnostic.severity is Severity.ERROR for d in self.batch.diagnostics)

    @property
    def files_gone(self) -> int:
        """Number of files that no longer exist, including moved ones."""
        return len(self.gone.files) + len(self.gone.moved)

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts and the elapsed seconds."""
        return {
            **self.batch.run.counts,
            "edges_created": self.applied.edges_created,
            "edges_ended": self.applied.edges_ended,
            "files_gone": self.files_gone,
            "edges_of_files_gone": self.edges_of_gone,
            "seconds": round(self.seconds, 2),
        }

    def described_projects(self) -> list[dict[str, Any]]:
        """Return the projects as JSON values."""
        return [
            {"project": project.name or None, "found_by": str(project.found_by), "files": count}
            for project, count in self.projects
        ]
