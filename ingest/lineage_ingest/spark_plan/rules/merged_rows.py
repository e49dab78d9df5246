"""The rows that a MERGE writes, where Spark makes a join of it."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import MERGE_MATCH
from lineage_ingest.spark_plan.plan_reader import PlanReader, output_of, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources, Value, merge_values


@plan_rule("MergeRows")
def _merged_rows(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    """One row, two or none for each row of the join, by the first instruction whose condition holds."""
    child = children[0]
    scope = reader.scope(child)
    own: Sources = {}
    rows: list[list[PlanNode]] = []
    for field in ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions"):
        for one in node.list(field):
            rows += [listed for name in ("output", "otherOutput") if (listed := one.list(name))]
            if (condition := one.node("condition")) is not None:
                scope.add(condition, MERGE_MATCH, own)
    output = output_of(node)
    values = {
        key: merge_values([scope.value(row[index]) for row in rows if index < len(row)] or [Value({})])
        for index, key in enumerate(output)
    }
    return PlanRelation(output, values, PlanRows(own, [child.rows]))
