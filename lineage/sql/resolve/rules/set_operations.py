"""UNION, INTERSECT and EXCEPT: a chain of set operations, evaluated from the left, and its ORDER BY."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Relation
from lineage.sql.resolve.resolver import Resolver, relation_rule
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.order_by import order_output
from lineage.sql.resolve.rules.set_operation_columns import combine
from lineage.sql.resolve.scopes.scope import Scope


@relation_rule(exp.Union, exp.Intersect, exp.Except)
def set_operation(resolver: Resolver, node: exp.Expr, outer: Scope) -> Relation:
    """Return the relation of a chain of set operations, without recursion."""
    scope = scope_with_ctes(resolver, node, outer)
    chain: list[exp.Expr] = []
    leftmost: exp.Expr = node
    while isinstance(leftmost, exp.SetOperation) and (leftmost is node or not leftmost.args.get("with_")):
        chain.append(leftmost)
        leftmost = leftmost.this
    total = resolver.relation(leftmost, scope)
    for operation in reversed(chain):
        right = resolver.relation(operation.expression, scope)
        total = combine(resolver, operation, total, right)
        total = order_output(resolver, operation, total, scope)
    return total
