"""One query with several targets: Oracle's and Snowflake's INSERT ALL and FIRST, Hive's FROM … INSERT … INSERT."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.statement import DatasetKind
from lineage.sql.resolve.relations import Relation, RowSources, Sources, absorb, absorb_rows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.from_clause import add_source
from lineage.sql.resolve.rules.select import select_over
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.files import file_written
from lineage.sql.resolve.statements.insert import target_columns
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.transformation_codes import FILTER, IDENTITY


@statement_rule(exp.MultitableInserts)
def multi_insert(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what each branch writes: the first as the outcome itself, the others in its `others`."""
    rows = RowSources()
    scope = scope_with_ctes(resolver, tree, resolver.new_scope())
    source = tree.args.get("source")
    if source is not None:
        add_source(resolver, source, scope, rows)
    is_first = (tree.args.get("kind") or "").upper() == "FIRST"
    tested: Sources = {}
    outcomes = []
    for branch in tree.expressions:
        conditional = isinstance(branch, exp.ConditionalInsert)
        own: Sources = {}
        if conditional and (test := branch.args.get("expression")) is not None:
            resolver.evaluate(scope, test, FILTER, own)
        conditions = dict(own)
        absorb_rows(conditions, rows)
        if is_first or (conditional and branch.args.get("else_")):  # reached only if all earlier conditions are false
            absorb(conditions, tested, IDENTITY, None)
        absorb(tested, own, IDENTITY, None)
        outcomes.append(_branch(resolver, branch.this if conditional else branch, scope, conditions))
    if not outcomes:
        return Outcome("INSERT")
    first, *others = outcomes
    first.others.extend(others)
    return first


def _branch(resolver: Resolver, insert: exp.Expr, scope: Scope, conditions: Sources) -> Outcome:
    named = insert.this.this if isinstance(insert.this, exp.Schema) else insert.this
    path = file_written(named)
    if path is not None and isinstance(insert.args.get("expression"), exp.Select):
        outcome = Outcome("INSERT_OVERWRITE", path, rows=dict(conditions), target_kind=DatasetKind.FILE)
        relation = _over(resolver, insert.args["expression"], scope, outcome.rows)
        outcome.names, outcome.columns = relation.names, relation.sources
        return outcome
    target, known = resolver.look_up(resolver.identifiers.table_parts(named))
    outcome = Outcome("INSERT_OVERWRITE" if insert.args.get("overwrite") else "INSERT", target, rows=dict(conditions))
    body = insert.args.get("expression")
    if isinstance(body, exp.Select) and body.args.get("from_") is None:
        relation = _over(resolver, body, scope, outcome.rows)
    elif isinstance(body, exp.Values):
        relation = resolver.relation(body, scope)
    else:
        pairs = [pair for item in scope.items.values() for pair in item.columns()]
        relation = Relation([name for name, _ in pairs], [sources for _, sources in pairs])
    columns = target_columns(resolver, insert, relation, known, target)
    outcome.names = [name for name, _ in columns]
    outcome.columns = [sources for _, sources in columns]
    return outcome


def _over(resolver: Resolver, body: exp.Expr, scope: Scope, rows: Sources) -> Relation:
    """Return the relation of a branch's SELECT, which reads the statement's FROM."""
    inner = resolver.new_scope(scope.ctes)
    inner.items = scope.items
    relation = select_over(resolver, body, inner, RowSources())
    absorb_rows(rows, relation.rows)
    return relation
