"""The tokens of each item of a select list: some engines name a column without an alias by its text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["CALLED", "MAKES_ROWS", "select_items"]

CALLED = "called"
"""Metadata key of an inlined body: the name of the function that is called there."""
MAKES_ROWS = "makes rows"
"""Metadata key of an inlined body that may return several rows."""

_OPENED = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE))
_CLOSED = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE))
_ENDS = frozenset(
    (TokenType.FROM, TokenType.INTO, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY,
     TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT,
     TokenType.WINDOW, TokenType.QUALIFY, TokenType.SEMICOLON, TokenType.PREWHERE, TokenType.CLUSTER_BY,
     TokenType.DISTRIBUTE_BY, TokenType.SORT_BY, TokenType.LATERAL)
)  # fmt: skip
"""What ends a select list, outside brackets."""
_MODIFIERS = frozenset(
    ("ALL", "DISTINCT", "DISTINCTROW", "HIGH_PRIORITY", "STRAIGHT_JOIN", "SQL_SMALL_RESULT", "SQL_BIG_RESULT",
     "SQL_BUFFER_RESULT", "SQL_NO_CACHE", "SQL_CACHE", "SQL_CALC_FOUND_ROWS")
)  # fmt: skip
"""Words between SELECT and the first item. The ones that begin with SQL_ are MySQL's."""
_start_of = attrgetter("start")


def select_items(select: exp.Expr, tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Return the tokens of each item of a SELECT, in order; an empty list if they are not certain.

    The parser keeps no position of SELECT or of brackets: the list is found from a name or literal in it.
    """
    items = select.args["expressions"]
    at = _index_within(items, tokens)
    first = _behind_select(tokens, at) if at is not None else _of_outermost(select, tokens)
    if first is None:
        return []
    found = _divide(tokens, first)
    return found if len(found) == len(items) and all(found) else []


def _index_within(items: Sequence[exp.Expr], tokens: Sequence[Token]) -> int | None:
    """Return the index of a token of the list, outside its sub-queries; None if no node there has a position."""
    for item in items:
        for node in item.walk(prune=lambda below: isinstance(below, exp.Query)):
            meta = node._meta or {}
            start = meta.get("start") if CALLED in meta or not isinstance(node, exp.Query) else None
            if start is None:
                continue
            at = bisect_left(tokens, start, key=_start_of)
            if at < len(tokens) and tokens[at].start == start:
                return at
    return None


def _behind_select(tokens: Sequence[Token], at: int) -> int | None:
    """Return the index of the first item's first token, given that of a token in the list."""
    depth = 0
    for index in range(at, -1, -1):
        kind = tokens[index].token_type
        if kind in _CLOSED:
            depth += 1
        elif kind in _OPENED:
            depth = max(0, depth - 1)
        elif kind is TokenType.SELECT and not depth:
            first = index + 1
            while first < at and tokens[first].text.upper() in _MODIFIERS:
                first += 1
            return first
    return None


def _of_outermost(select: exp.Expr, tokens: Sequence[Token]) -> int | None:
    """Return the index of the first item's first token in a statement that begins with its SELECT."""
    return 1 if select.parent is None and tokens and tokens[0].token_type is TokenType.SELECT else None


def _divide(tokens: Sequence[Token], first: int) -> list[Sequence[Token]]:
    """Return the tokens from an index on, divided at the commas outside brackets, up to the end of the list."""
    items: list[Sequence[Token]] = []
    depth = 0
    begin = first
    index = first
    while index < len(tokens):
        kind = tokens[index].token_type
        if kind in _OPENED:
            depth += 1
        elif kind in _CLOSED:
            depth -= 1
            if depth < 0:
                break
        elif not depth and kind is TokenType.COMMA:
            items.append(tokens[begin:index])
            begin = index + 1
        elif not depth and kind in _ENDS and not _continues(tokens, index, begin):
            break
        index += 1
    items.append(tokens[begin:index])
    return items


def _continues(tokens: Sequence[Token], index: int, begin: int) -> bool:
    """Return whether a word that could end the list does not: `a IS DISTINCT FROM b`, `* EXCEPT (a)`."""
    before = tokens[index - 1].token_type if index > begin else None
    if tokens[index].token_type is TokenType.FROM:
        return before is TokenType.DISTINCT
    return tokens[index].token_type is TokenType.EXCEPT and before is TokenType.STAR
