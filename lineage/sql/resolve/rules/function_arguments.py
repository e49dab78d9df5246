"""Functions without a node type of their own whose arguments have different effects.

ClickHouse's aggregate function combinators (`sumIf`, `uniqArrayIf`; documentation, Aggregate Function Combinators),
`multiIf`, T-SQL's CHOOSE and MySQL's ELT; and functions that take `*`, as Snowflake's HASH(*).
"""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Sources, absorb
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.rules.dictionary_lookups import look_up
from lineage.sql.resolve.rules.generators import ROW_FUNCTIONS, generate_rows
from lineage.sql.resolve.rules.nested import NESTED_FUNCTIONS
from lineage.sql.resolve.rules.session_variables import by_function
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import (
    AGGREGATION,
    COMPOSE,
    CONDITIONAL,
    FILTER,
    MASKED_AGGREGATION,
    MASKED_TRANSFORMATION,
    TRANSFORMATION,
)

__all__ = ["RUN_QUERIES"]

_DATE_PART_AT = {("snowflake", "trunc"): 1, ("snowflake", "truncate"): 1, ("tsql", "date_bucket"): 0}
"""Index of the date-part argument (an unquoted word), for functions without a node type of their own."""
_DATE_PARTS = frozenset(
    ("year", "yy", "yyy", "yyyy", "yr", "years", "yrs", "quarter", "qq", "qtr", "qtrs", "quarters", "month",
     "mm", "mon", "mons", "months", "week", "wk", "ww", "weekofyear", "woy", "wy", "week_iso", "isowk",
     "isoww", "day", "dd", "days", "dayofmonth", "hour", "hh", "hr", "hours", "hrs", "minute", "mi", "min",
     "minutes", "mins", "second", "ss", "sec", "seconds", "secs", "millisecond", "ms", "msec", "milliseconds",
     "microsecond", "us", "usec", "microseconds", "mcs", "nanosecond", "ns", "nsec", "nanosec", "nanoseconds")
)  # fmt: skip
_COMBINATOR = re.compile(
    r"(?:If|Array|Map|SimpleState|State|MergeState|Merge|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax)\Z"
)

_SQL = re.compile(
    r"\s*(?:select\s.*\sfrom\s|with\s.*\sselect\s|insert\s+into\s|merge\s+into\s|update\s+\S+\s+set\s|delete\s+from\s"
    r"|create\s.*\sas\s|truncate\s+table\s|drop\s+(?:table|view)\s|call\s+\S+\s*\()",
    re.IGNORECASE | re.DOTALL,
)

RUN_QUERIES = frozenset(
    ("crosstab", "crosstab2", "crosstab3", "crosstab4", "dblink", "openquery", "external_query", "postgres_query",
     "mysql_query", "query_to_xml", "connectby", "sqlite_query", "query")
)  # fmt: skip
"""Functions that run a query from a string, often in another database."""


def _base(name: str) -> str:
    """Return the name of an aggregate without its combinators: `uniq` for `uniqArrayIf`."""
    while (found := _COMBINATOR.search(name)) is not None and found.start():
        name = name[: found.start()]
    return name


@expression_rule(exp.CombinedAggFunc, exp.CombinedParameterizedAgg)
def combinator(resolver: Resolver, _: Scope, node: exp.Expr, effect: int, stack: Stack, __: Sources) -> None:
    """`sumIf(x, test)`: x is aggregated, the test filters for this column only."""
    name = str(node.this)
    masks = resolver.functions.of_name(_base(name)) in (MASKED_AGGREGATION, MASKED_TRANSFORMATION)
    value = COMPOSE[effect][MASKED_AGGREGATION if masks else AGGREGATION]
    arguments = list(node.args.get("params") or node.expressions)
    if name.endswith("If") and len(arguments) > 1:
        stack.append((arguments.pop(), COMPOSE[effect][FILTER]))
    stack.extend((argument, value) for argument in reversed(arguments))


