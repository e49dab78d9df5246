"""ORDER BY and LIMIT: of a query block, of a set operation, of a query in parentheses, of VALUES."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Relation, RowSources, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.alias_visibility import Clause
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import FILTER, LIMITED_SORT, SORT

__all__ = ["order_by", "order_output", "sort_key"]


def sort_key(
    resolver: Resolver, key: exp.Expr, effect: int, scope: Scope, projection: Projection, sink: Sources
) -> None:
    """Add a key of ORDER BY or DISTINCT ON: an ordinal, an output name or an expression."""
    output = projection.ordinal(key)
    if output is None:
        output = projection.sources_of_alias(key, resolver)
    if output is not None:
        absorb(sink, output, effect, key)
    else:
        aliases_first = not resolver.naming.dialect.order_by_prefers_input
        resolver.evaluate(scope, key, effect, sink, aliases_first=aliases_first)


_SELDOM = frozenset(("offset", "fetch", "sort", "cluster", "distribute"))
"""Rare clauses that order or limit, besides ORDER BY and LIMIT."""


def order_by(resolver: Resolver, node: exp.Expr, scope: Scope, projection: Projection, sink: Sources) -> None:
    """ORDER BY (SORT BY, CLUSTER BY, DISTRIBUTE BY): by ordinal, output name or expression, in that order."""
    args = node.args
    if args.get("order") is None and args.get("limit") is None and _SELDOM.isdisjoint(args):
        return
    # DISTINCT ON keeps the first row of each group, which ORDER BY determines.
    distinct = args.get("distinct")
    limited = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None
    for clause in ("limit", "offset", "fetch"):
        if (limit := args.get(clause)) is not None:
            limited = True
            resolver.evaluate(scope, limit, FILTER, sink)  # the count may be a sub-query
    effect = LIMITED_SORT if limited else SORT
    scope.see_aliases(Clause.SELECT, seen=resolver.alias_visibility.order_by_expression)
    for clause in ("order", "sort", "cluster", "distribute"):
        if (ordering := args.get(clause)) is None:
            continue
        items = ordering.args.get("expressions") or ()
        for item in items:
            key = item.args["this"] if type(item) is exp.Ordered else item
            if _is_all(key, len(items)):
                for sources in projection.sources:
                    absorb(sink, sources, effect, key)
            else:
                sort_key(resolver, key, effect, scope, projection, sink)


def _is_all(key: exp.Expr, number: int) -> bool:
    """Return whether one of so many keys is DuckDB's `ALL`, all output columns; its catalog writes `COLUMNS(*)`."""
    if type(key) is exp.Columns and number == 1:
        return type(key.this) is exp.Star and not any(key.this.args.values())
    return type(key) is exp.Var and key.name.upper() == "ALL"


_OF_OUTPUT = frozenset(("order", "limit", "offset", "fetch", "sort", "cluster", "distribute"))


def order_output(resolver: Resolver, node: exp.Expr, relation: Relation, around: Scope) -> Relation:
    """Return a relation with the ORDER BY and LIMIT that follow it, to which only its output names are visible."""
    if _OF_OUTPUT.isdisjoint(node.args) or not any(node.args.get(clause) for clause in _OF_OUTPUT):
        return relation
    scope = resolver.new_scope(around.ctes)
    scope.add("", relation)
    columns = list(relation.columns())
    projection = Projection([name for name, _ in columns], [sources for _, sources in columns])
    rows = RowSources()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    order_by(resolver, node, scope, projection, rows.own)
    return Relation(projection.names, projection.sources, rows, relation.opens)
