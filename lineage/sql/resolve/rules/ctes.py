"""WITH: each CTE is resolved once, in order; a recursive CTE with placeholders for its own columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sqlglot import exp

from lineage.model.names import ColumnPath
from lineage.sql.resolve.relations import (
    ColumnSource,
    Composite,
    Mention,
    Relation,
    RowSources,
    Sources,
    absorb,
    absorb_rows,
    both_mentions,
    nest_mention,
)
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.set_operation_columns import combine
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.scopes.unprefixed import NAMED_VALUE
from lineage.sql.resolve.structs.value_fields import known_names
from lineage.sql.resolve.transformation_codes import COMPOSE, FIRST_MASKED, IDENTITY, TRANSFORMATION

__all__ = ["add_named_value", "named_values", "scope_with_ctes"]

_MAX_FIELDS = 4
"""Maximum depth of a field of a recursive CTE's column that is told apart."""


def scope_with_ctes(resolver: Resolver, node: exp.Expr, outer: Scope) -> Scope:
    """Return a new scope for a query, in which the CTEs of its WITH hide tables of the same name."""
    with_ = node.args.get("with_")
    scope = Scope(resolver, outer, outer.ctes)
    if with_ is None:
        return scope
    scope.ctes = dict(outer.ctes)
    recursive = with_.args.get("recursive") or resolver.naming.dialect.implicit_recursive
    for cte in with_.expressions:
        name = resolver.identifiers.alias(cte.args["alias"].this)
        columns = [resolver.identifiers.alias(c) for c in cte.args["alias"].args.get("columns") or ()]
        if cte.args.get("scalar"):
            if cte.find(exp.Column) is None or isinstance(cte.this, exp.Subquery):
                add_named_value(resolver, cte, scope)
            continue
        if isinstance(cte.this, exp.DML) and not isinstance(cte.this, exp.Query):
            scope.ctes[name] = resolver.writing_cte(cte.this, scope).renamed(columns)
        elif recursive and isinstance(cte.this, exp.SetOperation) and _reads(cte.this.expression, name, resolver):
            scope.ctes[name] = _recursive(resolver, cte.this, name, columns, scope)
        else:
            scope.ctes[name] = resolver.relation(cte.this, scope).renamed(columns)
        for clause in ("search", "cycle"):
            if (added := with_.args.get(clause)) is not None and cte is with_.expressions[-1]:
                scope.ctes[name] = _with_search(resolver, added, scope.ctes[name])
    return scope


def add_named_value(resolver: Resolver, cte: exp.Expr, scope: Scope) -> None:
    """ClickHouse's `WITH expression AS name`: a named value, visible wherever the CTEs are."""
    sources: Sources = {}
    resolver.evaluate(scope, cte.this, IDENTITY, sources)
    name = resolver.identifiers.alias(cte.args["alias"].this)
    scope.ctes = {**scope.ctes, NAMED_VALUE + name: Relation([name], [sources])}


