"""Code that no plan shows: every column comes from all that the code is given."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import GROUP_BY
from lineage_ingest.spark_plan.plan_reader import PlanReader, everything_from, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources, absorb

_OPAQUE = frozenset(
    {
        "MapInPandas", "MapInArrow", "PythonMapInArrow", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow",
        "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "FlatMapGroupsInPandasWithState", "TransformWithState",
        "TransformWithStateInPySpark", "TransformWithStateInPandas", "MapPartitions", "MapElements", "MapGroups",
        "FlatMapGroupsWithState", "CoGroup", "TypedFilter", "AppendColumns", "AppendColumnsWithObject",
        "DeserializeToObject", "SerializeFromObject", "ScriptTransformation", "MapPartitionsInR", "FlatMapGroupsInR",
        "MapPartitionsInRWithArrow", "FlatMapGroupsInRWithArrow", "BatchEvalPython", "ArrowEvalPython",
    }
)  # fmt: skip


_GROUPING_LENGTHS = ("leftGroupingLen", "rightGroupingLen")


@plan_rule(*_OPAQUE)
def opaque(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    """Return the relation of code that the plan does not show. The keys of its groups decide its rows."""
    own: Sources = {}
    scope = reader.scope(*children)
    for name in ("groupingAttributes", "groupingExprs", "leftAttributes", "rightAttributes", "leftGroup", "rightGroup"):
        for key in node.list(name):
            scope.add(key, GROUP_BY, own)
    for relation, count in zip(children, _GROUPING_LENGTHS, strict=False):
        for value in relation.columns()[: int(node.properties.get(count, 0))]:
            absorb(own, value.sources, GROUP_BY)
    for value in children[0].columns()[: int(node.properties.get("groupingAttributesLen", 0))] if children else ():
        absorb(own, value.sources, GROUP_BY)
    reader.report_opaque(node)
    found = everything_from(reader, node, children)
    return PlanRelation(found.output, found.values, PlanRows(own, [found.rows]))
