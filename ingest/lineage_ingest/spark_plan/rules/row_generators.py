"""Generators of rows: explode, inline, stack and the like."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import JOIN, TRANSFORMATION
from lineage_ingest.spark_plan.plan_reader import PlanReader, output_of, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources, Value, absorb, merge_values


@plan_rule("AttachDistributedSequence")
def _sequence(_: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    """The rows of a frame with their numbers, as pandas' index on Spark."""
    child = children[0]
    made = {key: Value({}) for key in output_of(node) if key not in child.values}
    return PlanRelation(output_of(node), {**child.values, **made}, child.own_rows, child.order)


_FIXED = frozenset({"Stack", "JsonTuple"})
"""Generators that make as many rows whatever they are given."""


@plan_rule("Generate")
def _generate(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    child = children[0]
    scope = reader.scope(child)
    generator = node.node("generator")
    own: Sources = {}
    made: list[Value] = []
    outputs = node.list("generatorOutput")
    if generator is not None:
        operands = [scope.value(one) for one in generator.all_nodes]
        for value in operands if generator.name not in _FIXED else ():
            absorb(own, value.sources, JOIN)
        made = _generated(generator, operands, [str(one.properties.get("name")) for one in outputs])
    values = dict(child.values)
    for index, one in enumerate(outputs):
        values[one.expr_id] = made[index] if index < len(made) else Value({})
    return PlanRelation(output_of(node), values, PlanRows(own, [child.rows]))


def _generated(generator: PlanNode, operands: list[Value], names: list[str]) -> list[Value]:
    """Return the values of the columns that a generator makes."""
    total: Sources = {}
    for value in operands:
        absorb(total, value.sources, TRANSFORMATION)
    if generator.name in ("Explode", "PosExplode"):
        element = operands[0].element()
        position = [] if generator.name == "Explode" else [Value(dict(total))]
        is_map = len(names) == len(position) + 2
        return [*position, operands[0].key(), element] if is_map else [*position, element]
    if generator.name == "Inline":
        element = operands[0].element()
        fields = generator.properties.get("fields") or names
        return [element.field(str(name)) for name in fields]
    if generator.name == "Stack":
        width = len(names)
        cells = operands[1:]
        return [merge_values(cells[index::width] or [Value({})]) for index in range(width)]
    return [Value(dict(total)) for _ in names]
