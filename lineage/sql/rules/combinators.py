"""Functions that the parser knows by name only and that treat their arguments unlike each other.

ClickHouse's aggregate function combinators (`sumIf`, `uniqArrayIf`; documentation, Aggregate Function Combinators),
`multiIf`, T-SQL's CHOOSE and MySQL's ELT; and functions that take `*`, as Snowflake's HASH(*) and OBJECT_CONSTRUCT(*).
"""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.sql.effects import (
    AGGREGATION,
    COMPOSE,
    CONDITIONAL,
    FILTER,
    FIRST_REFERENCE,
    MASKED_AGGREGATION,
    MASKED_TRANSFORMATION,
    TRANSFORMATION,
)
from lineage.sql.relations import Sources, absorb
from lineage.sql.resolver import Resolver, Stack, expression_rule
from lineage.sql.scope import Scope

_COMBINATOR = re.compile(
    r"(?:If|Array|Map|SimpleState|State|MergeState|Merge|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax)\Z"
)


def _base(name: str) -> str:
    """Return the name of an aggregate without its combinators: `uniqArrayIf` is uniq."""
    while (found := _COMBINATOR.search(name)) is not None and found.start():
        name = name[: found.start()]
    return name


@expression_rule(exp.CombinedAggFunc, exp.CombinedParameterizedAgg)
def combined(resolver: Resolver, _: Scope, node: exp.Expr, effect: int, stack: Stack, __: Sources) -> None:
    """`sumIf(x, test)`: x is aggregated, the test filters for this column alone."""
    name = str(node.this)
    masks = resolver.functions.of_name(_base(name)) in (MASKED_AGGREGATION, MASKED_TRANSFORMATION)
    value = COMPOSE[effect][MASKED_AGGREGATION if masks else AGGREGATION]
    arguments = list(node.args.get("params") or node.expressions)
    if name.endswith("If") and len(arguments) > 1:
        stack.append((arguments.pop(), COMPOSE[effect][FILTER]))
    stack.extend((argument, value) for argument in reversed(arguments))


@expression_rule(exp.Anonymous)
def by_name(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """A function that the parser does not know: what it does to its arguments depends on its name."""
    name = node.name
    arguments = node.expressions
    plain = name.lower()
    if plain == "multiif":  # test, value, test, value, …, default
        for position in range(len(arguments) - 1, -1, -1):
            tested = position % 2 == 0 and position < len(arguments) - 1
            stack.append((arguments[position], COMPOSE[effect][CONDITIONAL if tested else TRANSFORMATION]))
        return
    if plain == "choose" and arguments:
        _choose(arguments[0], arguments[1:], effect, stack)
        return
    step = resolver.functions.of_name(name)
    below = COMPOSE[effect][step] if effect < FIRST_REFERENCE else effect
    for argument in reversed(arguments):
        if type(argument) is exp.Star:
            if not plain.startswith(("count", "approx_count")):  # these count rows
                for _, sources in scope.all_columns():
                    absorb(sink, sources, below, argument)
        else:
            stack.append((argument, below))


@expression_rule(exp.Elt)
def elt(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`ELT(n, a, b)`: n only chooses."""
    _choose(node.this, node.expressions, effect, stack)


def _choose(index: exp.Expr, values: list[exp.Expr], effect: int, stack: Stack) -> None:
    stack.extend((value, COMPOSE[effect][TRANSFORMATION]) for value in reversed(values))
    stack.append((index, COMPOSE[effect][CONDITIONAL]))


@expression_rule(exp.HashAgg)
def hash_of_rows(_: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """`HASH_AGG(*)`, `HASH_AGG(a, b)`: one hash of all rows."""
    below = COMPOSE[effect][MASKED_AGGREGATION]
    for argument in node.iter_expressions():
        if type(argument) is exp.Star:
            for _name, sources in scope.all_columns():
                absorb(sink, sources, below, argument)
        else:
            stack.append((argument, below))


@expression_rule(exp.StarMap)
def object_of_all(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, _: Stack, sink: Sources) -> None:
    """`OBJECT_CONSTRUCT(*)`: an object with a field a column."""
    star = node.this
    except_ = star.args.get("except_") or ()
    dropped = {resolver.identifiers.column(c.this if isinstance(c, exp.Column) else c) for c in except_}
    for name, sources in scope.all_columns():
        if name not in dropped:
            absorb(sink, sources, COMPOSE[effect][TRANSFORMATION], star)