def named_values(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the named values of a WITH that are computed from columns of the query that follows."""
    with_ = node.args.get("with_")
    for cte in with_.expressions if with_ is not None else ():
        if cte.args.get("scalar") and not isinstance(cte.this, exp.Subquery) and cte.find(exp.Column) is not None:
            yield cte


def _with_search(resolver: Resolver, search: exp.Expr, relation: Relation) -> Relation:
    """SEARCH … BY a SET s, CYCLE a SET c USING p: extra columns, computed from the named one."""
    named = search.args.get("this")
    base = relation.find(resolver.identifiers.column(named)) if isinstance(named, exp.Identifier) else None
    value: Sources = {}
    absorb(value, base or {}, TRANSFORMATION, None)
    added = [search.args.get(key) for key in ("expression", "using")]
    names = [resolver.identifiers.column(name) for name in added if isinstance(name, exp.Identifier)]
    return Relation(
        [*relation.names, *names], [*relation.sources, *(value for _ in names)], relation.rows, relation.opens
    )


def _reads(node: exp.Expr, name: str, resolver: Resolver) -> bool:
    fold = resolver.identifiers.alias
    return any(
        isinstance(table.this, exp.Identifier) and not table.args.get("db") and fold(table.this) == name
        for table in node.find_all(exp.Table)
    )


def _recursive(resolver: Resolver, body: exp.SetOperation, name: str, columns: list[str], scope: Scope) -> Relation:
    """Return a recursive CTE's relation: the anchor's columns, with their sources over any number of iterations.

    The recursive branch is resolved with placeholders for the CTE's columns; then each placeholder is replaced by the
    column's sources until a fixed point is reached.
    """
    anchor = resolver.relation(body.this, scope).renamed(columns)
    stand_ins = [ColumnSource("", column) for column in anchor.names]
    own = Relation(list(anchor.names), [{(stand_in, IDENTITY): None} for stand_in in stand_ins], None, anchor.opens)
    ctes = dict(scope.ctes)
    ctes[name] = own
    inner = Scope(resolver, scope, ctes)
    total = combine(resolver, body, anchor, resolver.relation(body.expression, inner))
    of_rows: Sources = {}
    absorb_rows(of_rows, total.rows)
    fields = [
        {name: value.fields[name] for name in known_names(value) or ()}
        if isinstance(value, Composite) and value.fields is not None
        else {}
        for value in total.sources
    ]
    equations = [*total.sources, of_rows, *(value for inside in fields for value in inside.values())]
    places = _places(resolver, equations, stand_ins)
    closed = iter(_close(equations, places))
    columns_closed = list(islice(closed, len(total.sources)))
    rows = RowSources()
    rows.own = next(closed)
    for index, (value, inside) in enumerate(zip(total.sources, fields, strict=True)):
        if isinstance(value, Composite) and inside:
            known = dict(zip(inside, closed, strict=False))
            columns_closed[index] = Composite(columns_closed[index], known, lists=value.lists, closed=value.closed)
    return Relation(total.names, columns_closed, rows, total.opens)


def _places(resolver: Resolver, equations: list[Sources], stand_ins: list[ColumnSource]) -> dict[ColumnSource, int]:
    """Return the equation of each placeholder; those of fields of placeholders are added to the equations."""
    places = {stand_in: index for index, stand_in in enumerate(stand_ins)}
    for equation in equations:  # which grows
        for source, _ in equation:
            if source.table or source in places:
                continue
            index = next((n for n, one in enumerate(stand_ins) if source.column.startswith(f"{one.column}.")), None)
            if index is None:
                continue
            path = ColumnPath.parse(source.column[len(stand_ins[index].column) + 1 :]).parts
            if len(path) > _MAX_FIELDS:  # `SELECT s.next FROM r`, of a document: of the whole value
                places[source] = index
                continue
            places[source] = len(equations)
            equations.append(resolver.field(equations[index], path))
    return places


def _replace(sources: Sources, columns: list[Sources], position: dict[ColumnSource, int]) -> Sources:
    """Return the sources with each placeholder replaced by its column's sources."""
    replaced: Sources = {}
    for (source, effect), place in sources.items():
        index = position.get(source)
        if index is None:
            replaced.setdefault((source, effect), place)
            continue
        for (base, inner), below in columns[index].items():
            _add(replaced, (base, COMPOSE[effect][inner]), nest_mention(below, place))
    return replaced


def _add(sources: Sources, key: tuple[ColumnSource, int], mention: Mention) -> None:
    """Add a source, as `absorb` does."""
    if key not in sources:
        sources[key] = mention
    elif key[1] < FIRST_MASKED:
        sources[key] = both_mentions(sources[key], mention)


def _close(columns: list[Sources], position: dict[ColumnSource, int]) -> list[Sources]:
    """Return the columns without placeholders: the least fixed point of their mutual dependencies."""
    closed = [{key: place for key, place in column.items() if key[0] not in position} for column in columns]
    changed = True
    while changed:
        changed = False
        for index, column in enumerate(columns):
            grown = {**_replace(column, closed, position), **closed[index]}
            if len(grown) > len(closed[index]):
                closed[index] = grown
                changed = True
    found = [dict(column) for column in closed]
    for index, column in enumerate(columns):  # the ways of one more iteration
        for key, place in _replace(column, closed, position).items():
            _add(found[index], key, place)
    return found
