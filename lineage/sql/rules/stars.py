"""Stars: `*` and `t.*`, with EXCEPT, REPLACE and RENAME."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.effects import IDENTITY
from lineage.sql.relations import STAR, BaseTable, Relation, Sources
from lineage.sql.resolver import Resolver
from lineage.sql.scope import Scope

if TYPE_CHECKING:
    from lineage.sql.rules.projection import Projection

__all__ = ["expand_star"]


def expand_star(resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection) -> None:
    """Append what a star stands for. Over an unknown table it stays a star, and is reported."""
    star = item if isinstance(item, exp.Star) else item.this
    if isinstance(item, exp.Column):
        alias = resolver.identifiers.alias(item.args["table"])
        relation = scope.item(alias)
        if relation is None:
            resolver.report(
                DiagnosticCode.UNKNOWN_TABLE,
                Severity.ERROR,
                f"no table or alias `{item.args['table'].name}` for `{item.args['table'].name}.*`",
                item,
                hint=resolver.nearest(alias, scope.items),
            )
            return
        items, merged = [relation], {}
    else:
        items, merged = list(scope.items.values()), scope.merged
    identifiers = resolver.identifiers
    dropped = {identifiers.column(c.this if isinstance(c, exp.Column) else c) for c in _listed(star, "except_")}
    renamed = {
        identifiers.column(alias.this.this): identifiers.alias(alias.args["alias"])
        for alias in _listed(star, "rename")
        if isinstance(alias, exp.Alias)
    }
    replaced = {
        identifiers.alias(alias.args["alias"]): alias.this
        for alias in _listed(star, "replace")
        if isinstance(alias, exp.Alias)
    }

    def add(name: str, sources: Sources) -> None:
        if name in dropped:
            return
        if name in replaced:
            sources = {}
            resolver.evaluate(scope, replaced[name], IDENTITY, sources)
        else:
            sources = {key: place or star for key, place in sources.items()}
        projection.add(renamed.get(name, name), sources, None)

    for name, sources in merged.items():
        add(name, sources)
    for relation in items:
        for name, sources in relation.columns():
            if name == STAR:
                _stays_open(resolver, item, relation, projection)
            if name not in merged:
                add(name, sources)


def _listed(star: exp.Expr, key: str) -> list[exp.Expr]:
    value = star.args.get(key)
    return value if isinstance(value, list) else ([value] if isinstance(value, exp.Expr) else [])


def _stays_open(resolver: Resolver, item: exp.Expr, relation: Relation, projection: Projection) -> None:
    behind = [relation] if isinstance(relation, BaseTable) else relation.opens
    projection.opens.extend(behind)
    names = ", ".join(r.name for r in behind if isinstance(r, BaseTable))
    resolver.report(
        DiagnosticCode.UNRESOLVED_STAR,
        Severity.WARNING,
        f"the columns behind `*` are unknown: no schema of {names or 'the table'}",
        item,
        hint="give the table's DDL or a JSON schema with --catalog, or ingest what creates it",
    )
