"""Literals masked in place: query texts hold personal data, and what is stored must not.

Every literal keeps its length and its quotes, so that a place in the raw text is the same place in the masked
text: the characters of a string become `*`, the digits of a number `0`. Comments are blanked.
"""

from __future__ import annotations

import re

from lineage.sql.scan.facts import dialect_features
from lineage.sql.scan.pieces import PieceKind, pieces

__all__ = ["mask_literals"]

_TEMPLATE_STRING = re.compile(r"'[^']*+'?|\"[^\"]*+\"?")


def mask_literals(sql: str, dialect: str) -> str:
    """Return the text with its literals masked and its comments blanked; its length does not change."""
    masked: list[str] = []
    done = 0
    triple = "triple_strings" in dialect_features(dialect)
    for piece in pieces(sql, dialect):
        hidden = _masked(piece.kind, sql[piece.start : piece.end], triple=triple)
        if hidden is not None:
            masked += (sql[done : piece.start], hidden)
            done = piece.end
    masked.append(sql[done:])
    return "".join(masked)


def _masked(kind: PieceKind, text: str, *, triple: bool) -> str | None:
    """Return what stands for a piece; None for one that is shown."""
    match kind:
        case PieceKind.COMMENT:
            return re.sub(r"[^\n]", " ", text)
        case PieceKind.STRING:
            lead = text.find(text[-1])
            quotes = 3 if triple and text.startswith(text[-1] * 3, lead) else 1
            return _between(text, lead + quotes, quotes)
        case PieceKind.ORACLE_STRING:
            return _between(text, text.index("'") + 2, 2)
        case PieceKind.DOLLAR_STRING:
            tag = text.index("$", 1) + 1
            return _between(text, tag, tag)
        case PieceKind.TEMPLATE:
            inner = _TEMPLATE_STRING.sub(_quoted, text[2:-2])
            return text[:2] + inner + text[-2:]
        case PieceKind.UNCLOSED:
            return text[0] + "*" * (len(text) - 1)
        case PieceKind.NUMBER:
            is_hexadecimal = text[:2].lower() == "0x"
            return text[:2] + "0" * (len(text) - 2) if is_hexadecimal else re.sub(r"[0-9]", "0", text)
        case _:
            return None


def _quoted(found: re.Match[str]) -> str:
    text = found.group()
    closed = len(text) > 1 and text[-1] == text[0]
    return _between(text, 1, 1) if closed else text[0] + "*" * (len(text) - 1)


def _between(text: str, lead: int, trail: int) -> str:
    return text[:lead] + "*" * (len(text) - lead - trail) + text[len(text) - trail :]
