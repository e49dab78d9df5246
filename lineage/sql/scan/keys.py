"""The strings of a statement that are field names: keys of structs that it builds or reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from lineage.sql.scan.pieces import PieceKind, pieces

__all__ = ["find_keys", "with_keys_apart"]

_LIKELY = re.compile(r"""["']\s*(?:\]|:(?!:))""")
_MARKS = "*+=~^#@&%!"


def find_keys(sql: str, dialect: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each string that is a whole subscript, or is followed by a colon.

    >>> text = "SELECT s['a'], {'b': x} FROM t WHERE c = 'd'"
    >>> [text[start:end] for start, end in find_keys(text, "duckdb")]
    ["'a'", "'b'"]
    """
    if not _LIKELY.search(sql):
        return
    before, held = "", None
    in_brackets = False
    for piece in pieces(sql, dialect):
        if piece.kind is PieceKind.COMMENT:
            continue
        text = sql[piece.start : piece.end]
        if held is not None:
            is_key = (text == "]" and in_brackets) or (text == ":" and sql[piece.end : piece.end + 1] != ":")
            if is_key:
                yield held
        held = (piece.start, piece.end) if piece.kind is PieceKind.STRING else None
        in_brackets = before == "["
        before = text


def with_keys_apart(sql: str, masked: str, dialect: str) -> str:
    """Return the masked text with different keys masked differently, as far as their length allows.

    >>> with_keys_apart("SELECT {'a': x, 'b': y}['b'] FROM t", "SELECT {'*': x, '*': y}['*'] FROM t", "duckdb")
    "SELECT {'*': x, '+': y}['+'] FROM t"
    """
    marks: dict[str, str] = {}
    taken: set[str] = set()
    for start, end in find_keys(sql, dialect):
        key, hidden = sql[start:end], masked[start:end]
        first, last = hidden.find("*"), hidden.rfind("*") + 1
        if first < 0:
            continue
        if key not in marks:
            found = (hidden[:first] + "".join(mark) + hidden[last:] for mark in product(_MARKS, repeat=last - first))
            marks[key] = next((mark for mark in found if mark not in taken), hidden)
            taken.add(marks[key])
        masked = masked[:start] + marks[key] + masked[end:]
    return masked
