"""From the nodes of a plan to relations: which columns each has, what they come from, what decides its rows.

Nodes come after what they read, so one pass in order suffices. Attributes of a plan around a sub-query stand as
references (`OUTER`) in its relation, and are replaced where the sub-query is used; those of a recursive query where it
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.sql.resolve.transformation_codes import (
    DISTINCT,
    FILTER,
    GROUP_BY,
    IDENTITY,
    JOIN,
    MASKED_AGGREGATION,
    ROWS,
    SET_OPERATION,
    SORT,
    TRANSFORMATION,
)
from lineage_ingest.spark_plan.datasets import Dataset
from lineage_ingest.spark_plan.expressions import Scope
from lineage_ingest.spark_plan.extensions import Extensions, installed_extensions
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.sources import Reads, leaf_relation, view_relation
from lineage_ingest.spark_plan.values import OUTER, Relation, RowSources, Source, Sources, Value, absorb, merge_values

__all__ = ["PlanReader"]

PlanRule = Callable[["PlanReader", PlanNode, list[Relation]], Relation]
_RULES: dict[str, PlanRule] = {}

_LIMITS = frozenset({"GlobalLimit", "LocalLimit", "Limit", "Tail", "Offset", "LimitAll"})
_SAME = frozenset(
    {
        "SubqueryAlias", "ResolvedHint", "UnresolvedHint", "Repartition", "RepartitionByExpression", "RebalancePartitions",
        "RebalancePartitionsByExpression", "Sample", "EventTimeWatermark", "CollectMetrics", "WithCTE", "CTERelationDef",
        "View", "CommandResult", "SubqueryColumnAliases", "ReturnAnswer", "StreamingRelationExtension", "Hint", "Cache",
        "LogicalQueryStage", "UpdateEventTimeWatermarkColumn", "WindowGroupLimit", "ResolveHint", "NoopCommand",
        "LogicalPlanIntegrity", "SetOperationWithLimit", "Checkpoint", "InMemoryRelation",
    }
)  # fmt: skip
"""Nodes that pass the columns and rows of their child on."""
_OPAQUE = frozenset(
    {
        "MapInPandas", "MapInArrow", "PythonMapInArrow", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow",
        "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "FlatMapGroupsInPandasWithState", "TransformWithState",
        "TransformWithStateInPySpark", "TransformWithStateInPandas", "MapPartitions", "MapElements", "MapGroups",
        "FlatMapGroupsWithState", "CoGroup", "TypedFilter", "AppendColumns", "AppendColumnsWithObject",
        "DeserializeToObject", "SerializeFromObject", "ScriptTransformation", "MapPartitionsInR", "FlatMapGroupsInR",
        "MapPartitionsInRWithArrow", "FlatMapGroupsInRWithArrow", "BatchEvalPython", "ArrowEvalPython",
        "AttachDistributedSequence",
    }
)  # fmt: skip
"""Nodes that run code which no plan shows: every column comes from all that the code is given."""
_NAMED = frozenset(
    {
        "ResolvedIdentifier", "ResolvedTable", "ResolvedNamespace", "ResolvedPersistentView", "ResolvedTempView",
        "ResolvedPersistentFunc", "ResolvedNonPersistentFunc", "ResolvedFieldName", "UnresolvedIdentifier",
    }
)  # fmt: skip
"""Nodes that name what a command acts on, and read nothing."""
_NO_COLUMNS = frozenset({"OneRowRelation", "EmptyRelation"})


def plan_rule(*names: str) -> Callable[[PlanRule], PlanRule]:
    """Register a rule for plan nodes of these classes: `rule(reader, node, relations of its children)`."""

    def register(rule: PlanRule) -> PlanRule:
        _RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


@dataclass(slots=True)
class PlanReader:
    """Reads the nodes of one plan; collects the datasets that it reads, and what it could not know."""

    reads: Reads
    frames: KnownFrames
    extensions: Extensions = field(default_factory=installed_extensions)
    diagnostics: dict[Diagnostic, None] = field(default_factory=dict)
    relations: dict[int, Relation] = field(default_factory=dict)
    loops: dict[int, list[str]] = field(default_factory=dict)
    ctes: dict[int, Relation] = field(default_factory=dict)
    _plans: dict[int, PlanNode] = field(default_factory=dict)

    def read(self, nodes: Iterable[PlanNode]) -> None:
        """Read nodes, each after those that it reads. Expressions and commands have no relation of their own."""
        for node in nodes:
            if self.is_relation(node):
                self.relations[id(node)] = self._relation(node)
                self._plans[id(node)] = node

    def is_relation(self, node: PlanNode) -> bool:
        """Return whether a node is a plan with columns that a rule knows."""
        name = node.name
        if name in _NAMED:
            return False
        return (
            name in _RULES
            or name in _SAME
            or name in _OPAQUE
            or name in _LIMITS
            or name in self.extensions.plans
            or ("columns" in node.properties and not node.properties.get("writes"))
            or name in _NO_COLUMNS
        )

    def relation(self, node: PlanNode) -> Relation:
        """Return the relation of a node that was read."""
        found = self.relations.get(id(node))
        return found if found is not None else Relation([], {}, RowSources())

    def scope(self, *relations: Relation) -> Scope:
        """Return the scope of expressions that read these relations."""
        values: dict[int, Value] = {}
        for relation in reversed(relations):
            values.update(relation.values)
        return Scope(values if len(relations) != 1 else relations[0].values, self.relation)

    def report(self, code: DiagnosticCode, severity: Severity, message: str, hint: str) -> None:
        """Add a diagnostic, once."""
        self.diagnostics[Diagnostic(code, severity, message, hint=hint)] = None

    def report_unknown_source(self, node: PlanNode) -> None:
        """Report that it is not known what a leaf of the plan reads."""
        kind = (node.properties.get("source") or node.properties.get("v2") or {}).get("class") or node.name
        self.report(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.WARNING,
            f"it is not known what {kind} reads: its sources are missing",
            "a package can add a rule: entry-point group lineage.spark_plan",
        )

    def report_opaque(self, node: PlanNode) -> None:
        """Report that the columns of a node were taken to come from everything that it reads."""
        self.report(
            DiagnosticCode.OPAQUE_FUNCTION,
            Severity.WARNING,
            f"{node.name} runs code that the plan does not show: each of its columns is taken to come from all that the "
            "code is given",
            "select the columns that the code needs before it, or use column expressions",
        )

    def _relation(self, node: PlanNode) -> Relation:
        children = self.children(node)
        if (own := self.extensions.plans.get(node.name)) is not None:
            return self._extended(own, node, children)
        if (rule := _RULES.get(node.name)) is not None:
            return rule(self, node, children)
        if node.name == "View" and (relation := view_relation(self.reads, node, children)) is not None:
            return relation
        if node.name in _LIMITS:
            return _limit(self, node, children)
        if node.name in _OPAQUE:
            return opaque(self, node, children)
        if node.name in _NO_COLUMNS:
            return Relation([], {}, RowSources())
        if not children:
            return leaf_relation(self, node)
        if node.name not in _SAME:
            self.report(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                Severity.WARNING,
                f"the plan has a node {node.name} that is not known: its columns are taken to come from all its inputs",
                "a package can add a rule: entry-point group lineage.spark_plan",
            )
            return opaque(self, node, children, is_known=False)
        if len(children) > 1 and node.name == "WithCTE" and (plan := node.node("plan")) is not None:
            return self.relation(plan)
        first = children[0]
        rows = first.rows
        if node.name == "RepartitionByExpression":
            keys: Sources = {}
            for key in node.list("partitionExpressions"):
                self.scope(first).add(key, SORT, keys)
            rows = RowSources(keys, [rows]) if keys else rows
            return Relation(first.output, first.values, rows)
        return Relation(first.output, first.values, first.own_rows, first.order)

    def children(self, node: PlanNode) -> list[Relation]:
        """Return the relations of a node's children, in the order of its fields."""
        return [self.relations[id(one)] for one in node.all_nodes if id(one) in self.relations]

    def _extended(self, rule: object, node: PlanNode, children: list[Relation]) -> Relation:
        from lineage_ingest.spark_plan.extensions import extended_relation  # noqa: PLC0415  it needs this module's types

        return extended_relation(self, rule, node, children)


