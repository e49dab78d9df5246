"""Nodes that pass a value through unchanged, and leaves without columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Sources, absorb
from lineage.sql.resolve.resolver import LEAVES, Resolver, Stack, expression_rule
from lineage.sql.resolve.scope import Scope


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


@expression_rule(exp.Kwarg, exp.PropertyEQ)
def named_argument(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`name => value`: the name is not a column."""
    stack.append((node.expression, effect))


@expression_rule(exp.Parameter)
def parameter(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`$1`, a column if a staged file is read; `@v`, a variable; otherwise a parameter of the statement."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        absorb(sink, scope.positional(node.name), effect, node)
    elif resolver.outermost is not None:
        name = resolver.naming.dialect.fold_column(node.name)
        merged = resolver.outermost.merged
        if (place := resolver.variable_places.get(node.name.lower())) is not None:
            end = place.column + place.end - place.start - 1
            node.meta.update(line=place.line, col=end, start=place.start, end=place.end - 1)
        absorb(sink, merged.get(f"@{name}") or merged.get(name) or {}, effect, node)


@expression_rule(exp.Placeholder)
def bind_variable(resolver: Resolver, _: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`:v`, a variable of the enclosing program, or else a bind variable of the client."""
    if resolver.outermost is not None and node.name:
        name = resolver.naming.dialect.fold_column(node.name)
        absorb(sink, resolver.outermost.merged.get(name) or {}, effect, node)
