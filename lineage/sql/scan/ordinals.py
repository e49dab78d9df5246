"""Ordinals in ORDER BY and GROUP BY: numbers that refer to a column of the select list, and so affect lineage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lineage.sql.scan.pieces import PieceKind, ascii_lower, pieces

__all__ = ["find_ordinals"]

MAX_DIGITS = 3
"""A longer number is a value, because no select list is that long."""

_LIKELY = re.compile(r"\bby\s", re.IGNORECASE)


def find_ordinals(sql: str, dialect: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each number that is a whole key of ORDER BY or GROUP BY.

    >>> text = "SELECT a, b FROM t WHERE c = 5 GROUP BY a, 2 ORDER BY 1 DESC, a + 3 LIMIT 7"
    >>> [text[start:end] for start, end in find_ordinals(text, "postgres")]
    ['2', '1']
    """
    if not _LIKELY.search(sql):
        return
    lists: list[bool] = [False]
    """For the outermost level and each open bracket: whether it is inside the keys of a clause."""
    begins = False
    held: tuple[int, int] | None = None
    for piece in pieces(sql, dialect):
        if piece.kind is PieceKind.COMMENT:
            continue
        text = sql[piece.start : piece.end]
        word = ascii_lower(text) if piece.kind is PieceKind.WORD else ""
        if held is not None and (text in (",", ")", ";") or word):
            yield held
        held = None
        if piece.kind is PieceKind.NUMBER and begins and text.isdigit() and len(text) <= MAX_DIGITS:
            held = (piece.start, piece.end)
        begins = word == "by" or (text == "," and lists[-1])
        if text == "(":
            lists.append(False)
        elif text == ")" and len(lists) > 1:
            lists.pop()
        elif text == ";":
            lists = [False]
        elif word == "by":
            lists[-1] = True
        elif word in _CLAUSES:
            lists[-1] = False
    if held is not None:
        yield held


_CLAUSES = frozenset(
    ("select", "from", "where", "having", "qualify", "window", "limit", "offset", "fetch", "union", "intersect",
     "except", "rows", "range", "groups", "settings", "format", "for", "into", "values", "set")
)  # fmt: skip
"""Words that end the keys of a clause."""
