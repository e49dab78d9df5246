"""Updatable queries of T-SQL and Oracle: find the temporary table that is written through one.

Other tables are found by the traced columns; columns of a temporary table are traced further, to its sources.
"""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import TemporaryTable
from lineage.sql.resolve.resolver import Resolver

__all__ = ["temporary_behind"]


def temporary_behind(resolver: Resolver, tree: exp.Expr, node: exp.Expr, names: list[str]) -> str | None:
    """Return the temporary table whose columns a sub-query or CTE passes through under these names, if there is one.

    `node` is the sub-query or the name of the CTE.
    """
    identifiers = resolver.identifiers
    with_ = tree.args.get("with_")
    ctes = {identifiers.alias(c.args["alias"].this): c.this for c in (with_.expressions if with_ is not None else ())}
    wanted = names[0] if names else None
    for _ in range(len(ctes) + 20):
        if isinstance(node, exp.Table):
            own = ctes.pop(identifiers.alias(node.this), None) if not node.args.get("db") else None
            if own is None:
                parts = identifiers.table_parts(node)
                name, relation = resolver.look_up(parts) if parts else ("", None)
                return name if isinstance(relation, TemporaryTable) else None
            node = own
        while isinstance(node, exp.Subquery):
            node = node.this
        if not isinstance(node, exp.Select) or node.args.get("from_") is None:
            return None
        items = [node.args["from_"].this, *(join.this for join in node.args.get("joins") or ())]
        items += [join.this for join in items[0].args.get("joins") or ()]
        column = _column(resolver, node, wanted)
        if column is not None:
            wanted = identifiers.column(column.this)
        prefix = identifiers.alias(column.args["table"]) if column is not None and column.args.get("table") else None
        node = next((item for item in items if prefix in (_alias(resolver, item), None)), items[0])
    return None


def _column(resolver: Resolver, select: exp.Select, wanted: str | None) -> exp.Column | None:
    """Return the column that a query passes through under a name."""
    for item in select.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        named = item.args["alias"] if isinstance(item, exp.Alias) else getattr(inner, "this", None)
        if not isinstance(inner, exp.Column) or not isinstance(inner.this, exp.Identifier):
            continue
        if isinstance(named, exp.Identifier) and wanted in (None, resolver.identifiers.column(named)):
            return inner
    return None


def _alias(resolver: Resolver, item: exp.Expr) -> str | None:
    alias = item.args.get("alias")
    named = alias.this if alias is not None else item.this
    return resolver.identifiers.alias(named) if isinstance(named, exp.Identifier) else None
