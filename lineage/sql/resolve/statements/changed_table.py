"""Find the table that an UPDATE or DELETE changes, which may be one of FROM, or the table behind a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from lineage.sql.resolve.relations import BaseTable, Relation, RowSources, TemporaryTable
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.from_clause import add_joins, add_source
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.updatable import temporary_behind
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["base_of", "changed_table", "in_from"]


def changed_table(
    resolver: Resolver, tree: exp.Expr, table: exp.Table, items: Sequence[exp.Expr], rows: RowSources
) -> tuple[str, Scope]:
    """Return the name of the table that a statement changes, and the scope of its conditions.

    `items` are those of FROM or USING. T-SQL and MySQL name one of them as the target: `UPDATE o SET … FROM orders o`.
    """
    scope = scope_with_ctes(resolver, tree, resolver.new_scope())
    identifiers = resolver.identifiers
    found = in_from(resolver, table, items, is_listed=bool(tree.args.get("tables")))
    if found is not None:
        for item in items:
            add_source(resolver, item, scope, rows)
        return _name_in_from(resolver, tree, table, found, scope, rows), scope
    through = scope.ctes.get(identifiers.alias(table.this)) if not table.args.get("db") else None
    base = base_of(through, _set_names(resolver, tree)) if through is not None else None
    if through is not None and base is not None:
        target, relation = temporary_behind(resolver, tree, table, _set_names(resolver, tree)) or base, through
        if through.rows is not None:
            rows.inputs.append(through.rows)
    else:
        target, relation = resolver.look_up(identifiers.table_parts(table))
    scope.add(_alias(resolver, table), relation)
    [scope.changes] = scope.items
    add_joins(resolver, table.args.get("joins") or (), scope, rows)
    for item in items:
        add_source(resolver, item, scope, rows)
    return target, scope


def _name_in_from(
    resolver: Resolver, tree: exp.Expr, table: exp.Table, item: exp.Expr, scope: Scope, rows: RowSources
) -> str:
    """Return the name of the table behind the FROM item that is the target."""
    parts = resolver.identifiers.table_parts
    view = scope.items.get(_alias(resolver, item))
    if view is None and isinstance(item, exp.Table):
        view = resolver.look_up(parts(item))[1]
    if isinstance(view, TemporaryTable):  # its rows do not influence the change
        rows.inputs = [one for one in rows.inputs if one is not view.rows]
        return view.name
    base = None if view is None or isinstance(view, BaseTable) else base_of(view, _set_names(resolver, tree))
    if base is not None:
        return temporary_behind(resolver, tree, item, _set_names(resolver, tree)) or base
    named = [parts(each) for each in (item, table) if isinstance(each, exp.Table)]
    return resolver.look_up(max(named, key=len))[0]


def _set_names(resolver: Resolver, tree: exp.Expr) -> list[str]:
    return [resolver.identifiers.target_column(a.this) for a in tree.expressions if isinstance(a, exp.EQ)]


def base_of(relation: Relation, names: list[str]) -> str | None:
    """Return the single table whose columns a query passes through under these names, for writing through the query.

    Without names (DELETE), all columns are checked. None if the columns are of no table or of several tables.
    """
    columns = [found for name in names if (found := relation.find(name)) is not None] or relation.sources
    tables = {source.table for sources in columns for source, effect in sources if effect == IDENTITY}
    return tables.pop() if len(tables) == 1 else None


def in_from(resolver: Resolver, table: exp.Table, items: Sequence[exp.Expr], *, is_listed: bool) -> exp.Expr | None:
    """Return the FROM item that is the target; None if there is none.

    `is_listed`: the target is named before FROM, as in `DELETE t FROM t JOIN …`.
    """
    if table.args.get("alias"):
        return None
    every = [one for item in items for one in _tables_in(item)]
    if not table.args.get("db") and isinstance(table.this, exp.Identifier):
        called = _alias(resolver, table)
        queries = resolver.naming.dialect.targets_by_query
        for item in every:
            if (queries or isinstance(item, exp.Table)) and _alias(resolver, item) == called:
                return item if _is_target(resolver, table, item) else None
    dialect = resolver.naming.dialect
    same = [item for item in every if isinstance(item, exp.Table) and _is_same(resolver, table, item)]
    plain = [item for item in same if not item.args.get("alias")]
    if plain:
        return plain[0] if is_listed or dialect.targets_by_alias else None
    return same[0] if len(same) == 1 and (is_listed or dialect.aliases_target_in_from) else None


def _tables_in(item: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the tables and queries of a FROM item, with those of its joins and parentheses."""
    if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table | exp.Subquery) and not item.alias:
        yield from _tables_in(item.this)
    else:
        yield item
    for join in item.args.get("joins") or ():
        yield from _tables_in(join.this)


def _alias(resolver: Resolver, item: exp.Expr) -> str:
    """Return the name by which columns of a FROM item are called; empty for a function or a query without an alias."""
    alias = item.args.get("alias")
    named = alias.this if alias is not None else item.this
    return resolver.identifiers.alias(named) if isinstance(named, exp.Identifier | exp.Parameter) else ""


def _is_same(resolver: Resolver, table: exp.Table, item: exp.Table) -> bool:
    """Return whether two names are of one table; one of them may omit its database, or the dialect's own schema."""
    if not resolver.identifiers.table_parts(item):
        return False
    shorter, longer = sorted((resolver.existing_name(table), resolver.existing_name(item)), key=len)
    own = resolver.naming.dialect.default_schema
    return longer in (shorter, f"{own}.{shorter}") or ("." in shorter and longer.endswith(f".{shorter}"))


def _is_target(resolver: Resolver, table: exp.Table, item: exp.Expr) -> bool:
    """Return whether the FROM table with the target's name is the target, not a different table."""
    if resolver.naming.dialect.targets_by_alias or not isinstance(item, exp.Table):
        return True
    name, relation = resolver.look_up(resolver.identifiers.table_parts(table))
    if item.args.get("alias") is not None:
        return relation.is_open
    return name == resolver.look_up(resolver.identifiers.table_parts(item))[0]
