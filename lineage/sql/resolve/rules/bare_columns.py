"""Bare columns: beside `max(x)` or `min(x)` they are of the row that has it.

https://sqlite.org/lang_select.html#bare_columns_in_an_aggregate_query
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy

from sqlglot import exp

from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.transformation_codes import SORT
from lineage.sql.resolve.unprefixed import is_aggregate

__all__ = ["add_row_of_extreme"]

_CLAUSES = ("having", "order")


def add_row_of_extreme(resolver: Resolver, select: exp.Expr, scope: Scope, projection: Projection) -> None:
    """Add what `max` and `min` compare to the output columns that are neither aggregated nor a key of GROUP BY."""
    clauses = [*projection.expressions, *map(select.args.get, _CLAUSES)]
    extremes = [one for clause in clauses if clause is not None for one in _extremes(clause)]
    if not extremes:
        return
    compared: Sources = {}
    for one in extremes:
        resolver.evaluate(scope, one, SORT, compared)
    group = select.args.get("group")
    listed = group.expressions if group is not None else []
    keys = {str(projection.key_name(key)).lower() for key in listed}
    forms = {_form(projection.key_expression(key)) for key in listed}
    outputs = zip(projection.names, projection.expressions, strict=True)
    forms |= {_form(one) for name, one in outputs if one is not None and name.lower() in keys}  # keys by alias
    keys |= {one.name for one in forms if isinstance(one, exp.Column)}
    for position, (name, expression) in enumerate(zip(projection.names, projection.expressions, strict=True)):
        read = {name.lower()} if expression is None else _read_of_a_row(resolver, expression, forms)
        if name.lower() not in keys and read - keys:
            own = copy(projection.sources[position])  # a relation may share it
            for source, mention in compared.items():
                own.setdefault(source, mention)
            projection.sources[position] = own


def _extremes(clause: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates `max` and `min` of a clause; of several arguments they are functions of one row."""
    for node in clause.walk(prune=lambda below: isinstance(below, exp.Query | exp.Window)):
        if isinstance(node, exp.Max | exp.Min):
            yield node.parent if isinstance(node.parent, exp.Filter) else node


def _form(expression: exp.Expr) -> exp.Expr:
    """Return an expression as it compares with others: a column may be written with its table or without."""
    return expression.unnest().transform(
        lambda one: exp.column(one.name.lower()) if isinstance(one, exp.Column) else one
    )


def _read_of_a_row(resolver: Resolver, expression: exp.Expr, keys: Collection[exp.Expr]) -> set[str]:
    """Return the columns of an expression that no key, aggregate, window or sub-query reads."""

    def is_of_rows(node: exp.Expr) -> bool:
        return isinstance(node, exp.Filter | exp.Query | exp.Window) or is_aggregate(resolver, node)

    def is_settled(node: exp.Expr) -> bool:
        return is_of_rows(node) or _form(node) in keys

    read = expression.walk(prune=is_settled if keys else is_of_rows)
    return {one.name.lower() for one in read if isinstance(one, exp.Column)}
