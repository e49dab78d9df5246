"""Structs, arrays and maps in expressions: what builds one, what reads a part of one, what passes one on."""

from __future__ import annotations

from lineage.sql.resolve.transformation_codes import (
    AGGREGATION,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    SORT,
    TRANSFORMATION,
    WINDOW,
)
from lineage_ingest.spark_plan.expressions import RANKS, PlanScope, aggregate_step, nullif_operands, value_rule
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.traced_values import Sources, Value, absorb, absorbed, merge_values

_CHAR_CHECKS = frozenset({"charTypeWriteSideCheck", "varcharTypeWriteSideCheck", "readSidePadding"})
"""What Spark inserts around a column of type char or varchar."""


# What is named elsewhere


@value_rule("AttributeReference")
def _attribute(scope: PlanScope, node: PlanNode) -> Value:
    return scope.attribute(node.expr_id)


@value_rule("VariableReference")
def _session_variable(scope: PlanScope, node: PlanNode) -> Value:
    return scope.variable(node)


@value_rule("NamedLambdaVariable")
def _lambda_variable(scope: PlanScope, node: PlanNode) -> Value:
    scope.read_variables.add(node.expr_id)
    return scope.bound.get(node.expr_id, Value({}))


@value_rule("CommonExpressionRef")
def _common_reference(scope: PlanScope, node: PlanNode) -> Value:
    return scope.common.get(int(node.properties.get("id", -1)), Value({}))


@value_rule("With")
def _with(scope: PlanScope, node: PlanNode) -> Value:
    for one in node.list("defs"):
        scope.common[int(one.properties.get("id", -1))] = scope.value(next(one.all_nodes))
    child = node.node("child")
    return scope.value(child) if child is not None else Value({})


@value_rule("ScalarSubquery", parts_only=True)
def _scalar_query(scope: PlanScope, node: PlanNode) -> Value | None:
    if (plan := node.node("plan")) is None:
        return None
    relation = scope.relation(plan)
    return merge_values(relation.columns()).decided_by(relation.rows.flat())


# What builds a value


@value_rule("CreateNamedStruct")
def _struct(scope: PlanScope, node: PlanNode) -> Value:
    names = map(str, node.properties.get("names", ()))
    return _struct_of({name: scope.value(one) for name, one in zip(names, node.list("children")[1::2], strict=False)})


def _struct_of(fields: dict[str, Value]) -> Value:
    total: Sources = {}
    for value in fields.values():
        absorb(total, value.sources, TRANSFORMATION)
    return Value(total, fields)


@value_rule("UpdateFields")
def _updated(scope: PlanScope, node: PlanNode) -> Value:
    """`struct.withField(name, value)`, `dropFields`."""
    operands = list(node.all_nodes)
    before = scope.value(operands[0])
    fields: dict[str, Value] = {name: before.field(name) for name in before.field_names}
    for operation in operands[1:]:
        name = str(operation.properties.get("name"))
        if operation.name == "WithField" and (value := next(operation.all_nodes, None)) is not None:
            fields[name] = scope.value(value)
        else:
            fields.pop(name, None)
    updated = _struct_of(fields)
    if before.field_names:
        return updated
    sources = {**absorbed(before.sources, TRANSFORMATION), **updated.sources}
    return Value(sources, fields, inner=[(before, dict)])


@value_rule("CreateArray", parts_only=True)
def _array(scope: PlanScope, node: PlanNode) -> Value:
    values = [scope.value(one) for one in node.all_nodes]
    # As in SQL: a struct that stands in the array is an element of it as it is.
    items = merge_values(one if one.fields is not None else one.composed(TRANSFORMATION) for one in values)
    return Value(items.sources, elements=items)


@value_rule("ArrayRepeat", parts_only=True)
def _repeated(scope: PlanScope, node: PlanNode) -> Value:
    first = next(node.all_nodes)
    return Value(scope.sources(*node.all_nodes, effect=TRANSFORMATION), elements=scope.value(first))


