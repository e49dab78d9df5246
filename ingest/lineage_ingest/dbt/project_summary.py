"""Summary of an ingest of a dbt project."""

from __future__ import annotations

from dataclasses import field

from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.store.values import AppliedChanges

__all__ = ["DbtSummary"]


@frozen
class DbtSummary:
    """What an ingest of a dbt project read, resolved and changed.

    `unchanged` is the number of models that were neither resolved nor stored again, `gone` the nodes that the project
    no longer has; `notices` are about the project in other environments. `diagnostics` are those of what was resolved;
    `counts` are about the whole project.
    """

    batch: LineageBatch = field(repr=False)
    applied: AppliedChanges
    seconds: float
    project: str
    dialect: str
    unchanged: int = 0
    gone: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    store: str = ""

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """The diagnostics of the artifacts and of the models that were resolved."""
        return self.batch.diagnostics

    @property
    def has_errors(self) -> bool:
        """Whether some of the project could not be used."""
        return self.batch.run.counts["errors"] > 0

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts and the elapsed seconds."""
        return {
            **self.batch.run.counts,
            "unchanged": self.unchanged,
            "gone": len(self.gone),
            "edges_created": self.applied.edges_created,
            "edges_ended": self.applied.edges_ended,
            "seconds": round(self.seconds, 2),
        }
