"""What is checked of any statement's outcome: that it changes a table, its RETURNING, the names of new columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.column_names.unnamed_column import UncertainName
from lineage.sql.resolve.coverage.accounting import report_type
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.outcome import Outcome

__all__ = ["check_changed_table", "read_returning", "report_uncertain_names"]

_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge)


def check_changed_table(resolver: Resolver, tree: exp.Expr, outcome: Outcome) -> None:
    """Report a change of what is not a table: the result of a query or a function."""
    if not isinstance(tree, _CHANGES) or outcome.target or outcome.others or resolver.diagnostics:
        return
    outcome.target = None
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"what this {outcome.operation} changes is not a table: it is the result of a query or function",
        tree.this if isinstance(tree.this, exp.Expr) else None,
    )


def read_returning(resolver: Resolver, tree: exp.Expr, outcome: Outcome) -> None:
    """Record the tables that sub-queries in RETURNING read. What it returns goes to the client."""
    if tree.args["returning"].find(exp.Query) is None:
        return
    if tree.args.get("with_") is None:
        read_before = outcome.target in resolver.reads
        resolver.returning_relation(tree, outcome, resolver.new_scope())
        if not read_before and outcome.target is not None:  # only the changed rows are returned
            resolver.reads.pop(outcome.target, None)
    else:
        report_type(resolver, tree.args["returning"])


def report_uncertain_names(resolver: Resolver, outcome: Outcome) -> None:
    """Report the columns of a new dataset whose name the engine makes of an expression in a way that is not known."""
    names = [name for name in outcome.names if type(name) is UncertainName]
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"the engine's name of a column without an alias is not known: it is shown as {', '.join(names)}",
        hint="name the column: … AS name",
    )
