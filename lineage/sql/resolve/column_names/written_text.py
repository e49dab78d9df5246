"""Names that are the text of an expression as the query writes it: SQLite's, MySQL's, Snowflake's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from lineage.sql.resolve.column_names.terms import UncertainTextError
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["mysql_text", "snowflake_text", "sqlite_text", "without_spaces"]

_MAX_MYSQL = 64
"""MySQL names a longer column of a view `Name_exp_1`, by its position, and refuses it in a table."""
_NAMED_BY_ENGINE = frozenset(("TRUE", "FALSE"))


def _marked(token: Token, text: str) -> str:
    written = text[token.start : token.end + 1]
    is_literal = token.token_type is TokenType.NUMBER or token.token_type.name.endswith("STRING")
    return mark_literal(written) if is_literal else written


def _written(tokens: Sequence[Token], text: str) -> str:
    """Return the text from the first to the last token, with marks around literals; comments are marked, too."""
    found: list[str] = []
    done = tokens[0].start
    for token in tokens:
        gap = text[done : token.start]
        found += (mark_literal(gap) if gap.strip() else gap, _marked(token, text))
        done = token.end + 1
    return "".join(found)


def without_spaces(tokens: Sequence[Token], text: str) -> str:
    """Return the text with spaces between words only: statements that differ in spaces have one fingerprint."""
    compact_text = ""
    for token in tokens:
        written = _marked(token, text)
        between = " " if compact_text[-1:].isalnum() and written[:1].isalnum() else ""
        compact_text += between + written
    return compact_text


def sqlite_text(tokens: Sequence[Token], text: str) -> str:
    """Return SQLite's name of an expression.

    Raises:
        UncertainTextError: SQLite counts such columns, or names them by a part.
    """
    words = [token.text.upper() for token in tokens]
    if len(tokens) == 1 and words[0] in _NAMED_BY_ENGINE:
        raise UncertainTextError
    if "COLLATE" in words:
        raise UncertainTextError
    return _written(tokens, text)


def mysql_text(tokens: Sequence[Token], text: str) -> str:
    """Return MySQL's name of an expression.

    Raises:
        UncertainTextError: the text is too long for a name.
    """
    first = tokens[0]
    if len(tokens) == 1 and first.token_type.name.endswith("STRING"):
        return mark_literal(first.text.lstrip())
    if len(tokens) == 1 and first.text.upper() in (*_NAMED_BY_ENGINE, "NULL"):
        return first.text.upper()
    found = _written(tokens[1:] if first.text == "+" else tokens, text)
    if tokens[-1].end + 1 - first.start > _MAX_MYSQL or all(token.token_type is TokenType.STRING for token in tokens):
        raise UncertainTextError
    return found


def snowflake_text(tokens: Sequence[Token], text: str) -> str:
    """Return Snowflake's name of an expression."""
    return _written(tokens, text).upper()
