"""Diagnostics of a statement that only the whole script shows: cyclic definitions, and definitions retired later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.statement import Completeness, Edge, StatementLineage
from lineage.sql.script.definitions import Definition, Position

__all__ = [
    "ambiguous_columns",
    "leaves_doubt",
    "replacing_text",
    "with_cycles",
    "with_doubtful_content",
    "with_replacement",
]


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


_OF_SINGLE_COLUMNS = frozenset((DiagnosticCode.UNRESOLVED_STAR, DiagnosticCode.AMBIGUOUS_COLUMN))
"""What is seen again where the column is read."""


def leaves_doubt(filler: StatementLineage) -> bool:
    """Return whether whatever is read from a table or variable that a statement fills may lack a source."""
    if filler.completeness is not Completeness.PARTIAL:
        return filler.completeness is not Completeness.FULL
    return any(d.code not in _OF_SINGLE_COLUMNS for d in filler.diagnostics if d.severity is not Severity.INFO)


def with_doubtful_content(
    statement: StatementLineage, names: Mapping[str, bool], ambiguous: Iterable[tuple[str, Sequence[str]]]
) -> StatementLineage:
    """Return a statement with a diagnostic for each doubtful temporary table or variable that it reads.

    `ambiguous` are its columns that may belong to several tables: behind a temporary table they are as ambiguous.
    """
    for name in (name for name, lacks_sources in names.items() if lacks_sources):
        problem = Diagnostic(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.WARNING,
            f"the content of {name} is not fully known: it is outside, or what fills it was not fully resolved",
            statement.span,
            "see the statements before and their diagnostics",
        )
        statement = statement.in_doubt(problem)
    if any(found.code is DiagnosticCode.AMBIGUOUS_COLUMN for found in statement.diagnostics):
        return statement
    for column, tables in dict.fromkeys((column, tuple(tables)) for column, tables in ambiguous):
        problem = Diagnostic(
            DiagnosticCode.AMBIGUOUS_COLUMN,
            Severity.WARNING,
            f"column `{column}`, read through {' or '.join(names)}, may belong to {' or '.join(tables)}",
            statement.span,
            "write the table's alias before the column in the statement that fills it",
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


def ambiguous_columns(edges: Iterable[Edge]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the unprefixed columns that may belong to one of several tables, each with these tables."""
    found: dict[tuple[Span | None, str], dict[str, None]] = defaultdict(dict)
    for edge in edges:
        if edge.ambiguous and edge.source.table is not None:
            found[edge.span, edge.source.column][edge.source.table] = None
    return [(column, tuple(tables)) for (_, column), tables in found.items()]
