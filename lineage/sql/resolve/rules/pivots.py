"""PIVOT and UNPIVOT of a relation, and DuckDB's statements of these names."""

from __future__ import annotations

from collections.abc import Callable, Container
from math import prod

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.identifiers import Identifiers
from lineage.sql.resolve.relations import STAR, FunctionTable, Relation, RowSources, Sources, absorb
from lineage.sql.resolve.resolver import Resolver, relation_rule
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import CONDITIONAL, FILTER, GROUP_BY, IDENTITY

__all__ = ["listed_names", "pivot_relation"]


def pivot_relation(
    resolver: Resolver, pivot: exp.Expr, relation: Relation, outer: Scope, alias_before: str = ""
) -> Relation:
    """Return the relation that results from a PIVOT or UNPIVOT of another, which has an alias before it."""
    scope = Scope(resolver, outer.parent, outer.ctes)
    scope.add(alias_before, relation)
    made = (
        _unpivot(resolver, pivot, relation, scope)
        if pivot.args.get("unpivot")
        else _pivot(resolver, pivot, relation, scope)
    )
    alias = pivot.args.get("alias")
    listed = alias.args.get("columns") or () if isinstance(alias, exp.TableAlias) else ()
    return made.renamed([resolver.identifiers.alias(column) for column in listed])


