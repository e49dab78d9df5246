"""sqlglot's parse errors as diagnostics: with a position, and without the SQL that sqlglot quotes."""

from __future__ import annotations

import logging
import re
from itertools import pairwise

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.sql.parse.parsed import span_between

__all__ = ["error", "mispaired_quotes_at", "of_parse_error", "token_of"]

_QUOTES_SQL = re.compile(r"['\"`<:]| but got |, got |(?<=schema constraint) |(?<=Cannot convert) ")
_LITERAL_TOKENS = frozenset(
    kind
    for kind in TokenType
    if kind is TokenType.NUMBER or kind.name.endswith("STRING") or kind.name in ("HEREDOC_STRING", "BYTE_STRING")
)


def error(code: DiagnosticCode, message: str, span: Span) -> Diagnostic:
    """Return a diagnostic of a statement that cannot be read."""
    return Diagnostic(code, Severity.ERROR, message, span)


def of_parse_error(raised: ParseError, tokens: list[Token], text: str, span: Span) -> Diagnostic:
    """Return the diagnostic of an error that the parser raised on these tokens of the text.

    Its span is that of the token at which the parser stopped, else the whole statement's (`span`).
    """
    details = raised.errors[0] if raised.errors else {}
    message = _without_sql(str(details.get("description") or ""))
    mispaired = mispaired_quotes_at(tokens)
    at = token_of(raised, tokens)
    if at is None:
        return error(DiagnosticCode.PARSE_ERROR, message, span)
    token = tokens[at]
    is_literal = token.token_type in _LITERAL_TOKENS or (mispaired is not None and token.start >= mispaired)
    found = "a literal" if is_literal else f"`{text[token.start : token.end + 1]}`"
    return error(DiagnosticCode.PARSE_ERROR, f"{message}, found {found}", span_between(token, token))


def token_of(raised: ParseError, tokens: list[Token]) -> int | None:
    """Return the index of the token at which the parser stopped, by the line and column that its error names."""
    details = raised.errors[0] if raised.errors else {}
    place = details.get("line"), details.get("col")
    return next((at for at, token in enumerate(tokens) if (token.line, token.col) == place), None)


def mispaired_quotes_at(tokens: list[Token]) -> int | None:
    """Return the position where a word or number follows a string without a space; None where there is none.

    The quotes do not pair there: from there on, what looks like a name may be text of a literal.
    """
    for string, token in pairwise(tokens):
        if (
            string.token_type in _LITERAL_TOKENS
            and string.token_type is not TokenType.NUMBER
            and token.start == string.end + 1
            and (token.token_type in (TokenType.VAR, TokenType.NUMBER) or token.text[:1].isdigit())
        ):
            return token.start
    return None


def _without_sql(message: str) -> str:
    """Return sqlglot's message without what it quotes of the SQL, which may be a literal, and without class names."""
    message = re.sub(r" for <class '[\w.]*?(\w+)'>", r" in \1", message)
    if lacking := re.fullmatch(r"Required keyword: '\w+' missing in (\w+)", message):
        return f"a part of {lacking[1]} is missing"  # which one sqlglot names first is chance
    head = _QUOTES_SQL.split(message, maxsplit=1)[0].rstrip(" ,.")
    return head or "this is not SQL of the dialect"


class _NoSqlInLogs(logging.Filter):
    """sqlglot's warnings quote the SQL. It may hold personal data, and what they say we report ourselves."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR


_LOGGER = logging.getLogger("sqlglot")
if not any(isinstance(known, _NoSqlInLogs) for known in _LOGGER.filters):
    _LOGGER.addFilter(_NoSqlInLogs())
