"""MySQL's DELIMITER: a client command that sets the statement delimiter, so that bodies may contain semicolons."""

from __future__ import annotations

import re

from lineage.sql.scan import split_statements
from lineage.sql.scan.facts import dialect_features

__all__ = ["with_semicolons"]

_NO_LINE_BREAK = re.compile(r"[^\n]")


def with_semicolons(text: str, dialect: str) -> str:
    """Return a text that uses DELIMITER with a semicolon after each statement and blanks between statements.

    The statements are those that the client would send, at unchanged positions.

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
