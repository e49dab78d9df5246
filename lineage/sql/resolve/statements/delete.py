"""DELETE and TRUNCATE: the columns in the condition determine which rows the target keeps."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import BaseTable, RowSources, TemporaryTable, absorb_rows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.output import output_into
from lineage.sql.resolve.statements.updatable import temporary_behind
from lineage.sql.resolve.statements.update import target_scope
from lineage.sql.resolve.transformation_codes import FILTER, IDENTITY, LIMITED_SORT


@statement_rule(exp.Delete)
def delete(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return the outcome of a DELETE."""
    rows = RowSources()
    if isinstance(tree.this, exp.Subquery):
        return _through_query(resolver, tree)
    if not tree.this and len(tree.args.get("tables") or ()) == 1:  # T-SQL's and Oracle's DELETE t WHERE …
        [named] = tree.args["tables"]
        tree.set("tables", None)
        tree.set("this", named)
    if not isinstance(tree.this, exp.Table):
        return Outcome("DELETE")
    target, scope = target_scope(resolver, tree, rows)
    outcome = Outcome("DELETE", target)
    if where := tree.args.get("where"):
        resolver.evaluate(scope, where.this, FILTER, rows.own)
    if order := tree.args.get("order"):
        resolver.evaluate(scope, order, LIMITED_SORT, rows.own)
    absorb_rows(outcome.rows, rows)
    listed = [*(tree.args.get("tables") or ())[1:]]  # MySQL: DELETE a, b FROM a JOIN b
    if tree.args.get("using"):  # MySQL: DELETE FROM a, b USING a JOIN b
        listed += [join.this for join in tree.this.args.get("joins") or ()]
    for table in listed:
        if isinstance(table, exp.Table):
            relation = scope.items.get(resolver.identifiers.alias(table.this))
            name = relation.name if isinstance(relation, BaseTable | TemporaryTable) else resolver.existing_name(table)
            outcome.others.append(Outcome("DELETE", name, rows=dict(outcome.rows)))
    output_into(resolver, tree, target, scope, outcome.rows, outcome)
    return outcome


def _through_query(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Oracle's `DELETE FROM (query)`, T-SQL's `DELETE d FROM (query) d`: delete from the table in the query."""
    scope = resolver.new_scope()
    relation = resolver.relation(tree.this, scope)
    tables = {source.table for _, sources in relation.columns() for source, effect in sources if effect == IDENTITY}
    base = tables.pop() if len(tables) == 1 else None
    outcome = Outcome("DELETE", temporary_behind(resolver, tree, tree.this, []) or base)
    rows = RowSources()
    if relation.rows is not None:
        rows.inputs.append(relation.rows)
    alias = tree.this.args.get("alias")
    scope.add(resolver.identifiers.alias(alias.this) if alias is not None else "", relation)
    if where := tree.args.get("where"):
        resolver.evaluate(scope, where.this, FILTER, rows.own)
    absorb_rows(outcome.rows, rows)
    return outcome


@statement_rule(exp.TruncateTable)
def truncate(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """TRUNCATE, which deletes all rows without a condition."""
    tables = [resolver.identifiers.table_parts(t) for t in tree.expressions if isinstance(t, exp.Table)]
    names = list(dict.fromkeys(resolver.look_up(parts)[0] for parts in tables))
    others = [Outcome("TRUNCATE", name) for name in names[1:]]
    return Outcome("TRUNCATE", names[0] if names else None, others=others)