@expression_rule(exp.Anonymous)
def by_name(resolver: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """A function without a node type of its own: its effect on the arguments depends on its name."""
    name = node.name
    arguments = node.expressions
    plain = name.lower()
    nested = NESTED_FUNCTIONS.get(plain.replace("_", ""))
    if nested is not None and (found := nested(resolver, node, scope)) is not None:
        absorb(sink, found, effect, node)
        return
    if plain == "multiif":  # test, value, test, value, …, default
        for position in range(len(arguments) - 1, -1, -1):
            tested = position % 2 == 0 and position < len(arguments) - 1
            stack.append((arguments[position], COMPOSE[effect][CONDITIONAL if tested else TRANSFORMATION]))
        return
    if look_up(resolver, node, effect, stack, sink) or by_function(resolver, scope, node, effect, sink):
        return
    if plain in ROW_FUNCTIONS and resolver.naming.dialect.makes_rows_in_list:
        generate_rows(resolver, scope, node, effect, stack, sink)
        return
    if plain == "choose" and arguments:
        _choose(arguments[0], arguments[1:], effect, stack)
        return
    if (at := _DATE_PART_AT.get((resolver.naming.dialect.name, plain))) is not None and at < len(arguments):
        arguments = [
            one for place, one in enumerate(arguments) if place != at or not _is_date_part(resolver, scope, one)
        ]
    elif (field := _field_by_call(resolver, scope, name, arguments)) is not None:
        stack.append((field, effect))
        return
    _report_sql(resolver, node, arguments)
    step = resolver.functions.of_name(name)
    below = COMPOSE[effect][step]
    for argument in reversed(arguments):
        if type(argument) is exp.Star:
            if not plain.startswith(("count", "approx_count")):  # these count rows
                for _, sources in scope.all_columns():
                    absorb(sink, sources, below, argument)
        else:
            stack.append((argument, below))


def _report_sql(resolver: Resolver, node: exp.Expr, arguments: list[exp.Expr]) -> None:
    """Report a string that reads as SQL: the function may run it."""
    if node.name.lower() in RUN_QUERIES:  # reported by the rule for table functions, whatever the string is
        return
    for argument in arguments:
        if type(argument) is exp.Literal and argument.is_string and _SQL.match(argument.this):
            resolver.report(
                DiagnosticCode.DYNAMIC_SQL,
                Severity.WARNING,
                f"a string argument of {node.name} reads as SQL, which is not followed: the function may run it",
                argument,
                lasts=True,
            )


def _is_date_part(resolver: Resolver, scope: Scope, node: exp.Expr) -> bool:
    """Return whether an argument is a date part. In Snowflake's TRUNC it may also be a number's scale."""
    if type(node) is not exp.Column or node.args.get("table") is not None:
        return False
    if not resolver.naming.dialect.truncates_by_date_part:
        return True
    name = resolver.identifiers.column(node.this)
    is_column = any(item.find(name) is not None for item in scope.items.values())
    return node.name.lower() in _DATE_PARTS and not is_column


def _field_by_call(resolver: Resolver, scope: Scope, name: str, arguments: list[exp.Expr]) -> exp.Column | None:
    """Return the column that PostgreSQL's `name(t)` reads: t.name, if the table has such a column.

    https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-USAGE
    """
    [only] = arguments if len(arguments) == 1 else [None]
    if type(only) is not exp.Column or only.args.get("table") is not None or resolver.functions.knows(name):
        return None
    if not resolver.naming.dialect.fields_by_call or not isinstance(only.this, exp.Identifier):
        return None
    relation = scope.item(resolver.identifiers.alias(only.this))
    own = resolver.identifiers.column(only.this)
    if relation is None or relation.is_open or any(item.find(own) is not None for item in scope.items.values()):
        return None
    column = exp.Identifier(this=name)
    is_there = relation.find(resolver.identifiers.column(column)) is not None
    return exp.Column(this=column, table=only.this) if is_there else None


@expression_rule(exp.Elt)
def elt(_: Resolver, __: Scope, node: exp.Expr, effect: int, stack: Stack, ___: Sources) -> None:
    """`ELT(n, a, b)`: n is a CONDITIONAL reference."""
    _choose(node.this, node.expressions, effect, stack)


def _choose(index: exp.Expr, values: list[exp.Expr], effect: int, stack: Stack) -> None:
    stack.extend((value, COMPOSE[effect][TRANSFORMATION]) for value in reversed(values))
    stack.append((index, COMPOSE[effect][CONDITIONAL]))


@expression_rule(exp.HashAgg)
def hash_of_rows(_: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, sink: Sources) -> None:
    """`HASH_AGG(*)`, `HASH_AGG(a, b)`: a hash over all rows."""
    below = COMPOSE[effect][MASKED_AGGREGATION]
    for argument in node.iter_expressions():
        if type(argument) is exp.Star:
            for _name, sources in scope.all_columns():
                absorb(sink, sources, below, argument)
        else:
            stack.append((argument, below))
