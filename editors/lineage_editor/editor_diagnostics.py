"""The diagnostics of a document, as an editor shows them. Templates give no false errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol.types import Diagnostic as EditorDiagnostic
from lsprotocol.types import DiagnosticSeverity, Position, Range

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.sql.outline.query_outline import OutlinedStatement
from lineage.sql.parse.placeholders import placeholders_in
from lineage_editor.analysis import DocumentAnalysis
from lineage_editor.text_positions import TextPositions

__all__ = ["SOURCE", "editor_diagnostics", "failed_reading"]

SOURCE = "lineage"
_CLOSED = re.compile(r"\{\{-?\s*(?:(?:ref|source|config)\s*\(|this\b)|\{%-?\s*(?:end)?set\b")
"""Placeholders of dbt whose meaning is known without executing the template."""
_WRONG_SQL = frozenset(
    (
        DiagnosticCode.PARSE_ERROR,
        DiagnosticCode.NOT_SQL,
        DiagnosticCode.TRUNCATED_TEXT,
        DiagnosticCode.UNKNOWN_COLUMN,
        DiagnosticCode.AMBIGUOUS_COLUMN,
        DiagnosticCode.COLUMN_COUNT_MISMATCH,
    )
)
"""Codes of what a database would refuse; others say what lineage does not know."""
_SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Warning,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.INFO: DiagnosticSeverity.Information,
}
_NOT_EXECUTED = "This file is a template, which is not executed here: the rendered SQL may be right."


def editor_diagnostics(analysis: DocumentAnalysis, positions: TextPositions) -> list[EditorDiagnostic]:
    """Return the diagnostics of all statements, each once, with code, place and hint."""
    found: dict[tuple[object, ...], EditorDiagnostic] = {}
    for statement in analysis.statements:
        is_open = _is_open_template(analysis, statement)
        for diagnostic in statement.lineage.diagnostics:
            if diagnostic.code is DiagnosticCode.EMPTY_INPUT:
                continue
            shown = _shown(diagnostic, statement.span, positions, is_open=is_open)
            found[diagnostic.code, diagnostic.message, shown.range.start.line, shown.range.start.character] = shown
    return list(found.values())


def failed_reading(where: str) -> EditorDiagnostic:
    """Return the diagnostic of a document that could not be read, because of an error of this program."""
    start = Position(0, 0)
    message = f"the lineage of this file could not be read: internal error ({where})"
    code = str(DiagnosticCode.INTERNAL_ERROR)
    return EditorDiagnostic(Range(start, start), message, DiagnosticSeverity.Warning, code, source=SOURCE)


def _shown(diagnostic: Diagnostic, whole: Span, positions: TextPositions, *, is_open: bool) -> EditorDiagnostic:
    span = diagnostic.span
    if span is None or span.end <= span.start:
        span = Span(whole.start, min(whole.end, whole.start + 1)) if span is None else span
    severity = _SEVERITIES[diagnostic.severity]
    if diagnostic.code in _WRONG_SQL and diagnostic.severity is Severity.ERROR:
        severity = DiagnosticSeverity.Error
    lines = [diagnostic.message, *([diagnostic.hint] if diagnostic.hint else [])]
    if is_open and severity is not DiagnosticSeverity.Information:
        severity = DiagnosticSeverity.Information
        lines.append(_NOT_EXECUTED)
    return EditorDiagnostic(positions.range(span), "\n".join(lines), severity, str(diagnostic.code), source=SOURCE)


def _is_open_template(analysis: DocumentAnalysis, statement: OutlinedStatement) -> bool:
    """Return whether rendering the template may change a statement beyond the names of tables."""
    if analysis.has_control:
        return True
    return any(_open_placeholders(analysis.text[statement.span.start : statement.span.end]))


def _open_placeholders(text: str) -> Iterator[str]:
    return (one for one in placeholders_in(text) if not _CLOSED.match(one))
