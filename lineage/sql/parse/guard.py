"""sqlglot's parsers, which must not see what they cannot survive: what nests too deep is refused before.

They recurse on the C stack. Every token that they get is measured: those of the text as it is written, else by their
own words, since SQL out of strings, bodies and repairs is not what stands between its first and last place.
"""

from __future__ import annotations

import sys
import threading

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Parser
from sqlglot.parser import Parser as TreeParser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from lineage.model.dialects import Dialect
from lineage.sql.procedural import STRINGS
from lineage.sql.scan import nesting_depth

__all__ = ["PARSER_DEFECTS", "GuardedParser", "NestingError", "parser_named", "too_deep", "tools_of"]

PARSER_DEFECTS = (TypeError, ValueError, AttributeError, LookupError, AssertionError)
"""What sqlglot lets through where a statement is so wrong that its own builders trip over it."""

_OPERANDS = STRINGS | {TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.HINT}
_QUOTES = str.maketrans({"'": " ", '"': " ", "`": " ", "{": "{ "})
"""What would open a string, a name or a template where the tokens have none."""
_LONG_NAME = 64
_SURELY_SHALLOW = 64
"""Characters. The least that counts sixteen, a join without ON, takes seven."""
_SHALLOW = 50
"""Levels for which Python's default limit is enough, wherever the caller is."""
_FRAMES_OF_A_LEVEL = 12
"""Python frames. A query in a query takes the resolver six; the rest is for what else stands on the stack."""
_FRAMES_AROUND = 1_000


class NestingError(Exception):
    """What is to be parsed nests deeper than the limit; the message says how deep, `tokens` what it is."""

    def __init__(self, message: str, tokens: list[Token]) -> None:
        super().__init__(message)
        self.tokens = tokens


def parser_named(dialect: Dialect) -> Parser:
    """Return sqlglot's dialect of that name."""
    return Parser.get_or_raise(dialect.parser_name)


class _Tools(threading.local):
    """What sqlglot makes anew for every text, made once for each dialect: a third of the time of a short statement.

    They keep what they last read; each thread has its own.
    """

    def __init__(self) -> None:
        self._of: dict[str, tuple[Tokenizer, TreeParser]] = {}

    def of(self, dialect: Dialect) -> tuple[Tokenizer, TreeParser]:
        found = self._of.get(dialect.name)
        if found is None:
            parser = parser_named(dialect)
            found = self._of[dialect.name] = (parser.tokenizer(), parser.parser())
        return found


_TOOLS = _Tools()


def tools_of(dialect: Dialect, limit: int) -> tuple[Tokenizer, GuardedParser]:
    """Return a dialect's tokenizer, and its parser for what nests no deeper than the limit."""
    tokenizer, parser = _TOOLS.of(dialect)
    return tokenizer, GuardedParser(parser, dialect, limit)


class GuardedParser:
    """A dialect's parser for what nests no deeper than a limit."""

    __slots__ = ("_dialect", "_limit", "_parser")

    def __init__(self, parser: TreeParser, dialect: Dialect, limit: int) -> None:
        self._parser = parser
        self._dialect = dialect.name
        self._limit = limit

    def parse_written(self, tokens: list[Token], text: str) -> list[exp.Expr | None]:
        """Return the trees of tokens that are those of the text from the first's place to the last's.

        Raises:
            NestingError: they nest too deep.
            ParseError: they are no SQL.
        """
        deep = too_deep(text[tokens[0].start : tokens[-1].end + 1], self._dialect, self._limit)
        if deep is not None:
            raise NestingError(deep, tokens)
        return self._parser.parse(tokens, text)

    def parse(self, tokens: list[Token], text: str) -> list[exp.Expr | None]:
        """Return the trees of tokens that may be put together from several places, or made.

        Raises:
            NestingError: they nest too deep.
            ParseError: they are no SQL.
        """
        deep = too_deep(_words(tokens), "ansi", self._limit)
        if deep is not None:
            raise NestingError(deep, tokens)
        return self._parser.parse(tokens, text)


def _words(tokens: list[Token]) -> str:
    """Return a text that nests as the tokens do: their words and operators, a digit for each name and literal."""
    words = [token.text if token.token_type not in _OPERANDS else _operand(token) for token in tokens]
    return " ".join(words).translate(_QUOTES)


def _operand(token: Token) -> str:
    """Return a digit; as many brackets around it as a long quoted name may nest if it is read as a type."""
    if token.token_type is not TokenType.IDENTIFIER or len(token.text) < _LONG_NAME:
        return "0"
    within = sum(map(token.text.count, "([{< "))
    return "(" * within + "0" + ")" * within


def too_deep(text: str, dialect: str, limit: int) -> str | None:
    """Return a message where a statement nests deeper than the limit (as `nesting_depth` counts), else None.

    Python's own limit of recursion is raised to what a statement within the limit needs; it is never lowered again,
    since another thread may be in the midst of a deep one.
    """
    if len(text) <= _SURELY_SHALLOW and len(text) * 16 <= limit * 7:
        return None
    depth = nesting_depth(text, dialect)
    if depth > limit:
        return f"the statement nests {depth:,} deep, more than {limit:,}"
    frames = _FRAMES_AROUND + _FRAMES_OF_A_LEVEL * depth
    if depth > _SHALLOW and sys.getrecursionlimit() < frames:
        sys.setrecursionlimit(frames)
    return None
