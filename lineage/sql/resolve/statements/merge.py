"""MERGE, branch by branch: the match influences the target's rows (INSERT, DELETE) or updated columns (UPDATE)."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Relation, RowSources, Sources, absorb, absorb_rows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.from_clause import add_source
from lineage.sql.resolve.rules.stars import report_open_star
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.changed_table import base_of
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.output import output_into
from lineage.sql.resolve.statements.updatable import temporary_behind
from lineage.sql.resolve.statements.update import assignments, column_behind
from lineage.sql.resolve.transformation_codes import IDENTITY, MERGE_MATCH


@statement_rule(exp.Merge)
def merge(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what a MERGE writes."""
    identifiers = resolver.identifiers
    table = tree.this
    if not isinstance(table, exp.Table):
        return Outcome("MERGE")
    scope = scope_with_ctes(resolver, tree, resolver.new_scope())
    rows = RowSources()
    target, relation = resolver.look_up(identifiers.table_parts(table))
    through = scope.ctes.get(identifiers.alias(table.this)) if not table.args.get("db") else None
    if through is not None and (base := base_of(through, [])):  # T-SQL: MERGE into a CTE writes its table
        target, relation = temporary_behind(resolver, tree, table, []) or base, through
        if through.rows is not None:
            rows.inputs.append(through.rows)
    alias = table.args.get("alias")
    scope.add(identifiers.alias(alias.this if alias is not None else table.this), relation)
    [own] = scope.items
    scope.changes = own
    source = add_source(resolver, tree.args["using"], scope, rows)[0]
    matched: Sources = {}
    absorb_rows(matched, rows)
    if on := tree.args.get("on"):
        resolver.evaluate(scope, on, MERGE_MATCH, matched)
    outcome = Outcome("MERGE", target)
    columns: dict[str, Sources] = {}
    decided: Sources = {}
    # A branch applies to the rows that no earlier branch of its kind applied to. The conditions of an earlier INSERT or
    # DELETE already influence the rows.
    passed: dict[tuple[bool, bool], Sources] = {}
    whens = tree.args.get("whens")
    for when in whens.expressions if whens is not None else ():
        kind = bool(when.args.get("matched")), bool(when.args.get("source"))
        conditions = dict(passed.get(kind, matched))
        if condition := when.args.get("condition"):
            seen = scope
            if not when.args.get("matched"):
                seen = _without(scope, own, source=bool(when.args.get("source")))
            resolver.evaluate(seen, condition, MERGE_MATCH, conditions)
        then = when.args.get("then")
        if isinstance(then, exp.Update) or (then is not None and _does_nothing(then)):
            passed[kind] = dict(conditions)
        if isinstance(then, exp.Update | exp.Insert) and (where := then.args.get("where")) is not None:  # Oracle
            resolver.evaluate(scope, where.this, MERGE_MATCH, conditions)
        absorb(decided, conditions, IDENTITY, None)
        if isinstance(then, exp.Update):
            for name, sources in _updates(resolver, then, scope, relation, source):
                into = columns.setdefault(name, {})
                absorb(into, sources, IDENTITY, None)
                absorb(into, conditions, IDENTITY, None)
            continue
        if isinstance(then, exp.Insert):
            for name, sources in _inserts(resolver, then, scope, own, source):
                absorb(columns.setdefault(name, {}), sources, IDENTITY, None)
        if then is not None and not _does_nothing(then):
            absorb(outcome.rows, conditions, IDENTITY, None)
    outcome.names, outcome.columns = list(columns), list(columns.values())
    output_into(resolver, tree, target, scope, decided, outcome)
    return outcome


def _does_nothing(then: exp.Expr) -> bool:
    return isinstance(then, exp.Var) and then.name.upper() == "DO NOTHING"


def _updates(
    resolver: Resolver, then: exp.Update, scope: Scope, target: Relation, source: Relation
) -> list[tuple[str, Sources]]:
    """UPDATE SET …, or `UPDATE *` (SET *): every column of the target, by name."""
    if not then.expressions or isinstance(then.expressions[0], exp.Star):
        return _by_name(resolver, then, target, source)
    return list(assignments(resolver, then.expressions, scope, target))


