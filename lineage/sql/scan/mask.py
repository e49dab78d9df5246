"""Mask literals in place: query texts contain personal data, which must not be stored.

Every literal keeps its length and its quotes, so that spans in the raw text are valid in the masked text: the
characters of a string become `*`, a number becomes `?` and spaces. Comments are blanked.

A word or a number directly after a string shows that the quotes are unbalanced (`'it's Ann'`, or a truncated string
followed by others). Literals cannot be distinguished from other text then: everything from there on is masked.
"""

from __future__ import annotations

import re

from lineage.sql.scan.facts import dialect_features
from lineage.sql.scan.pieces import PieceKind, ascii_lower, pieces

__all__ = ["mask_literals"]

_BEHIND_STRINGS = frozenset(
    ("and", "as", "asc", "between", "by", "collate", "desc", "do", "else", "end", "escape", "except", "from", "group",
     "having", "ilike", "in", "intersect", "into", "is", "like", "limit", "not", "on", "or", "order", "over", "rlike",
     "separator", "then", "uescape", "union", "using", "values", "when", "where", "with", "xor")
)  # fmt: skip
"""Words that may directly follow a string without a space."""

_TEMPLATE_STRING = re.compile(r"'[^']*+'?|\"[^\"]*+\"?")


def mask_literals(sql: str, dialect: str, digits: bool = False) -> str:
    """Return the text with its literals masked and its comments blanked; its length does not change.

    With `digits`, the digits of a number become `0`, so that the text parses wherever the original does.
    """
    masked: list[str] = []
    done, string_end = 0, -1
    triple = "triple_strings" in dialect_features(dialect)
    for piece in pieces(sql, dialect):
        kind, text = piece.kind, sql[piece.start : piece.end]
        if piece.start == string_end and _is_torn(kind, text):
            return "".join((*masked, sql[done : piece.start], "*" * (len(sql) - piece.start)))
        string_end = piece.end if kind is PieceKind.STRING else -1
        hidden = _mask_constant(kind, text, triple=triple, digits=digits)
        if hidden is not None:
            masked += (sql[done : piece.start], hidden)
            done = piece.end
    masked.append(sql[done:])
    return "".join(masked)


def _is_torn(kind: PieceKind, text: str) -> bool:
    """Return whether the piece directly after a string shows that the string ended too early."""
    return kind is PieceKind.NUMBER or (kind is PieceKind.WORD and ascii_lower(text) not in _BEHIND_STRINGS)


def _mask_constant(kind: PieceKind, text: str, *, triple: bool, digits: bool) -> str | None:
    """Return the mask of a piece; None for a piece that is not masked."""
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
            inner = _TEMPLATE_STRING.sub(_quote, text[2:-2])
            return text[:2] + inner + text[-2:]
        case PieceKind.UNCLOSED:
            return text[0] + "*" * (len(text) - 1)
        case PieceKind.NUMBER if not digits:
            return "?" + " " * (len(text) - 1)
        case PieceKind.NUMBER:
            is_hexadecimal = text[:2].lower() == "0x"
            return text[:2] + "0" * (len(text) - 2) if is_hexadecimal else re.sub(r"[0-9]", "0", text)
        case _:
            return None


def _quote(found: re.Match[str]) -> str:
    text = found.group()
    closed = len(text) > 1 and text[-1] == text[0]
    return _between(text, 1, 1) if closed else text[0] + "*" * (len(text) - 1)


def _between(text: str, lead: int, trail: int) -> str:
    return text[:lead] + "*" * (len(text) - lead - trail) + text[len(text) - trail :]
