"""The custom run facet of this project's Spark listener.

It tells how complete the lineage is, what the write does to what it wrote before, and the diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import Completeness

__all__ = ["PLAN_FACET", "PLAN_PRODUCER", "completeness_in", "diagnostics_in", "plan_facet", "write_in"]

PLAN_FACET = "lineageGraph_plan"
PLAN_PRODUCER = "urn:lineage-graph:spark-listener"


def plan_facet(
    completeness: Completeness, operation: str, write: str, diagnostics: Iterable[Diagnostic]
) -> dict[str, Any]:
    """Return the facet; `write` distinguishes writes to one output that do not replace each other."""
    return {
        "_producer": PLAN_PRODUCER,
        "_schemaURL": "urn:lineage-graph:plan-facet:1",
        "completeness": str(completeness),
        "operation": operation,
        "write": write,
        **({"diagnostics": listed} if (listed := [_written(one) for one in diagnostics]) else {}),
    }


def completeness_in(facet: Mapping[str, Any]) -> Completeness | None:
    """Return the completeness in a facet, if it has a valid one."""
    text = facet.get("completeness")
    return Completeness(text) if text in tuple(Completeness) else None


def write_in(facet: Mapping[str, Any]) -> str | None:
    """Return what distinguishes the write, if the facet says so."""
    found = facet.get("write")
    return found if isinstance(found, str) else None


def diagnostics_in(facet: Mapping[str, Any]) -> list[Diagnostic]:
    """Return the diagnostics in a facet; those with an unknown code are left out."""
    listed = facet.get("diagnostics")
    found = []
    for diagnostic in listed if isinstance(listed, list) else ():
        if isinstance(diagnostic, Mapping) and diagnostic.get("code") in tuple(DiagnosticCode):
            severity = (
                Severity(diagnostic["severity"]) if diagnostic.get("severity") in tuple(Severity) else Severity.WARNING
            )
            hint = diagnostic.get("hint")
            found.append(
                Diagnostic(
                    DiagnosticCode(diagnostic["code"]),
                    severity,
                    str(diagnostic.get("message", "")),
                    hint=str(hint) if hint else None,
                )
            )
    return found


def _written(one: Diagnostic) -> dict[str, Any]:
    return {"code": str(one.code), "severity": str(one.severity), "message": one.message, "hint": one.hint or ""}
