"""GROUPING_ID: which of the grouping keys a row is grouped by, as a number."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope, grouping_keys
from lineage.sql.resolve.transformation_codes import COMPOSE, MASKED_AGGREGATION


@expression_rule(exp.GroupingId)
def grouping_id(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`grouping_id(a, b)`; without arguments it is of all keys of the query."""
    for key in reversed(node.expressions or grouping_keys(node)):
        stack.append((key, COMPOSE[effect][MASKED_AGGREGATION]))
