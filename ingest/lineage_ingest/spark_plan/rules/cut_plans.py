"""Frames whose plan was cut: checkpointed, a batch of a stream, or made from an RDD."""

from __future__ import annotations

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.transformation_codes import ROWS
from lineage_ingest.spark_plan.plan_reader import PlanReader, output_of, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, PlanSource, Sources, Value


@plan_rule("LogicalRDD", "ExternalRDD")
def _frame(reader: PlanReader, node: PlanNode, _: list[PlanRelation]) -> PlanRelation:
    """A frame whose plan was cut: checkpointed, a batch of a stream, or made from an RDD."""
    output = output_of(node)
    frame = reader.frames.find(output) or reader.frames.find_rdd(node.properties.get("rdd", -1), output)
    if frame is not None:
        reader.reads.datasets.update(frame.datasets)
        reader.diagnostics.update(dict.fromkeys(frame.diagnostics))
        return PlanRelation(output, frame.values, PlanRows(frame.rows))
    if node.properties.get("isLocal"):
        reader.report_local_rows(node)
    else:
        names = ", ".join(str(one[1]) for one in node.properties.get("columns", ()))
        reader.report(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            Severity.WARNING,
            f"the columns {names} come from an RDD, whose code no plan shows, or from a checkpointed frame that cannot "
            "be identified: it was checkpointed before lineage was enabled, or is joined with one whose columns it "
            "has: their sources are not known",
            "use column expressions instead of .rdd, enable lineage before checkpoints, and give columns that two "
            "checkpointed frames share another name (alias) before the second checkpoint",
        )
    return _of_rdd(reader, node, output)


def _of_rdd(reader: PlanReader, node: PlanNode, output: list[int]) -> PlanRelation:
    datasets = reader.reads.of_paths(node.properties.get("paths") or ())
    rows: Sources = {(PlanSource(one.key, None), ROWS): None for one in datasets}
    return PlanRelation(output, {key: Value({}) for key in output}, PlanRows(rows))
