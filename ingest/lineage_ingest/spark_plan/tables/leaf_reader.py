"""What the readers of a plan's leaves need of the reader of the plan."""

from __future__ import annotations

from typing import Any, Protocol

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage_ingest.spark_plan.plan_tree import PlanNode

__all__ = ["LeafReader"]


class LeafReader(Protocol):
    """Collects the datasets that a plan reads, and what is not known."""

    reads: Any
    """The datasets: `Reads`."""

    def report(self, code: DiagnosticCode, severity: Severity, message: str, hint: str) -> None:
        """Add a diagnostic, once."""

    def report_local_rows(self, node: PlanNode) -> None:
        """Report that columns are made of rows of the program."""

    def report_unknown_source(self, node: PlanNode) -> None:
        """Report that it is not known what a leaf of the plan reads."""
