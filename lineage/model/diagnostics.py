"""Diagnostics: coded, positioned findings about a statement. The codes are stable; people filter by them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from lineage.frozen import frozen

__all__ = ["Diagnostic", "DiagnosticCode", "Severity", "Span"]


class Span(NamedTuple):
    """A span of SQL text: `text[start:end]`, in code points, and the line and column where it begins (from 1)."""

    start: int
    end: int
    line: int = 1
    column: int = 1

    def to_dict(self) -> dict[str, int]:
        """Return the span as JSON values."""
        return {"start": self.start, "end": self.end, "line": self.line, "column": self.column}

    @classmethod
    def locate(cls, text: str, start: int, end: int) -> Span:
        """Return the span of `text[start:end]`, with its line and column.

        >>> Span.locate("select\\n  a", 9, 10)
        Span(start=9, end=10, line=2, column=3)
        """
        line_start = text.rfind("\n", 0, start) + 1
        return cls(start, end, text.count("\n", 0, start) + 1, start - line_start + 1)


class Severity(StrEnum):
    """How much of a statement's lineage a diagnostic puts in doubt."""

    ERROR = "error"
    """Lineage is missing."""
    WARNING = "warning"
    """Lineage is complete, but part of it is a guess that the message describes."""
    INFO = "info"
    """Lineage is not in doubt; the message is informational."""


class DiagnosticCode(StrEnum):
    """All diagnostic codes. A code is never renamed or reused for something else."""

    PARSE_ERROR = "PARSE_ERROR"
    NOT_SQL = "NOT_SQL"
    EMPTY_INPUT = "EMPTY_INPUT"
    UNREADABLE_FILE = "UNREADABLE_FILE"
    INVALID_ENCODING = "INVALID_ENCODING"
    UNSUPPORTED_STATEMENT = "UNSUPPORTED_STATEMENT"
    UNSUPPORTED_SYNTAX = "UNSUPPORTED_SYNTAX"
    NESTING_TOO_DEEP = "NESTING_TOO_DEEP"
    STATEMENT_TOO_LARGE = "STATEMENT_TOO_LARGE"
    TIME_EXCEEDED = "TIME_EXCEEDED"
    RESULT_TOO_LARGE = "RESULT_TOO_LARGE"
    UNKNOWN_TABLE = "UNKNOWN_TABLE"
    UNKNOWN_COLUMN = "UNKNOWN_COLUMN"
    AMBIGUOUS_COLUMN = "AMBIGUOUS_COLUMN"
    UNRESOLVED_STAR = "UNRESOLVED_STAR"
    COLUMN_COUNT_MISMATCH = "COLUMN_COUNT_MISMATCH"
    TARGET_COLUMNS_UNKNOWN = "TARGET_COLUMNS_UNKNOWN"
    DYNAMIC_SQL = "DYNAMIC_SQL"
    TRUNCATED_TEXT = "TRUNCATED_TEXT"
    LOG_ROWS_LEFT_OUT = "LOG_ROWS_LEFT_OUT"
    INVALID_EVENT = "INVALID_EVENT"
    INVALID_FACET = "INVALID_FACET"
    FACET_DIFFERS = "FACET_DIFFERS"
    FACET_INCOMPLETE = "FACET_INCOMPLETE"
    SYMLINK_MISSING = "SYMLINK_MISSING"
    ENGINE_DIFFERS = "ENGINE_DIFFERS"
    NO_DATASETS = "NO_DATASETS"
    OPAQUE_FUNCTION = "OPAQUE_FUNCTION"
    ROLLED_BACK = "ROLLED_BACK"
    REPLACED_LATER = "REPLACED_LATER"
    DEFINED_TWICE = "DEFINED_TWICE"
    CYCLIC_DEFINITION = "CYCLIC_DEFINITION"
    DIALECT_GUESSED = "DIALECT_GUESSED"
    ARTIFACT_VERSION = "ARTIFACT_VERSION"
    ARTIFACT_DAMAGED = "ARTIFACT_DAMAGED"
    ARTIFACT_OUTDATED = "ARTIFACT_OUTDATED"
    NOT_COMPILED = "NOT_COMPILED"
    BUILT_OTHERWISE = "BUILT_OTHERWISE"
    PYTHON_MODEL = "PYTHON_MODEL"
    CATALOG_UNREADABLE = "CATALOG_UNREADABLE"
    NOT_FOLLOWED = "NOT_FOLLOWED"
    DATABASE_DIFFERS = "DATABASE_DIFFERS"
    EXPRESSION_NOT_READ = "EXPRESSION_NOT_READ"
    CONNECTION_UNKNOWN = "CONNECTION_UNKNOWN"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@frozen
class Diagnostic:
    """A finding: what was found, where, and what to do about it.

    >>> print(Diagnostic(DiagnosticCode.UNKNOWN_COLUMN, Severity.WARNING, "no column `amout`", Span(7, 12, 1, 8)))
    warning UNKNOWN_COLUMN at 1:8: no column `amout`
    """

    code: DiagnosticCode
    severity: Severity
    message: str
    span: Span | None = None
    hint: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnostic as JSON values."""
        return {
            "code": str(self.code),
            "severity": str(self.severity),
            "message": self.message,
            "span": self.span.to_dict() if self.span else None,
            "hint": self.hint,
        }

    def __str__(self) -> str:
        position = f" at {self.span.line}:{self.span.column}" if self.span else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.severity} {self.code}{position}: {self.message}{hint}"
