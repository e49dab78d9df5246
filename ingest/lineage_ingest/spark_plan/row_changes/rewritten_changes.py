"""UPDATE and MERGE read back from the rows that Spark's plan writes for them.

For tables that are given the rows to write (`SupportsRowLevelOperations`, as Iceberg's), Spark's analyzer replaces the
command: `ReplaceData` has all rows of the touched files with `if(condition, new, old)` for each column, `WriteDelta`
only those that change. MERGE is a join of target and source below `MergeRows`, which has the row to write for each
clause; one that only inserts appends the source's rows that no row of the target matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.row_changes.row_clauses import (
    Assignment,
    MergePlan,
    RowClause,
    is_unchanged,
    target_columns,
)

__all__ = ["is_merge", "rewritten_assignments", "rewritten_merge"]

_GROUPS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


class _UnknownShapeError(Exception):
    """The rows that a plan writes come from a node that does not occur in plans of these statements."""


def rewritten_assignments(root: PlanNode) -> list[Assignment] | None:
    """Return what an UPDATE assigns, by the rows that its plan writes; None if it is not as Spark writes one."""
    target, query = root.node("originalTable"), root.node("query")
    if target is None or query is None:
        return None
    wanted = {name: key for key, name in target_columns(target)}
    output = [(key, name) for key, name in _output(query) if name in wanted]
    if len(output) < len(wanted):
        return None
    try:
        values = [(name, _updated(value, wanted[name])) for key, name in output for value in _values(query, key)]
    except _UnknownShapeError:
        return None
    return [Assignment(name, value) for name, value in values if not is_unchanged(value, wanted[name])]


def is_merge(root: PlanNode) -> bool:
    """Return whether a plan appends the rows of a MERGE that only inserts: it has the table's own attributes."""
    query, table = root.node("query"), root.node("table")
    join = _join(query) if query is not None else None
    matched = join.node("right") if join is not None else None
    if root.name != "AppendData" or matched is None or table is None:
        return False
    ids = [key for key, _ in target_columns(table)]
    return bool(ids) and ids == [key for key, _ in target_columns(matched)][: len(ids)]


def rewritten_merge(root: PlanNode) -> MergePlan | None:
    """Return the MERGE that a plan does; None if the plan is not as Spark writes one."""
    query, table = root.node("query"), root.node("originalTable", "table")
    join = _join(query) if query is not None else None
    left, right = (join.node("left"), join.node("right")) if join is not None else (None, None)
    if query is None or table is None or join is None or left is None or right is None:
        return None
    inserts_only = "ANTI" in str(join.properties.get("joinType", "")).upper()
    target, source = (right, left) if inserts_only else (left, right)
    if query.name == "MergeRows":
        clauses = list(_instructions(query, target_columns(table)))
    else:
        condition = source.node("condition") if source.name == "Filter" else None
        source = source.node("child") or source if condition is not None else source
        values = [Assignment(name, value) for key, name in _output(query) for value in _values(query, key)]
        clauses = [RowClause("INSERT", condition, values)]
    return MergePlan(target, source, join.node("condition"), clauses)


def _join(query: PlanNode) -> PlanNode | None:
    """Return the join of target and source that the rows of a MERGE come from."""
    child = query.node("child") if query.name in ("MergeRows", "Project") else None
    return child if child is not None and child.name == "Join" else None


def _instructions(rows: PlanNode, columns: list[tuple[int, str]]) -> Iterator[RowClause]:
    """Yield the clauses that the instructions of `MergeRows` stand for; rows that stay as they are, are none."""
    names = [str(one.properties.get("name")) for one in rows.list("output")]
    keys = {name: key for key, name in columns}
    for group in _GROUPS:
        for instruction in rows.list(group):
            condition = instruction.node("condition")
            values = [
                Assignment(name, value)
                for name, value in zip(
                    names, instruction.list("otherOutput") or instruction.list("output"), strict=False
                )
                if name in keys
            ]
            kind = _kind(instruction, group, values)
            if kind == "UPDATE":
                values = [each for each in values if not is_unchanged(each.value, keys[each.column])]
            if kind == "DELETE" or values:
                yield RowClause(kind, condition, values if kind != "DELETE" else [])


def _kind(instruction: PlanNode, group: str, values: list[Assignment]) -> str:
    """Return which clause an instruction is. Spark 4.0 does not say what its rows are for."""
    context = str(instruction.properties.get("context", "")).upper()
    if context == "COPY":
        return "UPDATE"  # of no column
    if context:
        return context
    if instruction.name == "Discard":
        return "DELETE"
    if group == "notMatchedInstructions":
        return "INSERT"
    is_deleted = instruction.name == "Keep" and all(one.value.name == "Literal" for one in values)
    return "DELETE" if is_deleted else "UPDATE"


def _output(plan: PlanNode) -> list[tuple[int, str]]:
    """Return the ids and names of the columns of a plan that writes rows."""
    listed = plan.list("projectList") or plan.list("output")
    return [(one.expr_id, str(one.properties.get("name"))) for one in listed]


def _values(plan: PlanNode, key: int) -> list[PlanNode]:
    """Return the expressions that a column of a plan has, in the rows that are written anew; none if it is read."""
    match plan.name:
        case "Project":
            expression = next((one for one in plan.list("projectList") if one.expr_id == key), None)
            if expression is None:
                return []
            if expression.name == "Alias":
                return list(expression.all_nodes)[:1]
            child = plan.node("child")
            return (_values(child, key) if child is not None else []) or [expression]
        case "Filter":
            child = plan.node("child")
            return _values(child, key) if child is not None else []
        case "Union":  # the rows that change, then those that do not
            children = plan.list("children")
            return _values(children[0], key) if children else []
        case "Expand":  # an update as a delete and an insert
            index = next((number for number, (one, _) in enumerate(_output(plan)) if one == key), None)
            rows = plan.nodes.get("projections") or []
            return [row[index] for row in rows if index is not None and row[index].name != "Literal"] or (
                [rows[-1][index]] if rows and index is not None else []
            )
        case "Join":
            return []
    if any(True for one in plan.all_nodes if one.name != "AttributeReference"):
        raise _UnknownShapeError
    return []


def _updated(value: PlanNode, key: int) -> PlanNode:
    """Return the new value in `if(condition, new, old)`."""
    new, old = value.node("trueValue"), value.node("falseValue")
    if value.name == "If" and new is not None and old is not None and is_unchanged(old, key):
        return new
    return value
