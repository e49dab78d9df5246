"""PIVOT and UNPIVOT behind a relation."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.effects import CONDITIONAL, GROUP_BY, IDENTITY
from lineage.sql.relations import STAR, Relation, Rows, Sources, absorb
from lineage.sql.resolver import Resolver
from lineage.sql.scope import Scope

__all__ = ["pivoted"]


def pivoted(resolver: Resolver, pivot: exp.Expr, relation: Relation, outer: Scope) -> Relation:
    """Return the relation that a PIVOT or UNPIVOT makes of another."""
    scope = Scope(resolver, outer.parent, outer.ctes)
    scope.add("", relation)
    made = (
        _unpivot(resolver, pivot, relation, scope)
        if pivot.args.get("unpivot")
        else _pivot(resolver, pivot, relation, scope)
    )
    alias = pivot.args.get("alias")
    listed = alias.args.get("columns") or () if isinstance(alias, exp.TableAlias) else ()
    return made.renamed([resolver.identifiers.alias(column) for column in listed])


def _pivot(resolver: Resolver, pivot: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """PIVOT (sum(v) FOR k IN (a, b)): a column a value of k. What is neither v nor k groups the rows.

    Each new column is `sum(CASE WHEN k = a THEN v END)`: v contributes, k decides.
    """
    aggregated: list[Sources] = []
    used: set[str] = set()
    for expression in pivot.expressions:
        sources: Sources = {}
        resolver.evaluate(
            scope, expression.this if isinstance(expression, exp.Alias) else expression, IDENTITY, sources
        )
        aggregated.append(sources)
        used |= {resolver.identifiers.column(c.this) for c in expression.find_all(exp.Column)}
    decided: Sources = {}
    for field in pivot.args.get("fields") or ():
        key = field.this if isinstance(field, exp.In) else field
        resolver.evaluate(scope, key, CONDITIONAL, decided)
        used |= {resolver.identifiers.column(c.this) for c in key.find_all(exp.Column)}
    rows = Rows()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    names: list[str] = []
    columns: list[Sources] = []
    for name, sources in relation.columns():
        if name not in used:
            names.append(name)
            columns.append(sources)
            if name != STAR:
                absorb(rows.own, sources, GROUP_BY, pivot)
    made = [resolver.identifiers.column(name) for name in pivot.args.get("columns") or ()]
    for position, name in enumerate(made):
        value = dict(aggregated[position % len(aggregated)]) if aggregated else {}
        absorb(value, decided, IDENTITY, None)
        names.append(name)
        columns.append(value)
    return Relation(names, columns, rows, [relation] if relation.is_open else [])


def _unpivot(resolver: Resolver, pivot: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """UNPIVOT (v FOR k IN (a, b)): a row a column. v holds the values of a and b, k their names."""
    values = [name for item in pivot.expressions for name in _names(resolver, item)]
    names: list[str] = []
    turned: list[Sources] = [{} for _ in values]
    gone: set[str] = set()
    for field in pivot.args.get("fields") or ():
        if not isinstance(field, exp.In):
            continue
        names += _names(resolver, field.this)
        for item in field.expressions:
            listed = item.this if isinstance(item, exp.PivotAlias | exp.Alias) else item
            columns = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
            for position, column in enumerate(columns):
                if isinstance(column, exp.Column):
                    gone.add(resolver.identifiers.column(column.this))
                if turned:
                    resolver.evaluate(scope, column, IDENTITY, turned[position % len(turned)])
    kept = [(name, sources) for name, sources in relation.columns() if name not in gone]
    return Relation(
        [*(name for name, _ in kept), *names, *values],
        [*(sources for _, sources in kept), *({} for _ in names), *turned],
        relation.rows,
        [relation] if relation.is_open else [],
    )


def _names(resolver: Resolver, node: exp.Expr) -> list[str]:
    """Return the names of `v`, of `(v, w)`, quoted or not."""
    if isinstance(node, exp.Tuple | exp.Paren):
        inner = node.expressions if isinstance(node, exp.Tuple) else [node.this]
        return [name for item in inner for name in _names(resolver, item)]
    identifier = node if isinstance(node, exp.Identifier) else node.this
    return [resolver.identifiers.column(identifier)] if isinstance(identifier, exp.Identifier) else []
