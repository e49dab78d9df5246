"""What a text's characters belong to before any grammar: comments, strings, names, numbers, semicolons.

One pattern a dialect finds the next piece; masking and splitting go by it. The rules are the dialects' own lexical
rules: escapes by backslash, strings in double quotes, dollar quotes, Oracle's q'[…]', nested comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import NamedTuple

__all__ = ["Piece", "PieceKind", "pieces"]

_BACKSLASH_ESCAPES = frozenset(
    ("mysql", "doris", "starrocks", "bigquery", "spark", "databricks", "hive", "snowflake", "clickhouse", "redshift",
     "athena", "drill")
)  # fmt: skip
_DOUBLE_QUOTED_STRINGS = frozenset(("mysql", "doris", "starrocks", "bigquery", "spark", "databricks", "hive"))
_HASH_COMMENTS = frozenset(("mysql", "doris", "starrocks", "bigquery", "clickhouse"))
_DOLLAR_QUOTES = frozenset(("ansi", "postgres", "redshift", "snowflake", "duckdb", "materialize", "risingwave"))
_NESTED_COMMENTS = frozenset(("postgres", "redshift", "tsql", "fabric", "duckdb", "ansi", "materialize", "risingwave"))
_BRACKETED_NAMES = frozenset(("tsql", "fabric", "sqlite"))
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}


class PieceKind(StrEnum):
    """What a piece of text is."""

    COMMENT = "comment"
    STRING = "string"
    ORACLE_STRING = "oracle"
    DOLLAR_STRING = "dollar"
    UNCLOSED = "unclosed"
    """A string or comment that the text ends in."""
    NUMBER = "number"
    NAME = "name"
    WORD = "word"
    SEMICOLON = "semicolon"


class Piece(NamedTuple):
    """A piece and its place."""

    kind: PieceKind
    start: int
    end: int


def pieces(sql: str, dialect: str) -> Iterator[Piece]:
    """Yield the pieces of a text in order; white space and operators between them are left out.

    >>> [(p.kind.value, "a='x';"[p.start : p.end]) for p in pieces("a='x';", "postgres")]
    [('word', 'a'), ('string', "'x'"), ('semicolon', ';')]
    """
    search = _pattern(dialect).search
    position = 0
    while found := search(sql, position):
        start, end = found.span()
        kind = PieceKind(found.lastgroup or "")
        close = end
        if kind is PieceKind.COMMENT and dialect in _NESTED_COMMENTS and sql.startswith("/*", start):
            close = _nested_end(sql, start)
        elif kind is PieceKind.ORACLE_STRING:
            opener = sql[end - 1]
            close = _after(sql, _CLOSERS.get(opener, opener) + "'", end)
        elif kind is PieceKind.DOLLAR_STRING:
            close = _after(sql, found.group(), end)
        position = close if close >= 0 else len(sql)
        yield Piece(kind if close >= 0 else PieceKind.UNCLOSED, start, position)


@cache
def _pattern(dialect: str) -> re.Pattern[str]:
    """Return the pattern that finds the next piece, whichever stands first. Bodies are possessive: no backtracking."""
    escapes = dialect in _BACKSLASH_ESCAPES
    strings = [r"'(?:[^'\\]|\\.|'')*+'" if escapes else r"(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*+'|'(?:[^']|'')*+'"]
    if dialect == "bigquery":
        strings = [r'"""(?:[^\\]|\\.)*?"""', r"'''(?:[^\\]|\\.)*?'''", *strings]
    names = [r"`(?:[^`]|``)*+`"]
    if dialect in _DOUBLE_QUOTED_STRINGS:
        strings.append(r'"(?:[^"\\]|\\.|"")*+"')
    else:
        names.append(r'"(?:[^"]|"")*+"')
    if dialect in _BRACKETED_NAMES:
        names.append(r"\[[^\]]*+\]")
    comments = ["--[^\n]*+", r"/\*.*?\*/", *(["#[^\n]*+"] if dialect in _HASH_COMMENTS else [])]
    groups = {
        "comment": "|".join(comments),
        **({"oracle": r"(?<![\w$])[nN]?[qQ]'."} if dialect == "oracle" else {}),
        "string": "|".join(strings),
        **({"dollar": r"(?<![\w$])\$(?:[A-Za-z_]\w*)?\$"} if dialect in _DOLLAR_QUOTES else {}),
        "name": "|".join(names),
        "unclosed": r"['\"`].*+|/\*.*+",
        # A word with digits in it (t1, @p2, $1, :3) is no number.
        "word": r"[@:$#]?\b[^\W\d]\w*+|[$:@]\d++",
        "number": r"0[xX][0-9a-fA-F]++|(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?",
        "semicolon": ";",
    }
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in groups.items()), re.DOTALL)


def _after(sql: str, closer: str, start: int) -> int:
    """Return the place after the closer, or -1 where there is none."""
    found = sql.find(closer, start)
    return found + len(closer) if found >= 0 else -1


def _nested_end(sql: str, start: int) -> int:
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(sql, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return -1
