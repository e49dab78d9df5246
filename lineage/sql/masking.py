"""Literals masked in place: query texts hold personal data, and what is stored must not.

Every literal keeps its length and its quotes, so that a place in the raw text is the same place in the masked
text: the characters of a string become `*`, the digits of a number `0`. Comments are blanked.
"""

from __future__ import annotations

import re

from lineage.model.dialects import Dialect, dialect_named
from lineage.sql.lexing import Piece, PieceKind, pieces

__all__ = ["mask_literals"]

_LEAD = re.compile(r"[eE]?(\"\"\"|'''|['\"])")
_DOLLAR_TAG = re.compile(r"\$\w*\$")


def mask_literals(sql: str, dialect: str | Dialect = "ansi") -> str:
    """Return the text with its literals masked and its comments blanked; its length does not change.

    >>> mask_literals("SELECT 'Ann''s', 42.5 FROM t1 -- her", "postgres")
    "SELECT '******', 00.0 FROM t1       "

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    masked: list[str] = []
    done = 0
    for piece in pieces(sql, dialect_named(dialect).name):
        hidden = _masked(piece, sql[piece.start : piece.end])
        if hidden is not None:
            masked += (sql[done : piece.start], hidden)
            done = piece.end
    masked.append(sql[done:])
    return "".join(masked)


def _masked(piece: Piece, text: str) -> str | None:
    """Return what stands for a piece; None for one that is shown."""
    match piece.kind:
        case PieceKind.COMMENT:
            return re.sub(r"[^\n]", " ", text)
        case PieceKind.STRING:
            lead = _LEAD.match(text)
            return _between(text, lead.end(), len(lead.group(1))) if lead else "*" * len(text)
        case PieceKind.ORACLE_STRING:
            return _between(text, text.index("'") + 2, 2)
        case PieceKind.DOLLAR_STRING:
            tag = _DOLLAR_TAG.match(text)
            return _between(text, tag.end(), tag.end()) if tag else "*" * len(text)
        case PieceKind.UNCLOSED:
            return text[0] + "*" * (len(text) - 1)
        case PieceKind.NUMBER:
            is_hexadecimal = text[:2].lower() == "0x"
            return text[:2] + "0" * (len(text) - 2) if is_hexadecimal else re.sub(r"\d", "0", text)
        case _:
            return None


def _between(text: str, lead: int, trail: int) -> str:
    return text[:lead] + "*" * (len(text) - lead - trail) + text[len(text) - trail :]
