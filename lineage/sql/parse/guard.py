"""Guard sqlglot's parsers: refuse statements that nest too deeply before the parser sees them.

The parsers recurse on the C stack. The depth is measured on the text where the tokens are exactly those of the text;
otherwise on the tokens' own words (SQL from strings, routine bodies and recovery).
"""

from __future__ import annotations

import sys
import threading

from sqlglot import exp
from sqlglot.parser import Parser as TreeParser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from lineage.model.dialect import Dialect
from lineage.sql.parse.type_words import parse_with_known_types
from lineage.sql.procedural import STRINGS
from lineage.sql.procedural.text.tokens import parser_of, tokenizer_of
from lineage.sql.scan import nesting_depth

__all__ = ["PARSER_DEFECTS", "GuardedParser", "NestingError", "too_deep", "tools_of"]

PARSER_DEFECTS = (TypeError, ValueError, AttributeError, LookupError, AssertionError)
"""Exceptions that escape sqlglot when malformed SQL makes its expression builders fail."""

_OPERANDS = STRINGS | {TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.HINT}
_QUOTES = str.maketrans({"'": " ", '"': " ", "`": " ", "{": "{ "})
"""Characters that would open a string, a name or a template, although the token is none of these."""
_LONG_NAME = 64
_SURELY_SHALLOW = 64
"""Length in characters. The shortest text that counts 16 levels, a join without ON, has seven."""
_SHALLOW = 50
"""Levels for which Python's default recursion limit is enough, whatever the caller's stack depth."""
_FRAMES_OF_A_LEVEL = 12
"""Python frames a level. The resolver needs six for a nested query; the rest is a margin."""
_FRAMES_AROUND = 1_000


class NestingError(Exception):
    """The statement nests deeper than the limit. The message states the depth; `tokens` are the statement's."""

    def __init__(self, message: str, tokens: list[Token]) -> None:
        super().__init__(message)
        self.tokens = tokens


class _Tools(threading.local):
    """One tokenizer and parser a dialect: creating them takes a third of the time of a short statement.

    They are stateful, so each thread has its own.
    """

    def __init__(self) -> None:
        self._of: dict[str, tuple[Tokenizer, TreeParser]] = {}

    def of(self, dialect: Dialect) -> tuple[Tokenizer, TreeParser]:
        tools = self._of.get(dialect.name)
        if tools is None:
            tools = self._of[dialect.name] = (tokenizer_of(dialect), parser_of(dialect).parser())
        return tools


_TOOLS = _Tools()


def tools_of(dialect: Dialect, limit: int) -> tuple[Tokenizer, GuardedParser]:
    """Return a dialect's tokenizer, and its parser guarded by the nesting limit."""
    tokenizer, parser = _TOOLS.of(dialect)
    return tokenizer, GuardedParser(parser, dialect, limit)


class GuardedParser:
    """A dialect's parser that refuses statements nested deeper than a limit."""

    __slots__ = ("_dialect", "_limit", "_parser")

    def __init__(self, parser: TreeParser, dialect: Dialect, limit: int) -> None:
        self._parser = parser
        self._dialect = dialect.name
        self._limit = limit

    def parse_written(self, tokens: list[Token], text: str) -> list[exp.Expr | None]:
        """Return the trees of tokens that are contiguous in the text, from the first token to the last.

        Raises:
            NestingError: the statement nests deeper than the limit.
            ParseError: the tokens are not valid SQL.
        """
        deep = too_deep(text[tokens[0].start : tokens[-1].end + 1], self._dialect, self._limit)
        if deep is not None:
            raise NestingError(deep, tokens)
        return parse_with_known_types(self._parser, tokens, text)

    def parse(self, tokens: list[Token], text: str) -> list[exp.Expr | None]:
        """Return the trees of tokens that may be generated, or taken from several parts of the text.

        Raises:
            NestingError: the statement nests deeper than the limit.
            ParseError: the tokens are not valid SQL.
        """
        deep = too_deep(_words(tokens), "ansi", self._limit)
        if deep is not None:
            raise NestingError(deep, tokens)
        return parse_with_known_types(self._parser, tokens, text)


def _words(tokens: list[Token]) -> str:
    """Return a text with the same nesting as the tokens: words and operators, a digit for each name and literal."""
    words = [token.text if token.token_type not in _OPERANDS else _operand(token) for token in tokens]
    return " ".join(words).translate(_QUOTES)


def _operand(token: Token) -> str:
    """Return a digit, in as many brackets as a long quoted name may nest when sqlglot parses it as a type."""
    if token.token_type is not TokenType.IDENTIFIER or len(token.text) < _LONG_NAME:
        return "0"
    within = sum(map(token.text.count, "([{< "))
    return "(" * within + "0" + ")" * within


def too_deep(text: str, dialect: str, limit: int) -> str | None:
    """Return an error message if a statement nests deeper than the limit (see `nesting_depth`), else None.

    Raises Python's recursion limit to what a statement within the limit needs. It is never lowered again, because
    another thread may be resolving a deeply nested statement.
    """
    if len(text) <= _SURELY_SHALLOW and len(text) * 16 <= limit * 7:
        return None
    depth = nesting_depth(text, dialect)
    if depth > limit:
        return f"the statement nests {depth:,} levels deep; the limit is {limit:,}"
    frames = _FRAMES_AROUND + _FRAMES_OF_A_LEVEL * depth
    if depth > _SHALLOW and sys.getrecursionlimit() < frames:
        sys.setrecursionlimit(frames)
    return None
