"""Templates in SQL (Jinja, Liquid): what cannot be evaluated is replaced, and reported."""

from __future__ import annotations

import re

from lineage.model.diagnostics import Diagnostic, Severity
from lineage.model.dialects import dialect_named
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.trees import take_apart
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.written_sql import LITERAL

__all__ = ["parses", "without_templates"]

_PIECE = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<string>'(?:[^']|'')*')|(?P<block>\{%.*?%\})|(?P<value>\{\{.*?\}\})|\{#.*?#\}",
    re.DOTALL,
)
_INSIDE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_BRANCH = re.compile(r"\{%-?\s*(?:if|elsif|elif|else|unless|case|when|for)\b")


def without_templates(sql: str, language: str) -> tuple[str, list[Diagnostic]]:
    """Return SQL in which a value of a template is a literal and all branches are kept, with what is in doubt.

    >>> without_templates("select a from t where d > '{{ from }}'", "Jinja")[0]
    "select a from t where d > '?'"
    >>> without_templates("select a -- don't\\n, {{ b }} from t", "Jinja")[0]
    "select a -- don't\\n, '?' from t"
    """
    problems: list[Diagnostic] = []
    if _BRANCH.search(sql):
        message = f"{language}: all branches of a condition or loop are read, one after the other"
        problems.append(not_read(message, "the SQL that is run may have only one of them"))
    if "{{" in sql and "}}" in sql:
        message = f"{language}: a value of a template ({{{{…}}}}) is not known: a literal is assumed"
        problems.append(not_read(message, severity=Severity.WARNING))
    elif "{%" in sql and not problems:
        problems.append(not_read(f"{language}: a tag of a template is not read", severity=Severity.WARNING))

    def replace(found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return _INSIDE.sub(" ", found["comment"])
        if found["string"] is not None:
            return _INSIDE.sub("?", found["string"])
        return LITERAL if found["value"] is not None else " "

    return _PIECE.sub(replace, sql), problems


def parses(sql: str, dialect: str) -> bool:
    """Return whether SQL is one statement without an error."""
    found = list(parse_statements(sql, dialect_named(dialect)))
    is_whole = len(found) == 1 and found[0].tree is not None and found[0].problem is None
    for one in found:
        if one.tree is not None:
            take_apart(one.tree)
    return is_whole
