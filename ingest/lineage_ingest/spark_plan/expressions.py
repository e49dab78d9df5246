"""From an expression of a plan to the sources of its value.

What an operand does to the value is decided as for SQL (`lineage.sql.resolve.rules`): tests of CASE are CONDITIONAL,
the keys of a window WINDOW, the FILTER of an aggregate FILTER, and functions aggregate or mask by their names in Spark.
A cast that Spark inserts by itself is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from lineage.sql.resolve.calls.functions import FunctionEffects
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

__all__ = ["PASSED", "RANKS", "PlanScope", "aggregate_step", "nullif_operands", "value_rule", "variable_name"]

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
RANKS = frozenset({"Rank", "DenseRank", "PercentRank", "RowNumber", "CumeDist", "NTile"})
_PICKS = frozenset({"first_value", "last_value", "nth_value", "lag", "lead"})
_SUBQUERIES = frozenset(
    {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery", "InSubquery", "DynamicPruningSubquery"}
)
_MAX_DEPTH = 50
"""How deep functions that pass parts on may be nested: beyond it, a part comes from all that the whole does."""

ValueRule = Callable[["PlanScope", PlanNode], "Value | None"]
_VALUES: dict[str, ValueRule] = {}
_PARTS: dict[str, ValueRule] = {}


def value_rule(*names: str, parts_only: bool = False) -> Callable[[ValueRule], ValueRule]:
    """Register a rule for the value of expressions of these classes; with None, the general one applies.

    With `parts_only`, the sources of the whole are those of the general rule: this one says what its parts come from.
    """

    def register(rule: ValueRule) -> ValueRule:
        (_PARTS if parts_only else _VALUES).update(dict.fromkeys(names, rule))
        return rule

    return register


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
        self.bound: dict[int, Value] = {}
        """The variables of lambda functions."""
        self.read_variables: set[int] = set()
        self.common: dict[int, Value] = {}
        """Expressions that are read several times."""
        self._variable = variable or (lambda _: Value({}))
        self._depth = 0

    def value(self, node: PlanNode) -> Value:
        """Return the value of an expression, with its fields if it has any."""
        while node.name in PASSED and not node.properties.get("explicit"):
            node = next(node.all_nodes, node) if node.nodes else node
            if not node.nodes and node.name in PASSED:
                break
        if (rule := _VALUES.get(node.name)) is not None and (value := rule(self, node)) is not None:
            return value
        if (part_rule := _PARTS.get(node.name)) is not None and self._depth < _MAX_DEPTH:
            self._depth += 1
            try:
                if (value := part_rule(self, node)) is not None:
                    return value
            finally:
                self._depth -= 1
        if node.name not in _RULES and (inner := node.node("replacement")) is not None:
            return self.value(inner).composed(_step(node))
        return Value(self.sources(node))

    def sources(self, *nodes: PlanNode, effect: int = IDENTITY) -> Sources:
        """Return every source that expressions read, with its effect."""
        found: Sources = {}
        for node in nodes:
            self.add(node, effect, found)
        return found

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
            elif name in _SUBQUERIES:
                self._subquery(node, effect, sink, stack)
            elif (rule := _RULES.get(name)) is not None:
                rule(self, node, effect, stack, sink)
            elif (value_of := _VALUES.get(name)) is not None and (found := value_of(self, node)) is not None:
                absorb(sink, found.sources, effect)
            elif name in PASSED:
                _push(stack, node.nodes.values(), effect)
            else:
                _push(stack, node.nodes.values(), COMPOSE[effect][_step(node)])

    def attribute(self, expr_id: int) -> Value:
        """Return the value of an attribute; if the plan's inputs lack it, it is one of a plan around this one."""
        found = self._values.get(expr_id)
        return found if found is not None else outer_value(expr_id)

    def variable(self, node: PlanNode) -> Value:
        """Return what a session variable is set to."""
        return self._variable(variable_name(node))

    def relation(self, plan: PlanNode) -> PlanRelation:
        """Return the relation of a sub-query's plan, with the attributes that it reads from here."""
        relation = self._relation_of(plan)
        return relation.mapped(self.replace_outer)

    def replace_outer(self, sources: Sources) -> Sources:
        """Return sources with the attributes of this scope in place of references to them."""
        if all(source.dataset != OUTER for source, _ in sources):
            return sources
        new_sources: Sources = {}
        for source, code in sources:
            value = self._values.get(int(source.path[0])) if source.dataset == OUTER and source.path else None
            if value is None:
                new_sources[source, code] = None
                continue
            assert source.path is not None
            for name in source.path[1:]:
                value = value.field(name)
            absorb(new_sources, value.sources, code)
        return new_sources

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
            self.bound[variable.expr_id] = arguments[index] if index < len(arguments) else Value({})


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
    operands = nullif_operands(scope, node)
    if operands is None:
        _push(stack, node.nodes.values(), COMPOSE[effect][TRANSFORMATION])
        return
    stack += [(operands[1], COMPOSE[effect][CONDITIONAL]), (operands[0], COMPOSE[effect][TRANSFORMATION])]


def nullif_operands(scope: PlanScope, node: PlanNode) -> tuple[PlanNode, PlanNode] | None:
    """Return the operands of NULLIF(value, other), which Spark replaces by a test; None if it is of another form."""
    inner = node.node("replacement")
    if inner is not None and inner.name == "With":
        scope.value(inner)  # binds what it defines
        inner = inner.node("child")
    if inner is not None:  # Spark 4.3 has a NullIfResult between
        inner = inner.node("replacement") or inner
    test = inner.node("predicate") if inner is not None else None
    value, other = (test.node("left"), test.node("right")) if test is not None else (None, None)
    return (value, other) if value is not None and other is not None else None


def _aggregate(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    if (test := node.node("filter")) is not None:
        stack.append((test, COMPOSE[effect][FILTER]))
    if (function := node.node("aggregateFunction")) is None:
        return
    if function.name in _RULES:
        stack.append((function, effect))
        return
    code = aggregate_step(function)
    for field, value in function.nodes.items():
        _push(stack, [value], COMPOSE[effect][SORT if field == "orderExpressions" else code])


def _window(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    if (spec := node.node("windowSpec")) is not None:
        _push(stack, spec.nodes.values(), COMPOSE[effect][WINDOW])
    if (function := node.node("windowFunction")) is not None and function.name not in RANKS:
        stack.append((function, effect))


def _pivot_first(_: PlanScope, node: PlanNode, effect: int, stack: list[tuple[PlanNode, int]], __: Sources) -> None:
    if (value := node.node("valueColumn")) is not None:
        stack.append((value, effect))
    if (column := node.node("pivotColumn")) is not None:
        stack.append((column, COMPOSE[effect][CONDITIONAL]))


_RULES: dict[str, Callable[[PlanScope, PlanNode, int, list[tuple[PlanNode, int]], Sources], None]] = {
    "CaseWhen": _case,
    "If": _if,
    "NullIf": _nullif,
    "AggregateExpression": _aggregate,
    "WindowExpression": _window,
    "PivotFirst": _pivot_first,
}


def _step(node: PlanNode) -> int:
    """Return the effect of a function on its arguments: transform or mask."""
    return _step_of(str(node.properties.get("function") or node.name.rpartition(".")[2]))


def aggregate_step(function: PlanNode) -> int:
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
