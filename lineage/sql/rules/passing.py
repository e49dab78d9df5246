"""Nodes that hand a value on unchanged, and leaves that hold no column."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.relations import Sources, absorb
from lineage.sql.resolver import LEAVES, Resolver, Stack, expression_rule
from lineage.sql.scope import Scope


@expression_rule(exp.Paren, exp.Alias)
def same_value(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`(x)` and `x AS y` are x."""
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
        exp.Placeholder,
        exp.SessionParameter,
        exp.CurrentDate,
        exp.CurrentTimestamp,
    )
)


@expression_rule(exp.Ordered)
def ordered(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`x DESC NULLS LAST` as x."""
    stack.append((node.this, effect))


@expression_rule(exp.Kwarg, exp.PropertyEQ)
def named_argument(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`name => value`: the name is no column."""
    stack.append((node.expression, effect))


@expression_rule(exp.Parameter)
def parameter(_: Resolver, scope: Scope, node: exp.Expr, effect: int, __: Stack, sink: Sources) -> None:
    """`$1` is a column of a staged file where one is read, else a parameter of the statement."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        absorb(sink, scope.positional(node.name), effect, node)
