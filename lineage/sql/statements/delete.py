"""DELETE and TRUNCATE: what is compared decides which rows the target keeps."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.effects import FILTER, LIMITED_SORT
from lineage.sql.relations import Rows, absorb_rows
from lineage.sql.resolver import Resolver
from lineage.sql.statements.outcome import Outcome, statement_rule
from lineage.sql.statements.update import target_scope


@statement_rule(exp.Delete)
def delete(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what decides a DELETE."""
    rows = Rows()
    if not isinstance(tree.this, exp.Table):
        return Outcome("DELETE")
    target, scope = target_scope(resolver, tree, rows)
    outcome = Outcome("DELETE", target)
    if where := tree.args.get("where"):
        resolver.evaluate(scope, where.this, FILTER, rows.own)
    if order := tree.args.get("order"):
        resolver.evaluate(scope, order, LIMITED_SORT, rows.own)
    absorb_rows(outcome.rows, rows)
    return outcome


@statement_rule(exp.TruncateTable)
def truncate(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """TRUNCATE empties a table, whatever was in it."""
    tables = [t for t in tree.expressions if isinstance(t, exp.Table)]
    target = resolver.name(tables[0]) if len(tables) == 1 else None
    return Outcome("TRUNCATE", target)