@value_rule("ArrayInsert", parts_only=True)
def _inserted(scope: PlanScope, node: PlanNode) -> Value:
    array, position, item = list(node.all_nodes)[:3]
    elements = merge_values([scope.value(array).element(), scope.value(item).composed(TRANSFORMATION)])
    return Value(scope.sources(array, position, item, effect=TRANSFORMATION), elements=elements)


@value_rule("ArraysZip", parts_only=True)
def _zipped(scope: PlanScope, node: PlanNode) -> Value | None:
    arrays = [scope.value(one) for one in node.list("children")]
    names = node.properties.get("names") or ()
    if len(names) != len(arrays):
        return None
    elements = _struct_of({str(name): one.element() for name, one in zip(names, arrays, strict=True)})
    return Value(elements.sources, elements=elements)


@value_rule("CreateMap", parts_only=True)
def _map(scope: PlanScope, node: PlanNode) -> Value:
    listed = [scope.value(one).composed(TRANSFORMATION) for one in node.all_nodes]
    keys, values = merge_values(listed[::2]), merge_values(listed[1::2])
    names = node.properties.get("keys")
    fields = dict(zip(map(str, names), map(scope.value, list(node.all_nodes)[1::2]), strict=True)) if names else None
    return Value({**keys.sources, **values.sources}, fields, elements=values, keys=keys)


@value_rule("MapFromArrays", parts_only=True)
def _map_from_arrays(scope: PlanScope, node: PlanNode) -> Value:
    keys, values = (scope.value(one) for one in node.all_nodes)
    sources = absorbed([*keys.sources, *values.sources], TRANSFORMATION)
    return Value(sources, elements=values.element(), keys=keys.element())


@value_rule("MapFromEntries", parts_only=True)
def _map_from_entries(scope: PlanScope, node: PlanNode) -> Value | None:
    entries = scope.value(next(node.all_nodes))
    entry = entries.element()
    if len(entry.field_names) != 2:
        return None
    key, value = (entry.field(name).composed(TRANSFORMATION) for name in entry.field_names)
    return Value(absorbed(entries.sources, TRANSFORMATION), elements=value, keys=key)


@value_rule("MapEntries", parts_only=True)
def _entries(scope: PlanScope, node: PlanNode) -> Value:
    entries = scope.value(next(node.all_nodes))
    elements = _struct_of({"key": entries.key(), "value": entries.element()})
    return Value(absorbed(entries.sources, TRANSFORMATION), elements=elements)


@value_rule("MapKeys", "MapValues")
def _keys_or_values(scope: PlanScope, node: PlanNode) -> Value:
    entries = scope.value(next(node.all_nodes))
    elements = entries.key() if node.name == "MapKeys" else entries.element()
    return Value(absorbed(elements.sources, TRANSFORMATION), elements=elements)


# What reads a part


@value_rule("GetStructField", "GetArrayStructFields")
def _field(scope: PlanScope, node: PlanNode) -> Value | None:
    child = node.node("child")
    name = node.properties.get("field") or node.properties.get("name")
    return scope.value(child).field(str(name)) if child is not None else None


@value_rule("GetArrayItem", "ElementAt", "GetMapValue")
def _item(scope: PlanScope, node: PlanNode) -> Value:
    operands = list(node.all_nodes)
    value = scope.value(operands[0])
    if (key := node.properties.get("key")) is not None:
        return value.item(str(key))
    deciding = scope.sources(*operands[1:], effect=TRANSFORMATION)
    return value.element().decided_by(deciding) if deciding else value.element()


@value_rule("GetJsonObject", "VariantGet")
def _json_path(scope: PlanScope, node: PlanNode) -> Value | None:
    path = node.properties.get("key")
    if path is None:
        return None
    value = scope.value(next(node.all_nodes))
    for part in str(path).removeprefix("$").split("."):
        if key := part.partition("[")[0]:
            known = value.inner[0][0].fields if len(value.inner) == 1 else None
            value = value.field(key) if known is None or key in known else Value({})
    if node.properties.get("isPart"):  # a document's part as it is, of no other type
        return value
    return Value(absorbed(value.sources, TRANSFORMATION))


