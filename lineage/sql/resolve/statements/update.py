"""UPDATE: every condition influences the written columns, and no other column of the target."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.names import ColumnPath
from lineage.sql.resolve.relations import (
    BaseTable,
    FieldPath,
    Relation,
    RowSources,
    Sources,
    TemporaryTable,
    absorb,
    absorb_rows,
)
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.changed_table import changed_table
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.output import output_into
from lineage.sql.resolve.transformation_codes import CONDITIONAL, FILTER, IDENTITY, LIMITED_SORT, SORT

__all__ = ["assignments", "column_behind"]


@statement_rule(exp.Update)
def update(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what an UPDATE writes."""
    rows = RowSources()
    if not isinstance(tree.this, exp.Table):
        return Outcome("UPDATE")
    origin = tree.args.get("from_")
    target, scope = changed_table(resolver, tree, tree.this, [origin.this] if origin is not None else [], rows)
    outcome = Outcome("UPDATE", target)
    if where := tree.args.get("where"):
        resolver.evaluate(scope, where.this, FILTER, rows.own)
    if order := tree.args.get("order"):
        resolver.evaluate(scope, order, LIMITED_SORT if tree.args.get("limit") else SORT, rows.own)
    if limit := tree.args.get("limit"):
        resolver.evaluate(scope, limit, FILTER, rows.own)
    conditions: Sources = {}
    absorb_rows(conditions, rows)
    others: dict[str, Outcome] = {}
    alias = tree.this.args.get("alias")
    named = tree.this.this if alias is None or alias.this is None else alias.this  # invalid SQL: columns without a name
    through = scope.items.get(resolver.identifiers.alias(named)) if not resolver.is_temporary(target) else None
    for assignment in tree.expressions:
        into = _other_target(resolver, assignment, scope, target)
        written = outcome if into is None else others.setdefault(into, Outcome("UPDATE", into))
        for name, sources in assignments(resolver, [assignment], scope, through):
            absorb(sources, conditions, IDENTITY, None)
            written.names.append(name)
            written.columns.append(sources)
    if not outcome.names and others:  # in MySQL the first table may be only read
        target, outcome = next(iter(others.items()))
        del others[target]
    outcome.others.extend(others.values())
    output_into(resolver, tree, target, scope, conditions, outcome)
    return outcome


def _other_target(resolver: Resolver, assignment: exp.Expr, scope: Scope, target: str) -> str | None:
    """Return the table that MySQL's `SET t.a = x` writes, if it is not the first one."""
    left = assignment.this
    qualifier = left.args.get("table") if isinstance(left, exp.Column) else None
    relation = scope.items.get(resolver.identifiers.alias(qualifier)) if qualifier is not None else None
    return relation.name if isinstance(relation, BaseTable | TemporaryTable) and relation.name != target else None


def assignments(
    resolver: Resolver, expressions: list[exp.Expr], scope: Scope, through: Relation | None = None
) -> Iterator[tuple[str, Sources]]:
    """Yield the columns that SET writes and their sources, including `(a, b) = (x, y)` and `(a, b) = (SELECT …)`.

    `through` is the updated relation, if it may be a query over the written table.
    """
    for assignment in expressions:
        if not isinstance(assignment, exp.EQ | exp.PropertyEQ):
            continue
        left, right = assignment.this, assignment.expression
        if isinstance(left, exp.Parameter):  # T-SQL's `SET @v = column = value`, `SET @v = value`
            _report_unread(resolver, assignment, "a variable")
            if not isinstance(right, exp.EQ) or not isinstance(right.this, exp.Column):
                continue
            left, right = right.this, right.expression
        if resolver.naming.dialect.routines_begin_with_declarations and _is_record(left):
            _report_unread(resolver, assignment, "all columns of the row")
            continue
        names = (
            left.expressions if isinstance(left, exp.Tuple) else [left.this if isinstance(left, exp.Paren) else left]
        )
        is_list = isinstance(left, exp.Tuple | exp.Paren)
        values = right.expressions if isinstance(right, exp.Tuple) or (is_list and _is_row(right)) else None
        query = right.this if isinstance(right, exp.Subquery) else None
        relation = resolver.relation(query, scope) if query is not None and len(names) > 1 else None
        for position, name in enumerate(names):
            sources: Sources = {}
            if relation is not None:
                if position < len(relation.sources):
                    absorb(sources, relation.sources[position], IDENTITY, None)
                absorb_rows(sources, relation.rows)
            elif values is not None and position < len(values):
                resolver.evaluate(scope, values[position], IDENTITY, sources)
            elif not _is_default(right):
                resolver.evaluate(scope, right, IDENTITY, sources)
            if isinstance(name, exp.Bracket):  # SET a[i] = …: the index determines which element is written
                for index in name.expressions:
                    resolver.evaluate(scope, index, CONDITIONAL, sources)
            yield _target_column(resolver, name, scope, through), sources


def _report_unread(resolver: Resolver, assignment: exp.Expr, what: str) -> None:
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"UPDATE sets {what}, which is not followed",
        assignment,
        hint="assign the columns one by one",
        lasts=True,
    )


def _is_record(left: exp.Expr) -> bool:
    """PL/SQL's `SET ROW = record`."""
    return (
        isinstance(left, exp.Column)
        and not left.args.get("table")
        and left.name.upper() == "ROW"
        and not left.this.args.get("quoted")
    )


def _is_row(value: exp.Expr) -> bool:
    """`ROW(x, y)`."""
    return isinstance(value, exp.Struct) or (isinstance(value, exp.Anonymous) and value.name.upper() == "ROW")


def _is_default(value: exp.Expr) -> bool:
    """`SET a = DEFAULT`, which sqlglot parses as a column."""
    return isinstance(value, exp.Column) and value.name.upper() == "DEFAULT" and not value.this.args.get("quoted")


def _target_column(resolver: Resolver, name: exp.Expr, scope: Scope, through: Relation | None) -> str:
    """Return the base column that SET writes; the query `through` may rename it."""
    written = resolver.identifiers.target_column(name)
    if isinstance(name, exp.Column) and len(name.parts) > 1:
        path = [resolver.identifiers.column(part) for part in name.parts]
        if scope.item(path[0]) is not None:
            path = path[1:]
        if len(path) > 1 and scope.item(path[-2]) is None:  # a field: `SET address.city = …`
            return FieldPath(ColumnPath(tuple(path)))
    return written if through is None else column_behind(written, through)


def column_behind(name: str, relation: Relation) -> str:
    """Return the base column that a query passes through under this name."""
    if not isinstance(relation, BaseTable | TemporaryTable) and (found := relation.find(name)):
        sources = list(found)
        if len(sources) == 1 and sources[0][1] == IDENTITY:
            path = ColumnPath.parse(sources[0][0].column)
            return FieldPath(path) if path.parent else path.name
    return name
