"""The query in a statement that defines a table or view by it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token

from lineage.model.dialect import Dialect
from lineage.sql.procedural.text.tokens import tokenize, word_of

__all__ = ["defining_query"]

_QUERIES = frozenset(("SELECT", "WITH", "VALUES", "TABLE", "("))
_BEHIND = (("WITH", "NO", "DATA"), ("WITH", "DATA"), ("WITH", "CHECK", "OPTION"), ("WITH", "LOCAL", "CHECK", "OPTION"),
           ("WITH", "CASCADED", "CHECK", "OPTION"))  # fmt: skip
"""What may follow the query of CREATE TABLE or CREATE VIEW."""


def defining_query(text: str, dialect: Dialect) -> str | None:
    """Return the query of `CREATE TABLE … AS query` or `CREATE VIEW … AS query`, or a bare query; None if it has none.

    >>> from lineage.model.dialects import dialect_named
    >>> defining_query("CREATE TABLE t (a) AS SELECT 1 WITH NO DATA;", dialect_named("postgres"))
    'SELECT 1'
    """
    try:
        tokens = tokenize(text, dialect)
    except TokenError:
        return None
    words = [word_of(token) for token in tokens]
    while words and words[-1] == ";":
        words.pop()
    start = 0
    if words[:1] == ["CREATE"]:
        found = _behind_as(words)
        if found is None:
            return None
        start = found
    if words[start : start + 1] == [] or words[start] not in _QUERIES:
        return None
    end = len(words)
    for ending in _BEHIND:
        if tuple(words[end - len(ending) : end]) == ending:
            end -= len(ending)
            break
    return _text(text, tokens, start, end)


def _behind_as(words: Sequence[str]) -> int | None:
    """Return the position behind the AS that the query follows, outside of brackets."""
    depth = 0
    for at, word in enumerate(words[:-1]):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "AS" and words[at + 1] in _QUERIES:
            return at + 1
    return None


def _text(text: str, tokens: Sequence[Token], start: int, end: int) -> str:
    return text[tokens[start].start : tokens[end - 1].end + 1]
