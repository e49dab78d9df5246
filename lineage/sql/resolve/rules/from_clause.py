"""FROM: its relations, joined in order; the columns in ON and USING determine which rows there are."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import STAR, BaseTable, Relation, RowSources, Sources, TemporaryTable, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.match_recognize import match_recognize
from lineage.sql.resolve.rules.pivots import pivot_relation
from lineage.sql.resolve.rules.stars import side_by_side
from lineage.sql.resolve.scopes.scope import Merge, Scope
from lineage.sql.resolve.transformation_codes import FILTER, IDENTITY, JOIN, TRANSFORMATION

__all__ = ["add_joins", "add_source", "add_sources"]


def add_sources(resolver: Resolver, node: exp.Expr, scope: Scope, rows: RowSources) -> None:
    """Make the relations of a query block's FROM, its joins and LATERAL VIEWs visible in its scope."""
    args = node.args
    if from_ := args.get("from_"):
        add_source(resolver, from_.args["this"], scope, rows)
    for lateral in args.get("laterals") or ():
        add_source(resolver, lateral, scope, rows)
    add_joins(resolver, args.get("joins") or (), scope, rows)
    if pattern := args.get("match"):
        name, relation = scope.items.popitem()
        alias = pattern.args.get("alias")
        made = match_recognize(resolver, pattern, relation, scope)
        if made.rows is not None:
            rows.inputs.append(made.rows)
        scope.add(resolver.identifiers.alias(alias.this) if alias is not None and alias.this else name, made)


def add_joins(
    resolver: Resolver, joins: list[exp.Expr] | tuple[()], scope: Scope, rows: RowSources, first: int = 0
) -> None:
    """Add joined relations in order. JOIN binds tighter than a comma: its left side begins after the last comma."""
    start = first
    for join in joins:
        if _is_comma(join):
            start = len(scope.items)
        _join(resolver, join, scope, rows, start)


def _is_comma(join: exp.Expr) -> bool:
    """Return whether a join is written as a comma (or is an equivalent JOIN without a condition)."""
    args = join.args
    if args.get("on") or args.get("kind") or args.get("side"):
        return False
    return not (args.get("method") or args.get("using") or args.get("match_condition"))


_AS_IT_IS = frozenset((exp.Final, exp.Stream))
"""ClickHouse's `t FINAL`, Databricks' `STREAM(t)`: the table itself."""
_BRACKETS, _IN_BRACKETS = (
    frozenset((exp.Subquery, exp.Paren)),
    frozenset((exp.Table, exp.Subquery, exp.Lateral)),  # an inlined function is a lateral query
)


def add_source(resolver: Resolver, node: exp.Expr, scope: Scope, rows: RowSources) -> list[Relation]:
    """Make one FROM item visible, with the joins in its parentheses; return its relations."""
    first = len(scope.items)
    sees = scope
    if type(node) is not exp.Table:
        while type(node) in _AS_IT_IS:
            node = node.this
        if type(node) in _BRACKETS and type(node.this) in _IN_BRACKETS and not node.alias:
            inner = node.this
            if _is_from_item(inner):
                added = add_source(resolver, inner, scope, rows)
                return added + _nested_joins(resolver, node, scope, rows, first)
        sees = _visible_scope(resolver, node, scope)
    relation = resolver.relation(node, sees)
    if type(relation) is BaseTable and relation.rows is not None:
        for own in relation.rows.own:
            rows.own.setdefault(own, node)  # the span is that of the table's name
    elif type(relation) is TemporaryTable and relation.rows is not None:
        for own, place in relation.rows.own.items():
            rows.own.setdefault(own, node if place is None else (place, node))
    elif relation.rows is not None:
        rows.inputs.append(relation.rows)
    alias, qualified = _alias(resolver, node, first)
    if alias[0] == "?" and type(node) is exp.Table and type(node.this) is exp.Anonymous:
        called = str(resolver.naming.dialect.fold_column(node.this.name))  # SQLite's `json_each.value`
        alias = called if called not in scope.items else alias
    scope.add(alias, relation, qualified)
    added = [relation]
    args = node.args
    if (sample := args.get("sample")) is not None and (bucket := sample.args.get("bucket_field")) is not None:
        bucket = exp.Column(this=bucket) if isinstance(bucket, exp.Identifier) else bucket
        resolver.evaluate(scope, bucket, FILTER, rows.own)  # Hive's TABLESAMPLE (BUCKET 1 OUT OF 32 ON id)
    for lateral in args.get("laterals") or ():
        added += add_source(resolver, lateral, scope, rows)
    return added + _nested_joins(resolver, node, scope, rows, first) if args.get("joins") else added


def _is_from_item(node: exp.Expr) -> bool:
    """Return whether parentheses contain a table or a join, not a query."""
    while type(node) is exp.Subquery and not (node.args.get("joins") or node.alias):
        node = node.this
    return type(node) in _IN_BRACKETS


