"""Calls of procedures that the input does not define: what such a statement reads and writes is not known.

A procedure's statements are extracted where it is defined, so a call of a known one states nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.model.names import split_name
from lineage.model.statement import Completeness, StatementLineage

__all__ = [
    "called_procedure",
    "defined_procedures",
    "name_parts",
    "procedures_in",
    "unknown_procedure",
    "with_unknown_procedure",
]

_CALLS = frozenset(("CALL", "EXEC", "EXECUTE"))
"""The operations of statements that may call a procedure."""

_PART = r"(?:[\w$#]+|\"[^\"]+\"|\[[^\]]+\]|`[^`]+`)"
_NAME = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_DEFINED = re.compile(rf"\b(?:PROC(?:EDURE)?|MACRO)\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}", re.IGNORECASE)
_CALLED = re.compile(rf"(CALL|EXEC(?:UTE)?)\s+(?:@\w+\s*=\s*)?{_NAME}", re.IGNORECASE)
_CALLED_BARE = re.compile(rf"()(?!(?:CALL|EXEC(?:UTE)?)\b){_NAME}\s*(?:[(;]|$)", re.IGNORECASE)
"""PL/SQL's `p(1);`, `p;`"""
_NO_PROCEDURE = frozenset(
    (
        "commit",
        "rollback",
        "savepoint",
        "return",
        "exit",
        "continue",
        "raise",
        "null",
        "immediate",
        "as",
        "task",
        "alert",
        "script",
    )
)
_OF_THE_SYSTEM = re.compile(
    r"(?:.*\.)?(?:system|sys|mysql|sysproc|bq|dbms_\w+|utl_\w+|rdsadmin|performance_schema)\..*"
    r"|(?:.*\.)?(?:raise_application_error|extend|trim|delete|pg_\w+|system\$\w+|xp_\w+|sp_(?:rename|help\w*|executesql|prepare|prepexec|unprepare|execute"
    r"|cursor\w*|reset_connection|\w+extendedproperty|updatestats|configure|recompile|msforeach\w+|tables|columns"
    r"|\w*columns\w*|who2?|lock|spaceused|addmessage|\w*applock|\w*session_context|refresh\w+|depends|dboption"
    r"|\w*linkedserver|\w*srvlogin\w*|send_dbmail|\w+_job|oa\w+|\w*rolemember|\w*login|\w*user|fkeys|pkeys"
    r"|statistics|databases|tableoption|indexoption|invalidate_textptr|xml_\w+|describe\w+|set\w*|settriggerorder))",
    re.IGNORECASE,
)
"""Procedures of the products, which move no rows of the user's tables."""


def defined_procedures(texts: Iterable[str]) -> frozenset[str]:
    """Return the names of the procedures that texts define, without their schemas, in lower case."""
    return frozenset(_last_part(name) for text in texts for name in procedures_in(text))


def procedures_in(text: str) -> list[str]:
    """Return the names of the procedures that a text defines, as written."""
    return [found.group(1) for found in _DEFINED.finditer(text)]


def name_parts(name: str) -> list[str]:
    """Return the parts of a procedure's name, in lower case."""
    return [part.lower() for part, _ in split_name(re.sub(r"[\[\]`]", '"', name))]


def with_unknown_procedure(
    statement: StatementLineage, text: str, defined: Callable[[], Collection[str]], dialect: Dialect
) -> StatementLineage:
    """Return a statement that is partial if it calls a procedure that is not defined; else as it is.

    `text` contains the statement at its span; `defined` returns the names of the procedures of the input.
    """
    name = called_procedure(statement, text, dialect)
    if name is None or _last_part(name) in defined():
        return statement
    return statement.in_doubt(unknown_procedure(name, statement.span))


def called_procedure(statement: StatementLineage, text: str, dialect: Dialect) -> str | None:
    """Return the name of the procedure that a statement calls, as written; None for those of the products."""
    if statement.operation not in _CALLS or statement.completeness is not Completeness.FULL:
        return None
    called = _call(text, statement.span, dialect) if statement.span is not None else None
    name = "" if called is None else re.sub(r"\s", "", called.group(2))
    if not name or name.lower() in _NO_PROCEDURE or _OF_THE_SYSTEM.fullmatch(name) is not None:
        return None
    return name


def unknown_procedure(name: str, span: Span | None) -> Diagnostic:
    """Return the diagnostic of a call of a procedure that is not defined."""
    return Diagnostic(
        DiagnosticCode.UNSUPPORTED_STATEMENT,
        Severity.WARNING,
        f"the procedure {name} is not defined in the input: what it reads and writes is not known",
        span,
        "ingest the procedure's definition with the statements that call it",
    )


def _call(text: str, span: Span, dialect: Dialect) -> re.Match[str] | None:
    """Return the match of a procedure call; its second group is the procedure's name."""
    called = _CALLED.match(text, span.start)
    if called is not None:
        return called if called.group(1).upper() == "CALL" or dialect.execute_calls_procedures else None
    return _CALLED_BARE.match(text, span.start, span.end) if dialect.calls_procedures_by_name else None


def _last_part(name: str) -> str:
    return name_parts(name)[-1]
