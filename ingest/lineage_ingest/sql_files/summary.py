"""What an ingest of SQL files read, resolved and changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Severity
from lineage.store.values import AppliedChanges
from lineage_ingest.sql_files.projects import Project
from lineage_ingest.sql_files.retirement import GoneFiles

__all__ = ["IngestSummary"]

_NOTHING_GONE = GoneFiles()


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What an ingest read, resolved and changed.

    `projects` are those of the files, with how many each has; `gone` are the files that are no longer there, and
    `edges_of_gone` how many live edges they had. `adopted` are jobs from before files had projects that these files
    took over. `notices` say what else the store has of the same files. `store` is the address of the store.
    """

    batch: LineageBatch
    applied: AppliedChanges
    seconds: float
    projects: tuple[tuple[Project, int], ...] = ()
    gone: GoneFiles = _NOTHING_GONE
    edges_of_gone: int = 0
    adopted: int = 0
    notices: tuple[str, ...] = ()
    store: str = ""

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """Everything that was found on the way."""
        return self.batch.diagnostics

    @property
    def has_errors(self) -> bool:
        """Whether some of the input could not be used."""
        return any(d.diagnostic.severity is Severity.ERROR for d in self.batch.diagnostics)

    @property
    def files_gone(self) -> int:
        """How many files are no longer there, moved ones among them."""
        return len(self.gone.files) + len(self.gone.moved)

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts, and the seconds that it took."""
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
