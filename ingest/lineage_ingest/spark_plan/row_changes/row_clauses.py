"""What UPDATE, DELETE and MERGE change, off their plans: the assignments of each clause, and its condition.

A plan states them in one of three forms: Spark's command for tables that change their rows themselves, Delta's own
commands, and the plan that Spark makes of the command for tables such as Iceberg's, which are given the rows to write
(`rewritten_changes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage.model.names import ColumnPath
from lineage_ingest.spark_plan.expressions import PASSED
from lineage_ingest.spark_plan.plan_tree import PlanNode

__all__ = ["Assignment", "MergePlan", "RowClause", "assignments_of", "is_unchanged", "merge_of", "target_columns"]

_ACTIONS = ("matchedActions", "notMatchedActions", "notMatchedBySourceActions")
_CLAUSES = ("matchedClauses", "notMatchedClauses", "notMatchedBySourceClauses")


class Assignment(NamedTuple):
    """A column, or a field of one (`address.city`), that is written, and the expression of its value."""

    column: str
    value: PlanNode

    @property
    def fields(self) -> list[Assignment]:
        """The fields that are written, if the value is the column's own struct with some of them changed."""
        return [Assignment(str(ColumnPath(path)), value) for path, value in _changed((self.column,), self.value)]


class RowClause(NamedTuple):
    """A clause of MERGE: INSERT, UPDATE or DELETE, its own condition if it has one, and what it assigns."""

    kind: str
    condition: PlanNode | None
    assignments: list[Assignment]


class MergePlan(NamedTuple):
    """A MERGE: the plans of its target and its source, the condition that matches them, and its clauses."""

    target: PlanNode
    source: PlanNode
    condition: PlanNode | None
    clauses: list[RowClause]


def merge_of(root: PlanNode) -> MergePlan | None:
    """Return the MERGE that Spark's or Delta's command is; None if it is none."""
    if root.name == "MergeIntoTable":
        target, source = root.node("targetTable"), root.node("sourceTable")
        clauses = [
            RowClause(_kind(one.name), one.node("condition"), list(_keyed(one.list("assignments"))))
            for field in _ACTIONS
            for one in root.list(field)
        ]
        condition = root.node("mergeCondition")
    elif root.name == "MergeIntoCommand":
        target, source = root.node("target"), root.node("source")
        columns = target_columns(target) if target is not None else []
        clauses = [
            RowClause(_kind(one.name), one.node("condition"), list(_delta_actions(columns, one)))
            for field in _CLAUSES
            for one in root.list(field)
        ]
        condition = root.node("condition")
    else:
        return None
    return MergePlan(target, source, condition, clauses) if target is not None and source is not None else None


def assignments_of(root: PlanNode) -> list[Assignment]:
    """Return what UPDATE assigns, as Spark's command or as Delta's, which has a value for each column."""
    if root.name == "UpdateTable":
        return list(_keyed(root.list("assignments")))
    target = root.node("target")
    columns = target_columns(target) if target is not None else []
    values = zip(columns, root.list("updateExpressions"), strict=False)
    return [Assignment(name, value) for (key, name), value in values if not is_unchanged(value, key)]


def target_columns(plan: PlanNode) -> list[tuple[int, str]]:
    """Return the columns of the table that a plan reads, with the ids of their attributes."""
    while not plan.list("output") and (child := plan.node("child")) is not None:
        plan = child
    return [(one.expr_id, str(one.properties.get("name"))) for one in plan.list("output")]


def is_unchanged(value: PlanNode, expr_id: int) -> bool:
    """Return whether a value is the column's own, whatever Spark checks of it."""
    value = _unwrapped(value)
    return value.name == "AttributeReference" and value.expr_id == expr_id


def _unwrapped(value: PlanNode) -> PlanNode:
    """Return a value without what Spark puts around it: names, checks, and casts of its own."""
    while value.name in PASSED or (value.name == "Cast" and not value.properties.get("explicit")):
        inner = next(value.all_nodes, None)
        if inner is None:
            break
        value = inner
    return value


def _changed(path: tuple[str, ...], value: PlanNode) -> list[tuple[tuple[str, ...], PlanNode]]:
    """Return the changed fields of a struct that Spark builds of its own fields and new values; else the whole."""
    inner = _unwrapped(value)
    if inner.name != "CreateNamedStruct":
        return [(path, value)]
    fields = list(zip(map(str, inner.properties.get("names") or ()), inner.list("children")[1::2], strict=False))
    changed = [(name, one) for name, one in fields if not _is_field(one, (*path, name))]
    if len(changed) == len(fields):
        return [(path, value)]
    return [found for name, one in changed for found in _changed((*path, name), one)]


def _is_field(value: PlanNode, path: tuple[str, ...]) -> bool:
    """Return whether a value is the field at a path of a column."""
    value = _unwrapped(value)
    if len(path) == 1:
        return value.name == "AttributeReference" and str(value.properties.get("name")).lower() == path[0].lower()
    child = value.node("child")
    is_named = value.name == "GetStructField" and str(value.properties.get("field")).lower() == path[-1].lower()
    return is_named and child is not None and _is_field(child, path[:-1])


def _keyed(assignments: Iterable[PlanNode]) -> Iterator[Assignment]:
    """Yield assignments of columns, or of fields, to a value; assigning a column to itself writes nothing."""
    for one in assignments:
        key, value = one.node("key"), one.node("value")
        if key is not None and value is not None and not is_unchanged(value, key.expr_id):
            yield Assignment(_column(key), value)


def _delta_actions(columns: list[tuple[int, str]], clause: PlanNode) -> Iterator[Assignment]:
    """Yield what a clause of Delta's MERGE assigns: it has a value for each column of the table."""
    keys = {name.lower(): key for key, name in columns}
    for index, action in enumerate(clause.list("actions")):
        value = action.node("expr", "child")
        named = action.properties.get("targetColNameParts")
        name = str(named[0]) if named else columns[index][1] if index < len(columns) else None
        if value is not None and name is not None and not is_unchanged(value, keys.get(name.lower(), -2)):
            yield Assignment(name, value)


def _kind(name: str) -> str:
    return next((kind for kind in ("Insert", "Update", "Delete") if kind in name), "Delete").upper()


def _column(key: PlanNode) -> str:
    """Return the column that an assignment writes; a nested field's column."""
    while key.name != "AttributeReference" and key.nodes:
        key = next(key.all_nodes)
    return str(key.properties.get("name", ""))
