"""The select list: names and sources of the output columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage.sql.parse.placeholders import is_filled_in
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import STAR, FunctionTable, Sources, with_mention
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.column_choice import STAR_FORMS, expand_choice, expand_filtered_star, is_filtered_star
from lineage.sql.resolve.rules.excluded_columns import drop_excluded, split_list
from lineage.sql.resolve.rules.exploded import generated_columns
from lineage.sql.resolve.rules.kept_fields import kept_value
from lineage.sql.resolve.rules.nested import nested_value
from lineage.sql.resolve.rules.stars import expand_star
from lineage.sql.resolve.rules.unnamed_columns import UnnamedColumns
from lineage.sql.resolve.scopes.alias_visibility import Clause
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION

__all__ = ["project"]


def project(resolver: Resolver, select: exp.Expr, scope: Scope) -> Projection:
    """Return the output columns of a query block. Aliases become visible to expressions evaluated later."""
    if not resolver.naming.dialect.excludes_from_list:
        return _project(resolver, select, select.args["expressions"], scope)
    items, excluded = split_list(select)
    projection = _project(resolver, select, items, scope)
    drop_excluded(projection, excluded, resolver.identifiers)
    return projection


def _project(resolver: Resolver, select: exp.Expr, items: Sequence[exp.Expr], scope: Scope) -> Projection:
    # One case for each kind of item, the frequent ones first: a function for each would be called for every column.
    projection = Projection()
    identifiers = resolver.identifiers
    unnamed: UnnamedColumns | None = None
    scope.see_aliases(Clause.SELECT, seen=resolver.alias_visibility.select_list)
    for position, item in enumerate(items):
        kind = type(item)
        if kind is exp.Alias:
            args = item.args
            if type(args["this"]) is exp.QueryTransform:
                names = _names_only(items[position + 1 :])
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
            sources = value_of(resolver, item, scope)
            name = identifiers.column(item.args["this"])
            projection.add(resolver.unnamed.get(name, name) if resolver.unnamed else name, sources, item)
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
        elif kind is exp.Literal and not item.args["is_string"] and is_filled_in(item.args["this"]):
            _any_columns(projection)
        elif kind is exp.EQ and resolver.naming.dialect.strings_name_columns and _is_text(item.this):
            _named_by_string(resolver, item, scope, projection)
        else:
            sources = value_of(resolver, item, scope)
            if scope.choice is not None:
                expand_choice(resolver, item, scope, projection, lambda each: value_of(resolver, each, scope))
                continue
            if generated := generated_columns(resolver, item, scope, sources):
                for name, own in generated:
                    projection.add(name, own, item)
                continue
            if unnamed is None:
                unnamed = UnnamedColumns(resolver, select, scope)
            name = unnamed.name(item, position, projection.names)
            projection.add(name, sources, item)
    return projection


def _any_columns(projection: Projection) -> None:
    """Add what a macro of a template may return."""
    projection.add(STAR, {}, None)
    projection.opens.append(FunctionTable([], {}))


def value_of(resolver: Resolver, expression: exp.Expr, scope: Scope) -> Sources:
    """Return the sources of an expression. A column that is passed through shares its relation's sources."""
    if type(expression) is exp.Column:
        return with_mention(scope.resolve(expression), expression)
    nested = nested_value(resolver, expression, scope)
    if nested is None:
        nested = kept_value(resolver, expression, scope)
    if nested is not None:
        return nested
    sources: Sources = {}
    resolver.evaluate(scope, expression, IDENTITY, sources)
    return sources


def _named_by_string(resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection) -> None:
    """T-SQL's `'a' = b`."""
    value = item.args["expression"]
    sources = value_of(resolver, value, scope)
    name = str(resolver.naming.dialect.fold_column(item.this.name, quoted=True))
    scope.add_output(name, sources, value)
    projection.add(name, sources, value)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.National) or (isinstance(node, exp.Literal) and node.is_string)


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
