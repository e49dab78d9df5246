"""Higher-order functions: the variables of their lambdas are parts of the arrays and maps that they are given."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import SORT, TRANSFORMATION
from lineage_ingest.spark_plan.expressions import PlanScope, value_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import Sources, Value, absorbed, merge_values


@value_rule(
    "ArrayTransform", "ArrayFilter", "ArrayExists", "ArrayForAll", "ArrayAggregate", "ArraySort", "ZipWith",
    "MapFilter", "MapZipWith", "TransformKeys", "TransformValues",
)  # fmt: skip
def _higher_order(scope: PlanScope, node: PlanNode) -> Value | None:
    functions = [one for one in node.all_nodes if one.name == "LambdaFunction"]
    given = [scope.value(one) for one in node.all_nodes if one.name != "LambdaFunction"]
    if not functions or not given:
        return None
    first = given[0]
    elements = [one.element() for one in given]
    whole = absorbed([source for one in given for source in one.sources], TRANSFORMATION)
    match node.name:
        case "ArrayAggregate":
            return _folded(scope, functions, first, given[1])
        case "ArraySort":
            order = _body(scope, functions[0], [elements[0], elements[0]]).sources
            return Value({**whole, **order}, inner=[(first.composed(TRANSFORMATION), dict)], deciding=_as_sort(order))
        case "ArrayFilter":
            test = _body(scope, functions[0], [elements[0]]).sources
            return first.composed(TRANSFORMATION).decided_by(test)
        case "MapFilter":
            test = _body(scope, functions[0], [first.key(), elements[0]]).sources
            return first.composed(TRANSFORMATION).decided_by(test)
        case "TransformKeys" | "TransformValues":
            made = _body(scope, functions[0], [first.key(), elements[0]])
            is_key = node.name == "TransformKeys"
            keys, values = (made, elements[0]) if is_key else (first.key(), made)
            return Value({**whole, **made.sources}, elements=values, keys=keys)
        case "MapZipWith":
            keys = merge_values(one.key() for one in given)
            made = _body(scope, functions[0], [keys, *elements])
            return Value({**whole, **made.sources}, elements=made, keys=keys)
    made = _body(scope, functions[0], elements)
    # A body that reads no element makes as many values as there are elements.
    sources = made.sources if _reads(scope, functions[0], len(elements)) else {**whole, **made.sources}
    return Value(sources, elements=made if node.name in ("ArrayTransform", "ZipWith") else None)


def _folded(scope: PlanScope, functions: list[PlanNode], array: Value, start: Value) -> Value:
    """Return the value of `aggregate(array, start, merge, finish)`: over any number of elements."""
    total = start
    for _ in range(len(start.field_names) + 1):  # what a field has, another one may take over in the next round
        total = merge_values([start, _body(scope, functions[0], [total, array.element()])])
    for finish in functions[1:]:
        total = _body(scope, finish, [total])
    found = total.composed(TRANSFORMATION)
    if _reads(scope, functions[0], 2, start=1):
        return found
    return found.decided_by(absorbed(array.sources, TRANSFORMATION))


def _body(scope: PlanScope, function: PlanNode, arguments: list[Value]) -> Value:
    """Return the value of a lambda's body; an index, which no argument is given for, has no source."""
    scope.bind(function, arguments)
    body = function.node("function")
    return scope.value(body).composed(TRANSFORMATION) if body is not None else Value({})


def _reads(scope: PlanScope, function: PlanNode, count: int, start: int = 0) -> bool:
    """Return whether the body of a lambda reads one of these variables."""
    return any(one.expr_id in scope.read_variables for one in function.list("arguments")[start:count])


def _as_sort(sources: Sources) -> Sources:
    return absorbed(sources, SORT)
