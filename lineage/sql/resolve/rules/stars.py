"""Stars: `*` and `t.*`, with EXCEPT, ILIKE, REPLACE and RENAME; `value.*`, the fields of a struct or row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import (
    STAR,
    BaseTable,
    Elements,
    FunctionTable,
    Relation,
    Sources,
    with_mention,
)
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.files_read import Files
from lineage.sql.resolve.rules.nested import nested_or_plain
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.struct_fields import fields_of

__all__ = ["expand_star", "report_open_star", "side_by_side", "star_columns"]

_Shown: TypeAlias = "tuple[str, Sources, Relation | None]"
"""A column of a star: its name, its sources, and its relation unless a join merged the column."""


def expand_star(resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection) -> None:
    """Append the columns of a star. Over an unknown table it stays a star, and is reported."""
    for name, sources in star_columns(resolver, item, scope, projection):
        # The same unknown columns a second time say nothing new, and would double in each query around.
        if name != STAR or all(own.keys() != sources.keys() for own in projection.sources_of(STAR)):
            projection.add(name, sources, None)


def star_columns(
    resolver: Resolver, item: exp.Expr, scope: Scope, projection: Projection | None
) -> list[tuple[str, Sources]]:
    """Return the columns of a star; if some are unknown, mark the projection as open and report it."""
    star = item if isinstance(item, exp.Star) else (item.expression if isinstance(item, exp.Dot) else item.this)
    if not _stands_in_text(resolver, star):
        star._meta = None
    found = _behind(resolver, item, scope)
    if found is None:
        return []
    shown, behind, value = found
    identifiers = resolver.identifiers
    dropped = {identifiers.column(c.this if isinstance(c, exp.Column) else c) for c in _list_argument(star, "except_")}
    renamed = {
        identifiers.column(alias.this.this): identifiers.alias(alias.args["alias"])
        for alias in _list_argument(star, "rename")
        if isinstance(alias, exp.Alias)
    }
    replaced = {
        identifiers.alias(alias.args["alias"]): alias.this
        for alias in _list_argument(star, "replace")
        if isinstance(alias, exp.Alias)
    }
    like = star.args.get("ilike")
    pattern = _ilike(like.name) if like is not None else None
    columns: list[tuple[str, Sources]] = []
    for name, sources, relation in shown:
        if name == STAR and (relation is not None or behind is not None):
            if projection is not None and value is not None:
                projection.opens.append(Elements(value, None, resolver.field))
            report_open_star(resolver, item, relation, projection, behind)
        elif name in dropped or (pattern is not None and pattern.fullmatch(name) is None):
            continue
        own = nested_or_plain(resolver, replaced[name], scope) if name in replaced else with_mention(sources, star)
        columns.append((renamed.get(name, name), own))
    return columns


def _stands_in_text(resolver: Resolver, star: exp.Expr) -> bool:
    """Return whether a star is in the text; for a query without SELECT (`FROM t`) sqlglot generates one."""
    own = star._meta
    return not own or own.get("start") != 0 or own.get("end") != 0 or resolver.text[:1] == STAR


def _ilike(text: str) -> re.Pattern[str]:
    """Return the pattern of `* ILIKE 'text'`, which is case-insensitive."""
    return re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in text), re.IGNORECASE)


def _behind(resolver: Resolver, item: exp.Expr, scope: Scope) -> tuple[list[_Shown], str | None, Sources | None] | None:
    """Return the columns of a star and, if these are fields of a value, the value's name and sources."""
    if isinstance(item, exp.Star):
        return _all_columns(resolver, scope), None, None
    if isinstance(item, exp.Column):
        table = item.args["table"]
        alias = resolver.identifiers.alias(table)
        schema = item.args.get("db")
        relation = scope.item(alias, resolver.identifiers.alias(schema) if schema is not None else None)
        if relation is not None:
            columns = _columns(relation)
            if scope.merges and resolver.naming.dialect.qualified_star_shows_merged_first:
                columns = _merged_first(scope, relation, columns)
            return columns, None, None
        path = [resolver.identifiers.column(p) for k in ("catalog", "db", "table") if (p := item.args.get(k))]
        value = scope.value(path)
        if value is None:
            resolver.report(
                DiagnosticCode.UNKNOWN_TABLE,
                Severity.ERROR,
                f"no table or alias `{table.name}` for `{table.name}.*`",
                item,
                hint=resolver.nearest(alias, scope.items),
            )
            resolver.unresolved_name(DiagnosticCode.UNKNOWN_TABLE, alias, item, scope.items)
            return None
        return _fields(resolver, value), ".".join(path), value
    owner = item.this.unnest()
    if isinstance(owner, exp.Column) and owner.args.get("table") is None:
        relation = scope.item(resolver.identifiers.alias(owner.this))
        if relation is not None:  # PostgreSQL's `(t).*`
            return _columns(relation), None, None
    value = nested_or_plain(resolver, owner, scope)
    return _fields(resolver, value), owner.name or "the value", value


