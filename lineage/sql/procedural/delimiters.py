"""MySQL's DELIMITER: a line for the client that says what ends a statement, so that bodies may hold semicolons."""

from __future__ import annotations

import re

from lineage.sql.scan import split_statements
from lineage.sql.scan.facts import dialect_features

__all__ = ["with_semicolons"]

_NO_LINE_BREAK = re.compile(r"[^\n]")


def with_semicolons(text: str, dialect: str) -> str:
    """Return a text that chooses delimiters with a semicolon behind each statement and blanks between them.

    Statements are those that the client would send; every one keeps its place.

    >>> with_semicolons("DELIMITER //\\nSELECT 1 //\\nDELIMITER ;\\nSELECT 2;", "mysql")
    '            \\nSELECT 1;  \\n           \\nSELECT 2;'
    """
    if "delimiter" not in text.lower() or "delimiters" not in dialect_features(dialect):
        return text
    parts: list[str] = []
    position = 0
    for start, end in split_statements(text, dialect):
        parts += (_between(text[position:start], ends=position > 0), text[start:end])
        position = end
    parts.append(_between(text[position:], ends=position > 0))
    return "".join(parts)


def _between(text: str, *, ends: bool) -> str:
    blanks = _NO_LINE_BREAK.sub(" ", text)
    return blanks.replace(" ", ";", 1) if ends else blanks