def output_of(node: PlanNode) -> list[int]:
    """Return the ids of a node's output as the listener wrote them."""
    return [int(one[0]) for one in node.properties.get("columns", ())]


@plan_rule("Project")
def _project(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    scope = reader.scope(child)
    values: dict[int, Value] = {}
    output = []
    for item in node.list("projectList"):
        output.append(item.expr_id)
        values[item.expr_id] = scope.value(item)
    return Relation(output, values, child.own_rows, child.order)


@plan_rule("Aggregate")
def _aggregate(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
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
        values[item.expr_id] = value = scope.value(item)
        inner = next(item.all_nodes, None)
        function = inner.node("aggregateFunction") if inner is not None else None
        value.is_pivoted = function is not None and function.name == "PivotFirst"
    return Relation(output, values, RowSources(keys, [child.rows]))


_GROUPING_ID = "spark_grouping_id"
"""The attribute by which Spark tells the sets of ROLLUP and CUBE apart: GROUPING(key) is one of its bits."""


def _with_grouping_id(child: Relation, keys: list[PlanNode]) -> Relation:
    """Return a relation in which the grouping id comes from the keys, bit by bit, and hides them."""
    bits: dict[str, Value] = {}
    total: Sources = {}
    for position, key in enumerate(reversed(keys[:-1])):
        hidden: Sources = {}
        absorb(hidden, child.values[key.expr_id].sources if key.expr_id in child.values else (), MASKED_AGGREGATION)
        bits[str(position)] = Value(hidden)
        total.update(hidden)
    values = {**child.values, keys[-1].expr_id: Value(total, bits)}
    return Relation(child.output, values, child.own_rows, child.order)


@plan_rule("Filter")
def _filter(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    own: Sources = {}
    if (condition := node.node("condition")) is not None:
        reader.scope(child).add(condition, FILTER, own)
    return Relation(child.output, child.values, RowSources(own, [child.own_rows]), child.order)


@plan_rule("Sort")
def _sort(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    own: Sources = {}
    scope = reader.scope(child)
    for key in node.list("order"):
        scope.add(key, SORT, own)
    return Relation(child.output, child.values, child.rows, own)


def _limit(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    own: Sources = {}
    if (count := node.node("limitExpr", "offsetExpr")) is not None:
        reader.scope(children[0]).add(count, FILTER, own)
    return children[0].limited(own)


@plan_rule("Distinct")
def _distinct(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    inner = node.node("child")
    while inner is not None and inner.name == "SubqueryAlias":
        inner = inner.node("child")
    code = SET_OPERATION if inner is not None and inner.name == "Union" else DISTINCT
    own: Sources = {}
    for value in child.columns():
        absorb(own, value.sources, code)
    return Relation(child.output, child.values, RowSources(own, [child.rows]))


@plan_rule("Deduplicate", "DeduplicateWithinWatermark")
def _deduplicate(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    own: Sources = {}
    for key in node.list("keys"):
        reader.scope(child).add(key, DISTINCT, own)
    return Relation(child.output, child.values, RowSources(own, [child.rows]))


@plan_rule("Join", "AsOfJoin", "LateralJoin", "NearestByJoin")
def _join(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
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
    rows = RowSources(own, [left.rows, *(other.rows for other in others)])
    if "SEMI" in (kind := str(node.properties.get("joinType", "")).upper()) or "ANTI" in kind:
        return Relation(left.output, left.values, rows)
    values = dict(left.values)
    output = list(left.output)
    for other in others:
        values.update(other.values)
        output += other.output
    return Relation(output, values, rows)


@plan_rule("Window", "WindowInPandas", "ArrowWindowPython")
def _window(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    scope = reader.scope(child)
    made = {one.expr_id: scope.value(one) for one in node.list("windowExpressions")}
    return Relation([*child.output, *made], {**child.values, **made}, child.rows)


@plan_rule("Union")
def _union(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    columns = [relation.columns() for relation in children]
    output = output_of(node)
    values = {
        key: merge_values(branch[index] for branch in columns if index < len(branch))
        for index, key in enumerate(output)
    }
    return Relation(output, values, RowSources(None, [relation.rows for relation in children]))


@plan_rule("Intersect", "Except")
def _set_operation(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    own: Sources = {}
    for relation in children:
        for value in relation.columns():
            absorb(own, value.sources, SET_OPERATION)
    output = output_of(node) or children[0].output
    taken = children if node.name == "Intersect" else children[:1]
    branches = [relation.columns() for relation in taken]
    values = {key: merge_values(branch[index] for branch in branches) for index, key in enumerate(output)}
    return Relation(output, values, RowSources(own, [relation.rows for relation in children]))


@plan_rule("Expand")
def _expand(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    """The sets of ROLLUP, CUBE and UNPIVOT: each row once for each projection."""
    child = children[0]
    scope = reader.scope(child)
    output = [one.expr_id for one in node.list("output")]
    projections = node.nodes.get("projections", [])
    values: dict[int, Value] = {}
    for index, key in enumerate(output):
        values[key] = merge_values(scope.value(one[index]) for one in projections)
    return Relation(output, values, child.rows)


@plan_rule("Generate")
def _generate(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    child = children[0]
    scope = reader.scope(child)
    generator = node.node("generator")
    own: Sources = {}
    made: list[Value] = []
    outputs = node.list("generatorOutput")
    if generator is not None:
        operands = [scope.value(one) for one in generator.all_nodes]
        for value in operands:
            absorb(own, value.sources, JOIN)
        made = _generated(generator, operands, [str(one.properties.get("name")) for one in outputs], scope)
    values = dict(child.values)
    for index, one in enumerate(outputs):
        values[one.expr_id] = made[index] if index < len(made) else Value({})
    return Relation(output_of(node), values, RowSources(own, [child.rows]))


def _generated(generator: PlanNode, operands: list[Value], names: list[str], scope: Scope) -> list[Value]:
    """Return the values of the columns that a generator makes."""
    total: Sources = {}
    for value in operands:
        absorb(total, value.sources, TRANSFORMATION)
    if generator.name in ("Explode", "PosExplode", "ExplodeOuter", "Collection"):
        return [operands[0].element() for _ in names]
    if generator.name == "Inline":
        element = operands[0].element()
        fields = generator.properties.get("fields") or names
        return [element.field(str(name)).composed(TRANSFORMATION) for name in fields]
    if generator.name == "Stack":
        width = len(names)
        cells = operands[1:]
        return [merge_values(cells[index::width] or [Value({})]).composed(TRANSFORMATION) for index in range(width)]
    return [Value(dict(total)) for _ in names]


def opaque(reader: PlanReader, node: PlanNode, children: list[Relation], *, is_known: bool = True) -> Relation:
    """Return the relation of code that the plan does not show."""
    total: Sources = {}
    own: Sources = {}
    scope = reader.scope(*children)
    function = node.node("functionExpr", "func", "transformWithState")
    given = list(function.all_nodes) if function is not None and function.nodes else []
    if given:
        for one in given:
            scope.add(one, TRANSFORMATION, total)
    else:
        for relation in children:
            for value in relation.columns():
                absorb(total, value.sources, TRANSFORMATION)
    for name in ("groupingAttributes", "groupingExprs", "leftAttributes", "rightAttributes", "leftGroup", "rightGroup"):
        for key in node.list(name):
            scope.add(key, GROUP_BY, own)
    if node.name == "FlatMapCoGroupsInPandas" or node.name == "FlatMapCoGroupsInArrow":
        for relation, count in zip(children, ("leftGroupingLen", "rightGroupingLen"), strict=False):
            for value in relation.columns()[: int(node.properties.get(count, 0))]:
                absorb(own, value.sources, GROUP_BY)
    if is_known:
        reader.report_opaque(node)
    output = [one.expr_id for one in node.list("output")] or output_of(node)
    if not output:
        output = [one.expr_id for one in (node.node("outputObjAttr"),) if one is not None]
        output = (
            output or [one.expr_id for one in node.list("serializer")] or list(children[0].output if children else ())
        )
    return Relation(
        output, {key: Value(dict(total)) for key in output}, RowSources(own, [relation.rows for relation in children])
    )


@plan_rule("CTERelationDef")
def _cte_definition(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    relation = children[0]
    reader.ctes[int(node.properties.get("id", -1))] = relation
    return relation


@plan_rule("CTERelationRef")
def _cte_reference(reader: PlanReader, node: PlanNode, _: list[Relation]) -> Relation:
    definition = reader.ctes.get(int(node.properties.get("cteId", -1)))
    output = output_of(node)
    if definition is None:
        return Relation(output, {}, RowSources())
    columns = definition.columns()
    return Relation(output, dict(zip(output, columns, strict=False)), RowSources(None, [definition.rows]))


@plan_rule("UnionLoopRef")
def _loop_reference(reader: PlanReader, node: PlanNode, _: list[Relation]) -> Relation:
    """The rows of a recursive query so far: each column stands for itself until the query is complete."""
    loop = int(node.properties.get("loopId", -1))
    output = output_of(node) or [one.expr_id for one in node.list("output")]
    values = {
        key: Value({(Source(f"{OUTER}loop", (str(loop), str(index))), IDENTITY): None})
        for index, key in enumerate(output)
    }
    return Relation(output, values, RowSources())


@plan_rule("UnionLoop")
def _loop(reader: PlanReader, node: PlanNode, children: list[Relation]) -> Relation:
    """A recursive query: its columns over any number of rounds, the least fixed point."""
    anchor, recursion = children[:2]
    output = output_of(node) or anchor.output
    loop = str(node.properties.get("id", -1))
    raw = [
        merge_values((first, second)).sources
        for first, second in zip(anchor.columns(), recursion.columns(), strict=False)
    ]

    def stands_for(source: Source) -> int | None:
        is_own = source.dataset == f"{OUTER}loop" and source.path is not None and source.path[0] == loop
        return int(source.path[1]) if is_own and source.path is not None else None

    closed: list[Sources] = [{key: None for key in one if stands_for(key[0]) is None} for one in raw]

    def replaced(sources: Sources) -> Sources:
        found: Sources = {}
        for source, code in sources:
            index = stands_for(source)
            if index is None:
                found[source, code] = None
            else:
                absorb(found, closed[index], code)
        return found

    changed = True
    while changed:
        changed = False
        for index, sources in enumerate(raw):
            grown = {**closed[index], **replaced(sources)}
            if len(grown) > len(closed[index]):
                closed[index], changed = grown, True
    rows = RowSources({**anchor.rows.flat(), **replaced(recursion.rows.flat())})
    return Relation(output, {key: Value(closed[index]) for index, key in enumerate(output)}, rows)


@plan_rule("LogicalRDD", "ExternalRDD")
def _frame(reader: PlanReader, node: PlanNode, _: list[Relation]) -> Relation:
    """A frame whose plan was cut: checkpointed, a batch of a stream, or made from an RDD."""
    output = output_of(node)
    found = reader.frames.find(output)
    if found is not None:
        reader.reads.datasets.update(found.datasets)
        return Relation(output, found.values, RowSources(found.rows))
    if not node.properties.get("isLocal"):
        names = ", ".join(str(one[1]) for one in node.properties.get("columns", ()))
        reader.report(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            Severity.WARNING,
            f"the columns {names} come from an RDD, whose code no plan shows: their sources are not known",
            "use column expressions instead of .rdd, or state the lineage by hand",
        )
    return _of_rdd(reader, node, output)


def _of_rdd(reader: PlanReader, node: PlanNode, output: list[int]) -> Relation:
    datasets = reader.reads.of_paths(node.properties.get("paths") or ())
    rows: Sources = {(Source(one.key, None), ROWS): None for one in datasets}
    return Relation(output, {key: Value({}) for key in output}, RowSources(rows))


def known_columns(dataset: Dataset) -> list[str]:
    """Return the names of a dataset's columns."""
    return [one.name for one in dataset.columns]