@value_rule("ShiftRight")
def _bit(scope: PlanScope, node: PlanNode) -> Value | None:
    """A bit of the grouping id of ROLLUP and CUBE."""
    bit = str(node.properties.get("bits"))
    value = scope.value(next(node.all_nodes))
    return value.field(bit) if bit in value.field_names else None


# What passes a value on, or one of several


def _passed(
    scope: PlanScope, passed: list[PlanNode], others: Sources | None = None, effect: int = TRANSFORMATION
) -> Value:
    found = merge_values(scope.value(one).composed(effect) for one in passed)
    return found.decided_by(others) if others else found


@value_rule("Coalesce", "Concat", "MapConcat", parts_only=True)
def _one_of(scope: PlanScope, node: PlanNode) -> Value:
    return _passed(scope, list(node.all_nodes))


@value_rule(
    "Slice", "Reverse", "Shuffle", "ArrayRemove", "ArrayCompact", "NthValue",
    parts_only=True,
)  # fmt: skip
def _first_operand(scope: PlanScope, node: PlanNode) -> Value:
    first, *others = node.all_nodes
    return _passed(scope, [first], scope.sources(*others, effect=TRANSFORMATION))


@value_rule("Lag", "Lead", parts_only=True)
def _neighbour(scope: PlanScope, node: PlanNode) -> Value:
    """The value of another row, or the default."""
    first, offset, *default = node.all_nodes
    return _passed(scope, [first, *default], scope.sources(offset, effect=TRANSFORMATION))


@value_rule("NullIf", parts_only=True)
def _nullif(scope: PlanScope, node: PlanNode) -> Value | None:
    operands = nullif_operands(scope, node)
    if operands is None:
        return None
    # Whether the whole of the value is NULL decides each of its fields.
    inner = [(scope.value(operands[0]).composed(TRANSFORMATION), dict)]
    return Value(scope.sources(node), inner=inner, deciding=scope.sources(*operands, effect=CONDITIONAL))


@value_rule("StructsToJson", parts_only=True)
def _to_json(scope: PlanScope, node: PlanNode) -> Value:
    return scope.value(_argument(node)).composed(TRANSFORMATION)


@value_rule("JsonToStructs", parts_only=True)
def _from_json(scope: PlanScope, node: PlanNode) -> Value | None:
    """The fields of what was a struct before; the keys of a column that is text are not its fields."""
    value = scope.value(_argument(node))
    return value.composed(TRANSFORMATION) if value.inner else None


def _argument(node: PlanNode) -> PlanNode:
    """Return the argument of a function, which Spark may replace by a call of its own code."""
    inner = node.node("replacement")
    return next(iter(inner.list("arguments")) if inner is not None else node.all_nodes)


@value_rule("CaseWhen", parts_only=True)
def _case(scope: PlanScope, node: PlanNode) -> Value:
    branches = node.nodes.get("branches", ())
    default = node.node("elseValue")
    tests = scope.sources(*(one[0] for one in branches), effect=CONDITIONAL)
    return _passed(scope, [*(one[1] for one in branches), *([default] if default is not None else [])], tests)


@value_rule("If", parts_only=True)
def _if(scope: PlanScope, node: PlanNode) -> Value:
    test, chosen, other = node.all_nodes
    return _passed(scope, [chosen, other], scope.sources(test, effect=CONDITIONAL))


@value_rule("Flatten", parts_only=True)
def _flat(scope: PlanScope, node: PlanNode) -> Value:
    value = scope.value(next(node.all_nodes))
    return Value(absorbed(value.sources, TRANSFORMATION), elements=value.element().element())


@value_rule("SortArray", parts_only=True)
def _sorted(scope: PlanScope, node: PlanNode) -> Value:
    return _decided_by_itself(scope, node, SORT)


@value_rule("ArrayDistinct", "ArrayUnion", "ArrayExcept", "ArrayIntersect", parts_only=True)
def _without_duplicates(scope: PlanScope, node: PlanNode) -> Value:
    return _decided_by_itself(scope, node, CONDITIONAL)


