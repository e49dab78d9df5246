"""The clauses of a query: select list, GROUP BY, WHERE, ORDER BY, LIMIT, DISTINCT, windows, sets of ROLLUP and CUBE."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import DISTINCT, FILTER, GROUP_BY, MASKED_AGGREGATION, SET_OPERATION, SORT
from lineage_ingest.spark_plan.plan_reader import PlanReader, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources, Value, absorb, merge_values


@plan_rule("Project")
def _project(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    scope = reader.scope(child)
    values: dict[int, Value] = {}
    output = []
    for item in node.list("projectList"):
        output.append(item.expr_id)
        values[item.expr_id] = scope.value(item)
    return PlanRelation(output, values, child.own_rows, child.order)


@plan_rule("Aggregate")
def _aggregate(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child, below = children[0], node.node("child")
    if below is not None and below.name == "Aggregate" and _is_pivot(node):
        # Spark groups by the column of PIVOT, too, before it makes columns of its values.
        ungrouped = reader.children(below)[0]
        child = PlanRelation(child.output, child.values, PlanRows(None, [ungrouped.rows]))
    listed = node.list("groupingExpressions")
    if listed and listed[-1].properties.get("name") == _GROUPING_ID:
        child = _with_grouping_id(child, listed)
    scope = reader.scope(child)
    keys: Sources = {}
    for key in listed:
        if key.properties.get("name") != _GROUPING_ID:
            scope.add(key, GROUP_BY, keys)
    values: dict[int, Value] = {}
    output = []
    for item in node.list("aggregateExpressions"):
        output.append(item.expr_id)
        values[item.expr_id] = scope.value(item)
    return PlanRelation(output, values, PlanRows(keys, [child.rows]))


def _is_pivot(node: PlanNode) -> bool:
    functions = [one.node("aggregateFunction") for item in node.list("aggregateExpressions") for one in item.all_nodes]
    return any(one is not None and one.name == "PivotFirst" for one in functions)


_GROUPING_ID = "spark_grouping_id"
"""The attribute that distinguishes the sets of ROLLUP and CUBE: GROUPING(key) is one of its bits."""


def _with_grouping_id(child: PlanRelation, keys: list[PlanNode]) -> PlanRelation:
    """Return a relation in which the grouping id comes from the keys, bit by bit, and hides them."""
    bits: dict[str, Value] = {}
    total: Sources = {}
    for position, key in enumerate(reversed(keys[:-1])):
        hidden: Sources = {}
        absorb(hidden, child.values[key.expr_id].sources if key.expr_id in child.values else (), MASKED_AGGREGATION)
        bits[str(position)] = Value(hidden)
        total.update(hidden)
    values = {**child.values, keys[-1].expr_id: Value(total, bits)}
    return PlanRelation(child.output, values, child.own_rows, child.order)


@plan_rule("Filter")
def _filter(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    own: Sources = {}
    if (condition := node.node("condition")) is not None:
        reader.scope(child).add(condition, FILTER, own)
    return PlanRelation(child.output, child.values, PlanRows(own, [child.own_rows]), child.order)


@plan_rule("Sort")
def _sort(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    own: Sources = {}
    scope = reader.scope(child)
    for key in node.list("order"):
        scope.add(key, SORT, own)
    return PlanRelation(child.output, child.values, child.rows, own)


@plan_rule("GlobalLimit", "LocalLimit", "Limit", "Tail", "Offset", "LimitAll")
def _limit(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    own: Sources = {}
    if (count := node.node("limitExpr", "offsetExpr")) is not None:
        reader.scope(children[0]).add(count, FILTER, own)
    return children[0].limited(own)


@plan_rule("Distinct")
def _distinct(_: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    inner = node.node("child")
    while inner is not None and inner.name == "SubqueryAlias":
        inner = inner.node("child")
    code = SET_OPERATION if inner is not None and inner.name == "Union" else DISTINCT
    own: Sources = {}
    for value in child.columns():
        absorb(own, value.sources, code)
    return PlanRelation(child.output, child.values, PlanRows(own, [child.rows]))


@plan_rule("Deduplicate", "DeduplicateWithinWatermark")
def _deduplicate(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    own: Sources = {}
    for key in node.list("keys"):
        reader.scope(child).add(key, DISTINCT, own)
    return PlanRelation(child.output, child.values, PlanRows(own, [child.rows]))


@plan_rule("Window", "WindowInPandas", "ArrowWindowPython")
def _window(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    scope = reader.scope(child)
    made = {one.expr_id: scope.value(one) for one in node.list("windowExpressions")}
    return PlanRelation([*child.output, *made], {**child.values, **made}, child.rows)


@plan_rule("Expand")
def _expand(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    """The sets of ROLLUP, CUBE and UNPIVOT: each row once for each projection."""
    child = children[0]
    scope = reader.scope(child)
    output = [one.expr_id for one in node.list("output")]
    projections = node.nodes.get("projections", [])
    values: dict[int, Value] = {}
    for index, key in enumerate(output):
        values[key] = merge_values(scope.value(one[index]) for one in projections)
    return PlanRelation(output, values, child.rows)
