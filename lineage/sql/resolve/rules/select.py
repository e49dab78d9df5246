"""SELECT: one query block, with its clauses in the order in which names become visible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from lineage.sql.resolve.calls.functions import hierarchy_columns
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import Relation, RowSources, Sources, absorb
from lineage.sql.resolve.resolver import Resolver, relation_rule
from lineage.sql.resolve.rules.bare_columns import add_row_of_extreme, hides_alias
from lineage.sql.resolve.rules.ctes import add_named_value, named_values, scope_with_ctes
from lineage.sql.resolve.rules.from_clause import add_sources
from lineage.sql.resolve.rules.order_by import order_by, sort_key
from lineage.sql.resolve.rules.select_list import project
from lineage.sql.resolve.scopes.alias_visibility import Clause
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.scopes.unprefixed import aggregates
from lineage.sql.resolve.transformation_codes import AGGREGATION, DISTINCT, FILTER, GROUP_BY, JOIN


@relation_rule(exp.Select)
def select(resolver: Resolver, node: exp.Expr, outer: Scope) -> Relation:
    """Return the relation of a query block."""
    scope = scope_with_ctes(resolver, node, outer)
    rows = RowSources()
    if resolver.alias_visibility.on and node.args.get("joins"):
        aliases = (item.args["alias"] for item in node.expressions if isinstance(item, exp.Alias))
        scope.awaited = frozenset(map(resolver.identifiers.alias, aliases))
    add_sources(resolver, node, scope, rows)
    if resolver.naming.dialect.with_names_values:
        for value in named_values(node):
            add_named_value(resolver, value, scope)
    return select_over(resolver, node, scope, rows)


def select_over(resolver: Resolver, node: exp.Expr, scope: Scope, rows: RowSources) -> Relation:
    """Return the relation of a query block whose FROM is already in the scope."""
    args = node.args
    if args.get("connect"):
        resolver.pseudo_columns |= hierarchy_columns(resolver.naming.dialect.name)
    for definition in args.get("windows") or ():
        scope.windows = {**scope.windows, resolver.identifiers.alias(definition.this): definition}
    projection = project(resolver, node, scope)
    if resolver.blocks is not None:
        resolver.blocks.append((node, scope, projection))
    if resolver.naming.dialect.bare_columns_follow_extremes:
        add_row_of_extreme(resolver, node, scope, projection, rows.own)
    if scope.made:
        absorb(rows.own, scope.made, JOIN, None)
    _filters(resolver, args, scope, projection, rows)
    if group := args.get("group"):
        _group_by(resolver, group, scope, projection, rows.own)
    if distinct := args.get("distinct"):
        _distinct(resolver, distinct, scope, projection, rows.own)
    order_by(resolver, node, scope, projection, rows.own)
    known_rows = rows if rows.inputs or rows.own else None
    if (document := args.get("for_")) is not None and (called := _DOCUMENTS.get(str(document.args.get("kind")))):
        total: Sources = {}
        for sources in projection.sources:
            absorb(total, sources, AGGREGATION, None)
        return Relation([resolver.naming.dialect.fold_column(called)], [total], known_rows, projection.opens)
    return Relation(projection.names, projection.sources, known_rows, projection.opens)


def _filters(
    resolver: Resolver, args: Mapping[str, Any], scope: Scope, projection: Projection, rows: RowSources
) -> None:
    """Add what the clauses read that keep some of the rows: WHERE, QUALIFY, HAVING, CONNECT BY."""
    sees = resolver.alias_visibility
    for on in scope.later:
        scope.see_aliases(Clause.ROWS, seen=True)
        resolver.evaluate(scope, on, JOIN, rows.own)
    for clause in ("where", "prewhere") if "prewhere" in args else ("where",):
        if condition := args.get(clause):
            scope.see_aliases(Clause.ROWS, seen=sees.where)
            resolver.evaluate(scope, condition.args["this"], FILTER, rows.own)
    if condition := args.get("qualify"):
        scope.see_aliases(Clause.QUALIFY, seen=sees.qualify)
        resolver.evaluate(scope, condition.this, FILTER, rows.own)
    if having := args.get("having"):
        scope.see_aliases(Clause.SELECT, seen=sees.having)
        outputs = _outputs_named(resolver, having, args.get("group"), scope, projection)
        with scope.read_as(outputs):
            resolver.evaluate(scope, having.this, FILTER, rows.own)
        scope.see_aliases(Clause.SELECT, seen=False)
        for name, _ in outputs:  # HAVING min(n) > n: the argument is FROM's column
            if sum(column.name == name.name for column in having.find_all(exp.Column)) > 1:
                resolver.evaluate(scope, having.this, FILTER, rows.own)
    if connect := args.get("connect"):
        scope.see_aliases(Clause.SELECT, seen=False)
        for condition in (connect.args.get("start"), connect.args.get("connect")):
            if condition is not None:
                resolver.evaluate(scope, condition, FILTER, rows.own)


_DOCUMENTS = {
    "JSON": "JSON_F52E2B61-18A1-11d1-B105-00805F49916B",
    "XML": "XML_F52E2B61-18A1-11d1-B105-00805F49916B",
}
"""T-SQL's FOR JSON and FOR XML make one document of all rows and columns, and give it this name.