def _decided_by_itself(scope: PlanScope, node: PlanNode, code: int) -> Value:
    """Return an array whose elements, or their order, the whole of each element decides."""
    values = [scope.value(one) for one in node.all_nodes]
    taken = values if node.name == "ArrayUnion" else values[:1]
    every = [source for value in values for source in value.sources]
    inner = [(one.composed(TRANSFORMATION), dict) for one in taken]
    return Value(absorbed(every, TRANSFORMATION), inner=inner, deciding=absorbed(every, code))


@value_rule("Greatest", "Least", parts_only=True)
def _extreme_operand(scope: PlanScope, node: PlanNode) -> Value | None:
    return _extreme(node, _passed(scope, list(node.all_nodes)))


@value_rule("ArrayMax", "ArrayMin", parts_only=True)
def _extreme_element(scope: PlanScope, node: PlanNode) -> Value | None:
    return _extreme(node, scope.value(next(node.all_nodes)).element().composed(TRANSFORMATION))


def _extreme(node: PlanNode, value: Value) -> Value | None:
    """Return the greatest or least of structs: each field is that of the one which the fields before it choose."""
    names = [str(one) for one in node.properties.get("names") or value.field_names]
    if not names:
        return None
    fields = [value.field(name) for name in names]
    return Value(value.sources, {name: merge_values(fields[: index + 1]) for index, name in enumerate(names)})


@value_rule("Cast")
def _cast(scope: PlanScope, node: PlanNode) -> Value | None:
    """A cast that the query has is a transformation; the fields of structs are cast by position."""
    child = node.node("child")
    if child is None:
        return None
    effect = TRANSFORMATION if node.properties.get("explicit") else IDENTITY
    value = scope.value(child).composed(effect)
    renamed = list(zip(node.properties.get("names") or (), node.properties.get("oldNames") or (), strict=False))
    return Value(value.sources, {new: value.field(old) for new, old in renamed}) if renamed else value


@value_rule("StaticInvoke")
def _char_check(scope: PlanScope, node: PlanNode) -> Value | None:
    is_check = node.properties.get("functionName") in _CHAR_CHECKS
    return scope.value(node.list("arguments")[0]) if is_check else None


# Aggregates and windows


@value_rule("AggregateExpression", parts_only=True)
def _aggregated(scope: PlanScope, node: PlanNode) -> Value | None:
    function = node.node("aggregateFunction")
    if function is None:
        return None
    function = function.node("replacement") or function
    test = node.node("filter")
    tests = scope.sources(test, effect=FILTER) if test is not None else {}
    first, *others = function.all_nodes if function.nodes else [None]
    if first is None:
        return None
    if function.name == "PivotFirst":
        value = _pivoted(scope, function)
        return Value(value.sources, elements=value) if value is not None else None
    if function.name in ("CollectList", "CollectSet"):
        elements = _passed(scope, [first], tests, AGGREGATION)
        return Value(scope.sources(node), elements=elements)
    if function.name in ("First", "Last", "MaxBy", "MinBy", "Mode"):
        code = aggregate_step(function)
        return _passed(scope, [first], {**scope.sources(*others, effect=code), **tests}, code)
    if function.name in ("Max", "Min"):
        return _extreme(function, _passed(scope, [first], tests, AGGREGATION))
    return None


def _pivoted(scope: PlanScope, function: PlanNode) -> Value | None:
    """Return an item of the array of PIVOT, which is one of its columns."""
    value, column = function.node("valueColumn"), function.node("pivotColumn")
    if value is None or column is None:
        return None
    return _passed(scope, [value], scope.sources(column, effect=CONDITIONAL), IDENTITY)


@value_rule("WindowExpression", parts_only=True)
def _windowed(scope: PlanScope, node: PlanNode) -> Value | None:
    function, spec = node.node("windowFunction"), node.node("windowSpec")
    if function is None or spec is None or function.name in RANKS:
        return None
    return scope.value(function).decided_by(scope.sources(*spec.all_nodes, effect=WINDOW))
