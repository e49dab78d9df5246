"""Reads the lineage of a statement off Spark's analysed plan, which Spark gives as JSON.

Each attribute of a plan has a number, its exprId. From the leaves upwards each operator says which numbers it shows,
and which base columns the value of each reads; its conditions decide the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

from tests.referees.reading import Reading

__all__ = ["UnreadPlanError", "readings_of_plan"]

Columns: TypeAlias = "frozenset[str]"
Values: TypeAlias = "Mapping[int, Value]"
"""What each visible attribute reads."""

_NOTHING: Columns = frozenset()
_PLANS = ("catalyst.plans.logical.", "sql.execution.")


class UnreadPlanError(Exception):
    """A plan has an operator that is not read here."""


class Value(NamedTuple):
    """What an expression reads: base columns, and those of each field if it is a struct whose fields are known."""

    sources: Columns = _NOTHING
    fields: tuple[Columns, ...] | None = None

    def beside(self, other: Value) -> Value:
        """Return what either reads, of a column that has its rows from both."""
        fields = None
        if self.fields is not None and other.fields is not None and len(self.fields) == len(other.fields):
            fields = tuple(a | b for a, b in zip(self.fields, other.fields, strict=True))
        return Value(self.sources | other.sources, fields)


class Shown(NamedTuple):
    """An output attribute: its number, its name and its value."""

    number: int
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Relation:
    shown: tuple[Shown, ...]
    rows: Columns = _NOTHING

    def values(self) -> dict[int, Value]:
        return {one.number: one.value for one in self.shown}

    def everything(self) -> Columns:
        return _NOTHING.union(*(one.value.sources for one in self.shown))


@dataclass(frozen=True, slots=True)
class _Node:
    fields: Mapping[str, Any]
    children: tuple[_Node, ...]

    @property
    def kind(self) -> str:
        return str(self.fields["class"]).rpartition(".")[2]


def readings_of_plan(text: str, names: Sequence[str] = ()) -> list[Reading]:
    """Return what a plan says of its statement: of a query, or of each command in it that writes the rows of one.

    `names` is the column list of a view, which is not in the JSON.

    Raises:
        UnreadPlanError: the plan has an operator that is not read here.
    """
    readings = list(_Plan().statement(_tree(json.loads(text))))
    return [replace(one, columns=tuple(names)) for one in readings] if names else readings


def _of_all(values: list[Value]) -> Value:
    """Return what a column reads that has its rows from several expressions; NULL says nothing of fields."""
    return reduce(Value.beside, [one for one in values if one.sources] or values)


def _reading(relation: Relation) -> Reading:
    sources = tuple(one.value.sources for one in relation.shown)
    return Reading(tuple(one.name for one in relation.shown), sources, relation.rows, relation.rows.union(*sources))


def _tree(nodes: list[Any]) -> _Node:
    """Return the tree that a list of nodes in prefix order stands for."""
    rest = iter(nodes)

    def next_node() -> _Node:
        fields = next(rest)
        return _Node(fields, tuple(next_node() for _ in range(fields["num-children"])))

    return next_node()


def _is_plan(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and any(part in str(value[0].get("class", "")) for part in _PLANS)
    )


@dataclass(slots=True)
class _Plan:
    ctes: dict[int, Relation] = field(default_factory=dict)

    def statement(self, node: _Node) -> Iterator[Reading]:
        """Yield what a query shows, or what the queries of commands do, under the names of their targets."""
        if node.kind == "Union" and all(_is_command(child) for child in node.children):
            for child in node.children:
                yield from self.statement(child)
        elif node.kind in ("MergeIntoTable", "UpdateTable", "DeleteFromTable"):
            yield self._changes(node)
        elif node.kind == "WithCTE" and _is_command(node.children[-1]):
            for definition in node.children[:-1]:
                self._define(definition, {})
            yield from self.statement(node.children[-1])
        else:
            yield _reading(self._written(node) if _is_command(node) else self.relation(node, {}, ""))

    def _written(self, node: _Node) -> Relation:
        if node.children:
            return self.relation(node.children[-1], {}, "")
        queries = [value for value in node.fields.values() if _is_plan(value)]
        if len(queries) != 1:
            raise UnreadPlanError(node.kind)
        return self.relation(_tree(queries[0]), {}, "")

    def _changes(self, node: _Node) -> Reading:
        """Return what MERGE, UPDATE or DELETE reads; what it writes a column from is beside the conditions."""
        below = [self.relation(child, {}, "") for child in node.children]
        values: Values = {n: value for one in below for n, value in one.values().items()}
        columns: dict[str, Columns] = {}
        reads = _NOTHING.union(*(one.rows for one in below))
        reads |= self._reads(node.fields.get("mergeCondition") or node.fields.get("condition") or [], values)
        lists = ("matchedActions", "notMatchedActions", "notMatchedBySourceActions", "assignments")
        for action in (_tree(one) for name in lists for one in node.fields.get(name) or ()):
            for one in _nodes(action):
                if one.kind == "Assignment":
                    key, value = one.children
                    name = next(str(n.fields["name"]) for n in _nodes(key) if n.kind == "AttributeReference")
                    columns[name] = columns.get(name, _NOTHING) | self._value(value, values).sources
            conditions = (child for child in action.children if child.kind != "Assignment")
            reads = reads.union(
                *(self._value(one, values).sources for one in conditions if action.kind != "Assignment")
            )
        return Reading(tuple(columns), tuple(columns.values()), None, reads.union(*columns.values()))

    def relation(self, node: _Node, outer: Values, name: str) -> Relation:  # noqa: PLR0915
        """Return what an operator shows; `name` is that of a table whose columns the leaf below gives."""
        fields = node.fields
        match node.kind:
            case "SubqueryAlias":
                return self.relation(node.children[0], outer, str(fields["identifier"]["name"]))
            case "LogicalRelation" | "StreamingRelation":
                table = fields.get("catalogTable")
                name = table["identifier"]["table"] if isinstance(table, dict) else name
                return Relation(tuple(self._base(name, one) for one in _attributes(fields["output"])))
            case "OneRowRelation":
                return Relation(())
            case "Range" | "LocalRelation":  # VALUES
                return Relation(tuple(Shown(n, text, Value()) for n, text in _attributes(fields["output"])))
            case "View":
                inner = self.relation(node.children[0], outer, name)
                if fields.get("isTempView"):
                    return inner
                table = fields["desc"]["identifier"]["table"]
                return Relation(tuple(self._base(table, (one.number, one.name)) for one in inner.shown))
            case "WithCTE":
                for definition in node.children[:-1]:
                    self._define(definition, outer)
                return self.relation(node.children[-1], outer, "")
            case "CTERelationRef":
                if fields["cteId"] not in self.ctes:
                    raise UnreadPlanError("a CTE that stands nowhere")
                return self._same(self.ctes[fields["cteId"]], fields["output"])
            case "UnionLoopRef":
                return self._same(self.ctes[fields["loopId"]], fields["output"])
            case "UnionLoop":
                return self._loop(node, outer)
            case "Union":
                return self._union([self.relation(child, outer, "") for child in node.children])
            case "Intersect" | "Except":
                left, right = (self.relation(child, outer, "") for child in node.children)
                rows = left.rows | right.rows | left.everything() | right.everything()
                return self._union([left, right], rows) if node.kind == "Intersect" else Relation(left.shown, rows)
            case "Join":
                return self._join(node, outer)
            case "LateralJoin":
                return self._lateral_join(node, outer)
        if len(node.children) != 1:
            raise UnreadPlanError(node.kind)
        below = self.relation(node.children[0], outer, "")
        values = {**outer, **below.values()}
        match node.kind:
            case "Project":
                shown = tuple(self._named(one, values) for one in fields["projectList"])
                return Relation(shown, below.rows)
            case "Aggregate":
                shown = tuple(self._named(one, values) for one in fields["aggregateExpressions"])
                return Relation(shown, below.rows | self._reads(fields["groupingExpressions"], values))
            case "Window":
                made = tuple(self._named(one, values) for one in fields["windowExpressions"])
                return Relation((*below.shown, *made), below.rows)
            case "Filter":
                return Relation(below.shown, below.rows | self._reads(fields["condition"], values))
            case "Sort":
                return Relation(below.shown, below.rows | self._reads(fields["order"], values))
            case "Distinct":
                return Relation(below.shown, below.rows | below.everything())
            case "GlobalLimit" | "LocalLimit":
                return Relation(below.shown, below.rows | self._reads(fields["limitExpr"], values))
            case "Generate":
                return self._generate(fields, below, values)
            case "Expand":
                if fields["projections"] is None:  # those of UNPIVOT are not in the JSON
                    raise UnreadPlanError("Expand without projections")
                lists = [[self._value(_tree(one), values) for one in each] for each in fields["projections"]]
                shown = tuple(
                    Shown(number, text, _of_all([one[position] for one in lists]))
                    for position, (number, text) in enumerate(_attributes(fields["output"]))
                )
                return Relation(shown, below.rows)
            case "ScriptTransformation":
                made = tuple(Shown(n, text, Value(below.everything())) for n, text in _attributes(fields["output"]))
                return Relation(made, below.rows)
            case (
                "Offset" | "PipeOperator" | "ResolvedHint" | "RepartitionByExpression" | "Sample" | "CollectMetrics"
                | "EventTimeWatermark" | "WithWindowDefinition"
            ):  # fmt: skip
                return below
        raise UnreadPlanError(node.kind)

    @staticmethod
    def _base(table: str, attribute: tuple[int, str]) -> Shown:
        number, name = attribute
        return Shown(number, name, Value(frozenset({f"{table}.{name}".lower()})))

    def _define(self, node: _Node, outer: Values) -> None:
        self.ctes[node.fields["id"]] = self.relation(node.children[0], outer, "")

    @staticmethod
    def _same(relation: Relation, output: Any) -> Relation:
        """Return the columns of a relation under other numbers."""
        attributes = _attributes(output)
        shown = (Shown(n, text, one.value) for one, (n, text) in zip(relation.shown, attributes, strict=True))
        return Relation(tuple(shown), relation.rows)

    @staticmethod
    def _union(branches: list[Relation], rows: Columns = _NOTHING) -> Relation:
        shown = tuple(
            first._replace(value=reduce(Value.beside, (one.shown[position].value for one in branches)))
            for position, first in enumerate(branches[0].shown)
        )
        return Relation(shown, rows.union(*(one.rows for one in branches)))

    def _loop(self, node: _Node, outer: Values) -> Relation:
        """Return a recursion's result: round after round, until a round adds nothing."""
        anchor, step = node.children
        number = node.fields["id"]
        total = self.relation(anchor, outer, "")
        while True:
            self.ctes[number] = total
            grown = self._union([total, self.relation(step, outer, "")])
            if grown == total:
                break
            total = grown
        numbers = [one["id"] for one in node.fields["outputAttrIds"]]
        shown = (one._replace(number=own) for one, own in zip(total.shown, numbers, strict=True))
        return Relation(tuple(shown), total.rows)

    def _join(self, node: _Node, outer: Values) -> Relation:
        left, right = (self.relation(child, outer, "") for child in node.children)
        values = {**outer, **left.values(), **right.values()}
        rows = left.rows | right.rows | self._reads(node.fields.get("condition") or [], values)
        semi = any(word in str(node.fields["joinType"]) for word in ("LeftSemi", "LeftAnti"))
        return Relation(left.shown if semi else (*left.shown, *right.shown), rows)

    def _lateral_join(self, node: _Node, outer: Values) -> Relation:
        left = self.relation(node.children[0], outer, "")
        lateral = node.fields["right"][0]
        right = self.relation(_tree(lateral["plan"]), {**outer, **left.values()}, "")
        values = {**outer, **left.values(), **right.values()}
        rows = left.rows | right.rows | self._reads(node.fields.get("condition") or [], values)
        return Relation((*left.shown, *right.shown), rows)

    def _generate(self, fields: Mapping[str, Any], below: Relation, values: Values) -> Relation:
        generator = fields["generator"]
        made = _attributes(fields["generatorOutput"])
        if str(generator[0]["class"]).endswith(".Stack"):
            arguments = [self._value(one, values).sources for one in _tree(generator).children[1:]]
            shown = tuple(
                Shown(number, text, Value(_NOTHING.union(*arguments[position :: len(made)])))
                for position, (number, text) in enumerate(made)
            )
            return Relation((*below.shown, *shown), below.rows)
        read = self._reads(generator, values)
        rows = _NOTHING if str(generator[0]["class"]).endswith(".JsonTuple") else read  # one row for each
        return Relation((*below.shown, *(Shown(n, text, Value(read)) for n, text in made)), below.rows | rows)

    def _named(self, expression: list[Any], values: Values) -> Shown:
        first = expression[0]
        if not isinstance(first, dict) or "exprId" not in first:
            raise UnreadPlanError(str(first)[:60])
        return Shown(first["exprId"]["id"], str(first.get("name", "")), self._value(_tree(expression), values))

    def _reads(self, value: Any, values: Values) -> Columns:
        """Return the base columns that expressions read, those of their sub-queries too."""
        if _is_plan(value):
            inner = self.relation(_tree(value), values, "")
            return inner.rows | inner.everything()
        if isinstance(value, list):
            if value and isinstance(value[0], dict) and "num-children" in value[0]:
                return self._value(_tree(value), values).sources
            return _NOTHING.union(*(self._reads(one, values) for one in value))
        return _NOTHING

    def _value(self, node: _Node, values: Values) -> Value:
        """Return what an expression reads."""
        if node.kind == "AttributeReference":
            try:
                return values[node.fields["exprId"]["id"]]
            except KeyError as error:  # the plan is not valid: Spark fails when it optimises it
                raise UnreadPlanError("an attribute that no operator gives") from error
        plans = [one for one in node.fields.values() if _is_plan(one)]
        if plans:  # a sub-query: its children are whole columns of the queries around, and it may read a field alone
            inner = self.relation(_tree(plans[0]), values, "")
            return Value(inner.rows if node.kind == "Exists" else inner.rows | inner.everything())
        below = [self._value(child, values) for child in node.children]
        if node.kind in ("Alias", "Cast", "PipeExpression"):
            return below[0]
        if node.kind == "OuterReference":
            return self._value(_tree(node.fields["e"]), values)
        if node.kind == "GetStructField" and below[0].fields is not None:
            return Value(below[0].fields[node.fields["ordinal"]])
        sources = _NOTHING.union(*(one.sources for one in below))
        if node.kind == "CreateNamedStruct":
            return Value(sources, tuple(one.sources for one in below[1::2]))
        return Value(sources, _chosen_fields(node.kind, below))


