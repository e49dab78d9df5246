"""A bare query, and SELECT … INTO."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import ColumnSchema, DatasetKind
from lineage.sql.resolve.relations import STAR, Relation, Sources, absorb_rows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.targets import select_into


def rows_of(relation: Relation) -> Sources:
    """Return the influences on a relation's rows, flattened."""
    rows: Sources = {}
    absorb_rows(rows, relation.rows)
    return rows


def define_by_query(outcome: Outcome, target: str, repeated_name_mark: str | None) -> None:
    """Make a bare query the definition of a dataset, like a view: its repeated names get the mark and a number."""
    if repeated_name_mark is not None:
        outcome.names = Relation(outcome.names, outcome.columns).with_distinct_names(repeated_name_mark).names
    outcome.target, outcome.target_kind, outcome.defines = target, DatasetKind.VIEW, True
    if STAR not in outcome.names:
        outcome.schema = tuple(ColumnSchema(name) for name in outcome.names)


@statement_rule(exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Subquery, exp.Values, exp.Table, exp.Pivot)
def query(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return a query's columns; `SELECT … INTO t` writes them to t."""
    relation = resolver.relation(tree, resolver.new_scope())
    outcome = Outcome("SELECT", None, list(relation.names), list(relation.sources), rows_of(relation))
    if not relation.names:
        columns = list(relation.columns())
        outcome.names, outcome.columns = [name for name, _ in columns], [sources for _, sources in columns]
    into = select_into(tree)
    if into is not None and isinstance(into.this, exp.Table) and isinstance(into.this.this, exp.Identifier):
        outcome.operation = "CREATE_TABLE_AS"
        outcome.defines = True
        outcome.target = resolver.naming.made(resolver.name(into.this))
        if into.args.get("temporary") or into.this.name.startswith("#"):
            outcome.target_kind = DatasetKind.TEMPORARY
        outcome.relation = relation
        if not relation.is_open:
            outcome.schema = tuple(ColumnSchema(name) for name in outcome.names)
    elif into is not None and isinstance(into.this, exp.Table) and isinstance(into.this.this, exp.Parameter):
        message = f"the table that INTO makes is named by the placeholder `@{into.this.name}`"
        hint = "render the templates, and read the SQL that they give"
        resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, into.this, hint=hint)
    return outcome
