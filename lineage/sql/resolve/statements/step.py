"""Steps of programs: assignments to variables, conditions, and the variables that are visible to statements.

A variable is a one-row table of its program that is composed away: its sources become those of its readers. The edges
of an assignment are those of a bare query.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from lineage.model.names import ColumnPath
from lineage.sql.procedural import ProgramStep
from lineage.sql.resolve.relations import Composite, FieldPath, Relation, Sources, absorb, absorb_rows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.row_changes import after_change
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.outcome import STATEMENT_RULES, Outcome
from lineage.sql.resolve.statements.query import rows_of
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["assigned_within", "step_outcome", "variable_scope"]


def step_outcome(resolver: Resolver, tree: exp.Expr, step: ProgramStep) -> Outcome:
    """Return what a step's query assigns to its variables; what selects the row influences the value."""
    if not isinstance(tree, exp.Query):
        return _write_and_assign(resolver, tree, step)
    if step.operation == "TRIGGER":
        return _row_of(resolver, tree, Outcome(step.operation))
    relation = resolver.relation(tree, resolver.new_scope())
    outcome = Outcome(step.operation)
    if not step.assigns:
        pairs = list(relation.columns())
        if step.operation in ("RETURN", "PERFORM"):
            outcome.names, outcome.columns = [name for name, _ in pairs], [sources for _, sources in pairs]
            outcome.rows = rows_of(relation)
        return outcome
    outcome = _assign(outcome, relation, step)
    if _reads_what_it_assigns(resolver, tree, step):
        resolver.assigned.update(zip(step.assigns, map(dict, outcome.columns), strict=False))
    return outcome


def _reads_what_it_assigns(resolver: Resolver, tree: exp.Expr, step: ProgramStep) -> bool:
    """Return whether one of T-SQL's `SELECT @a = @b + 1, @b = x FROM t` reads another: it runs once for each row."""
    if step.operation != "SELECT" or len(step.assigns) == 1 or not resolver.naming.dialect.needs_no_semicolon:
        return False
    fold = resolver.naming.dialect.fold_column
    return any(f"@{fold(one.name)}" in step.assigns for one in tree.find_all(exp.Parameter))


def _row_of(resolver: Resolver, tree: exp.Expr, outcome: Outcome) -> Outcome:
    """A trigger's NEW and OLD: a row of its table, with any column."""
    table = resolver.relation(tree.args["from_"].this, resolver.new_scope())
    pairs = [] if table.is_open else list(table.columns())
    opens = [table] if table.is_open else []
    outcome.relation = Relation([name for name, _ in pairs], [sources for _, sources in pairs], None, opens)
    return outcome


def _write_and_assign(resolver: Resolver, tree: exp.Expr, step: ProgramStep) -> Outcome:
    """`INSERT … RETURNING id INTO v`, which writes its table and assigns the written values to the variable."""
    outcome = STATEMENT_RULES[type(tree)](resolver, tree)
    if (returned := resolver.returning_relation(tree, outcome, resolver.new_scope())) is not None:
        assigned = _assign(Outcome(step.operation), returned, step)
        outcome.relation = assigned.relation
    return outcome


def _assign(outcome: Outcome, relation: Relation, step: ProgramStep) -> Outcome:
    names, columns = [], []
    pairs = list(relation.columns())
    is_row = step.is_row or (len(step.assigns) == 1 and len(pairs) > 1)
    row = step.assigns[0] if is_row else ""
    targets = [FieldPath(ColumnPath((row, name))) for name, _ in pairs] if is_row else list(step.assigns)
    for name, (column, sources) in zip(targets, pairs, strict=False):
        value: Sources = {}
        absorb(value, sources, IDENTITY, None)
        absorb_rows(value, relation.rows)
        outcome.names.append(name)
        outcome.columns.append(value)
        names.append(column if is_row else name)
        # The variable may be a record, whose only field is then called as the column.
        columns.append(value if is_row else Composite(value, {column: value}))
    outcome.relation = Relation(names, columns, None, relation.opens)
    return outcome


def assigned_within(
    resolver: Resolver, outcome: Outcome, variables: Mapping[str, Relation | None]
) -> dict[str, Relation | None] | None:
    """Let an outcome leave what expressions assign to variables; return the variables as further rows may find them.

    None if these hold nothing new. What selects the rows influences the values.
    """
    if not resolver.assigned:
        return None
    names, columns = list(resolver.assigned), list(resolver.assigned.values())
    for value in columns:
        absorb(value, {key: place for key, place in outcome.rows.items() if key[1] != IDENTITY}, IDENTITY, None)
    outcome.assigned = Relation(names, columns)
    after: dict[str, Relation | None] = dict(variables)
    for name, value in zip(names, columns, strict=True):
        held = after.get(name)
        one = Relation([name], [value])
        after[name] = one if held is None else after_change(held, one)
    is_new = any(_keys(after[name]) != _keys(variables.get(name)) for name in names)
    return after if is_new else None


def _keys(held: Relation | None) -> set[tuple[str, str, int]]:
    listed = held.sources if held is not None else []
    return {(source.table, source.column, effect) for sources in listed for source, effect in sources}


def variable_scope(resolver: Resolver, variables: Mapping[str, Relation | None]) -> Scope:
    """Return the scope around a statement's scopes: variables by name, rows and cursors with their columns."""
    scope = resolver.new_scope()
    rows: dict[str, Relation] = {}
    values: dict[str, Sources] = {}
    for name, held in variables.items():
        value: Sources = {}
        if held is not None:
            relation = resolver.adopt(held)
            if relation.names == [name] and not relation.is_open:
                value = relation.sources[0]
            else:  # a row or a cursor
                for _, sources in relation.columns():
                    absorb(value, sources, IDENTITY, None)
                rows[name] = relation
        values[name] = value
    if resolver.naming.dialect.loops_show_columns:  # a column of a table in the statement comes before them
        scope.items.update(rows)
    scope.holds_variables = True
    scope.merged = values
    scope.prefixed = rows
    scope.ctes = rows
    return scope
