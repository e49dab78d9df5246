"""A shortcut for sqlglot's parsers of Hive, Spark and Databricks.

They compare each type in a statement with the types "char" and "varchar", and parse these two words anew each time: a
tenth of the time of parsing TPC-DS. The compiled parsers cannot be overridden, but they look up `sqlglot.parse_one`.
"""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.parsers.hive import HiveParser
from sqlglot.tokenizer_core import Token

__all__ = ["parse_with_known_types"]

_TYPES = {"char": exp.DType.CHAR, "varchar": exp.DType.VARCHAR}
_parse_one: Any = sqlglot.parse_one


def parse_with_known_types(parser: Parser, tokens: list[Token], text: str) -> list[exp.Expr | None]:
    """Return what the parser makes of the tokens.

    Raises:
        ParseError: the tokens are not valid SQL.
    """
    if not isinstance(parser, HiveParser):
        return parser.parse(tokens, text)
    before = sqlglot.parse_one
    # Other threads may see it meanwhile, or keep it: it returns what the original does.
    sqlglot.parse_one = _known_or_parsed
    try:
        return parser.parse(tokens, text)
    finally:
        sqlglot.parse_one = before


def _known_or_parsed(sql: str, read: Any = None, dialect: Any = None, into: Any = None, **options: Any) -> Any:
    if into is exp.DataType and sql in _TYPES and read is None and dialect is None:
        return exp.DataType(this=_TYPES[sql], nested=False)
    return _parse_one(sql, read, dialect, into, **options)
