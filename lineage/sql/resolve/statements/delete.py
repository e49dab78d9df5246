"""DELETE and TRUNCATE: the columns in the condition determine which rows the target keeps."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import RowSources, absorb_rows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.changed_table import changed_table, in_from
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.output import output_into
from lineage.sql.resolve.statements.updatable import temporary_behind
from lineage.sql.resolve.transformation_codes import FILTER, IDENTITY, LIMITED_SORT


@statement_rule(exp.Delete)
def delete(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return the outcome of a DELETE."""
    rows = RowSources()
    listed, origin, using = tree.args.get("tables") or [], tree.this, tree.args.get("using") or []
    if isinstance(origin, exp.Subquery) and not listed:
        return _through_query(resolver, tree)
    if listed:  # `DELETE t FROM t JOIN u …`, `DELETE t WHERE …`
        named, items = listed, [origin] if origin else []
    else:  # MySQL: `DELETE FROM a, b USING a JOIN b`
        named, items = [origin, *((join.this for join in origin.args.get("joins") or ()) if using else ())], using
    if not all(isinstance(table, exp.Table) for table in named):
        return Outcome("DELETE")
    target, scope = changed_table(resolver, tree, named[0], items, rows)
    if listed:
        _drop_read_of_target(resolver, tree, target)
    outcome = Outcome("DELETE", target)
    if where := tree.args.get("where"):
        resolver.evaluate(scope, where.this, FILTER, rows.own)
    if order := tree.args.get("order"):
        resolver.evaluate(scope, order, LIMITED_SORT, rows.own)
    if limit := tree.args.get("limit"):
        resolver.evaluate(scope, limit, FILTER, rows.own)
    absorb_rows(outcome.rows, rows)
    for table in named[1:]:  # MySQL
        found = in_from(resolver, table, items, is_listed=True)
        name = resolver.existing_name(found if isinstance(found, exp.Table) else table)
        outcome.others.append(Outcome("DELETE", name, rows=dict(outcome.rows)))
    output_into(resolver, tree, target, scope, outcome.rows, outcome)
    return outcome


def _drop_read_of_target(resolver: Resolver, tree: exp.Expr, target: str) -> None:
    """Remove the read of a target that FROM names only to say what is deleted."""
    tables = [table for table in tree.find_all(exp.Table) if table.arg_key != "tables"]
    if sum(resolver.existing_name(table) == target for table in tables if isinstance(table.this, exp.Identifier)) == 1:
        resolver.reads.pop(target, None)


def _through_query(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Oracle's `DELETE FROM (query)`: delete from the table in the query."""
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
