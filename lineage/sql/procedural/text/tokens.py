"""Tokenize procedural text completely, including command arguments and SQL inside strings.

sqlglot's tokenizer returns everything after EXECUTE, PREPARE, DO and the like as one string. Routine bodies and dynamic
SQL are string literals; their content is tokenized again, with positions in the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import Any

from sqlglot.dialects.dialect import Dialect as Parser
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.sql.scan.facts import dialect_features

__all__ = [
    "STRINGS",
    "Fragment",
    "fragment_of",
    "has_back_ticks",
    "is_readable",
    "make_token",
    "parser_of",
    "start_token",
    "tokenize",
    "tokenizer_of",
    "tokens_of",
    "word_of",
]

STRINGS = frozenset(
    (TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING,
     TokenType.UNICODE_STRING, TokenType.NATIONAL_RAW_STRING)
)  # fmt: skip
_KEYWORDS = frozenset(
    ("BEGIN", "END", "IF", "ELSE", "ELSEIF", "WHILE", "RETURN", "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH",
     "SET", "DECLARE", "EXEC", "EXECUTE", "PRINT", "GO", "CREATE", "DROP", "ALTER", "TRUNCATE", "CASE", "LOOP",
     "REPEAT", "CALL", "OPEN", "CLOSE", "FETCH", "TRY", "CATCH", "THROW", "BREAK", "CONTINUE", "FOR", "FROM",
     "AS", "USE")
)  # fmt: skip
"""Words that begin or end a construct in a program."""
_DOLLAR = re.compile(r"\$\w*\$")
_OPENING = re.compile(r"[A-Za-z&]*('''|\"\"\"|'|\")")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@frozen
class Fragment:
    """SQL inside strings: its text, and the index in the whole text of each of its characters.

    `holes`: parts of it are known at run time only.
    """

    text: str
    origins: tuple[int, ...]
    holes: bool = False

    def __add__(self, other: Fragment) -> Fragment:
        return Fragment(self.text + other.text, self.origins + other.origins, self.holes or other.holes)


@cache
def _tokenizer_class(base: Any, commands: bool) -> type[Tokenizer]:
    """Return a tokenizer that reads names in back ticks, which people write in dialects that do not have them, too.

    Without commands, whose arguments it would return as one string, if so wished.
    """
    names = {*base.IDENTIFIERS, *base.QUOTES}
    own: dict[str, object] = {} if "`" in names else {"IDENTIFIERS": [*base.IDENTIFIERS, "`"]}
    if not commands:
        own["COMMANDS"] = set()
    return type(f"All{base.__name__}", (base,), own) if own else base


def has_back_ticks(dialect: Dialect) -> bool:
    """Return whether a dialect quotes names in back ticks."""
    return "`" in parser_of(dialect).tokenizer_class.IDENTIFIERS


def tokenizer_of(dialect: Dialect, *, commands: bool = True) -> Tokenizer:
    """Return a new tokenizer of a dialect."""
    parser = parser_of(dialect)
    base: Any = parser.tokenizer_class
    tokenizer = _tokenizer_class(base, commands)(dialect=parser)
    of_trino: Any = getattr(tokenizer, "_trino_tokenizer", None)  # Athena's for queries
    if of_trino is not None:
        vars(tokenizer)["_trino_tokenizer"] = _tokenizer_class(of_trino.__class__, commands)(dialect=of_trino.dialect)
    return tokenizer


def parser_of(dialect: Dialect) -> Parser:
    """Return sqlglot's dialect, with the numbers that the scanner knows."""
    parser = Parser.get_or_raise(dialect.parser_name)
    if "digit_groups" in dialect_features(dialect.name):
        parser.NUMBERS_CAN_BE_UNDERSCORE_SEPARATED = True
    return parser


