"""What the generator may write in a dialect, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.soundness import spark_operations, sqlite_operations
from tests.soundness.operations import AGGREGATES, CONSTANTS, OPERATIONS, WINDOWS, Operation
from tests.soundness.tree import Type

__all__ = ["DUCKDB", "GRAMMARS", "SPARK", "SQLITE", "Grammar"]

Operations = Mapping[Type, list[Operation]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A dialect of the generator. `features` are the constructs that not all dialects have."""

    dialect: str
    output_types: tuple[Type, ...]
    """Of select items: a type that stands twice is drawn twice as often."""
    constants: Mapping[Type, tuple[str, ...]]
    operations: Operations
    aggregates: Operations
    windows: Operations
    join_kinds: tuple[str, ...]
    forms: tuple[str, ...]
    """What stands around a query."""
    features: frozenset[str]
    column_types: Mapping[Type, str]
    """Of tables: each holds what an expression of the type may be."""
    exclude: str = "EXCLUDE"
    """The word behind a star before the columns that it leaves out."""
    temporary: str = "CREATE TEMP TABLE {name} AS {query}"
    table: str = "CREATE TABLE {name} AS {query}"
    series: str = "generate_series({0}, {1})"
    elements: str = "unnest({0})"
    integer: str = "INTEGER"

    def may(self, feature: str) -> bool:
        """Return whether the dialect has a construct."""
        return feature in self.features

    def types(self, *kinds: Type) -> tuple[Type, ...]:
        """Return those of some types that the dialect has."""
        return tuple(kind for kind in kinds if kind in self.operations)


_JOINS = (*("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ",", ","),)

_COMMON = frozenset(("named windows", "recursion", "distinct", "natural"))

DUCKDB = Grammar(
    "duckdb",
    ("int", "int", "int", "text", "text", "bool", "list"),
    CONSTANTS,
    OPERATIONS,
    AGGREGATES,
    WINDOWS,
    (*_JOINS, "SEMI JOIN", "ANTI JOIN", "LATERAL"),
    ("QUERY", "QUERY", "QUERY", "VIEW", "TABLE", "INSERT", "INSERT BY NAME"),
    _COMMON
    | {
        "aliases in select", "aliases in where", "by name", "chained windows", "column lists", "ctes hide tables",
        "distinct on", "exclude", "from first", "function items", "group by all", "grouping sets", "keeps all",
        "lateral values", "limit by query", "materialized", "order by all", "ordinality", "own names in order",
        "pivot", "qualify", "quantifiers", "rename", "replace", "short column lists", "structs",
        "union in recursion", "unpivot", "values",
    },
    {
        "int": "HUGEINT", "text": "VARCHAR", "bool": "BOOLEAN", "list": "HUGEINT[]",
        "struct": "STRUCT(x HUGEINT, y VARCHAR)",
    },
)  # fmt: skip

SPARK = Grammar(
    "spark",
    ("int", "int", "int", "text", "text", "bool", "list"),
    spark_operations.CONSTANTS,
    spark_operations.OPERATIONS,
    spark_operations.AGGREGATES,
    spark_operations.WINDOWS,
    (*_JOINS, "LEFT SEMI JOIN", "LEFT ANTI JOIN", "LATERAL"),
    ("QUERY", "QUERY", "QUERY", "VIEW", "TABLE"),
    _COMMON
    | {
        "aliases in select", "column lists", "comma joins to the left", "ctes hide tables", "exclude",
        "function items", "group by all",
        "grouping sets", "keeps all", "merged columns first", "order by all", "structs", "values",
    },
    {"int": "INT", "text": "STRING", "bool": "BOOLEAN", "list": "ARRAY<INT>", "struct": "STRUCT<x: INT, y: STRING>"},
    exclude="EXCEPT",
    temporary="CREATE OR REPLACE TEMPORARY VIEW {name} AS {query}",
    table="CREATE TABLE {name} USING parquet AS {query}",
    series="LATERAL explode(sequence({0}, {1}))",
    elements="LATERAL explode({0})",
    integer="INT",
)  # fmt: skip
"""https://spark.apache.org/docs/latest/sql-ref-syntax.html"""

SQLITE = Grammar(
    "sqlite",
    ("int", "int", "int", "text", "text", "bool"),
    sqlite_operations.CONSTANTS,
    sqlite_operations.OPERATIONS,
    sqlite_operations.AGGREGATES,
    sqlite_operations.WINDOWS,
    _JOINS,
    ("QUERY", "QUERY", "QUERY", "VIEW", "TABLE", "INSERT"),
    _COMMON
    | {
        "aliases in where", "chained windows", "comma joins to the left", "limit by query", "materialized",
        "own names in order", "plain branches", "union in recursion",
    },
    {"int": "INTEGER", "text": "TEXT", "bool": "INTEGER", "list": "TEXT"},
    temporary="CREATE TEMP VIEW {name} AS {query}",
)  # fmt: skip
"""https://www.sqlite.org/lang_select.html"""

GRAMMARS = {grammar.dialect: grammar for grammar in (DUCKDB, SPARK, SQLITE)}