https://learn.microsoft.com/en-us/sql/relational-databases/json/use-for-json-output-in-sql-server-and-in-client-apps-sql-server
"""


def _outputs_named(
    resolver: Resolver, having: exp.Expr, group: exp.Expr | None, scope: Scope, projection: Projection
) -> list[tuple[exp.Expr, Sources]]:
    """Return the names in HAVING that refer to an output column, although FROM has a column of that name.

    Outside an aggregate, a column that is not a GROUP BY key is not possible: it has no single value in a group. SQLite
    takes that of one row.
    """
    if not scope.aliases:
        return []
    grouped = _keys(group) if group is not None else []
    names = [_bare_name(resolver, key) for key in grouped]
    by_key = _outputs_as_keys(resolver, grouped, names, scope, projection)
    outputs: list[tuple[exp.Expr, Sources]] = []
    meant: list[tuple[exp.Expr, Sources]] = []
    for node in having.walk(prune=lambda below: isinstance(below, _GROUPED)):
        if type(node) is exp.Column and node.args.get("table") is None and type(node.this) is exp.Identifier:
            name = resolver.identifiers.column(node.this)
            output = scope.aliases.get(name)
            if output is not None and not hides_alias(resolver, name, scope, projection):
                outputs.append((node.this, output))
                if name in by_key:
                    meant.append((node.this, output))
    if not outputs:
        return outputs
    listed = [projection.key_expression(key) for key in group.expressions] if group is not None else []
    if group is not None and group.args.get("all"):
        listed = [written for written in projection.expressions if written is not None]
    if not resolver.naming.dialect.bare_keys_hide_aliases:
        listed = [column for key in listed for column in key.find_all(exp.Column)]
    keys = {key.name.lower() for key in listed if type(key) is exp.Column}
    return [*meant, *((name, output) for name, output in outputs if name.name.lower() not in keys)]


_GROUPED = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.Query, exp.Window, exp.Anonymous)
"""Nodes in which names in HAVING are not output columns: aggregates and sub-queries."""


_SETS_CLAUSES = ("grouping_sets", "cube", "rollup")
_SETS_OF_KEYS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Paren)


def _keys(group: exp.Expr) -> list[exp.Expr]:
    """Return the keys of GROUP BY, including those in ROLLUP, CUBE and GROUPING SETS."""
    found: list[exp.Expr] = []
    args = group.args
    stack = [item for name in _SETS_CLAUSES if name in args for item in reversed(args[name] or ())]
    stack += reversed(args.get("expressions") or ())
    while stack:
        key = stack.pop()
        if isinstance(key, _SETS_OF_KEYS):
            inside = [*key.expressions, key.args.get("this")]
            stack.extend(item for item in reversed(inside) if isinstance(item, exp.Expr))
        elif isinstance(key, exp.Expr):
            found.append(key)
    return found


def _bare_name(resolver: Resolver, key: exp.Expr) -> str | None:
    if type(key) is not exp.Column:
        return None
    args = key.args
    name = args["this"]
    return resolver.identifiers.column(name) if type(name) is exp.Identifier and args.get("table") is None else None


def _outputs_as_keys(
    resolver: Resolver, keys: Sequence[exp.Expr], names: Iterable[str | None], scope: Scope, projection: Projection
) -> set[str]:
    """Return the GROUP BY keys that are certainly aliases, where no known column has their name.

    If such a key were a column of FROM, the alias's expression would have no single value in a group. `names` are the
    names of the keys; None for a key that is not a single name.
    """
    aliases: set[str] = set()
    if not scope.outputs or not resolver.alias_visibility.group_by:
        return aliases
    asked = {name for name in names if name is not None and name in scope.outputs}
    if not asked:
        return aliases
    columns_of_keys = {_name(resolver, key) for key in keys if type(key) is exp.Column}
    for name in asked:
        written = scope.written[name]
        if name in scope.merged or scope.having(name) or aggregates(resolver, written) or written in keys:
            continue
        columns = written.walk(prune=lambda below: isinstance(below, exp.Query))
        reads_others = any(type(one) is exp.Column and _name(resolver, one) not in columns_of_keys for one in columns)
        if reads_others and not hides_alias(resolver, name, scope, projection):
            aliases.add(name)
    return aliases


def _name(resolver: Resolver, column: exp.Expr) -> str:
    return resolver.identifiers.column(column.this) if type(column.this) is exp.Identifier else ""


def _group_by(resolver: Resolver, group: exp.Expr, scope: Scope, projection: Projection, sink: Sources) -> None:
    """GROUP BY, by expression, ordinal or alias; ROLLUP, CUBE and GROUPING SETS; GROUP BY ALL."""
    keys = _keys(group)
    sees = resolver.alias_visibility
    names = [_bare_name(resolver, key) for key in keys]
    sure = _outputs_as_keys(resolver, keys, names, scope, projection)
    for key, name in zip(keys, names, strict=True):
        ordinal = projection.ordinal(key) if name is None else None
        if ordinal is not None:
            absorb(sink, ordinal, GROUP_BY, key)
        else:
            seen = sees.group_by if name is not None else sees.group_by_expression
            scope.see_aliases(Clause.KEY if name in sure else Clause.ROWS, seen=seen)
            resolver.evaluate(scope, key, GROUP_BY, sink)
    if group.args.get("all") or (len(keys) == 1 and isinstance(keys[0], exp.Var) and keys[0].name.upper() == "ALL"):
        for position, expression in enumerate(projection.expressions):
            if expression is None or not aggregates(resolver, expression):
                absorb(sink, projection.sources[position], GROUP_BY, expression)


def _distinct(resolver: Resolver, distinct: exp.Expr, scope: Scope, projection: Projection, sink: Sources) -> None:
    """DISTINCT, which compares every output column, and DISTINCT ON, which compares the listed ones."""
    scope.see_aliases(Clause.SELECT, seen=resolver.alias_visibility.order_by_expression)
    if (on := distinct.args.get("on")) is None:
        for sources, expression in zip(projection.sources, projection.expressions, strict=True):
            absorb(sink, sources, DISTINCT, expression)
        return
    for key in on.expressions if isinstance(on, exp.Tuple) else [on]:
        sort_key(resolver, key, DISTINCT, scope, projection, sink)
