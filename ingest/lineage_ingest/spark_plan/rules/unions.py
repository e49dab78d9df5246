"""UNION, INTERSECT and EXCEPT; CTEs, and recursive ones."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import IDENTITY, SET_OPERATION
from lineage_ingest.spark_plan.plan_reader import PlanReader, output_of, plan_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.tables.datasets import schema_of
from lineage_ingest.spark_plan.traced_values import (
    OUTER,
    PlanRelation,
    PlanRows,
    PlanSource,
    Sources,
    Value,
    absorb,
    merge_values,
)


@plan_rule("Union", "SequentialStreamingUnion")
def _union(_: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    columns = [relation.columns() for relation in children]
    output = output_of(node)
    fields = [[field.name for field in column.fields] for column in schema_of(node.properties.get("columns"))]
    values = {
        # The fields of structs are called as in the first branch.
        key: merge_values(branch[index].renamed(fields[index]) for branch in columns if index < len(branch))
        for index, key in enumerate(output)
    }
    return PlanRelation(output, values, PlanRows(None, [relation.rows for relation in children]))


@plan_rule("Intersect", "Except")
def _set_operation(_: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    own: Sources = {}
    for relation in children:
        for value in relation.columns():
            absorb(own, value.sources, SET_OPERATION)
    output = output_of(node) or children[0].output
    taken = children if node.name == "Intersect" else children[:1]
    branches = [relation.columns() for relation in taken]
    values = {key: merge_values(branch[index] for branch in branches) for index, key in enumerate(output)}
    return PlanRelation(output, values, PlanRows(own, [relation.rows for relation in children]))


@plan_rule("CTERelationDef")
def _cte_definition(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    relation = children[0]
    reader.ctes[int(node.properties.get("id", -1))] = relation
    return relation


@plan_rule("CTERelationRef")
def _cte_reference(reader: PlanReader, node: PlanNode, _: list[PlanRelation]) -> PlanRelation:
    definition = reader.ctes.get(int(node.properties.get("cteId", -1)))
    output = output_of(node)
    if definition is None:
        return PlanRelation(output, {}, PlanRows())
    columns = definition.columns()
    return PlanRelation(output, dict(zip(output, columns, strict=False)), PlanRows(None, [definition.rows]))


@plan_rule("UnionLoopRef")
def _loop_reference(_: PlanReader, node: PlanNode, __: list[PlanRelation]) -> PlanRelation:
    """The rows of a recursive query so far: each column stands for itself until the query is complete."""
    loop = int(node.properties.get("loopId", -1))
    output = output_of(node) or [one.expr_id for one in node.list("output")]
    values = {
        key: Value({(PlanSource(f"{OUTER}loop", (str(loop), str(index))), IDENTITY): None})
        for index, key in enumerate(output)
    }
    return PlanRelation(output, values, PlanRows())


@plan_rule("UnionLoop")
def _loop(_: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    """A recursive query: its columns over any number of rounds, the least fixed point."""
    anchor, recursion = children[:2]
    output = output_of(node) or anchor.output
    loop = str(node.properties.get("id", -1))
    raw = [
        merge_values((first, second)).sources
        for first, second in zip(anchor.columns(), recursion.columns(), strict=False)
    ]

    def stands_for(source: PlanSource) -> int | None:
        is_own = source.dataset == f"{OUTER}loop" and source.path is not None and source.path[0] == loop
        return int(source.path[1]) if is_own and source.path is not None else None

    closed: list[Sources] = [{key: None for key in one if stands_for(key[0]) is None} for one in raw]

    def replaced(sources: Sources) -> Sources:
        new_sources: Sources = {}
        for source, code in sources:
            index = stands_for(source)
            if index is None:
                new_sources[source, code] = None
            else:
                absorb(new_sources, closed[index], code)
        return new_sources

    changed = True
    while changed:
        changed = False
        for index, sources in enumerate(raw):
            grown = {**closed[index], **replaced(sources)}
            if len(grown) > len(closed[index]):
                closed[index], changed = grown, True
    rows = PlanRows({**anchor.rows.flat(), **replaced(recursion.rows.flat())})
    return PlanRelation(output, {key: Value(closed[index]) for index, key in enumerate(output)}, rows)
