"""What a plan's columns and rows come from, traced to datasets: as the SQL resolver has it, by attribute id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from lineage.model.influence.transformations import Subtype
from lineage.sql.resolve.transformation_codes import COMPOSE, IDENTITY, LIMITED_SORT, SORT, STEPS, TRANSFORMATION

__all__ = [
    "OUTER",
    "PlanRelation",
    "PlanRows",
    "PlanSource",
    "Sources",
    "Value",
    "absorb",
    "absorbed",
    "merge_values",
    "outer_value",
    "unchanged",
]

OUTER = "\0outer"
"""In place of a dataset: the source is an attribute of a plan around this one."""


class PlanSource(NamedTuple):
    """A column of a dataset (by key) with the path of a nested field, or the dataset's rows (no path)."""

    dataset: str
    path: tuple[str, ...] | None


Sources: TypeAlias = "dict[tuple[PlanSource, int], None]"
"""Sources with their transformation codes, in order."""
Change: TypeAlias = "Callable[[Sources], Sources]"


class Value:
    """The sources of a value, and what is known of its parts.

    `fields` are those of a struct that the plan builds, `elements` and `keys` what an array or map that it builds has.
    `inner` are values that this one may be, each with what happens to it on the way: a part of this value is that of
    one of them. What decides which one it is (`deciding`) decides each of its parts.
    """

    __slots__ = ("_parts", "deciding", "depth", "elements", "fields", "inner", "keys", "sources")

    def __init__(
        self,
        sources: Sources,
        fields: Mapping[str, Value] | None = None,
        *,
        elements: Value | None = None,
        keys: Value | None = None,
        inner: Iterable[tuple[Value, Change]] = (),
        deciding: Sources | None = None,
    ) -> None:
        self.sources = sources
        self.fields = fields
        self.elements = elements
        self.keys = keys
        self.inner = [(value, change) for value, change in inner if value.has_parts]
        self.deciding: Sources = deciding or {}
        self.depth: int = 1 + max((value.depth for value, _ in self.inner), default=elements.depth if elements else 0)
        if self.depth > _MAX_DEPTH:
            self.inner, self.elements = [], None
        self._parts: dict[object, Value] = {}

    @property
    def has_parts(self) -> bool:
        """Whether a part of it can come from less than the whole does."""
        return bool(self.fields or self.elements or self.inner or any(code == IDENTITY for _, code in self.sources))

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of its fields in order, as far as the plan says them."""
        if self.fields is not None:
            return tuple(self.fields)
        return next((names for value, _ in self.inner if (names := value.field_names)), ())

    def field(self, name: str) -> Value:
        """Return the value of a field: of a struct, of the elements of an array, or of a column."""
        return self._part(name, lambda value: value._own_field(name))

    def element(self) -> Value:
        """Return the value of an element of an array, or of a map's values."""
        return self._part(_ELEMENT, Value._own_element)

    def key(self) -> Value:
        """Return the value of a map's keys."""
        return self._part(_KEY, lambda value: value.keys or Value(absorbed(value.sources, TRANSFORMATION)))

    def item(self, key: str) -> Value:
        """Return the value that a map has at a key."""
        return self._part((key,), lambda value: value._own_item(key))

    def _part(self, kind: object, own: Callable[[Value], Value]) -> Value:
        if (known := self._parts.get(kind)) is not None:
            return known
        found = self._parts[kind] = own(self) if not self._is_of_inner(kind) else self._of_inner(kind, own)
        return found

    def _is_of_inner(self, kind: object) -> bool:
        return bool(self.inner) and self.elements is None and (self.fields is None or kind not in self.fields)

    def _of_inner(self, kind: object, own: Callable[[Value], Value]) -> Value:
        found: Sources = dict(self.deciding)
        parts = [(value._part(kind, own), change) for value, change in self.inner]
        for part, change in parts:
            found.update(change(part.sources))
        return Value(found, inner=parts, deciding=self.deciding)

    def _own_field(self, name: str) -> Value:
        if self.fields is not None:
            wanted = name.lower()
            return next((one for key, one in self.fields.items() if key.lower() == wanted), Value(self.sources))
        if self.elements is not None:
            inner = self.elements.field(name)
            return Value(inner.sources, elements=inner)
        nested: Sources = {}
        for source, code in self.sources:
            if code == IDENTITY and source.path is not None:
                nested[PlanSource(source.dataset, (*source.path, name)), code] = None
            else:
                nested[source, code] = None
        return Value(nested)

    def _own_item(self, key: str) -> Value:
        if self.elements is None:
            return self._own_field(key)
        return self.elements if self.fields is None else self.fields.get(key, Value({}))

    def _own_element(self) -> Value:
        if self.elements is not None:
            return self.elements
        return Value(absorbed(self.sources, TRANSFORMATION), inner=[(self, unchanged)])

    def renamed(self, names: Sequence[str]) -> Value:
        """Return a struct whose fields have other names, by position; the value itself if it is not known to be one."""
        own = self.field_names
        if len(own) != len(names) or tuple(names) == own or self.elements is not None:
            return self
        return Value(self.sources, {new: self.field(old) for new, old in zip(names, own, strict=True)})

    def composed(self, effect: int) -> Value:
        """Return the value after a transformation that keeps its parts."""
        return self.mapped(lambda sources: absorbed(sources, effect))

    def mapped(self, change: Change) -> Value:
        """Return the value with other sources, also of its parts."""
        return Value(change(self.sources), inner=[(self, change)])

    def decided_by(self, deciding: Sources) -> Value:
        """Return the value with what decides it: each of its parts, too."""
        return Value({**self.sources, **deciding}, inner=[(self, unchanged)], deciding=deciding)


_MAX_DEPTH = 100
"""How many values deep parts are followed: beyond it, a part comes from all that the whole does."""
_ELEMENT, _KEY = object(), object()


def unchanged(sources: Sources) -> Sources:
    """Return the sources as they are."""
    return sources


def absorbed(sources: Iterable[tuple[PlanSource, int]], effect: int) -> Sources:
    """Return sources, composed with an effect."""
    found: Sources = {}
    absorb(found, sources, effect)
    return found


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
    return Value(sources, inner=[(value, unchanged) for value in listed])


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
