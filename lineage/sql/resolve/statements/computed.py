"""Computed columns: `b int GENERATED ALWAYS AS (a * 2)` is computed from column a of the same table."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from lineage.sql.resolve.relations import BaseTable, Relation, Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.outcome import Outcome
from lineage.sql.resolve.transformation_codes import TRANSFORMATION

__all__ = ["computed_columns"]


def computed_columns(
    resolver: Resolver, outcome: Outcome, definitions: Iterable[exp.Expr], own: BaseTable | Relation
) -> None:
    """Add the computed columns of a table definition to the outcome; `own` is the relation of the table itself."""
    if outcome.target is None:
        return
    scope = resolver.new_scope()
    scope.add(outcome.target, own)
    for item in definitions:
        for constraint in item.args.get("constraints") or () if isinstance(item, exp.ColumnDef) else ():
            kind = constraint.args.get("kind")  # some constraints have none: COLLATE, OPTIONS
            if (computed := _expression(kind)) is not None:
                sources: Sources = {}
                resolver.evaluate(scope, computed, TRANSFORMATION, sources)
                outcome.names.append(resolver.identifiers.column(item.this))
                outcome.columns.append(sources)
            elif isinstance(kind, exp.DefaultColumnConstraint) and resolver.naming.dialect.defaults_read_columns:
                default: Sources = {}
                resolver.evaluate(scope, kind.this, TRANSFORMATION, default)
                if default:
                    outcome.names.append(resolver.identifiers.column(item.this))
                    outcome.columns.append(default)


def _expression(kind: exp.Expr | None) -> exp.Expr | None:
    """Return the expression of a computed column; without STORED it is parsed as that of an identity column."""
    expression: exp.Expr | None = None
    if isinstance(kind, exp.ComputedColumnConstraint):
        expression = kind.this
    elif isinstance(kind, exp.GeneratedAsIdentityColumnConstraint):
        expression = kind.args.get("expression")
    return expression
