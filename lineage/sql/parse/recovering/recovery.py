"""Recover the largest readable parts of a statement that does not parse.

The parser reports the token at which it stopped. The tokens from there to the next comma, clause or bracket of the
same level are left out; if the parser still gets no further, the whole item, then the enclosing bracket, then
everything before the query. So a broken sub-query loses that sub-query only, an unknown clause loses that clause, and
an unknown head loses the head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["Attempt", "is_worth", "query_after_head", "recover"]

_MAX_ATTEMPTS = 30
_MAX_TOKENS = 20_000
"""Longer statements are traced by their keywords, because each attempt parses the whole statement again."""

_CLAUSES = frozenset(
    ("FROM", "WHERE", "GROUP BY", "GROUP", "HAVING", "QUALIFY", "ORDER BY", "ORDER", "LIMIT", "OFFSET", "FETCH",
     "WINDOW", "UNION", "EXCEPT", "INTERSECT", "MINUS", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL",
     "ON", "USING", "SET", "VALUES", "SELECT", "WHEN", "RETURNING", ",", "AND", "OR")
)  # fmt: skip
_HEADS = frozenset(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"))
_SOURCES = frozenset(("FROM", "JOIN", ",", "USING", "AS"))

Attempt = Callable[[list[Token]], "exp.Expr | int"]
"""Parses tokens into a syntax tree, or returns the index of the token at which it stopped."""


def recover(tokens: list[Token], attempt: Attempt) -> exp.Expr | None:
    """Return the syntax tree of the readable parts of a statement; None if these access no table."""
    if len(tokens) > _MAX_TOKENS:
        return None
    current = list(tokens)
    outcome = attempt(current)
    for _ in range(_MAX_ATTEMPTS):
        if not isinstance(outcome, int):
            return outcome if is_worth(outcome) else None
        for candidate, kept in _candidates(current, outcome):
            result = attempt(candidate) if candidate else 0
            if not isinstance(result, int) or len(candidate) - result < kept:
                current, outcome = candidate, result
                break
        else:
            return None
    return None


def query_after_head(tokens: list[Token]) -> list[Token]:
    """Return the query after the first words of a statement, `CREATE SOMETHING x AS SELECT …`; empty if there is none.

    A string after AS or FOR is not a query of the statement.
    """
    words = [token.text.upper() for token in tokens]
    if words[0] not in ("CREATE", "ALTER", "REPLACE"):
        return []
    for at in range(1, len(tokens)):
        first = words[at + 1] if words[at] == "(" and at + 1 < len(words) else words[at]
        if first in ("SELECT", "WITH") and words[at - 1] in ("AS", "FOR", "ON"):
            return tokens[at:]
    return []


def is_worth(tree: exp.Expr | None) -> bool:
    """Return whether a tree is a statement that reads or writes a table; almost any words parse as an expression."""
    return isinstance(tree, exp.Query | exp.DML | exp.Create | exp.Pivot) and tree.find(exp.Table) is not None


def _candidates(tokens: list[Token], stopped: int) -> Iterator[tuple[list[Token], int]]:
    """Yield the tokens with ever more left out around where the parser stopped, and the number kept after the gap.

    A candidate is better only if the parser gets past the gap.
    """
    words = [token.text.upper() if token.token_type is not TokenType.STRING else "" for token in tokens]
    stopped = min(stopped, len(tokens) - 1)
    opened = _enclosing(words, stopped)
    closed = _closing(words, opened) if opened is not None else len(tokens)
    after = _next_clause(words, stopped, closed)
    if (
        after > stopped and words[stopped] != "SELECT" and not _is_torn_call(words, stopped)
    ):  # FROM without its SELECT would parse as `SELECT *`
        yield tokens[:stopped] + tokens[after:], len(tokens) - after
    item = _item_start(words, stopped, opened)
    after = _next_clause(words, max(stopped, item + 1), closed)
    if words[item] == "SELECT":
        yield [*tokens[: item + 1], _null(tokens[item]), *tokens[after:]], len(tokens) - after
    elif item and words[stopped] != "SELECT":
        yield tokens[:item] + tokens[after:], len(tokens) - after
    if opened is not None:
        yield [*tokens[: opened + 1], *_stand_in(words, tokens, opened), *tokens[closed:]], len(tokens) - closed
    for head in range(1, len(tokens)):
        if words[head] in _HEADS and _enclosing(words, head) is None and head >= min(stopped, 2):
            if not _names_queries(words[:head]):  # without its WITH, a CTE's name would be taken for a table
                yield tokens[head:], len(tokens) - head
            break


def _is_torn_call(words: Sequence[str], stopped: int) -> bool:
    """Return whether the name before a position may be that of a function, `f!(b)`: alone it would be a column."""
    is_operator = bool(words[stopped]) and not words[stopped][0].isalnum() and words[stopped] not in "(),."
    return is_operator and words[stopped + 1 : stopped + 2] == ["("]


def _enclosing(words: Sequence[str], position: int) -> int | None:
    """Return the index of the innermost bracket that is open at a position, if any."""
    depth = 0
    for at in range(position - 1, -1, -1):
        if words[at] == ")":
            depth += 1
        elif words[at] == "(":
            if not depth:
                return at
            depth -= 1
    return None


def _closing(words: Sequence[str], opened: int) -> int:
    depth = 0
    for at in range(opened, len(words)):
        depth += (words[at] == "(") - (words[at] == ")")
        if not depth:
            return at
    return len(words)


def _next_clause(words: Sequence[str], start: int, end: int) -> int:
    """Return the index after `start` at which the next item or clause of the same level begins."""
    depth = 0
    for at in range(start, end):
        if at > start and not depth and words[at] in _CLAUSES:
            return at
        depth += (words[at] == "(") - (words[at] == ")")
    return end


def _item_start(words: Sequence[str], position: int, opened: int | None) -> int:
    """Return the index at which the item or clause around a position begins."""
    depth = 0
    for at in range(position - 1, opened if opened is not None else -1, -1):
        if not depth and words[at] in _CLAUSES:
            return at
        depth += (words[at] == ")") - (words[at] == "(")
    return opened + 1 if opened is not None else 0


def _names_queries(words: Sequence[str]) -> bool:
    """Return whether the words contain a WITH that defines CTEs, `WITH c AS (`, unlike `WITH (option = …)`."""
    if "WITH" not in words:
        return False
    start = words.index("WITH")
    return any(
        word == "AS" and words[at + 1 :][:1] in (["("], ["MATERIALIZED"], ["NOT"])
        for at, word in enumerate(words[start:], start)
    )


def _null(at: Token) -> Token:
    return Token(TokenType.NULL, "NULL", at.line, at.col, at.start, at.end, [])


def _stand_in(words: Sequence[str], tokens: list[Token], opened: int) -> list[Token]:
    """Return the replacement for a bracket that cannot be parsed: a query in the position of a table, else `(NULL)`.

    A bare NULL would be taken for a name where the bracket lists columns.
    """
    at = tokens[opened]
    if opened > 0 and words[opened - 1] in _SOURCES:
        return [Token(TokenType.SELECT, "SELECT", at.line, at.col, at.start, at.end, []), _null(at)]
    brackets = ((TokenType.L_PAREN, "("), (TokenType.R_PAREN, ")"))
    left, right = (Token(kind, text, at.line, at.col, at.start, at.end, []) for kind, text in brackets)
    return [left, _null(at), right]
