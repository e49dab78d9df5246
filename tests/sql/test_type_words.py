"""The shortcut for the type names that sqlglot's parsers of Hive's family parse again and again."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from sqlglot.dialects import Dialect
from sqlglot.errors import ParseError

from lineage.sql.parse import type_words
from lineage.sql.parse.type_words import parse_with_known_types

TEXT = """
    SELECT CAST(a AS CHAR(3)), CAST(b AS varchar(10)), CAST(c AS ARRAY<STRUCT<d: VARCHAR(2), e: INT>>) FROM t;
    CREATE TABLE s (f CHAR(3), g VARCHAR(2) NOT NULL, h MAP<STRING, CHAR(1)>)
"""


@pytest.mark.parametrize("name", ["hive", "spark2", "spark", "databricks", "postgres"])
def test_the_trees_are_the_same(name: str) -> None:
    dialect = Dialect.get_or_raise(name)
    trees = parse_with_known_types(dialect.parser(), dialect.tokenize(TEXT), TEXT)
    assert trees == sqlglot.parse(TEXT, dialect=name)


def test_the_parser_still_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, the shortcut is of no use any more."""
    asked: list[str] = []
    known = type_words._known_or_parsed

    def ask(sql: str, *given: Any, **more: Any) -> Any:
        asked.append(sql)
        return known(sql, *given, **more)

    monkeypatch.setattr(type_words, "_known_or_parsed", ask)
    dialect = Dialect.get_or_raise("spark")
    parse_with_known_types(dialect.parser(), dialect.tokenize(TEXT), TEXT)
    assert set(asked) == {"char", "varchar"}


def test_what_it_replaces_is_there_again() -> None:
    before = sqlglot.parse_one
    dialect = Dialect.get_or_raise("spark")
    with pytest.raises(ParseError):
        parse_with_known_types(dialect.parser(), dialect.tokenize("SELECT CAST(a AS CHAR(3)) FROM ("), "")
    assert sqlglot.parse_one is before
