"""What a plan's columns and rows come from, traced to datasets: as the SQL resolver has it, by attribute id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from lineage.model.transformations import Subtype
from lineage.sql.resolve.transformation_codes import COMPOSE, IDENTITY, LIMITED_SORT, SORT, STEPS, TRANSFORMATION

__all__ = [
    "OUTER",
    "PlanRelation",
    "PlanRows",
    "PlanSource",
    "Sources",
    "Value",
    "absorb",
    "merge_values",
    "outer_value",
]

OUTER = "\0outer"
"""In place of a dataset: the source is an attribute of a plan around this one."""


class PlanSource(NamedTuple):
    """A column of a dataset (by key) with the path of a nested field, or the dataset's rows (no path)."""

    dataset: str
    path: tuple[str, ...] | None


Sources: TypeAlias = "dict[tuple[PlanSource, int], None]"
"""Sources with their transformation codes, in order."""


class Value:
    """The sources of a value, and those of its fields if it is a struct that the plan builds.

    `whole` is the value of which this is an element: the fields of the element are those of the whole. `is_pivoted`
    marks the array of a PIVOT, whose items are its columns.
    """

    __slots__ = ("fields", "is_pivoted", "sources", "whole")

    def __init__(self, sources: Sources, fields: Mapping[str, Value] | None = None, whole: Value | None = None) -> None:
        self.sources = sources
        self.fields = fields
        self.whole = whole
        self.is_pivoted = False

    def field(self, name: str) -> Value:
        """Return the value of a field: of a struct, of a column, or of the whole that this is an element of."""
        value = self
        if value.fields is not None and name in value.fields:
            return value.fields[name]
        while value.whole is not None:
            value = value.whole
            if value.fields is not None and name in value.fields:
                return value.fields[name]
        nested: Sources = {}
        for source, code in value.sources:
            if code == IDENTITY and source.path is not None:
                nested[PlanSource(source.dataset, (*source.path, name)), code] = None
            else:
                nested[source, code] = None
        return Value(nested)

    def element(self) -> Value:
        """Return the value of an element of an array or map."""
        lifted: Sources = {}
        absorb(lifted, self.sources, TRANSFORMATION)
        return Value(lifted, self.fields, None if self.fields is not None else self)

    def composed(self, effect: int) -> Value:
        """Return the value after a transformation that keeps its fields."""
        changed: Sources = {}
        absorb(changed, self.sources, effect)
        fields = {name: one.composed(effect) for name, one in self.fields.items()} if self.fields is not None else None
        return Value(changed, fields)

    def mapped(self, change: Callable[[Sources], Sources]) -> Value:
        """Return the value with other sources, also of its fields."""
        fields = {name: one.mapped(change) for name, one in self.fields.items()} if self.fields is not None else None
        return Value(change(self.sources), fields, self.whole.mapped(change) if self.whole is not None else None)


def absorb(sink: Sources, sources: Iterable[tuple[PlanSource, int]], effect: int = IDENTITY) -> None:
    """Add sources, composed with an effect, to a sink."""
    composed = COMPOSE[effect]
    for source, code in sources:
        sink[source, composed[code]] = None


def merge_values(values: Iterable[Value]) -> Value:
    """Return the value that is one of these."""
    listed = list(values)
    if len(listed) == 1:
        return listed[0]
    sources: Sources = {}
    for value in listed:
        sources.update(value.sources)
    fields = None
    if listed and all(value.fields is not None for value in listed if value.sources):
        names = dict.fromkeys(name for value in listed for name in value.fields or ())
        fields = {name: merge_values(v.fields[name] for v in listed if v.fields and name in v.fields) for name in names}
    return Value(sources, fields or None)


def outer_value(expr_id: int) -> Value:
    """Return a value that stands for an attribute of a plan around this one."""
    return Value({(PlanSource(OUTER, (str(expr_id),)), IDENTITY): None})


class PlanRows:
    """What decides the rows of a relation: its own influences, and those of the relations that it reads."""

    __slots__ = ("inputs", "own")

    def __init__(self, own: Sources | None = None, inputs: Iterable[PlanRows] = ()) -> None:
        self.own: Sources = own if own is not None else {}
        self.inputs = list(inputs)

    def flat(self) -> Sources:
        """Return all of them."""
        found: Sources = {}
        seen = {id(self)}
        stack = [self]
        while stack:
            one = stack.pop()
            found.update(one.own)
            for below in one.inputs:
                if id(below) not in seen:
                    seen.add(id(below))
                    stack.append(below)
        return found


class PlanRelation:
    """The output of a plan node: attribute ids in order, the value of each, and what decides its rows.

    `order` are the keys of a sort that no limit has cut yet.
    """

    __slots__ = ("order", "output", "own_rows", "values")

    def __init__(
        self, output: Iterable[int], values: dict[int, Value], rows: PlanRows, order: Sources | None = None
    ) -> None:
        self.output = list(output)
        self.values = values
        self.own_rows = rows
        self.order: Sources = order if order is not None else {}

    @property
    def rows(self) -> PlanRows:
        """What decides its rows, and in which order they are."""
        return PlanRows(self.order, [self.own_rows]) if self.order else self.own_rows

    def limited(self, own: Sources) -> PlanRelation:
        """Return the relation cut by a limit, so that its order decides which rows there are."""
        sources = {
            (source, code + LIMITED_SORT - SORT if STEPS[code].subtype is Subtype.SORT else code): None
            for source, code in self.order
        }
        return PlanRelation(self.output, self.values, PlanRows({**sources, **own}, [self.own_rows]))

    def columns(self) -> list[Value]:
        """Return the values of its columns, in order."""
        return [self.values[one] if one in self.values else outer_value(one) for one in self.output]

    def mapped(self, change: Callable[[Sources], Sources]) -> PlanRelation:
        """Return the relation with other sources."""
        values = {key: value.mapped(change) for key, value in self.values.items()}
        return PlanRelation(self.output, values, PlanRows(change(self.rows.flat())))
