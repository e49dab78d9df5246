"""The select list: names and sources of the output columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from lineage.sql.resolve.alias_visibility import Clause
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Sources, with_mention
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.column_choice import STAR_FORMS, expand_choice, expand_filtered_star, is_filtered_star
from lineage.sql.resolve.rules.nested import nested_value
from lineage.sql.resolve.rules.stars import expand_star
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.spans import span_of
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION

_CALL = re.compile(r"(\w+)\s*\(\s*(?:DISTINCT\s+)?\Z", re.IGNORECASE)

__all__ = ["output_name", "project"]


def project(resolver: Resolver, select: exp.Expr, scope: Scope) -> Projection:
    """Return the output columns of a query block. Aliases become visible to expressions evaluated later."""
    projection = Projection()
    identifiers = resolver.identifiers
    scope.see_aliases(Clause.SELECT, seen=resolver.alias_visibility.select_list)
    for position, item in enumerate(select.args["expressions"]):
        kind = type(item)
        if kind is exp.Alias:
            args = item.args
            if type(args["this"]) is exp.QueryTransform:
                names = _names_only(select.args["expressions"][position + 1 :])
                _transform(resolver, args["this"], scope, projection, [args["alias"], *(names or ())])
                if names is not None:
                    break
                continue
            sources = value_of(resolver, args["this"], scope)
            if scope.choice is not None:
                expand_choice(resolver, item, scope, projection, lambda each: value_of(resolver, each, scope))
                continue
            name = identifiers.column(args["alias"])
            scope.add_output(name, sources, args["this"])
            projection.add(name, sources, args["this"])
        elif kind is exp.Column and type(item.args["this"]) is not exp.Star:
            projection.add(identifiers.column(item.args["this"]), value_of(resolver, item, scope), item)
        elif kind is exp.Star or kind is exp.Column:
            expand_star(resolver, item, scope, projection)
        elif kind is exp.Aliases:
            _several(resolver, item, scope, projection)
        elif kind is exp.QueryTransform:
            _transform(resolver, item, scope, projection)
        elif kind in STAR_FORMS and is_filtered_star(item):
            expand_filtered_star(resolver, item, scope, projection)
        elif kind is exp.Dot and type(item.args["expression"]) is exp.Star:
            expand_star(resolver, item, scope, projection)
        else:
            sources = value_of(resolver, item, scope)
            if scope.choice is not None:
                expand_choice(resolver, item, scope, projection, lambda each: value_of(resolver, each, scope))
                continue
            numbered = resolver.naming.dialect.unnamed_column_prefix is not None
            at = len(projection.names) if numbered else position  # Hive counts the columns of a star
            projection.add(output_name(resolver, item, at), sources, item)
    return projection


def value_of(resolver: Resolver, expression: exp.Expr, scope: Scope) -> Sources:
    """Return the sources of an expression. A column that is passed through shares its relation's sources."""
    if type(expression) is exp.Column:
        return with_mention(scope.resolve(expression), expression)
    nested = nested_value(resolver, expression, scope)
    if nested is not None:
        return nested
    sources: Sources = {}
    resolver.evaluate(scope, expression, IDENTITY, sources)
    return sources


def _several(resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection) -> None:
    """`explode(m) AS (k, v)`: one expression with several output columns."""
    sources = value_of(resolver, item.this, scope)
    for alias in item.args["expressions"]:
        name = resolver.identifiers.alias(alias)
        scope.add_output(name, sources, item.this)
        projection.add(name, sources, item.this)


def _transform(
    resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection, names: Sequence[exp.Identifier] = ()
) -> None:
    """`TRANSFORM(a, b) USING 'script' AS (x, y)`: every column may come from every argument; default `key`, `value`.

    https://cwiki.apache.org/confluence/display/Hive/LanguageManual+Transform
    """
    sources: Sources = {}
    for argument in item.args["expressions"]:
        if argument.is_star and isinstance(argument, exp.Star | exp.Column):  # each column is an argument
            star = Projection()
            expand_star(resolver, argument, scope, star)
            table = argument.args.get("table")
            for name in star.names:
                column = exp.Column(this=exp.to_identifier(name, quoted=True), table=table and table.copy())
                resolver.evaluate(scope, column, TRANSFORMATION, sources)
        else:
            resolver.evaluate(scope, argument, TRANSFORMATION, sources)
    schema = item.args.get("schema")
    named = [one.this if isinstance(one, exp.ColumnDef) else one for one in schema.expressions] if schema else []
    for name in [resolver.identifiers.column(one) for one in names or named] or ["key", "value"]:
        projection.add(name, sources, item)


def _names_only(items: Sequence[exp.Expr]) -> list[exp.Identifier] | None:
    """Return the names in `TRANSFORM(a) USING 'script' AS k, v` after the first; None if an item is not just a name."""
    names = [item.this for item in items if type(item) is exp.Column and type(item.this) is exp.Identifier]
    return names if len(names) == len(items) else None


_AROUND = (exp.Paren, exp.Cast, exp.Window, exp.Filter, exp.WithinGroup)
"""Nodes that keep the output name of the expression inside."""


def output_name(resolver: Resolver, expression: exp.Expr, position: int) -> str:
    """Return the name of an output column without an alias.

    PostgreSQL uses the name of the function or of the cast column (parse_target.c, FigureColname). Hive uses `_c` and
    the position, also for a cast column (SemanticAnalyzer.getColAlias). Elsewhere the name is generated text that
    nobody refers to, and the column's position is used.
    """
    prefix = resolver.naming.dialect.unnamed_column_prefix
    around = _AROUND if prefix is None else exp.Paren
    node: exp.Expr = expression
    while isinstance(node, around):
        node = node.this
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return resolver.identifiers.column(node.this)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        return resolver.identifiers.column(node.expression)
    if prefix is not None:
        return f"{prefix}{position}"
    if not resolver.naming.dialect.describes_unnamed_columns:
        return f"_col{position}"
    if isinstance(node, exp.Case):
        return "case"
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select) and node.this.expressions:
        inner = node.this.expressions[0]
        return (
            resolver.identifiers.alias(inner.args["alias"])
            if isinstance(inner, exp.Alias)
            else output_name(resolver, inner, 0)
        )
    if isinstance(node, exp.Exists):
        return "exists"
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector | exp.Binary):
        return _function_name(resolver, node)
    return "?column?"


def _function_name(resolver: Resolver, node: exp.Func) -> str:
    """Return a function's name as it is written, since sqlglot has one node type for several names."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    own, text = node.meta, resolver.text
    if "start" in own:
        written = text[own["start"] : own["end"] + 1]
    else:  # sqlglot keeps no position of the name: search for it before the arguments
        span = span_of(node)
        before = _CALL.search(text, max(0, span.start - 80), span.start) if span is not None else None
        written = before.group(1) if before is not None else ""
    if written.isidentifier():
        return written.lower()
    return node.sql_name().lower()
