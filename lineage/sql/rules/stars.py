"""Stars: `*` and `t.*`, with EXCEPT, REPLACE and RENAME."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.effects import IDENTITY
from lineage.sql.relations import STAR, BaseTable, Relation, Sources
from lineage.sql.resolver import Resolver
from lineage.sql.scope import Scope

if TYPE_CHECKING:
    from lineage.sql.rules.projection import Projection

__all__ = ["expand_star"]

_Shown: TypeAlias = "tuple[str, Sources, Relation | None]"
"""A column behind a star: its name, its sources, and the relation that it is from unless a join merged it."""


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
        shown = _columns(relation)
    else:
        shown = _all_columns(resolver, scope)
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

    for name, sources, relation in shown:
        if name == STAR and relation is not None:
            _stays_open(resolver, item, relation, projection)
        add(name, sources)


def _columns(relation: Relation) -> list[_Shown]:
    return [(name, sources, relation) for name, sources in relation.columns()]


def _all_columns(resolver: Resolver, scope: Scope) -> list[_Shown]:
    """Return the columns of FROM in the order in which `*` shows them; each join's merged columns once.

    SQL:2016 7.10 puts a join's merged columns first, DuckDB leaves them where the left side has them.
    """
    blocks = {key: _columns(relation) for key, relation in scope.items.items()}
    in_place = resolver.naming.dialect.name == "duckdb"
    for left_keys, right_keys, merged in scope.merges:
        left, right = (_distinct(blocks, keys) for keys in (left_keys, right_keys))
        ours, theirs = ([column for block in side for column in block] for side in (left, right))
        front: list[_Shown] = []
        for name, sources in merged.items():
            at = next((i for i, column in enumerate(ours) if column[0] == name), None)
            theirs = _without(theirs, name)
            if in_place and at is not None:
                ours[at] = (name, sources, None)
            else:
                ours = _without(ours, name)
                front.append((name, sources, None))
        joined = [*front, *ours, *theirs]
        for key in (*left_keys, *right_keys):
            if key in blocks:
                blocks[key] = joined
    return [column for block in _distinct(blocks, list(blocks)) for column in block]


def _distinct(blocks: dict[str, list[_Shown]], keys: Sequence[str]) -> list[list[_Shown]]:
    """Return the blocks of some items in order, that of several items once."""
    return list({id(blocks[key]): blocks[key] for key in keys if key in blocks}.values())


def _without(columns: list[_Shown], name: str) -> list[_Shown]:
    """Return the columns without the first of a name."""
    at = next((i for i, column in enumerate(columns) if column[0] == name), None)
    return columns if at is None else [*columns[:at], *columns[at + 1 :]]


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
