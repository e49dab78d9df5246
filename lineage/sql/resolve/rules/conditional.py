"""CASE, IF, NULLIF and the like: tests are CONDITIONAL references; the values that they select contribute."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import COMPOSE, CONDITIONAL, TRANSFORMATION


@expression_rule(exp.Case)
def case(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`CASE [operand] WHEN test THEN value … ELSE default END`."""
    args = node.args
    tested, chosen = COMPOSE[effect][CONDITIONAL], COMPOSE[effect][TRANSFORMATION]
    if default := args.get("default"):
        stack.append((default, chosen))
    for branch in reversed(args["ifs"]):
        stack.append((branch.args["true"], chosen))
        stack.append((branch.args["this"], tested))
    if operand := args.get("this"):
        stack.append((operand, tested))


@expression_rule(exp.If, exp.Nvl2)
def if_then_else(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`IF(test, value, other)`, `NVL2(test, value, other)`."""
    args = node.args
    chosen = COMPOSE[effect][TRANSFORMATION]
    for branch in (args.get("false"), args.get("true")):
        if branch is not None:
            stack.append((branch, chosen))
    stack.append((args["this"], COMPOSE[effect][CONDITIONAL]))


@expression_rule(exp.Nullif)
def nullif(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`NULLIF(value, other)`: the first argument is the value, the second only tests it."""
    stack.append((node.args["expression"], COMPOSE[effect][CONDITIONAL]))
    stack.append((node.args["this"], COMPOSE[effect][TRANSFORMATION]))


@expression_rule(exp.DecodeCase)
def decode(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`DECODE(operand, search, value, …, default)`."""
    operand, *rest = node.expressions
    tested, chosen = COMPOSE[effect][CONDITIONAL], COMPOSE[effect][TRANSFORMATION]
    pushed = [(operand, tested)]
    for position, item in enumerate(rest):
        is_default = position == len(rest) - 1 and len(rest) % 2 == 1
        pushed.append((item, chosen if is_default or position % 2 else tested))
    stack.extend(reversed(pushed))