_CHOOSES = frozenset(
    ("First", "Last", "Max", "Min", "AnyValue", "MaxBy", "MinBy", "AggregateExpression", "WindowExpression")
)
"""They return their first operand, of one row or another."""


def _chosen_fields(kind: str, below: Sequence[Value]) -> tuple[Columns, ...] | None:
    """Return what each field of a struct reads that an expression chooses from its operands; None for another one."""
    choices: Sequence[Value] = below
    tests: Sequence[Value] = ()
    if kind == "CaseWhen":
        tests = below[: len(below) // 2 * 2 : 2]
        choices = [*below[1::2], *(below[-1:] if len(below) % 2 else ())]
    elif kind == "If" or kind in _CHOOSES:
        tests, choices = (below[:1], below[1:]) if kind == "If" else (below[1:], below[:1])
    elif kind not in ("Coalesce", "Greatest", "Least"):
        return None
    known = [one.fields for one in choices if one.fields is not None]
    if not known or len(known) < len(choices) or len({len(one) for one in known}) > 1:
        return None
    decisive = _NOTHING.union(*(one.sources for one in tests))
    fields = [_NOTHING.union(*each) | decisive for each in zip(*known, strict=True)]
    if kind in ("Greatest", "Least", "Max", "Min"):  # structs are compared by their fields, from left to right
        fields = [_NOTHING.union(*fields[: number + 1]) for number in range(len(fields))]
    return tuple(fields)


def _nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _is_command(node: _Node) -> bool:
    return any(word in node.kind for word in ("Command", "Insert", "AppendData", "Overwrite", "AsSelect"))


def _attributes(output: Any) -> list[tuple[int, str]]:
    """Return the numbers and names of attributes."""
    return [(one[0]["exprId"]["id"], str(one[0]["name"])) for one in output]
