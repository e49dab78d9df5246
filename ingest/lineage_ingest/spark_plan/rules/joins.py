"""Joins of all kinds, lateral ones among them."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import JOIN
from lineage_ingest.spark_plan.plan_reader import PlanReader, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources


@plan_rule("Join", "AsOfJoin", "LateralJoin", "NearestByJoin")
def _join(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    left, *others = children
    if node.name == "LateralJoin":
        right = node.node("right")
        plan = right.node("plan") if right is not None else None
        if plan is not None:
            relation = reader.scope(left).relation(plan)
            others = [relation]
    own: Sources = {}
    scope = reader.scope(left, *others)
    for name in ("condition", "asOfCondition", "orderExpression", "toleranceAssertion"):
        if (condition := node.node(name)) is not None:
            scope.add(condition, JOIN, own)
    rows = PlanRows(own, [left.rows, *(other.rows for other in others)])
    if "SEMI" in (kind := str(node.properties.get("joinType", "")).upper()) or "ANTI" in kind:
        return PlanRelation(left.output, left.values, rows)
    values = dict(left.values)
    output = list(left.output)
    for other in others:
        values.update(other.values)
        output += other.output
    return PlanRelation(output, values, rows)
