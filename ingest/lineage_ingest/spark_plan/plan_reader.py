"""From the nodes of a plan to relations: which columns each has, what they come from, what decides its rows.

Nodes come after what they read, so one pass in order suffices. Attributes of a plan around a sub-query stand as
references (`OUTER`) in its relation, and are replaced where the sub-query is used; those of a recursive query where it
ends.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage.sql.resolve.transformation_codes import SORT, TRANSFORMATION
from lineage_ingest.spark_plan.expressions import PlanScope
from lineage_ingest.spark_plan.extensions import Extensions, PlanExtension, installed_extensions
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.session_variables import SessionVariables
from lineage_ingest.spark_plan.tables.datasets import Dataset, schema_of
from lineage_ingest.spark_plan.tables.sources import Reads, leaf_relation, stored_relation, view_relation
from lineage_ingest.spark_plan.traced_values import PlanRelation, PlanRows, Sources, Value, absorb

__all__ = ["PlanReader", "everything_from", "output_of", "plan_rule"]

_LOG = logging.getLogger("lineage.spark_plan")
PlanRule = Callable[["PlanReader", PlanNode, list[PlanRelation]], PlanRelation]
_RULES: dict[str, PlanRule] = {}

_SAME = frozenset(
    {
        "SubqueryAlias", "ResolvedHint", "UnresolvedHint", "Repartition", "RepartitionByExpression", "Sample",
        "RebalancePartitions", "EventTimeWatermark", "UpdateEventTimeWatermarkColumn", "CollectMetrics", "WithCTE",
        "View", "CommandResult", "SubqueryColumnAliases", "ReturnAnswer", "LogicalQueryStage", "WindowGroupLimit",
        "InMemoryRelation", "PipeOperator", "SQLFunctionNode",
        "StreamingDataSourceV2ScanRelation", "DataSourceV2ScanRelation",
    }
)  # fmt: skip
"""Nodes that pass the columns and rows of their child on."""
_NAMED = frozenset(
    {
        "ResolvedIdentifier", "ResolvedTable", "ResolvedNamespace", "ResolvedPersistentView", "ResolvedTempView",
        "ResolvedPersistentFunc", "ResolvedNonPersistentFunc", "ResolvedFieldName", "UnresolvedIdentifier",
    }
)  # fmt: skip
"""Nodes that name what a command acts on, and read nothing."""
_VALUES = re.compile(r"\bvalues\b", re.IGNORECASE)
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
    variables: SessionVariables = field(default_factory=SessionVariables)
    sql: str | None = None
    extensions: Extensions = field(default_factory=installed_extensions)
    diagnostics: dict[Diagnostic, None] = field(default_factory=dict)
    relations: dict[int, PlanRelation] = field(default_factory=dict)
    loops: dict[int, list[str]] = field(default_factory=dict)
    ctes: dict[int, PlanRelation] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    """The nodes (by `id`) that stand for what the plan's commands write."""

    def read(self, nodes: Sequence[PlanNode]) -> None:
        """Read nodes, each after those that it reads. Expressions and commands have no relation of their own."""
        for node in nodes:
            if (rdd := node.properties.get("rdd")) is not None:
                self.frames.note_rdd(rdd, output_of(node))
        for node in nodes:
            if (model := node.properties.get("model")) is not None:
                self._report_model(str(model))
            if self.is_relation(node):
                try:
                    self.relations[id(node)] = self._relation(node)
                except Exception:  # noqa: BLE001  a node must not cost the lineage of the others
                    _LOG.debug("the plan's node %s could not be read", node.name, exc_info=True)
                    self.relations[id(node)] = self._unknown(node, "cannot be read")

    def is_relation(self, node: PlanNode) -> bool:
        """Return whether a node is a plan with columns that a rule knows."""
        name = node.name
        if name in _NAMED:
            return False
        return (
            name in _RULES
            or name in _SAME
            or name in self.extensions.plans
            or ("columns" in node.properties and not node.properties.get("writes"))
            or name in _NO_COLUMNS
        )

    def relation(self, node: PlanNode) -> PlanRelation:
        """Return the relation of a node that was read."""
        found = self.relations.get(id(node))
        return found if found is not None else PlanRelation([], {}, PlanRows())

    def scope(self, *relations: PlanRelation) -> PlanScope:
        """Return the scope of expressions that read these relations."""
        values: dict[int, Value] = {}
        for relation in reversed(relations):
            values.update(relation.values)
        return PlanScope(values if len(relations) != 1 else relations[0].values, self.relation, self._variable)

    def _variable(self, name: str) -> Value:
        """Return what a session variable was set to: what decides the rows of that query influences it, too."""
        frame = self.variables.get(name)
        self.reads.datasets.update(frame.datasets)
        self.diagnostics.update(dict.fromkeys(frame.diagnostics))
        return frame.values.get(0, Value({})).decided_by(frame.rows)

    def report(self, code: DiagnosticCode, severity: Severity, message: str, hint: str) -> None:
        """Add a diagnostic, once."""
        self.diagnostics[Diagnostic(code, severity, message, hint=hint)] = None

    def report_unknown_source(self, node: PlanNode) -> None:
        """Report that it is not known what a leaf of the plan reads; the table that a command writes is none."""
        if id(node) in self.written:
            return
        kind = (node.properties.get("source") or node.properties.get("v2") or {}).get("class") or node.name
        self.report(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.WARNING,
            f"it is not known what {kind} reads: its sources are missing",
            "a package can add a rule: entry-point group lineage.spark_plan",
        )

    def report_local_rows(self, node: PlanNode) -> None:
        """Report that columns are made of rows of the program: constants, or what it computed or collected."""
        names = name_list([one[1] for one in node.properties.get("columns") or []], 5)
        is_inline = self.sql is not None and _VALUES.search(self.sql) is not None
        may_be_read = self.variables.have_sources if is_inline else self.frames.has_collected
        self.report(
            DiagnosticCode.OPAQUE_FUNCTION,
            Severity.WARNING if may_be_read else Severity.INFO,
            f"the rows of {names} were in the job's memory: where it has them from is not in the plan",
            "constants need nothing; for collected rows, write the frame instead",
        )

    def report_parameters(self) -> None:
        """Report that a statement has parameters, whose values the plan has as constants."""
        self.report(
            DiagnosticCode.OPAQUE_FUNCTION,
            Severity.WARNING,
            "the statement has parameters: the plan does not say which variables EXECUTE IMMEDIATE gave them",
            "read the variables in the statement itself",
        )

    def _report_model(self, name: str) -> None:
        self.report(
            DiagnosticCode.OPAQUE_FUNCTION,
            Severity.WARNING,
            f"{name} was fitted before: the columns that it was fitted on, such as a label, are not in the plan",
            "state the lineage of the label by hand",
        )

    def report_opaque(self, node: PlanNode) -> None:
        """Report that the columns of a node were taken to come from everything that it reads."""
        self.report(
            DiagnosticCode.OPAQUE_FUNCTION,
            Severity.WARNING,
            f"{node.name} runs code that the plan does not show: each of its columns is taken to come from all that "
            "the code is given",
            "select the columns that the code needs before it, or use column expressions",
        )

    def _relation(self, node: PlanNode) -> PlanRelation:
        children = self.children(node)
        if (own := self.extensions.plans.get(node.name)) is not None:
            return self._extended(own, node, children)
        if (rule := _RULES.get(node.name)) is not None:
            return rule(self, node, children)
        if node.name == "View" and (relation := view_relation(self.reads, node, children)) is not None:
            return relation
        if node.name in _NO_COLUMNS:
            return PlanRelation([], {}, PlanRows())
        if not children:
            return leaf_relation(self, node)
        if node.name not in _SAME:
            return self._unknown(node, "is not known")
        if len(children) > 1 and node.name == "WithCTE" and (plan := node.node("plan")) is not None:
            return self.relation(plan)
        first = children[0]
        rows = first.rows
        if node.name == "RepartitionByExpression":
            keys: Sources = {}
            for key in node.list("partitionExpressions"):
                self.scope(first).add(key, SORT, keys)
            rows = PlanRows(keys, [rows]) if keys else rows
            return PlanRelation(first.output, first.values, rows)
        return PlanRelation(first.output, first.values, first.own_rows, first.order)

    def _unknown(self, node: PlanNode, problem: str) -> PlanRelation:
        """Report a node, and return the relation whose columns come from everything below it."""
        self.report(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            Severity.WARNING,
            f"the plan has a node {node.name} that {problem}: its columns are taken to come from all its inputs",
            "a package can add a rule: entry-point group lineage.spark_plan",
        )
        return everything_from(self, node, self.children(node))

    def children(self, node: PlanNode) -> list[PlanRelation]:
        """Return the relations of a node's children, in the order of its fields."""
        return [self.relations[id(one)] for one in node.all_nodes if id(one) in self.relations]

    def _extended(self, rule: PlanExtension, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
        """Return the relation of a node by the rule of a package."""
        columns = node.properties.get("columns") or []
        if rule.inputs is not None:
            listed = [Dataset(*name, columns=schema_of(columns)) for name in rule.inputs(node)]
            return stored_relation(self.reads, listed, columns)
        if rule.dependencies is None:
            first = children[0]
            return PlanRelation(first.output, first.values, first.own_rows, first.order)
        scope = self.scope(*children)
        values = {key: value for child in children for key, value in child.values.items()}
        for key, expressions in rule.dependencies(node).items():
            sources: Sources = {}
            for one in expressions:
                scope.add(one, TRANSFORMATION, sources)
            values[key] = Value(sources)
        output = output_of(node) or [key for child in children for key in child.output]
        return PlanRelation(output, values, PlanRows(None, [child.rows for child in children]))


def output_of(node: PlanNode) -> list[int]:
    """Return the ids of a node's output as the listener wrote them."""
    return [int(one[0]) for one in node.properties.get("columns", ())]


def everything_from(reader: PlanReader, node: PlanNode, children: list[PlanRelation]) -> PlanRelation:
    """Return a relation whose columns come from everything that a node is given."""
    total: Sources = {}
    scope = reader.scope(*children)
    function = node.node("functionExpr", "func", "transformWithState")
    given = list(function.all_nodes) if function is not None and function.nodes else []
    for one in given:
        scope.add(one, TRANSFORMATION, total)
    for relation in children if not given else ():
        for value in relation.columns():
            absorb(total, value.sources, TRANSFORMATION)
    output = [one.expr_id for one in node.list("output")] or output_of(node)
    if not output and (made := node.node("outputObjAttr")) is not None:
        output = [made.expr_id]
    output = output or [one.expr_id for one in node.list("serializer")] or list(children[0].output if children else ())
    rows = PlanRows(None, [relation.rows for relation in children])
    return PlanRelation(output, {key: Value(dict(total)) for key in output}, rows)
