"""Nodes that pass a value through unchanged, and leaves without columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import STAR, Sources, absorb
from lineage.sql.resolve.resolver import LEAVES, Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope


@expression_rule(exp.Paren, exp.Alias)
def same_value(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`(x)` and `x AS y` as x."""
    stack.append((node.this, effect))


LEAVES.update(
    (
        exp.Literal,
        exp.Null,
        exp.Boolean,
        exp.Star,
        exp.Identifier,
        exp.DataType,
        exp.DataTypeParam,
        exp.ObjectIdentifier,
        exp.PseudoType,
        exp.Var,
        exp.SessionParameter,
        exp.CurrentDate,
        exp.CurrentTimestamp,
    )
)


@expression_rule(exp.Ordered)
def order_key(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`x DESC NULLS LAST` as x."""
    stack.append((node.this, effect))


@expression_rule(exp.Kwarg)
def named_argument(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`name => value`: the name is not a column."""
    stack.append((node.expression, effect))


@expression_rule(exp.Placeholder)
def bind_variable(resolver: Resolver, _: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`:v`, a variable of the enclosing program, or else a bind variable of the client."""
    if resolver.outermost is not None and node.name:
        name = resolver.naming.dialect.fold_column(node.name)
        absorb(sink, resolver.outermost.merged.get(name) or {}, effect, node)


@expression_rule(exp.PositionalColumn)
def column_by_position(
    resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, _: Stack, sources: Sources
) -> None:
    """DuckDB's `#2`: the second column of all that FROM has."""
    wanted = int(node.name) if node.name.isdigit() else 0
    listed = [column for relation in scope.items.values() for column in relation.columns()]
    before = [name for name, _ in listed[:wanted]]
    if STAR not in before and 0 < wanted <= len(listed):
        absorb(sources, listed[wanted - 1][1], effect, node)
        return
    resolver.report(
        DiagnosticCode.UNRESOLVED_STAR,
        Severity.WARNING,
        f"the column at position {wanted} of FROM is not known",
        node,
        hint="name the column, or give the table's schema with --catalog",
    )
