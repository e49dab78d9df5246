"""From an expression of a plan to the sources of its value.

What an operand does to the value is decided as for SQL (`lineage.sql.resolve.rules`): tests of CASE are CONDITIONAL,
the keys of a window WINDOW, the FILTER of an aggregate FILTER, and functions aggregate or mask by their names in Spark.
A cast that Spark inserts by itself is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from lineage.sql.resolve.functions import FunctionEffects
from lineage.sql.resolve.transformation_codes import (
    AGGREGATION,
    COMPOSE,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    MASKED_AGGREGATION,
    MASKED_TRANSFORMATION,
    SORT,
    STEPS,
    TRANSFORMATION,
    WINDOW,
)
from lineage_ingest.spark_plan.plan_tree import PlanNode, nodes_in
from lineage_ingest.spark_plan.traced_values import OUTER, PlanRelation, Sources, Value, absorb, outer_value

__all__ = ["PASSED", "PlanScope", "variable_name"]

PASSED = frozenset(
    {
        "Alias", "UpCast", "KnownNotNull", "KnownNullable", "KnownNotContainsNull", "AssertNotNull",
        "TempResolvedColumn",
        "CheckOverflowInTableInsert", "CheckOverflow", "PromotePrecision", "NormalizeNaNAndZero", "OuterReference",
        "SortOrder", "PrettyAttribute", "Collate", "ArrayWrapper", "TagVariantMetadata", "ResolvedCollation",
    }
)  # fmt: skip
"""Expressions whose value is that of their operand."""

_LEAVES = frozenset({"Literal", "TypedNullLiteral", "CurrentRow$", "ResolvedCollation"})
_RANKS = frozenset({"Rank", "DenseRank", "PercentRank", "RowNumber", "CumeDist", "NTile"})
_PICKS = frozenset({"first_value", "last_value", "nth_value", "lag", "lead"})
_SUBQUERIES = frozenset(
    {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery", "InSubquery", "DynamicPruningSubquery"}
)
_NESTED = frozenset(
    {
        "AttributeReference", "CreateNamedStruct", "GetStructField", "GetArrayStructFields", "GetArrayItem",
        "ElementAt",
        "GetMapValue", "CreateArray", "NamedLambdaVariable", "CommonExpressionRef", "With", "GetJsonObject",
        "AggregateExpression", "Cast", "StaticInvoke", "UpdateFields", "WithField", "ShiftRight",
    }
)  # fmt: skip
_COLLECT = frozenset({"CollectList", "CollectSet"})
_CHAR_CHECKS = frozenset({"charTypeWriteSideCheck", "varcharTypeWriteSideCheck", "readSidePadding"})
"""What Spark inserts around a column of type char or varchar."""


class PlanScope:
    """The values that the expressions of a plan node can read, by attribute id."""

    def __init__(
        self,
        values: Mapping[int, Value],
        relation_of: Callable[[PlanNode], PlanRelation],
        variable: Callable[[str], Value] | None = None,
    ) -> None:
        """`relation_of` returns the relation of a plan in a sub-query, `variable` what a session variable is set to."""
        self._values = values
        self._relation_of = relation_of
        self._bound: dict[int, Value] = {}
        self._common: dict[int, Value] = {}
        self._variable = variable

    def value(self, node: PlanNode) -> Value:
        """Return the value of an expression, with its fields if it has any."""
        while node.name in PASSED and not node.properties.get("explicit"):
            node = next(node.all_nodes, node) if node.nodes else node
            if not node.nodes and node.name in PASSED:
                break
        if node.name in _NESTED and (found := self._nested(node)) is not None:
            return found
        sources: Sources = {}
        self.add(node, IDENTITY, sources)
        return Value(sources)

    def add(self, root: PlanNode, effect: int, sink: Sources) -> None:
        """Add to `sink` every source that an expression reads, with its effect on the result."""
        stack = [(root, effect)]
        while stack:
            node, effect = stack.pop()
            name = node.name
            if name == "AttributeReference":
                absorb(sink, self.attribute(node.expr_id).sources, effect)
            elif name in _LEAVES:
                continue
            elif name == "VariableReference":
                if self._variable is not None:
                    absorb(sink, self._variable(variable_name(node)).sources, effect)
            elif name in _SUBQUERIES:
                self._subquery(node, effect, sink, stack)
            elif (rule := _RULES.get(name)) is not None:
                rule(self, node, effect, stack, sink)
            elif name in _NESTED and (found := self._nested(node)) is not None:
                absorb(sink, found.sources, effect)
            elif name in PASSED:
                _push(stack, node.nodes.values(), effect)
            else:
                _push(stack, node.nodes.values(), COMPOSE[effect][_step(node)])

    def attribute(self, expr_id: int) -> Value:
        """Return the value of an attribute; if the plan's inputs lack it, it is one of a plan around this one."""
        found = self._values.get(expr_id)
        return found if found is not None else outer_value(expr_id)

    def relation(self, plan: PlanNode) -> PlanRelation:
        """Return the relation of a sub-query's plan, with the attributes that it reads from here."""
        relation = self._relation_of(plan)
        return relation.mapped(self.replace_outer)

    def replace_outer(self, sources: Sources) -> Sources:
        """Return sources with the attributes of this scope in place of references to them."""
        if all(source.dataset != OUTER for source, _ in sources):
            return sources
        found: Sources = {}
        for source, code in sources:
            value = self._values.get(int(source.path[0])) if source.dataset == OUTER and source.path else None
            if value is None:
                found[source, code] = None
                continue
            assert source.path is not None
            for name in source.path[1:]:
                value = value.field(name)
            absorb(found, value.sources, code)
        return found

    # Values with fields

    def _nested(self, node: PlanNode) -> Value | None:
        match node.name:
            case "AttributeReference":
                return self.attribute(node.expr_id)
            case "NamedLambdaVariable":
                return self._bound.get(node.expr_id, Value({}))
            case "CommonExpressionRef":
                return self._common.get(int(node.properties.get("id", -1)), Value({}))
            case "With":
                for one in node.list("defs"):
                    self._common[int(one.properties.get("id", -1))] = self.value(next(one.all_nodes))
                child = node.node("child")
                return self.value(child) if child is not None else Value({})
            case "CreateNamedStruct":
                return self._struct(node)
            case "GetStructField" | "GetArrayStructFields":
                child = node.node("child")
                name = node.properties.get("field") or node.properties.get("name")
                return self.value(child).field(str(name)) if child is not None else None
            case "GetArrayItem" | "ElementAt" | "GetMapValue":
                return self._item(node)
            case "GetJsonObject":
                return self._json(node)
            case "CreateArray" if len(items := node.list("children")) == 1:
                value = self.value(items[0])
                return value if value.fields is not None else None
            case "AggregateExpression":
                return self._collected(node)
            case "Cast" if not node.properties.get("explicit"):
                child = node.node("child")
                return self.value(child) if child is not None else None
            case "StaticInvoke" if node.properties.get("functionName") in _CHAR_CHECKS:
                return self.value(node.list("arguments")[0])
            case "UpdateFields":
                return self._updated(node)
            case "ShiftRight" if (bit := node.properties.get("bits")) is not None:
                value = self.value(next(node.all_nodes))
                return value.fields.get(str(bit)) if value.fields is not None else None
        return None

    def _struct(self, node: PlanNode) -> Value:
        fields: dict[str, Value] = {}
        total: Sources = {}
        listed = node.list("children")
        for name, child in zip(node.properties.get("names", ()), listed[1::2], strict=False):
            fields[name] = self.value(child)
            absorb(total, fields[name].sources, TRANSFORMATION)
        return Value(total, fields)

    def _item(self, node: PlanNode) -> Value | None:
        operands = list(node.all_nodes)
        value = self.value(operands[0])
        if value.is_pivoted:
            return Value(value.sources)
        if (key := node.properties.get("key")) is not None:
            return value.field(str(key))
        found = value.element()
        for operand in operands[1:]:
            self.add(operand, TRANSFORMATION, found.sources)
        return found

    def _json(self, node: PlanNode) -> Value | None:
        path = node.properties.get("key")
        if path is None:
            return None
        keys = [part.partition("[")[0] for part in str(path).removeprefix("$").split(".")]
        value = self.value(next(node.all_nodes))
        for key in keys:
            value = value.field(key) if key else value
        return Value(value.composed(TRANSFORMATION).sources)

    def _collected(self, node: PlanNode) -> Value | None:
        """`collect_list(struct(…))`: elements with the fields of the struct, each aggregated."""
        function = node.node("aggregateFunction")
        if function is None or function.name not in _COLLECT:
            return None
        inner = self.value(next(function.all_nodes))
        if inner.fields is None:
            return None
        deciding: Sources = {}
        if (test := node.node("filter")) is not None:
            self.add(test, FILTER, deciding)
        found = inner.composed(AGGREGATION)
        return found.mapped(lambda sources: {**sources, **deciding})

    def _updated(self, node: PlanNode) -> Value | None:
        """`struct.withField(name, value)`, `dropFields`."""
        operands = list(node.all_nodes)
        before = self.value(operands[0])
        fields = dict(before.fields) if before.fields is not None else {}
        total = dict(before.composed(TRANSFORMATION).sources)
        for operation in operands[1:]:
            if operation.name == "WithField" and (value := next(operation.all_nodes, None)) is not None:
                made = self.value(value)
                fields[str(operation.properties.get("name"))] = made
                absorb(total, made.sources, TRANSFORMATION)
        return Value(total, fields or None, before if before.fields is None else None)

    # Sub-queries and lambdas

    def _subquery(self, node: PlanNode, effect: int, sink: Sources, stack: list[tuple[PlanNode, int]]) -> None:
        if node.name == "InSubquery":
            below = COMPOSE[effect][TRANSFORMATION]
            _push(stack, node.nodes.values(), below)
            return
        plan = node.node("plan")
        if plan is None:
            return
        relation = self.relation(plan)
        if node.name != "Exists":
            for value in relation.columns():
                absorb(sink, value.sources, effect)
        absorb(sink, relation.rows.flat(), effect)

    def bind(self, node: PlanNode, arguments: list[Value]) -> None:
        """Bind the variables of a lambda function to values."""
        for index, variable in enumerate(node.list("arguments")):
            self._bound[variable.expr_id] = arguments[index] if index < len(arguments) else Value({})


