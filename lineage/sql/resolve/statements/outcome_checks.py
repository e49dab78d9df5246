"""What is checked of any statement's outcome: that it changes a table, its RETURNING, the names of new columns."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import ColumnRef
from lineage.sql.resolve.column_names.unnamed_column import UncertainName
from lineage.sql.resolve.coverage.accounting import report_type
from lineage.sql.resolve.relations import TableRows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.select_list import project
from lineage.sql.resolve.statements.outcome import Outcome

__all__ = ["check_changed_table", "read_returning", "report_uncertain_names"]

_SHOWING = (exp.Update, exp.Delete, exp.Merge)
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
    """Record the tables that sub-queries in RETURNING read, and the columns that it shows the client.

    An INSERT returns what it was given, which is no read.
    """
    if isinstance(tree, _SHOWING) and not tree.args["returning"].args.get("into"):
        outcome.returned = _columns_returned(resolver, tree, outcome)
    if tree.args["returning"].find(exp.Query) is None:
        return
    if tree.args.get("with_") is None:
        read_before = outcome.target in resolver.reads
        resolver.returning_relation(tree, outcome, resolver.new_scope())
        if not read_before and outcome.target is not None:  # only the changed rows are returned
            resolver.reads.pop(outcome.target, None)
    else:
        report_type(resolver, tree.args["returning"])


def _columns_returned(resolver: Resolver, tree: exp.Expr, outcome: Outcome) -> tuple[ColumnRef, ...]:
    """Return the columns whose values RETURNING or OUTPUT shows; what is read on the way was recorded before."""
    held = resolver.reads, resolver.diagnostics, resolver.unresolved, resolver.side_effects
    resolver.reads, resolver.diagnostics, resolver.unresolved, resolver.side_effects = (
        dict(held[0]), list(held[1]), list(held[2]), list(held[3])
    )  # fmt: skip
    scope = scope_with_ctes(resolver, tree, resolver.new_scope())
    if outcome.target is not None and resolver.naming.dialect.needs_no_semicolon:  # T-SQL's OUTPUT
        changed = resolver.base_table(outcome.target)
        scope.prefixed = {"inserted": changed, "deleted": changed} if changed is not None else {}
        columns = project(resolver, exp.Select(expressions=tree.args["returning"].expressions), scope).sources
    else:
        relation = resolver.returning_relation(tree, outcome, scope)
        columns = relation.sources if relation is not None else []
    resolver.reads, resolver.diagnostics, resolver.unresolved, resolver.side_effects = held
    shown = (source for sources in columns for source, _ in sources if type(source) is not TableRows)
    return tuple(dict.fromkeys(ColumnRef(source.table, source.column) for source in shown))


def report_uncertain_names(resolver: Resolver, outcome: Outcome) -> None:
    """Report the columns of a new dataset whose name the engine makes of an expression in a way that is not known."""
    names = [name for name in outcome.names if type(name) is UncertainName]
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"the engine's name of a column without an alias is not known: it is shown as {', '.join(names)}",
        hint="name the column: … AS name",
    )