def _visible_scope(resolver: Resolver, node: exp.Expr, scope: Scope) -> Scope:
    """Return the scope visible to a FROM item: a derived table does not see its sibling items.

    DuckDB treats a derived table as LATERAL where necessary, but not of the table that the statement changes:
    https://duckdb.org/docs/stable/sql/query_syntax/from#lateral-joins
    """
    if not isinstance(node, exp.Query):
        return scope
    if not resolver.naming.dialect.implicit_lateral:
        return Scope(resolver, scope.parent, scope.ctes)
    if scope.changes is None:
        return scope
    siblings = Scope(resolver, scope.parent, scope.ctes)
    siblings.items = {alias: item for alias, item in scope.items.items() if alias != scope.changes}
    siblings.merged = scope.merged
    return siblings


def _nested_joins(resolver: Resolver, node: exp.Expr, scope: Scope, rows: RowSources, first: int) -> list[Relation]:
    before = len(scope.items)
    add_joins(resolver, node.args.get("joins") or (), scope, rows, first)
    return list(scope.items.values())[before:]


def _alias(resolver: Resolver, node: exp.Expr, position: int) -> tuple[str, str | None]:
    """Return the alias that qualifies columns, and the same name qualified by its schema."""
    identifiers = resolver.identifiers
    args = node.args
    alias = args.get("alias")
    if "pivots" in args and (pivots := args["pivots"]):
        alias = pivots[-1].args.get("alias") or alias
    if alias is not None:
        if type(alias) is exp.TableAlias and (name := alias.args.get("this")) is not None:
            return identifiers.column(name), None
        if type(alias) is exp.Identifier:
            return identifiers.column(alias), None
    if type(node) is exp.Table:
        named, schema = args["this"], args.get("db")
        if type(named) is exp.Dot:  # more than three parts
            named, schema = named.expression, named.this.expression if type(named.this) is exp.Dot else named.this
        if type(named) is not exp.Identifier:
            return f"?{position}", None
        key = identifiers.column(named)
        return key, f"{identifiers.alias(schema)}.{key}" if schema else None
    return f"?{position}", None


_HALF_JOINS = ("SEMI", "ANTI")
_PLAIN_JOIN = frozenset(("this", "on", "side", "kind", "hint", "global_", "pivots"))


def _join(resolver: Resolver, join: exp.Expr, scope: Scope, rows: RowSources, start: int) -> None:
    """Add one join; its left side is the items from `start` on."""
    args = join.args
    joined, on, kind = args["this"], args.get("on"), (args.get("kind") or "").upper()
    if kind == "ARRAY":
        _array_join(resolver, [joined, *(args.get("expressions") or ())], scope, rows)
        return
    if on is None and "pivots" in joined.args:
        _pivots_of_the_join(resolver, join)
    count = len(scope.items)
    add_source(resolver, joined, scope, rows)
    if args.keys() <= _PLAIN_JOIN and kind not in _HALF_JOINS and not args.get("pivots"):  # nearly all joins
        if on is None:
            return
        if not start:
            _condition(resolver, on, scope, scope, rows)
            return
    keys = list(scope.items)
    left, right = keys[start:count], keys[count:]
    sees = scope.part([*left, *right]) if start else scope
    if on is not None:
        _condition(resolver, on, scope, sees, rows)
    if match := args.get("match_condition"):
        resolver.evaluate(sees, match, JOIN, rows.own)
    side, using = (args.get("side") or "").upper(), args.get("using")
    if using:
        names = [resolver.identifiers.column(name.this if isinstance(name, exp.Column) else name) for name in using]
        _merge(scope, left, right, dict(zip(names, using, strict=True)), side, rows)
    elif (args.get("method") or "").upper() == "NATURAL":
        _natural_over_unknown(resolver, join, scope, [*left, *right])
        _merge(scope, left, right, dict.fromkeys(_shared_columns(scope, left, right), joined), side, rows)
    if kind in _HALF_JOINS:
        _keep_one_side(scope, left if side == "RIGHT" else right, side, merges=bool(using or args.get("method")))
    if pivots := args.get("pivots"):
        _pivot(resolver, pivots, scope, rows, start)


def _keep_one_side(scope: Scope, gone: Sequence[str], side: str, *, merges: bool) -> None:
    """SEMI and ANTI JOIN: only the existence of a match matters, so that the other side is not visible after it."""
    merged = scope.merges[-1:] if merges else ()
    scope.keep({key: item for key, item in scope.items.items() if key not in gone})
    for merge in merged:  # `*` shows the columns compared where those of another join are
        kept_left, kept_right = ({}, merge.right) if side == "RIGHT" else (merge.left, {})
        scope.merge(Merge(kept_left, kept_right, merge.columns))