def _inserts(
    resolver: Resolver, then: exp.Insert, scope: Scope, own: str, source: Relation
) -> list[tuple[str, Sources]]:
    """INSERT (list) VALUES (…), without a list by the target's order, `INSERT *` and `INSERT ROW` by name."""
    listed, target = then.this, scope.items[own]
    values = _values(then)
    if values is None:
        return _by_name(resolver, then, target, source)
    if isinstance(listed, exp.Tuple) and isinstance(then.args.get("expression"), exp.Tuple):
        names = [resolver.identifiers.target_column(c) for c in listed.expressions]
    elif not target.is_open:
        names = [name for name, _ in target.columns()]
    else:
        names = [_name_of(resolver, value) or f"_col{i}" for i, value in enumerate(values)]
        _report_guess(resolver, then, "INSERT lists none, and the names of its values are used")
    if len(names) != len(values):
        resolver.report(
            DiagnosticCode.COLUMN_COUNT_MISMATCH,
            Severity.WARNING,
            f"the number of columns that MERGE inserts is {len(values)}, expected {len(names)}",
            then,
        )
    pairs: list[tuple[str, Sources]] = []
    visible = _without(scope, own, source=False)
    for name, value in zip(names, values, strict=False):
        sources: Sources = {}
        resolver.evaluate(visible, value, IDENTITY, sources)
        pairs.append((column_behind(name, target), sources))
    return pairs


def _name_of(resolver: Resolver, value: exp.Expr) -> str | None:
    """Return the name of a value that is a column."""
    named = value.this if isinstance(value, exp.Column) else None
    return resolver.identifiers.column(named) if isinstance(named, exp.Identifier) else None


def _values(then: exp.Insert) -> list[exp.Expr] | None:
    """Return the values of `INSERT … VALUES (a, b)`; None for `INSERT *` and `INSERT ROW`.

    Without a list of columns, some dialects' parsers take VALUES for a function in the place of the list.
    """
    values, listed = then.args.get("expression"), then.this
    if isinstance(values, exp.Tuple):
        return list(values.expressions)
    [only] = listed.expressions if isinstance(listed, exp.Tuple) and len(listed.expressions) == 1 else [None]
    return list(only.expressions) if isinstance(only, exp.Anonymous) and only.name.upper() == "VALUES" else None


def _without(scope: Scope, own: str, *, source: bool) -> Scope:
    """Return the scope without the target (or without the source): unqualified names refer to the other one.

    NOT MATCHED has no target row, NOT MATCHED BY SOURCE no source row. `own` is the target's alias: if a table is
    merged with itself, both have the same relation.
    """
    visible = Scope(scope.resolver, scope.parent, scope.ctes)
    visible.items = {alias: item for alias, item in scope.items.items() if (alias == own) is source}
    visible.prefixed = {alias: item for alias, item in scope.items.items() if (alias == own) is not source}
    return visible


def _by_name(resolver: Resolver, then: exp.Expr, target: Relation, source: Relation) -> list[tuple[str, Sources]]:
    """Return the columns of the target, each from the source's column of its name.

    The source has all of them, if one of its columns is unknown; it may have others, which are not written.
    https://docs.databricks.com/en/sql/language-manual/delta-merge-into.html
    """
    if target.is_open:
        if source.is_open:
            report_open_star(resolver, then, source)
        else:
            _report_guess(resolver, then, "its columns are taken to be the source's")
        return list(source.columns())
    found: list[tuple[str, Sources]] = []
    for name, _ in target.columns():
        sources = source.find(name)
        if sources is None and source.is_open:
            sources = source.infer(name)
        if sources is not None:
            found.append((name, sources))
    return found


def _report_guess(resolver: Resolver, then: exp.Expr, guess: str) -> None:
    resolver.report(
        DiagnosticCode.TARGET_COLUMNS_UNKNOWN,
        Severity.WARNING,
        f"the columns of MERGE's target are unknown: {guess}",
        then,
        hint="give the table's DDL or a JSON schema with --catalog",
    )
