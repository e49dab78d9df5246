"""How deep a statement nests, measured on its tokens: a parser that recurses must not see what it cannot survive."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["MAX_NESTING", "nesting_depth", "too_deep"]

MAX_NESTING = 200
"""Brackets, CASEs and prefix operators within each other. Hand-written SQL stays below 30, generated below 100."""

_OPEN = frozenset(("(", "[", "{", "CASE", "case", "Case"))
_CLOSE = frozenset((")", "]", "}", "END", "end", "End"))
_PREFIX = frozenset(("NOT", "not", "Not", "-", "+", "~", "<", "!"))


def nesting_depth(tokens: list[Token]) -> int:
    """Return how deep brackets and CASE … END nest, with runs of prefix operators counted as nesting too."""
    depth = deepest = run = 0
    for token in tokens:
        text = token.text
        if text in _OPEN:
            if token.token_type is not TokenType.STRING:
                depth += 1
                deepest = max(deepest, depth + run)
        elif text in _CLOSE:
            if depth and token.token_type is not TokenType.STRING:
                depth -= 1
        elif text in _PREFIX:
            run += 1
            deepest = max(deepest, depth + run)
            continue
        run = 0
    return deepest


def too_deep(tokens: list[Token]) -> str | None:
    """Return a message where the tokens nest deeper than the limit, else None."""
    if len(tokens) <= MAX_NESTING:
        return None
    depth = nesting_depth(tokens)
    return f"the statement nests {depth:,} deep, more than {MAX_NESTING}" if depth > MAX_NESTING else None
