"""UPDATE, DELETE and MERGE of tables of the second API: what their plans write, column by column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from lineage.sql.resolve.transformation_codes import COMPOSE, FILTER, IDENTITY, MERGE_MATCH
from lineage_ingest.spark_plan.expressions import PlanScope
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, Sources, absorb

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.plan_reader import PlanReader

__all__ = ["ChangedColumns", "changed_columns"]


class ChangedColumns(NamedTuple):
    """The columns that a statement changes, with their sources, and what decides which rows there are."""

    columns: list[tuple[str, Sources]]
    rows: Sources


def changed_columns(reader: PlanReader, root: PlanNode) -> ChangedColumns | None:
    """Return what a command changes; None if it is no UPDATE, DELETE or MERGE."""
    match root.name:
        case "UpdateTable":
            return _update(reader, root)
        case "DeleteFromTable":
            return _delete(reader, root)
        case "MergeIntoTable":
            return _merge(reader, root)
    return None


def _update(reader: PlanReader, root: PlanNode) -> ChangedColumns:
    """Every condition influences the columns that are written, and no other."""
    table = _relation(reader, root, "table")
    scope = reader.scope(table)
    conditions: Sources = {}
    if (condition := root.node("condition")) is not None:
        scope.add(condition, FILTER, conditions)
    return ChangedColumns(_assigned(scope, root.list("assignments"), conditions), {})


def _delete(reader: PlanReader, root: PlanNode) -> ChangedColumns:
    rows: Sources = {}
    if (condition := root.node("condition")) is not None:
        reader.scope(_relation(reader, root, "table")).add(condition, FILTER, rows)
    return ChangedColumns([], rows)


def _merge(reader: PlanReader, root: PlanNode) -> ChangedColumns:
    """Inserts and deletes depend on the match; an update's conditions influence the columns that it writes."""
    target, source = _relation(reader, root, "targetTable"), _relation(reader, root, "sourceTable")
    scope = reader.scope(target, source)
    columns: list[tuple[str, Sources]] = []
    rows: Sources = {}
    match: Sources = {}
    if (condition := root.node("mergeCondition")) is not None:
        scope.add(condition, MERGE_MATCH, match)
    absorb(match, source.rows.flat(), IDENTITY)
    for actions in ("matchedActions", "notMatchedActions", "notMatchedBySourceActions"):
        for action in root.list(actions):
            tested: Sources = {}
            if (condition := action.node("condition")) is not None:
                scope.add(condition, FILTER, tested)
            conditions = {**match, **tested}
            if action.name.startswith("Update"):
                columns += _assigned(scope, action.list("assignments"), conditions)
            elif action.name.startswith("Insert"):
                columns += _assigned(scope, action.list("assignments"), {})
                rows.update(conditions)
            else:
                rows.update(conditions)
    return ChangedColumns(columns, rows)


def _assigned(scope: PlanScope, assignments: Iterable[PlanNode], conditions: Sources) -> list[tuple[str, Sources]]:
    """Return the columns that assignments write; assigning a column to itself writes nothing."""
    found: list[tuple[str, Sources]] = []
    for one in assignments:
        key, value = one.node("key"), one.node("value")
        if key is None or value is None or value is key:
            continue
        sources = dict(scope.value(value).sources)
        for source, code in conditions:
            sources[source, COMPOSE[code][IDENTITY]] = None
        found.append((_column(key), sources))
    return found


def _column(key: PlanNode) -> str:
    """Return the column that an assignment writes; a nested field's column."""
    while key.name not in ("AttributeReference",) and key.nodes:
        key = next(key.all_nodes)
    return str(key.properties.get("name", ""))


def _relation(reader: PlanReader, root: PlanNode, field: str) -> PlanRelation:
    node = root.node(field)
    assert node is not None  # a required field of the command
    return reader.relation(node)
