"""Set-returning functions in the select list: UNNEST, EXPLODE and the like."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions.array import _ExplodeOuter

from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.transformation_codes import COMPOSE, JOIN, TRANSFORMATION


@expression_rule(exp.Unnest, exp.Explode, _ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter, exp.Inline)
def generate_rows(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, _: Sources) -> None:
    """`SELECT unnest(a)`: the elements come from the array, and the number of rows depends on it."""
    for argument in reversed(list(node.iter_expressions())):
        resolver.evaluate(scope, argument, JOIN, scope.made)
        stack.append((argument, COMPOSE[effect][TRANSFORMATION]))
