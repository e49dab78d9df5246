"""Types of columns are written as the parser writes them, whether or not the text is remembered."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from lineage.catalog.ddl import type_text
from lineage.model.dialects import dialect_named

_TYPES = ("int", "varchar", "char", "text", "decimal", "timestamp", "datetime2", "nullable(int)", "float64", "raw")
_ENDS = ("", "(3)", "(10, 2)", "(max)", "(10 char)", "[]", " unsigned")


@pytest.mark.parametrize(
    "name", ["postgres", "snowflake", "bigquery", "tsql", "oracle", "clickhouse", "mysql", "spark"]
)
def test_types_are_written_as_the_parser_writes_them(name: str) -> None:
    dialect, compared = dialect_named(name), 0
    for text in (f"{one}{end}" for one in _TYPES for end in _ENDS):
        try:
            column = sqlglot.parse_one(f"CREATE TABLE t (a {text})", read=dialect.parser_name).find(exp.ColumnDef)
        except ParseError:
            continue
        kind = column.args.get("kind") if column is not None else None
        if kind is None or (name == "spark" and "max" in text):  # its generator expects a number
            continue
        assert type_text(kind, dialect) == kind.sql(dialect=dialect.parser_name).lower(), text
        compared += 1
    assert compared > 20
