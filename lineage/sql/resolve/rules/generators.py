"""Set-returning functions in the select list: UNNEST, EXPLODE and the like."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions.array import _ExplodeOuter

from lineage.sql.resolve.column_names.select_items import MAKES_ROWS
from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import COMPOSE, FIRST_REFERENCE, IDENTITY, JOIN, TRANSFORMATION

__all__ = ["ROW_FUNCTIONS", "generate_rows", "rows_of_function"]

ROW_FUNCTIONS = frozenset(
    ("aclexplode", "generate_series", "generate_subscripts", "json_array_elements", "json_array_elements_text",
     "json_each", "json_each_text", "json_object_keys", "json_populate_recordset", "json_to_recordset",
     "jsonb_array_elements", "jsonb_array_elements_text", "jsonb_each", "jsonb_each_text", "jsonb_object_keys",
     "jsonb_path_query", "jsonb_path_query_tz", "jsonb_populate_recordset", "jsonb_to_recordset", "regexp_matches",
     "regexp_split_to_table", "string_to_table", "ts_debug", "ts_parse", "ts_stat", "unnest")
)  # fmt: skip
"""PostgreSQL's own functions that return several rows, without those that have a node type."""


@expression_rule(
    exp.Unnest,
    exp.Explode,
    _ExplodeOuter,
    exp.Posexplode,
    exp.PosexplodeOuter,
    exp.Inline,
    exp.ExplodingGenerateSeries,
)
def generate_rows(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, _: Sources) -> None:
    """`SELECT unnest(a)`: the elements come from the array, and the number of rows depends on it."""
    if MAKES_ROWS in (node._meta or ()):
        rows_of_function(resolver, scope, node.this)
        stack.append((node.this, effect))
        return
    for argument in reversed(list(node.iter_expressions())):
        resolver.evaluate(scope, argument, JOIN, scope.made)
        stack.append((argument, COMPOSE[effect][TRANSFORMATION]))


def rows_of_function(resolver: Resolver, scope: Scope, query: exp.Expr) -> None:
    """Note that the number of rows depends on what decides which rows an inlined function returns."""
    found: Sources = {}
    resolver.evaluate(scope, query, IDENTITY, found)
    for (source, effect), place in found.items():
        if effect >= FIRST_REFERENCE:
            scope.made.setdefault((source, JOIN), place)
