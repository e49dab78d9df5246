"""MySQL's DELIMITER: a line for the client that says what ends a statement, so that bodies may hold semicolons."""

from __future__ import annotations

import re

__all__ = ["with_semicolons"]

_LINE = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[^\n]*$", re.IGNORECASE | re.MULTILINE)


def with_semicolons(text: str) -> str:
    """Return the text with each chosen delimiter as a semicolon and the lines that choose it blank; lengths agree.

    >>> with_semicolons("DELIMITER //\\nSELECT 1 //\\nDELIMITER ;\\nSELECT 2;")
    '            \\nSELECT 1 ; \\n           \\nSELECT 2;'
    """
    if "delimiter" not in text.lower():
        return text
    parts: list[str] = []
    position, delimiter = 0, ";"
    for line in _LINE.finditer(text):
        parts.append(_ended(text[position : line.start()], delimiter))
        parts.append(" " * (line.end() - line.start()))
        position, delimiter = line.end(), line.group(1)
    parts.append(_ended(text[position:], delimiter))
    return "".join(parts)


def _ended(text: str, delimiter: str) -> str:
    return text if delimiter == ";" else text.replace(delimiter, ";".ljust(len(delimiter)))
