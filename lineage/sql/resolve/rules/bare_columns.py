"""Bare columns: SQLite reads columns that are neither aggregated nor a key of GROUP BY from some row of the group.

Beside `max(x)` or `min(x)`, that is the row that has it. As such columns are possible, a name in GROUP BY or HAVING is
a column of FROM before it is an alias, whatever the select list makes of it.
https://sqlite.org/lang_select.html#bare_columns_in_an_aggregate_query
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy

from sqlglot import exp

from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.scopes.unprefixed import is_aggregate
from lineage.sql.resolve.transformation_codes import FILTER, SORT

__all__ = ["add_row_of_extreme", "hides_alias"]

_CLAUSES = {"having": FILTER, "order": SORT}


def hides_alias(resolver: Resolver, name: str, scope: Scope, projection: Projection) -> bool:
    """Return whether a name in GROUP BY or HAVING is a bare column, although the select list has an alias of that name.

    A schema has the column, or the select list reads it: aliases are not visible there.
    """
    if not resolver.naming.dialect.bare_columns_follow_extremes:
        return False
    if scope.having(name):
        return True
    listed = [one for one in projection.expressions if one is not None]
    read = (node for one in listed for node in one.walk(prune=_is_query) if type(node) is exp.Column)
    return any(type(one.this) is exp.Identifier and resolver.identifiers.column(one.this) == name for one in read)


def add_row_of_extreme(
    resolver: Resolver, select: exp.Expr, scope: Scope, projection: Projection, sink: Sources
) -> None:
    """Add what `max` and `min` compare to the output columns that are neither aggregated nor a key of GROUP BY.

    To `sink`, what decides about the rows, it is added for such columns in HAVING and ORDER BY.
    """
    clauses = [*projection.expressions, *map(select.args.get, _CLAUSES)]
    extremes = [one for clause in clauses if clause is not None for one in _extremes(clause)]
    if not extremes:
        return
    compared: Sources = {}
    for extreme in extremes:
        resolver.evaluate(scope, extreme, SORT, compared)
    group = select.args.get("group")
    listed = group.expressions if group is not None else []
    names = {str(projection.key_name(key)).lower() for key in listed}
    keys = {_form(projection.key_expression(key), scope) for key in listed}
    outputs = list(zip(projection.names, projection.expressions, strict=True))
    for name, expression in outputs:
        if expression is not None and name.lower() in names and not hides_alias(resolver, name, scope, projection):
            keys.add(_form(expression, scope))  # a key by its alias
    names |= {one.name for one in keys if isinstance(one, exp.Column)}
    for position, (name, expression) in enumerate(outputs):
        is_of_a_row = name.lower() not in names if expression is None else _reads_row(resolver, expression, scope, keys)
        if is_of_a_row:
            own = copy(projection.sources[position])  # a relation may share it
            for source, mention in compared.items():
                own.setdefault(source, mention)
            projection.sources[position] = own
    for place, code in _CLAUSES.items():
        clause = select.args.get(place)
        rest = None if clause is None else _without_aliases(resolver, clause, scope, projection)
        if rest is not None and _reads_row(resolver, rest, scope, keys):
            for extreme in extremes:
                resolver.evaluate(scope, extreme, code, sink)


def _without_aliases(resolver: Resolver, clause: exp.Expr, scope: Scope, projection: Projection) -> exp.Expr:
    """Return HAVING or ORDER BY without the names of output columns."""

    def is_alias(node: exp.Expr) -> bool:
        if type(node) is not exp.Column or node.args.get("table") is not None or type(node.this) is not exp.Identifier:
            return False
        name = resolver.identifiers.column(node.this)
        if isinstance(clause, exp.Order) and isinstance(node.parent, exp.Ordered):
            return name in projection.names
        return name in scope.outputs and not hides_alias(resolver, name, scope, projection)

    return clause.transform(lambda node: exp.null() if is_alias(node) else node)


def _extremes(clause: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates `max` and `min` of a clause; of several arguments they are functions of one row."""
    for node in clause.walk(prune=lambda below: isinstance(below, exp.Query | exp.Window)):
        if isinstance(node, exp.Max | exp.Min):
            yield node.parent if isinstance(node.parent, exp.Filter) else node


def _form(expression: exp.Expr, scope: Scope) -> exp.Expr:
    """Return an expression as it compares with others: a column may be written with its table or without.

    Literals are all alike, as in a log's template: its sample stands for statements with other ones.
    """

    def with_table(column: exp.Expr) -> exp.Expr:
        if isinstance(column, exp.Literal):
            return exp.Placeholder()
        if not isinstance(column, exp.Column):
            return column
        tables = list(scope.items) if len(scope.items) == 1 else [*scope.having(column.name.lower())]
        table = column.table.lower() or (tables[0] if len(tables) == 1 else "")
        return exp.column(column.name.lower(), table)

    return expression.unnest().transform(with_table)


def _reads_row(resolver: Resolver, expression: exp.Expr, scope: Scope, keys: Collection[exp.Expr]) -> bool:
    """Return whether an expression reads a column that no key, aggregate, window or sub-query reads."""

    def is_settled(node: exp.Expr) -> bool:
        is_of_rows = isinstance(node, exp.Filter | exp.Query | exp.Window) or is_aggregate(resolver, node)
        return is_of_rows or _form(node, scope) in keys

    nodes = expression.walk(prune=is_settled)
    return any(isinstance(node, exp.Column) and not is_settled(node) for node in nodes)


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)
