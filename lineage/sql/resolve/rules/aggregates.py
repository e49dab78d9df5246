"""Clauses of aggregates besides the argument: FILTER (WHERE …), the order of the input, WITHIN GROUP."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import AGGREGATION, COMPOSE, FILTER, SORT, TRANSFORMATION

_ORDERED_SETS = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile, exp.Mode)


@expression_rule(exp.Filter)
def filter_clause(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`agg(x) FILTER (WHERE test)`: the test determines which rows are aggregated, for this column only."""
    stack.append((node.args["expression"].this, COMPOSE[effect][FILTER]))
    stack.append((node.args["this"], effect))


@expression_rule(exp.Order)
def ordered_input(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`array_agg(x ORDER BY y)`: x is the value, y only orders it."""
    for key in reversed(node.expressions):
        stack.append((key, COMPOSE[effect][SORT]))
    if node.this is not None:
        stack.append((node.this, effect))


@expression_rule(exp.WithinGroup)
def within_group(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`f(…) WITHIN GROUP (ORDER BY x)`: an ordered-set aggregate computes from x; others only order by it."""
    function, order = node.this, node.args.get("expression")
    is_ordered_set = isinstance(function, _ORDERED_SETS) or not function.args.get("this")
    step = AGGREGATION if is_ordered_set else SORT
    for key in reversed(order.expressions if order is not None else []):
        stack.append((key, COMPOSE[effect][step]))
    stack.append((function, effect))


@expression_rule(exp.Any)
def any_value(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """Spark's and ClickHouse's aggregate `any(x)`; behind an operator, `a = ANY (b)`, it is a comparison."""
    parent = node.parent
    is_compared = isinstance(parent, exp.Binary) and node.arg_key == "expression"
    stack.append((node.this, COMPOSE[effect][TRANSFORMATION if is_compared else AGGREGATION]))
