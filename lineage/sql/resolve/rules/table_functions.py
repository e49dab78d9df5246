"""The columns of the engines' table functions that return the same columns for all arguments.

https://www.postgresql.org/docs/current/functions-json.html
https://www.sqlite.org/json1.html#jeach
https://duckdb.org/docs/stable/data/json/json_functions
https://learn.microsoft.com/en-us/sql/t-sql/functions/string-split-transact-sql
https://docs.snowflake.com/en/sql-reference/functions/split_to_table
https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-tvf.html
"""

from __future__ import annotations

from sqlglot import exp

from lineage.model.dialect import Dialect

__all__ = ["columns_of_call"]

_PAIRS = ("key", "value")
_JSON_TREE = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path")
_SPLIT = ("seq", "index", "value")

_POSTGRES: dict[str, tuple[str, ...]] = {
    "json_each": _PAIRS,
    "json_each_text": _PAIRS,
    "jsonb_each": _PAIRS,
    "jsonb_each_text": _PAIRS,
    "json_array_elements": ("value",),
    "json_array_elements_text": ("value",),
    "jsonb_array_elements": ("value",),
    "jsonb_array_elements_text": ("value",),
}
_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "postgres": _POSTGRES,
    "redshift": _POSTGRES,
    "materialize": _POSTGRES,
    "risingwave": _POSTGRES,
    "sqlite": {"json_each": _JSON_TREE, "json_tree": _JSON_TREE, "jsonb_each": _JSON_TREE, "jsonb_tree": _JSON_TREE},
    "duckdb": {"json_each": _JSON_TREE, "json_tree": _JSON_TREE},
    "tsql": {"string_split": ("value", "ordinal"), "openjson": ("key", "value", "type"), "generate_series": ("value",)},
    "snowflake": {"split_to_table": _SPLIT, "splittotable": _SPLIT, "strtok_split_to_table": _SPLIT},
    "spark": {"range": ("id",)},
    "databricks": {"range": ("id",), "variant_explode": ("pos", "key", "value")},
    "clickhouse": {"numbers": ("number",), "numbers_mt": ("number",), "zeros": ("zero",), "zeros_mt": ("zero",)},
}
_COLUMNS["fabric"] = _COLUMNS["tsql"]


def columns_of_call(call: exp.Expr, dialect: Dialect) -> tuple[str, ...]:
    """Return the columns of a call of a table function, if it has the same for all arguments; else none.

    >>> import sqlglot
    >>> from lineage.model.dialects import dialect_named
    >>> call = sqlglot.parse_one("SELECT * FROM json_each(x)", dialect="sqlite").find(exp.Anonymous)
    >>> columns_of_call(call, dialect_named("sqlite"))[:2]
    ('key', 'value')
    """
    name = (call.name if isinstance(call, exp.Anonymous) else call.key).lower()
    if isinstance(call, exp.OpenJSON) and (call.expressions or call.args.get("schema")):
        return ()
    return tuple(dialect.fold_column(column) for column in _COLUMNS.get(dialect.name, {}).get(name, ()))
