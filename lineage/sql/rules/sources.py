"""What may stand in FROM: tables and CTEs, sub-queries, VALUES, LATERAL, UNNEST and other table functions."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.effects import IDENTITY, TRANSFORMATION
from lineage.sql.relations import Relation, Sources
from lineage.sql.resolver import Resolver, relation_rule
from lineage.sql.rules.ctes import scope_with_ctes
from lineage.sql.scope import Scope


def _listed(resolver: Resolver, node: exp.Expr) -> list[str]:
    """Return the column names of an alias, `AS t(a, b)`."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return []
    columns = (c.this if isinstance(c, exp.ColumnDef) else c for c in alias.args.get("columns") or ())
    return [resolver.identifiers.alias(column) for column in columns]


@relation_rule(exp.Table)
def table(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """A table, a CTE of that name, or a function called as a table."""
    assert isinstance(node, exp.Table)
    if not isinstance(node.this, exp.Identifier):
        return _function(resolver, node.this, scope, node)
    if node.args.get("db") is None:
        cte = scope.ctes.get(resolver.identifiers.alias(node.this))
        if cte is not None:
            return cte.renamed(_listed(resolver, node))
    return resolver.table(node).renamed(_listed(resolver, node))


@relation_rule(exp.Subquery)
def subquery(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`(query) AS t(a, b)`. Its own ORDER BY and LIMIT stand on the query inside."""
    inner = scope_with_ctes(resolver, node, scope) if node.args.get("with_") else scope
    return resolver.relation(node.this, inner).renamed(_listed(resolver, node))


@relation_rule(exp.Paren)
def parenthesised(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`(x)` is x."""
    return resolver.relation(node.this, scope)


@relation_rule(exp.Values)
def values(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`VALUES (a, b), (c, d)`: each column of every row."""
    columns: list[Sources] = []
    for row in node.expressions:
        for position, value in enumerate(row.expressions if isinstance(row, exp.Tuple) else [row]):
            if position == len(columns):
                columns.append({})
            resolver.evaluate(scope, value, IDENTITY, columns[position])
    names = [f"column{position + 1}" for position in range(len(columns))]
    return Relation(names, columns).renamed(_listed(resolver, node))


@relation_rule(exp.Lateral)
def lateral(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """LATERAL: a sub-query or function that sees the relations to its left; Hive's LATERAL VIEW."""
    inner = node.this
    if isinstance(inner, exp.Query):
        return resolver.relation(inner, scope).renamed(_listed(resolver, node))
    return _function(resolver, inner, scope, node)


@relation_rule(exp.Unnest)
def unnest(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`UNNEST(a, b) WITH ORDINALITY AS t(x, y, n)`: each array gives its own column, the ordinal comes from none."""
    names = _listed(resolver, node)
    columns: list[Sources] = []
    for array in node.expressions:
        sources: Sources = {}
        resolver.evaluate(scope, array, TRANSFORMATION, sources)
        columns.append(sources)
    alias = node.args.get("alias")
    if not names and alias is not None and alias.this is not None:
        names = [resolver.identifiers.alias(alias.this)]
    offset = node.args.get("offset")
    if offset:
        names = [*names[: len(columns)], *(["ordinality"] if offset is True else [resolver.identifiers.alias(offset)])]
        columns.append({})
    while len(names) > len(columns):  # an array of rows gives several columns
        columns.append(columns[0] if columns else {})
    names += [f"unnest{position}" for position in range(len(names), len(columns))]
    return Relation(names, columns)


def _function(resolver: Resolver, call: exp.Expr, scope: Scope, node: exp.Expr) -> Relation:
    """A function called as a table: every column that the alias names may come from every argument."""
    sources: Sources = {}
    resolver.evaluate(scope, call, TRANSFORMATION, sources)
    names = _listed(resolver, node)
    alias = node.args.get("alias")
    if not names and isinstance(alias, exp.TableAlias) and alias.this is not None:
        names = [resolver.identifiers.alias(alias.this)]
    if not names:
        names = [str(call.meta.get("name") or getattr(call, "name", "") or call.key).lower()]
    return Relation(names, [sources for _ in names])
