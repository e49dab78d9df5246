"""UPDATE, DELETE and MERGE: what each column that they write comes from, and what decides which rows there are.

As for SQL (`lineage.sql.resolve.statements`): the conditions of UPDATE, and of MERGE's update branch, influence the
columns that are written; those of DELETE, and of MERGE's other branches, the table's rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.transformation_codes import COMPOSE, FILTER, IDENTITY, MERGE_MATCH
from lineage_ingest.spark_plan.expressions import PlanScope
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.row_changes.rewritten_changes import rewritten_assignments, rewritten_merge
from lineage_ingest.spark_plan.row_changes.row_clauses import Assignment, MergePlan, assignments_of, merge_of
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources, absorb

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.plan_reader import PlanReader

__all__ = ["ChangedColumns", "changed_columns"]


class ChangedColumns(NamedTuple):
    """The columns that a statement changes, with their sources, and what decides which rows there are."""

    columns: list[tuple[str, Sources]]
    rows: Sources


def changed_columns(reader: PlanReader, root: PlanNode, operation: str) -> ChangedColumns | None:
    """Return what a command changes; None if it is no UPDATE, DELETE or MERGE, or, with a report, cannot be read."""
    is_rewritten = root.node("query") is not None
    match operation:
        case "UPDATE":
            found = rewritten_assignments(root) if is_rewritten else assignments_of(root)
            if found is not None:
                return _update(reader, root, found)
        case "DELETE":
            return _delete(reader, root)
        case "MERGE":
            merge = rewritten_merge(root) if is_rewritten else merge_of(root)
            if merge is not None:
                return _merge(reader, merge)
        case _:
            return None
    reader.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"the plan of this {operation} ({root.name}) is not as Spark 4 writes it: its columns are those of "
        "the rows that it writes",
        "please report the plan's nodes, and Spark's version",
    )
    return None


def _update(reader: PlanReader, root: PlanNode, assignments: list[Assignment]) -> ChangedColumns:
    """Every condition influences the columns that are written, and no other."""
    scope = reader.scope(_table(reader, root))
    conditions: Sources = {}
    if (condition := root.node("condition")) is not None:
        scope.add(condition, FILTER, conditions)
    return ChangedColumns(_assigned(scope, assignments, conditions), {})


def _delete(reader: PlanReader, root: PlanNode) -> ChangedColumns:
    rows: Sources = {}
    if (condition := root.node("condition")) is not None:
        reader.scope(_table(reader, root)).add(condition, FILTER, rows)
    return ChangedColumns([], rows)


def _merge(reader: PlanReader, merge: MergePlan) -> ChangedColumns:
    """Inserts and deletes depend on the match; an update's conditions influence the columns that it writes."""
    source = reader.relation(merge.source)
    scope = reader.scope(reader.relation(merge.target), source)
    columns: list[tuple[str, Sources]] = []
    rows: Sources = {}
    match: Sources = {}
    if merge.condition is not None:
        scope.add(merge.condition, MERGE_MATCH, match)
    absorb(match, source.rows.flat(), IDENTITY)
    for clause in merge.clauses:
        tested: Sources = {}
        if clause.condition is not None:
            scope.add(clause.condition, MERGE_MATCH, tested)
        conditions = {**match, **tested}
        if clause.kind == "UPDATE":
            columns += _assigned(scope, clause.assignments, conditions)
        else:
            columns += [(one.column, dict(scope.value(one.value).sources)) for one in clause.assignments]
            rows.update(conditions)
    return ChangedColumns(columns, rows)


def _assigned(scope: PlanScope, assignments: Iterable[Assignment], conditions: Sources) -> list[tuple[str, Sources]]:
    """Return the columns and fields that an UPDATE writes, with their sources and what decides that."""
    found: list[tuple[str, Sources]] = []
    for one in (field for assignment in assignments for field in assignment.fields):
        sources = dict(scope.value(one.value).sources)
        for source, code in conditions:
            sources[source, COMPOSE[code][IDENTITY]] = None
        found.append((one.column, sources))
    return found


def _table(reader: PlanReader, root: PlanNode) -> PlanRelation:
    node = root.node("originalTable", "table", "target")
    return reader.relation(node) if node is not None else PlanRelation([], {}, PlanRows())
