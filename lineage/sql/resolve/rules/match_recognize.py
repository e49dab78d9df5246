"""MATCH_RECOGNIZE: rows that match a pattern (SQL:2016 7.6). Pattern variables name the rows that they match."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Relation, RowSources, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import FILTER, GROUP_BY, IDENTITY, SORT, TRANSFORMATION

__all__ = ["match_recognize"]


def match_recognize(resolver: Resolver, node: exp.Expr, relation: Relation, outer: Scope) -> Relation:
    """Return the PARTITION BY columns and the measures; with ALL ROWS PER MATCH, all input columns too."""
    args, identifiers = node.args, resolver.identifiers
    scope = Scope(resolver, outer.parent, outer.ctes)
    scope.add("", relation)
    for definition in args.get("define") or ():
        alias = definition.args.get("alias")
        if isinstance(alias, exp.Identifier):
            scope.prefixed = {**scope.prefixed, identifiers.alias(alias): relation}
    for column in node.find_all(exp.Column):  # a variable without a condition matches any row
        if (variable := column.args.get("table")) is not None:
            scope.prefixed = {**scope.prefixed, identifiers.alias(variable): relation}
    rows = RowSources()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    for definition in args.get("define") or ():
        resolver.evaluate(scope, definition.this, FILTER, rows.own)
    if order := args.get("order"):
        for key in order.expressions:
            resolver.evaluate(scope, key, SORT, rows.own)
    names: list[str] = []
    columns: list[Sources] = []
    all_rows = "ALL ROWS" in str(args.get("rows") or "").upper()
    for key in args.get("partition_by") or ():
        sources: Sources = {}
        resolver.evaluate(scope, key, IDENTITY, sources)
        absorb(rows.own, sources, GROUP_BY, None)
        if not all_rows and isinstance(key, exp.Column):
            names.append(identifiers.column(key.this))
            columns.append(sources)
    if all_rows:
        for name, sources in relation.columns():
            names.append(name)
            columns.append(sources)
    for measure in args.get("measures") or ():
        alias_node = measure.this if isinstance(measure.this, exp.Alias) else measure
        alias = alias_node.args.get("alias")
        value: Sources = {}
        resolver.evaluate(scope, alias_node.this, TRANSFORMATION, value)
        names.append(identifiers.alias(alias) if isinstance(alias, exp.Identifier) else f"_col{len(names)}")
        columns.append(value)
    return Relation(names, columns, rows, [relation] if all_rows and relation.is_open else [])