def _fields(resolver: Resolver, value: Sources) -> list[_Shown]:
    """Return the fields of a value; a star if they are unknown."""
    if names := fields_of(resolver, value):
        return [(name, resolver.field(value, [name]), None) for name in names]
    return [(STAR, resolver.field(value, [STAR]), None)]


def _columns(relation: Relation) -> list[_Shown]:
    return [(name, sources, relation) for name, sources in relation.columns()]


def _merged_first(scope: Scope, relation: Relation, columns: list[_Shown]) -> list[_Shown]:
    """Return the columns of `t.*` in Spark's order: those hidden by joins, then those shown, each join's merged first.

    A join shows the compared columns of its left side, RIGHT those of its right side, and FULL of neither.
    """
    hidden: list[_Shown] = []
    for merge in scope.merges:
        ours = _owns(scope, merge.left, relation, merge.columns)
        theirs = _owns(scope, merge.right, relation, merge.columns)
        names = ours or theirs
        merged_columns = [column for name in names for column in columns if column[0] == name][: len(names)]
        rest = [column for column in columns if column not in merged_columns]
        if merge.side == "FULL" or (merge.side == "RIGHT") == bool(ours):
            hidden, columns = [*merged_columns, *hidden], rest
        else:
            columns = [*merged_columns, *rest]
    return [*hidden, *columns]


def _owns(scope: Scope, keys: Iterable[str], relation: Relation, names: Iterable[str]) -> list[str]:
    """Return the names that one relation of a join's side gives to the join: the first that has them."""
    items = [scope.items[key] for key in keys if key in scope.items]
    owners = ((name, next((item for item in items if item.find(name) is not None), None)) for name in names)
    return [name for name, owner in owners if owner is relation]


def side_by_side(resolver: Resolver, scope: Scope, keys: Sequence[str]) -> Relation:
    """Return relations of a scope as the relation of `SELECT *` over them."""
    part = Scope(resolver, scope, scope.ctes)
    part.items = {key: scope.items[key] for key in keys}
    part.merges = scope.merges
    shown = _all_columns(resolver, part)
    behind = [item for item in part.items.values() if item.is_open]
    opens = [relation for item in behind for relation in ([item] if isinstance(item, BaseTable) else item.opens)]
    return Relation([name for name, _, _ in shown], [sources for _, sources, _ in shown], None, opens)


def _all_columns(resolver: Resolver, scope: Scope) -> list[_Shown]:
    """Return the columns of FROM in the order of `*`, with each join's merged columns once.

    SQL:2016 7.10 puts a join's merged columns first; DuckDB and SQLite leave them at their position in the left side.
    """
    blocks = {key: _columns(relation) for key, relation in scope.items.items()}
    in_place = resolver.naming.dialect.using_keeps_positions
    for left_keys, right_keys, merged, _ in scope.merges:
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


def _distinct(blocks: dict[str, list[_Shown]], keys: Iterable[str]) -> list[list[_Shown]]:
    """Return the distinct blocks of some items, in order."""
    return list({id(blocks[key]): blocks[key] for key in keys if key in blocks}.values())


def _without(columns: list[_Shown], name: str) -> list[_Shown]:
    """Return the columns without the first one of a name."""
    at = next((i for i, column in enumerate(columns) if column[0] == name), None)
    return columns if at is None else [*columns[:at], *columns[at + 1 :]]


def _list_argument(star: exp.Expr, key: str) -> list[exp.Expr]:
    value = star.args.get(key)
    return value if isinstance(value, list) else ([value] if isinstance(value, exp.Expr) else [])


def report_open_star(
    resolver: Resolver,
    item: exp.Expr,
    relation: Relation | None,
    projection: Projection | None = None,
    value: str | None = None,
) -> None:
    """Report a star over a relation, or over the fields of a value, whose columns are unknown."""
    behind: Sequence[Relation] = ()
    if relation is not None:
        behind = [relation] if isinstance(relation, BaseTable | FunctionTable) else relation.opens
    if projection is not None:
        known = {id(one) for one in projection.opens}  # several stars over one relation would double them a level
        projection.opens.extend({id(one): one for one in behind if id(one) not in known}.values())
    tables = [r.name for r in behind if isinstance(r, BaseTable)]
    tables += [name for r in behind if isinstance(r, Files) for name in r.names_of_files]
    code = DiagnosticCode.UNRESOLVED_STAR
    resolver.unresolved_name(code, f"{value}.*" if value else STAR, item, tables, nearest=False)
    unknown = f"no schema of {', '.join(tables) or 'the table'}"
    hint: str | None = "give the table's DDL or a JSON schema with --catalog, or ingest what creates it"
    if value is not None:
        unknown, hint = f"no schema lists the fields of `{value}`", None
    elif not tables and any(isinstance(r, Elements) for r in behind):
        unknown = "no schema tells the type of the array's elements"
    elif not tables and any(isinstance(r, FunctionTable) for r in behind):
        unknown, hint = "a table function or PIVOT determines them at run time", "list the columns instead of `*`"
    resolver.report(code, Severity.WARNING, f"the columns behind `*` are unknown: {unknown}", item, hint=hint)