def _condition(resolver: Resolver, on: exp.Expr, scope: Scope, sees: Scope, rows: RowSources) -> None:
    """Add what a condition reads; one that reads an alias of the select list waits for it."""
    names = on.find_all(exp.Column) if scope.awaited else ()
    if any(not name.args.get("table") and resolver.identifiers.target_column(name) in scope.awaited for name in names):
        scope.later = (*scope.later, on)
    else:
        resolver.evaluate(sees, on, JOIN, rows.own)


def _natural_over_unknown(resolver: Resolver, join: exp.Expr, scope: Scope, keys: list[str]) -> None:
    """Report a NATURAL JOIN with a side of unknown columns: it may compare and merge any of them."""
    unknown = [key for key in keys if scope.items[key].has_unknown_columns]
    if unknown:
        resolver.report(
            DiagnosticCode.UNRESOLVED_STAR,
            Severity.WARNING,
            f"the columns that NATURAL JOIN compares are unknown: no schema of {', '.join(unknown)}",
            join,
            hint="give the tables' DDL or a JSON schema with --catalog, or name the columns with USING",
            lasts=True,
        )


def _pivots_of_the_join(resolver: Resolver, join: exp.Expr) -> None:
    """In DuckDB and Spark, a PIVOT after `a NATURAL JOIN b` or `a CROSS JOIN b` applies to the join, not to b.

    If ON or USING follows, it applies to b. Spark's grammar: `relation: relationPrimary (joinRelation |
    pivotClause | unpivotClause)*`; DuckDB's: `joined_table PIVOT (…)`. A PIVOT after ON or USING always applies to the
    join.
    """
    joined = join.args.get("method") or (join.args.get("kind") or "").upper() == "CROSS"
    if joined and not join.args.get("using") and resolver.naming.dialect.pivots_whole_joins:
        join.set("pivots", join.this.args["pivots"])
        join.this.set("pivots", None)


def _pivot(resolver: Resolver, pivots: list[exp.Expr], scope: Scope, rows: RowSources, start: int) -> None:
    """Replace the joined items, from `start` on, by the result of the PIVOT after the join."""
    keys = list(scope.items)
    relation = side_by_side(resolver, scope, keys[start:])
    for pivot in pivots:
        relation = pivot_relation(resolver, pivot, relation, scope)
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    alias = pivots[-1].args.get("alias")
    name = resolver.identifiers.alias(alias.this) if alias is not None and alias.this is not None else f"?{start}"
    scope.keep({**{key: scope.items[key] for key in keys[:start]}, name: relation})
    scope.unmerge()


def _array_join(resolver: Resolver, arrays: list[exp.Expr], scope: Scope, rows: RowSources) -> None:
    """ClickHouse's ARRAY JOIN: each array is replaced by its elements, under its alias or its own name."""
    for array in arrays:
        value = array.this if isinstance(array, exp.Alias) else array
        sources: Sources = {}
        resolver.evaluate(scope, value, TRANSFORMATION, sources)
        absorb(rows.own, sources, JOIN, value)
        name = array.args["alias"] if isinstance(array, exp.Alias) else value.this
        if isinstance(name, exp.Identifier):
            scope.merge(Merge({}, {}, {resolver.identifiers.alias(name): sources}))


def _shared_columns(scope: Scope, left: list[str], right: list[str]) -> list[str]:
    ours = [*scope.part(left).merged, *(name for key in left for name, _ in scope.items[key].columns())]
    theirs = {name for key in right for name, _ in scope.items[key].columns()}
    return [name for name in ours if name in theirs and name != STAR]


def _merge(
    scope: Scope, left: list[str], right: list[str], names: dict[str, exp.Expr], side: str, rows: RowSources
) -> None:
    """USING and NATURAL: the columns of both sides are compared and merged into one (SQL:2016 7.10)."""
    merged: dict[str, Sources] = {}
    sides = scope.part(left), scope.part(right)
    for name, mention in names.items():
        ours, theirs = (_column(part, name) for part in sides)
        for sources in (ours, theirs):
            absorb(rows.own, sources, JOIN, mention)
        seen = merged[name] = {}
        if side != "RIGHT":
            absorb(seen, ours, IDENTITY, None)
        if side in ("RIGHT", "FULL"):
            absorb(seen, theirs, IDENTITY, None)
    scope.merge(Merge(dict.fromkeys(left), dict.fromkeys(right), merged, side))


def _column(part: Scope, name: str) -> Sources:
    if name in part.merged:
        return part.merged[name]
    relations = list(part.items.values())
    for relation in relations:
        found = relation.find(name)
        if found is not None:
            return found
    for relation in relations:
        if relation.is_open and (inferred := relation.infer(name)) is not None:
            return inferred
    return {}