def variable_name(node: PlanNode) -> str:
    """Return the name of a session variable; Spark folds its case."""
    return ".".join(map(str, node.properties.get("identifier") or ())).lower()


def _push(stack: list[tuple[PlanNode, int]], values: object, effect: int) -> None:
    stack.extend((node, effect) for node in reversed(list(nodes_in(list(values)))))  # type: ignore[call-overload]


def _case(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    tested, chosen = COMPOSE[effect][CONDITIONAL], COMPOSE[effect][TRANSFORMATION]
    for branch in node.nodes.get("branches", ()):
        stack += [(branch[0], tested), (branch[1], chosen)]
    if (default := node.node("elseValue")) is not None:
        stack.append((default, chosen))


def _if(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    for field, code in (("predicate", CONDITIONAL), ("trueValue", TRANSFORMATION), ("falseValue", TRANSFORMATION)):
        if (operand := node.node(field)) is not None:
            stack.append((operand, COMPOSE[effect][code]))


def _nullif(scope: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], _: Sources) -> None:
    """NULLIF(value, other), which Spark replaces by a test: only `other` is one."""
    inner = node.node("replacement")
    if inner is not None and inner.name == "With":
        scope.value(inner)  # binds what it defines
        inner = inner.node("child")
    if inner is not None:  # Spark 4.3 has a NullIfResult between
        inner = inner.node("replacement") or inner
    test = inner.node("predicate") if inner is not None else None
    value, other = (test.node("left"), test.node("right")) if test is not None else (None, None)
    if value is None or other is None:
        _push(stack, node.nodes.values(), COMPOSE[effect][TRANSFORMATION])
        return
    stack += [(other, COMPOSE[effect][CONDITIONAL]), (value, COMPOSE[effect][TRANSFORMATION])]


def _aggregate(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    if (test := node.node("filter")) is not None:
        stack.append((test, COMPOSE[effect][FILTER]))
    if (function := node.node("aggregateFunction")) is None:
        return
    code = _aggregate_step(function)
    for field, value in function.nodes.items():
        _push(stack, [value], COMPOSE[effect][SORT if field == "orderExpressions" else code])


def _window(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    if (spec := node.node("windowSpec")) is not None:
        _push(stack, spec.nodes.values(), COMPOSE[effect][WINDOW])
    if (function := node.node("windowFunction")) is not None and function.name not in _RANKS:
        stack.append((function, effect))


def _pivot_first(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    if (value := node.node("valueColumn")) is not None:
        stack.append((value, effect))
    if (column := node.node("pivotColumn")) is not None:
        stack.append((column, COMPOSE[effect][CONDITIONAL]))


def _lambda(scope: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], _: Sources) -> None:
    """A higher-order function: its variables are elements of the arrays that it is given."""
    functions = [one for one in node.all_nodes if one.name == "LambdaFunction"]
    arrays = [one for one in node.all_nodes if one.name != "LambdaFunction"]
    elements = [scope.value(one).element() for one in arrays]
    below = COMPOSE[effect][TRANSFORMATION]
    for function in functions:
        scope.bind(function, _elements_for(node.name, elements))
        if (body := function.node("function")) is not None:
            stack.append((body, below))
    _push(stack, arrays, below)


def _elements_for(function: str, elements: list[Value]) -> list[Value]:
    """Return the values of a lambda's variables: an index has no source; a key and a value are both of the map."""
    if function in ("ArrayAggregate",):
        return [elements[1] if len(elements) > 1 else Value({}), elements[0]]
    if function.startswith("Map") or function.startswith("Transform"):
        return [*elements, *elements[:1]]
    if function == "ArraySort":
        return [elements[0], elements[0]]
    return [*elements, Value({})]


_HIGHER_ORDER = (
    "ArrayTransform", "ArrayFilter", "ArrayExists", "ArrayForAll", "ArrayAggregate", "ArraySort", "ZipWith",
    "MapFilter",     "MapZipWith", "TransformKeys", "TransformValues",
)  # fmt: skip
_RULES: dict[str, Callable[[PlanScope, PlanNode, int, list[tuple[PlanNode, int]], Sources], None]] = {
    "CaseWhen": _case,
    "If": _if,
    "NullIf": _nullif,
    "AggregateExpression": _aggregate,
    "WindowExpression": _window,
    "PivotFirst": _pivot_first,
    **dict.fromkeys(_HIGHER_ORDER, _lambda),
}


def _step(node: PlanNode) -> int:
    """Return the effect of a function on its arguments: transform or mask."""
    return _step_of(str(node.properties.get("function") or node.name.rpartition(".")[2]))


def _aggregate_step(function: PlanNode) -> int:
    """Return the effect of an aggregate function on its arguments."""
    name = str(function.properties.get("function") or function.name)
    if name in _PICKS:
        return TRANSFORMATION
    return MASKED_AGGREGATION if STEPS[_step_of(name)].masking else AGGREGATION


@cache
def _step_of(name: str) -> int:
    code = _effects().of_name(name)
    return MASKED_TRANSFORMATION if STEPS[code].masking else TRANSFORMATION


@cache
def _effects() -> FunctionEffects:
    return FunctionEffects.load("spark")