def tokenize(text: str, dialect: Dialect) -> list[Token]:
    """Return all tokens of a text.

    Raises:
        TokenError: a string or name is not closed.
    """
    found = tokenizer_of(dialect, commands=False).tokenize(text)
    return _with_variables(found) if dialect.has_at_variables else found


def _with_variables(tokens: list[Token]) -> list[Token]:
    """Return the tokens with keywords in variable names (`@end`, `@select`) changed to names."""
    for at in range(1, len(tokens)):
        before, token = tokens[at - 1], tokens[at]
        is_name = before.token_type is TokenType.PARAMETER and token.start == before.end + 1
        if is_name and token.text.upper() in _KEYWORDS:
            place = token.line, token.col, token.start, token.end
            tokens[at] = Token(TokenType.IDENTIFIER, token.text, *place, token.comments)
    return tokens


def word_of(token: Token) -> str:
    """Return a token's text in upper case; an empty string for strings, numbers and quoted names."""
    kind = token.token_type
    if kind in STRINGS or kind is TokenType.IDENTIFIER or kind is TokenType.NUMBER:
        return ""
    return token.text.upper()


def make_token(kind: TokenType, text: str, at: Token) -> Token:
    """Return a generated token with the position of another one."""
    return Token(kind, text, at.line, at.col, at.start, at.end, [])


def fragment_of(token: Token, text: str, dialect: Dialect) -> Fragment:
    """Return the content of a string literal, unescaped."""
    start, end = token.start, token.end + 1
    raw = text[start:end]
    dollar = _DOLLAR.match(raw)
    if dollar is not None:
        size = dollar.end()
        return Fragment(raw[size:-size], tuple(range(start + size, end - size)))
    opening = _OPENING.match(raw)
    if opening is None:
        return Fragment(token.text, (start,) * len(token.text))
    quote = opening.group(1)
    is_escaped = "\\" in raw and (dialect.has_backslash_escapes or raw[0] in "eE") and raw[0] not in "rR"
    position, last = opening.end(), len(raw) - len(quote)
    characters: list[str] = []
    origins: list[int] = []
    while position < last:
        character = raw[position]
        origins.append(start + position)
        if is_escaped and character == "\\" and position + 1 < last:
            position += 1
            character = _ESCAPED.get(raw[position], raw[position])
        elif len(quote) == 1 and character == quote and raw[position + 1] == quote:
            position += 1
        characters.append(character)
        position += 1
    return Fragment("".join(characters), tuple(origins))


@lru_cache(maxsize=2)
def _line_starts(text: str) -> list[int]:
    """Return where the lines of a text begin; cached, because it is called for each string of a program."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def tokens_of(fragment: Fragment, text: str, dialect: Dialect) -> list[Token]:
    """Return the tokens of SQL inside strings, with positions in the whole text; empty if it cannot be tokenized."""
    try:
        tokens = tokenize(fragment.text, dialect)
    except TokenError:
        return []
    lines = _line_starts(text)
    origins = fragment.origins
    for token in tokens:
        # If a dialect delegates to another tokenizer (Athena), a position may be beyond the text.
        token.start, token.end = (origins[min(place, len(origins) - 1)] for place in (token.start, token.end))
        token.line = bisect_right(lines, token.end)
        token.col = token.end - lines[token.line - 1] + 1
    return tokens


def is_readable(fragment: Fragment, dialect: Dialect) -> bool:
    """Return whether SQL inside strings can be tokenized; comments alone count, too."""
    try:
        tokenize(fragment.text, dialect)
    except TokenError:
        return False
    return True


def start_token(fragment: Fragment, text: str) -> Token | None:
    """Return an empty token at the start of SQL inside strings; None if the SQL is empty."""
    if not fragment.text.strip():
        return None
    lines = _line_starts(text)
    start, end = fragment.origins[0], fragment.origins[-1]
    line = bisect_right(lines, end)
    return Token(TokenType.VAR, "", line, end - lines[line - 1] + 1, start, end, [])
