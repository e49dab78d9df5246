"""INSERT: columns are paired by list, by name, or by the target's order; ON CONFLICT updates existing rows."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import Relation, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.functions_naming_tables import table_of_function
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.files import file_written, written_to_file
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.output import output_into
from lineage.sql.resolve.statements.query import rows_of
from lineage.sql.resolve.statements.update import assignments
from lineage.sql.resolve.transformation_codes import FILTER, IDENTITY, MERGE_MATCH

__all__ = ["target_columns"]


@statement_rule(exp.Insert)
def insert(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what an INSERT writes."""
    identifiers = resolver.identifiers
    named = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    operation = "INSERT_OVERWRITE" if tree.args.get("overwrite") else "INSERT"
    body = tree.args.get("expression") or tree.args.get("source")
    if isinstance(named, exp.Anonymous):
        named = table_of_function(named) or named
    if not isinstance(named, exp.Table):
        path = file_written(named)
        if path is None or not isinstance(body, exp.Expr):
            if isinstance(named, exp.Query):  # INSERT INTO SELECT …
                message = "the table that this INSERT writes is missing"
                resolver.report(DiagnosticCode.PARSE_ERROR, Severity.ERROR, message, named)
                resolver.relation(named, resolver.new_scope())
            return Outcome(operation)
        return written_to_file(resolver, operation, path, body, resolver.new_scope())
    target, known = resolver.look_up(identifiers.table_parts(named))
    outcome = Outcome(operation, target)
    if not isinstance(body, exp.Expr):
        return outcome
    scope = scope_with_ctes(resolver, tree, resolver.new_scope())
    relation = resolver.relation(body, scope)
    pairs = target_columns(resolver, tree, relation, known, target)
    outcome.names = [name for name, _ in pairs]
    outcome.columns = [sources for _, sources in pairs]
    outcome.rows = rows_of(relation)
    if tree.args.get("returning") is not None:
        output_into(resolver, tree, target, scope, outcome.rows, outcome)
    if conflict := tree.args.get("conflict"):
        _on_conflict(resolver, conflict, named, known, outcome, body.args.get("alias"))
    outcome.opens = relation.opens
    return outcome


def target_columns(
    resolver: Resolver, tree: exp.Expr, relation: Relation, known: Relation, target: str
) -> list[tuple[str, Sources]]:
    """Return the target's columns, each with its sources."""
    listed: list[str] = []
    if isinstance(tree.this, exp.Schema):
        listed = _listed_columns(resolver, tree.this.expressions, known)
        listed += [name for name in _partitions(resolver, tree, fixed=False) if listed and name not in listed]
    pairs = list(relation.columns())
    if tree.args.get("by_name"):
        if relation.is_open and not known.is_open and len(pairs) == 1:  # each column is the one of its name
            return [(name, relation.infer(name) or pairs[0][1]) for name, _ in known.columns()]
        if not known.is_open and resolver.tokens[0].text.upper() == "ALTER":  # a table that inherits may have more
            return [(name, sources) for name, sources in pairs if known.find(name) is not None]
        return pairs
    names = listed
    if not names and not known.is_open:
        partitioned = _partitions(resolver, tree, fixed=True)
        names = [name for name, _ in known.columns() if name not in partitioned]
    if names:
        if len(pairs) != len(names) and not relation.is_open and (listed or len(pairs) > len(names)):
            resolver.report(
                DiagnosticCode.COLUMN_COUNT_MISMATCH,
                Severity.WARNING,
                f"the number of columns inserted into {target} is {len(pairs)}, expected {len(names)}",
                tree.this,
                hint="the schema in the catalog may be older than the statement",
            )
        if relation.is_open:
            return list(Relation([n for n, _ in pairs], [s for _, s in pairs]).renamed(names).columns())
        return [(name, sources) for name, (_, sources) in zip(names, pairs, strict=False)]
    resolver.report(
        DiagnosticCode.TARGET_COLUMNS_UNKNOWN,
        Severity.WARNING,
        f"the columns of {target} are unknown: the query's column names are used",
        tree.this,
        hint="give the table's DDL or a JSON schema with --catalog",
    )
    return pairs