def _pivot(resolver: Resolver, pivot: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """PIVOT (sum(v) FOR k IN (a, b)): one column for each value of k. All columns other than v and k are group keys.

    Each new column is `sum(CASE WHEN k = a THEN v END)`: v contributes, k is a reference.
    """
    aggregated: list[Sources] = []
    used: set[str] = set()
    for expression in pivot.expressions:
        sources: Sources = {}
        resolver.evaluate(
            scope, expression.this if isinstance(expression, exp.Alias) else expression, IDENTITY, sources
        )
        aggregated.append(sources)
        used |= {resolver.identifiers.column(c.this) for c in expression.find_all(exp.Column)}
    decided: Sources = {}
    for field in pivot.args.get("fields") or ():
        key = field.this if isinstance(field, exp.In) else field
        resolver.evaluate(scope, key, CONDITIONAL, decided)
        used |= {resolver.identifiers.column(c.this) for c in key.find_all(exp.Column)}
    rows = RowSources()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    group = pivot.args.get("group")
    kept = _keys(resolver, group, scope) if group is not None else _without(relation, used)
    names, columns = [name for name, _ in kept], [sources for _, sources in kept]
    for sources in columns:
        absorb(rows.own, sources, GROUP_BY, pivot)
    deciding = [_decided_by_data(resolver, field, scope) for field in pivot.args.get("fields") or ()]
    if any(one is not None for one in deciding):
        for value in aggregated:
            for sources in filter(None, deciding):
                absorb(value, sources, CONDITIONAL, pivot)
            absorb(value, decided, IDENTITY, None)
        return _open_pivot(names, columns, aggregated, rows)
    made = listed_names(resolver.identifiers, pivot, resolver.written_text)
    for position, name in enumerate(made):
        value = dict(aggregated[position % len(aggregated)]) if aggregated else {}
        absorb(value, decided, IDENTITY, None)
        names.append(name)
        columns.append(value)
    return Relation(names, columns, rows, [relation] if relation.is_open and group is None else [])


def _keys(resolver: Resolver, group: exp.Expr, scope: Scope) -> list[tuple[str, Sources]]:
    """Return the columns of GROUP BY, which are kept: DuckDB's PIVOT in either form."""
    found: list[tuple[str, Sources]] = []
    for key in group.expressions:
        sources: Sources = {}
        resolver.evaluate(scope, key, IDENTITY, sources)
        found.append((resolver.identifiers.column(key.this) if isinstance(key, exp.Column) else key.name, sources))
    return found


def _without(relation: Relation, names: Container[str]) -> list[tuple[str, Sources]]:
    return [(name, sources) for name, sources in relation.columns() if name not in names]


def listed_names(identifiers: Identifiers, pivot: exp.Expr, written: Callable[[exp.Expr], str]) -> list[str]:
    """Return the names of the columns that PIVOT makes of listed values, in order; `written` gives a value's text.

    The parser names them after the aliases of the aggregates. In Oracle and BigQuery one aggregate may have none: its
    columns are called as the values alone. Oracle calls a column of a string without an alias as the string is written.
    """
    made = [identifiers.column(name) for name in pivot.args.get("columns") or ()]
    aliases = [identifiers.alias(a.args["alias"]) for a in pivot.expressions if isinstance(a, exp.Alias)]
    fields: list[exp.Expr] = pivot.args.get("fields") or []
    if identifiers.dialect.pivot_names_quote_strings and len(fields) == 1 and isinstance(fields[0], exp.In):
        values = [_name_of_value(identifiers, value, written) for value in fields[0].expressions]
        suffixes = [
            "_" + identifiers.alias(a.args["alias"]) if isinstance(a, exp.Alias) else "" for a in pivot.expressions
        ]
        return [value + suffix for value in values for suffix in suffixes]
    listed = prod(len(field.expressions) for field in fields if isinstance(field, exp.In))
    if not aliases or len(made) != listed * len(aliases) or len(aliases) == len(pivot.expressions):
        return made
    found: list[str] = []
    for at in range(0, len(made), len(aliases)):
        named = dict(zip(aliases, made[at:], strict=False))
        value = made[at].removeprefix(aliases[0] + "_") if made[at].startswith(aliases[0] + "_") else made[at]
        value = value.removesuffix("_" + aliases[0])
        found += [
            named[identifiers.alias(a.args["alias"])] if isinstance(a, exp.Alias) else value for a in pivot.expressions
        ]
    return found


def _name_of_value(identifiers: Identifiers, value: exp.Expr, written: Callable[[exp.Expr], str]) -> str:
    if isinstance(value, exp.PivotAlias | exp.Alias):
        return identifiers.alias(value.args["alias"])
    if isinstance(value, exp.Tuple):
        return "_".join(_name_of_value(identifiers, part, written) for part in value.expressions)
    if isinstance(value, exp.Literal):
        return f"'{value.this}'" if value.is_string else str(value.this)
    return identifiers.dialect.fold_column(written(value))


def _decided_by_data(resolver: Resolver, field: exp.Expr, scope: Scope) -> Sources | None:
    """Return the sources of the column names in `IN (ANY)`, `IN (SELECT …)` and `IN enum`; None for listed values.

    https://docs.snowflake.com/en/sql-reference/constructs/pivot
    DuckDB makes an enum of the values, and logs its PIVOT with it: https://duckdb.org/docs/stable/sql/statements/pivot
    """
    if isinstance(field, exp.In) and isinstance(field.args.get("field"), exp.Expr):
        return {}
    for one in (field.args.get("query"), *(field.args.get("expressions") or ())):
        inner = one.unnest() if isinstance(one, exp.Subquery) else one
        if isinstance(inner, exp.PivotAny):
            return {}
        if isinstance(inner, exp.Query):
            total: Sources = {}
            for _, sources in resolver.relation(inner, Scope(resolver, scope.parent, scope.ctes)).columns():
                absorb(total, sources, IDENTITY, None)
            return total
    return None


def _open_pivot(names: list[str], columns: list[Sources], values: list[Sources], rows: RowSources) -> Relation:
    """Return a pivot whose new columns depend on the data: they are represented by a star."""
    total: Sources = {}
    for value in values:
        absorb(total, value, IDENTITY, None)
    return Relation([*names, STAR], [*columns, total], rows, [FunctionTable([], total)])


@relation_rule(exp.Pivot)
def pivot_statement(resolver: Resolver, node: exp.Expr, outer: Scope) -> Relation:
    """DuckDB's `PIVOT t ON k IN (a, b) USING sum(v) GROUP BY g` and `UNPIVOT t ON a, b INTO NAME k VALUE v`.

    https://duckdb.org/docs/stable/sql/statements/pivot
    """
    inner = scope_with_ctes(resolver, node, outer)
    relation = resolver.relation(node.this, inner)
    scope = Scope(resolver, outer.parent, inner.ctes)
    scope.add("", relation)
    if node.args.get("unpivot"):
        return _unpivot_statement(resolver, node, relation, scope)
    return _pivot_statement(resolver, node, relation, scope)


def _pivot_statement(resolver: Resolver, node: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    aggregates = node.args.get("using") or []
    aggregated: list[Sources] = []
    for aggregate in aggregates:
        sources: Sources = {}
        resolver.evaluate(scope, aggregate.this if isinstance(aggregate, exp.Alias) else aggregate, IDENTITY, sources)
        aggregated.append(sources)
    decided: Sources = {}
    for key in node.expressions:
        resolver.evaluate(scope, key.this if isinstance(key, exp.In) else key, CONDITIONAL, decided)
    rows = RowSources()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    group = node.args.get("group")
    if group is not None:
        kept = _keys(resolver, group, scope)
    else:
        used = {
            resolver.identifiers.column(column.this)
            for part in (*node.expressions, *aggregates)
            for column in part.find_all(exp.Column)
        }
        kept = _without(relation, used)
    for _, sources in kept:
        absorb(rows.own, sources, GROUP_BY, node)
    values = [dict(sources) for sources in aggregated or [{}]]
    for value in values:
        absorb(value, decided, IDENTITY, None)
    opens = [relation] if relation.is_open and group is None else []
    made = _made_names(resolver, node.expressions, aggregates)
    if made is None:
        resolver.report(
            DiagnosticCode.UNRESOLVED_STAR,
            Severity.WARNING,
            "the output columns of PIVOT depend on the data",
            node,
            hint="list the values: ON key IN ('a', 'b')",
        )
        return _open_pivot([name for name, _ in kept], [s for _, s in kept], values, rows)
    names = [*(name for name, _ in kept), *made]
    columns = [*(s for _, s in kept), *(dict(values[at % len(values)]) for at in range(len(made)))]
    return Relation(names, columns, rows, opens)


def _made_names(resolver: Resolver, keys: list[exp.Expr], aggregates: list[exp.Expr]) -> list[str] | None:
    """Return the new column names of a PIVOT statement: key values joined by `_`, then the aggregate's name, if any."""
    names = [""]
    for key in keys:
        listed = key.expressions if isinstance(key, exp.In) else []
        if not listed or not all(isinstance(value, exp.Literal) for value in listed):
            return None
        names = [f"{name}_{value.this}" if name else value.this for name in names for value in listed]
    suffixes = [""]
    if len(aggregates) > 1 or any(isinstance(aggregate, exp.Alias) for aggregate in aggregates):
        suffixes = [f"_{a.alias if isinstance(a, exp.Alias) else resolver.written_text(a)}" for a in aggregates]
    fold = resolver.naming.dialect.fold_column
    return [fold(f"{name}{suffix}", quoted=True) for name in names for suffix in suffixes]


def _unpivot_statement(resolver: Resolver, node: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    into = node.args.get("into")
    fold = resolver.naming.dialect.fold_column
    key = (_names(resolver, into.this) if into is not None else []) or [fold("name")]
    names = [name for item in into.expressions for name in _names(resolver, item)] if into is not None else []
    names = names or [fold("value")]
    turned: list[Sources] = [{} for _ in names]
    gone: set[str] = set()
    for item in node.expressions:
        listed = item.this if isinstance(item, exp.Alias | exp.PivotAlias) else item
        parts = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
        for position, part in enumerate(parts):
            into_value = turned[position % len(turned)]
            if part.find(exp.Columns) is not None:
                scope.choice = None
                resolver.evaluate(scope, part, IDENTITY, into_value)
                chosen = scope.choice
                gone |= set(chosen.names) if chosen is not None else set()
            else:
                gone |= {resolver.identifiers.column(column.this) for column in part.find_all(exp.Column)}
                resolver.evaluate(scope, part, IDENTITY, into_value)
    kept = _without(relation, gone)
    return Relation(
        [*(name for name, _ in kept), *key, *names],
        [*(sources for _, sources in kept), *({} for _ in key), *turned],
        _without_nulls(relation, turned, node),
        [relation] if relation.is_open else [],
    )


def _unpivot(resolver: Resolver, pivot: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """UNPIVOT (v FOR k IN (a, b)): one row for each column. v contains the values of a and b, k their names."""
    values = [name for item in pivot.expressions for name in _names(resolver, item)]
    names: list[str] = []
    turned: list[Sources] = [{} for _ in values]
    gone: set[str] = set()
    for field in pivot.args.get("fields") or ():
        if not isinstance(field, exp.In):
            continue
        names += _names(resolver, field.this)
        for item in field.expressions:
            listed = item.this if isinstance(item, exp.PivotAlias | exp.Alias) else item
            columns = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
            for position, column in enumerate(columns):
                if isinstance(column, exp.Column):
                    gone.add(resolver.identifiers.column(column.this))
                if turned:
                    resolver.evaluate(scope, column, IDENTITY, turned[position % len(turned)])
    kept = _without(relation, gone)
    return Relation(
        [*(name for name, _ in kept), *names, *values],
        [*(sources for _, sources in kept), *({} for _ in names), *turned],
        _without_nulls(relation, turned, pivot),
        [relation] if relation.is_open else [],
    )


def _without_nulls(relation: Relation, turned: list[Sources], node: exp.Expr) -> RowSources | None:
    """Return what determines the rows of an UNPIVOT: the values too, unless it has INCLUDE NULLS."""
    if node.args.get("include_nulls"):
        return relation.rows
    rows = RowSources()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    for value in turned:
        absorb(rows.own, value, FILTER, node)
    return rows


def _names(resolver: Resolver, node: exp.Expr | bool) -> list[str]:
    """Return the names in `v` or `(v, w)`, quoted or not; none, if nothing stands there in invalid SQL."""
    if isinstance(node, bool):
        return []
    if isinstance(node, exp.Tuple | exp.Paren):
        inner = node.expressions if isinstance(node, exp.Tuple) else [node.this]
        return [name for item in inner for name in _names(resolver, item)]
    identifier = node if isinstance(node, exp.Identifier) else node.this
    return [resolver.identifiers.column(identifier)] if isinstance(identifier, exp.Identifier) else []
