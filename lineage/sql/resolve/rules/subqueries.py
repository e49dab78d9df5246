"""Sub-queries inside expressions: scalar, EXISTS, IN, ANY; correlated at any depth."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode
from lineage.sql.resolve.relations import Sources, absorb, absorb_rows
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.rules.nested import nested_value
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.scopes.unprefixed import NAMED_VALUE
from lineage.sql.resolve.transformation_codes import COMPUTED


@expression_rule(exp.Subquery, exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Values)
def scalar(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, _: Stack, sink: Sources) -> None:
    """A query as a value: its columns are the value, and what determines its rows influences it."""
    relation = resolver.relation(node, scope)
    for _name, sources in relation.columns():
        absorb(sink, sources, effect, None)
    absorb_rows(sink, relation.rows, effect)


@expression_rule(exp.Exists)
def exists(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """`EXISTS (query)`: only the existence of a row matters, not what the query selects."""
    if not isinstance(node.this, exp.Query):  # EXISTS(array, x -> test)
        if (found := nested_value(resolver, node, scope)) is not None:
            absorb(sink, found, effect, node)
        else:
            stack.extend((child, COMPUTED[effect]) for child in reversed(list(node.iter_expressions())))
        return
    known = len(resolver.diagnostics)
    absorb_rows(sink, resolver.relation(node.this, scope).rows, effect)
    if len(resolver.diagnostics) > known:  # the columns of its star do not matter
        resolver.withdraw(DiagnosticCode.UNRESOLVED_STAR, known)


@expression_rule(exp.In)
def membership(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, _: Sources) -> None:
    """`x IN (query | list)`: a Boolean value, computed from x and from the query or list."""
    below = COMPUTED[effect]
    args = node.args
    if (field := args.get("field")) is not None:
        stack.append((_all_of(field) if _names_table(resolver, scope, field) else field, below))
    for item in reversed(args.get("expressions") or []):
        stack.append((item, below))
    if (unnest := args.get("unnest")) is not None:  # IN UNNEST(array) looks the value up: it returns no rows
        stack.extend((array, below) for array in reversed(unnest.expressions))
    if (query := args.get("query")) is not None:
        stack.append((query, below))
    stack.append((node.this, below))


def _names_table(resolver: Resolver, scope: Scope, field: exp.Expr) -> bool:
    """Return whether what stands after IN is a table, and no value that WITH or the select list names."""
    dialect = resolver.naming.dialect
    if type(field) is not exp.Column or not dialect.in_names_tables:
        return False
    if field.args.get("table") is not None or not dialect.with_names_values:
        return True
    name = resolver.identifiers.alias(field.this)
    return NAMED_VALUE + name not in scope.ctes and name not in scope.outputs


def _all_of(table: exp.Expr) -> exp.Expr:
    """Return the query of all columns of a table that stands where the parser expects a column: `x IN db.t`."""
    parts = {"this": "this", "table": "db", "db": "catalog"}
    named = {part: name.copy() for own, part in parts.items() if (name := table.args.get(own)) is not None}
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Table(**named)))