def _listed_columns(resolver: Resolver, items: list[exp.Expr], known: Relation) -> list[str]:
    """Return the columns of a column list; ClickHouse's `(* EXCEPT (a))` is expanded if the table is known."""
    if len(items) != 1 or not isinstance(items[0], exp.Star):
        return [resolver.identifiers.target_column(column) for column in items]
    dropped = {resolver.identifiers.target_column(column) for column in items[0].args.get("except_") or ()}
    return [name for name, _ in known.columns() if name not in dropped] if not known.is_open else []


def _partitions(resolver: Resolver, tree: exp.Expr, *, fixed: bool) -> list[str]:
    """Return the columns of `PARTITION (dt = 'x', hour)` with constants (`fixed`), or with values from the query."""
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    partition = table.args.get("partition") or tree.args.get("partition")
    if not isinstance(partition, exp.Partition):
        return []
    given = [item.this for item in partition.expressions if isinstance(item, exp.EQ)]
    columns = given if fixed else partition.expressions
    return [resolver.identifiers.target_column(column) for column in columns if isinstance(column, exp.Column)]


def _on_conflict(
    resolver: Resolver,
    conflict: exp.Expr,
    named: exp.Table,
    known: Relation,
    outcome: Outcome,
    row_alias: exp.Expr | None,
) -> None:
    """ON CONFLICT DO UPDATE SET a = excluded.a WHERE …, MySQL's ON DUPLICATE KEY UPDATE a = VALUES(a) or a = new.a."""
    proposed = Relation(list(outcome.names), [dict(sources) for sources in outcome.columns])
    scope = resolver.new_scope()
    alias = named.args.get("alias")
    scope.add(resolver.identifiers.alias(alias.this if alias is not None else named.this), known)
    scope.prefixed = {resolver.naming.dialect.fold_column("excluded"): proposed}
    if isinstance(row_alias, exp.TableAlias) and row_alias.this is not None:
        scope.prefixed = {**scope.prefixed, resolver.identifiers.alias(row_alias.this): proposed}
    for call in list(conflict.find_all(exp.Anonymous)):
        if call.name.upper() == "VALUES" and len(call.expressions) == 1:  # MySQL's VALUES(b) is EXCLUDED.b
            column = exp.Column(this=_identifier(call.expressions[0]), table=exp.to_identifier("excluded"))
            call.replace(column)
    conditions = _match(resolver, conflict, scope, proposed)
    absorb(outcome.rows, conditions, IDENTITY, None)
    if (where := conflict.args.get("where")) is not None:
        resolver.evaluate(scope, where.this, FILTER, conditions)
    for name, sources in assignments(resolver, conflict.expressions, scope):
        absorb(sources, conditions, IDENTITY, None)
        if name in outcome.names:
            position = outcome.names.index(name)
            outcome.columns[position] = dict(outcome.columns[position])
            absorb(outcome.columns[position], sources, IDENTITY, None)
        else:
            outcome.names.append(name)
            outcome.columns.append(sources)


def _match(resolver: Resolver, conflict: exp.Expr, scope: Scope, proposed: Relation) -> Sources:
    """Return what determines whether a row conflicts with an existing one: both keys, `(lower(email)) WHERE live`.

    It corresponds to MERGE's ON. For a constraint's name and for ON DUPLICATE KEY the columns are unknown.
    """
    matched: Sources = {}
    for part in (*(conflict.args.get("conflict_keys") or ()), conflict.args.get("index_predicate")):
        for column in part.find_all(exp.Column) if part is not None else ():
            resolver.evaluate(scope, column, MERGE_MATCH, matched)
            absorb(matched, proposed.find(resolver.identifiers.target_column(column)) or {}, MERGE_MATCH, column)
    return matched


def _identifier(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Column) else node
