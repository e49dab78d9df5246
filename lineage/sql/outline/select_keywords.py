"""Where query blocks begin and end in a statement's tokens: syntax trees keep no position of SELECT."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["SelectKeywords"]

_SET_OPERATORS = frozenset((TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT))


class SelectKeywords:
    """The ranges of a statement's query blocks, from each SELECT to the end of its brackets or the next UNION."""

    def __init__(self, tokens: Sequence[Token], end: int) -> None:
        """Read the tokens of a statement that ends at `end`."""
        self.ranges: list[tuple[int, int]] = []
        open_at: list[int | None] = [None]

        def close(at: int) -> None:
            start = open_at[-1]
            if start is not None:
                self.ranges.append((start, at))
            open_at[-1] = None

        for token in tokens:
            kind = token.token_type
            if kind is TokenType.L_PAREN:
                open_at.append(None)
            elif kind is TokenType.R_PAREN:
                close(token.start)
                if len(open_at) > 1:
                    open_at.pop()
            elif kind is TokenType.SELECT:
                close(token.start)
                open_at[-1] = token.start
            elif kind in _SET_OPERATORS:
                close(token.start)
        while open_at:
            close(end)
            open_at.pop()
        self.ranges.sort()
        self._starts = [start for start, _ in self.ranges]

    def around(self, offset: int) -> tuple[int, int] | None:
        """Return the range of the innermost block around an offset; None outside all."""
        for start, end in reversed(self.ranges[: bisect_right(self._starts, offset)]):
            if offset <= end:
                return start, end
        return None
