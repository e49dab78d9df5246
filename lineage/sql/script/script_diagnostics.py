"""Diagnostics of a statement that only the whole script shows: cyclic definitions, and definitions retired later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import StatementLineage
from lineage.sql.script.definitions import Definition, Position

__all__ = ["replacing_text", "with_cycles", "with_replacement", "with_unknown_content"]


def with_cycles(statement: StatementLineage, names: Iterable[str]) -> StatementLineage:
    """Return a statement with a diagnostic for each table whose definition is cyclic; it is partial then."""
    for name in names:
        problem = Diagnostic(
            DiagnosticCode.CYCLIC_DEFINITION,
            Severity.ERROR,
            f"the definition of {name} is cyclic",
            statement.span,
            "its columns are taken from their use",
        )
        statement = statement.in_doubt(problem)
    return statement


def with_unknown_content(statement: StatementLineage, names: Iterable[str]) -> StatementLineage:
    """Return a statement with a diagnostic for each temporary table or variable that it reads of unknown content."""
    for name in names:
        problem = Diagnostic(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.WARNING,
            f"the content of {name} is not known: what fills it was not resolved",
            statement.span,
            "see the diagnostics of the statements before",
        )
        statement = statement.in_doubt(problem)
    return statement


def with_replacement(statement: StatementLineage, text: str) -> StatementLineage:
    """Return a statement with a diagnostic: the text of that name drops or replaces what the statement creates."""
    problem = Diagnostic(
        DiagnosticCode.REPLACED_LATER,
        Severity.INFO,
        f"{statement.target} is dropped or redefined in {text}, which runs later: this one is retired",
        statement.span,
        "files of one ingest run in the order of their names",
    )
    return replace(statement, diagnostics=[*statement.diagnostics, problem])


def replacing_text(created: Iterable[Definition], position: Position) -> int | None:
    """Return the index of the other text that drops or replaces what the statement at a position creates; else None."""
    for one in created:
        if one.made_by == position and one.temporary and one.until is not None and one.until[0] != position[0]:
            return one.until[0]
    return None
