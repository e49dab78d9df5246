"""How the fields of a value are stored as properties of a node or a relationship."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from typing import Any, Generic, TypeVar

from lineage.frozen import frozen

__all__ = ["Properties", "Property", "PropertyMap", "PropertyType", "derived", "group", "stored"]

V = TypeVar("V")
_Function = Callable[..., Any]


class PropertyType(Enum):
    """What a property holds."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    INTEGERS = "integers"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"
    DAY = "day"


Properties = Mapping[str, PropertyType]
"""The properties of a label or relationship type."""


@frozen
class Property:
    """One or more properties that hold one field of a value. `encode` and `decode` convert the field.

    Without a field they are derived from the whole value, and never read back.
    """

    types: Properties
    field: str | None
    encode: Callable[[Any], Any] | None = None
    decode: Callable[..., Any] | None = None
    reads: tuple[str, ...] = ()
    """The properties that `decode` takes."""


def stored(
    name: str,
    of: PropertyType,
    *,
    field: str | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Callable[..., Any] | None = None,
    reads: Sequence[str] = (),
) -> Property:
    """Return the property for a field of its name, or of another `field`."""
    if decode is None and of is PropertyType.TEXTS:
        encode, decode = encode or list, _tuple  # a row may have no value
    elif decode is None and of is PropertyType.FLAG:
        decode = bool
    return Property({name: of}, field or name, encode, decode, tuple(reads) or (name,))


def group(
    field: str, types: Properties, encode: Callable[[Any], Sequence[Any]], decode: Callable[..., Any]
) -> Property:
    """Return the properties that together hold one field; `encode` returns their values in order."""
    return Property(types, field, encode, decode, tuple(types))


def derived(name: str, of: PropertyType, compute: Callable[[Any], Any] | None = None) -> Property:
    """Return a property that is computed from the whole value, or by the caller of `encode`.

    Such properties are for searches, and for people who read the graph.
    """
    return Property({name: of}, None, compute)


class PropertyMap(Generic[V]):
    """All properties of a label or relationship type, written from values of one class and read back."""

    def __init__(self, make: Callable[..., V], *properties: Property, keyed: bool = False) -> None:
        """Map the fields of what `make` returns; it takes them by name. `keyed` values have a `key` as well."""
        self.types: Properties = {name: of for one in properties for name, of in one.types.items()}
        self._make = make
        self._names = tuple(self.types)
        fields = [one.field or properties[0].field or "" for one in properties for _ in one.types]
        self._get: Callable[[V], tuple[Any, ...]] = attrgetter(*fields)
        self._plain = [("key", "key")] if keyed else []
        self._encoders: list[tuple[str, _Function]] = []
        self._group_encoders: list[tuple[tuple[str, ...], _Function]] = []
        self._derived: list[tuple[str, _Function]] = []
        self._decoders: list[tuple[str, str, _Function]] = []
        self._group_decoders: list[tuple[str, tuple[str, ...], _Function]] = []
        for one in properties:
            self._add(one)

    def _add(self, graph_property: Property) -> None:
        names = tuple(graph_property.types)
        if graph_property.field is None:
            if graph_property.encode is not None:
                self._derived.append((names[0], graph_property.encode))
            return
        # Of a field of another value the last part is what `make` takes.
        field = graph_property.field.rpartition(".")[2]
        if graph_property.encode is not None and len(names) > 1:
            self._group_encoders.append((names, graph_property.encode))
        elif graph_property.encode is not None:
            self._encoders.append((names[0], graph_property.encode))
        if graph_property.decode is None:
            self._plain.append((field, names[0]))
        elif len(graph_property.reads) > 1:
            self._group_decoders.append((field, graph_property.reads, graph_property.decode))
        else:
            self._decoders.append((field, graph_property.reads[0], graph_property.decode))

    def encode(self, value: V, **properties: Any) -> dict[str, Any]:
        """Return the properties that hold a value, behind other `properties`."""
        properties.update(zip(self._names, self._get(value), strict=True))
        for name, encode in self._encoders:
            properties[name] = encode(properties[name])
        for names, encode in self._group_encoders:
            properties.update(zip(names, encode(properties[names[0]]), strict=True))
        for name, derive in self._derived:
            properties[name] = derive(value)
        return properties

    def decode(self, row: Mapping[str, Any], **others: Any) -> V:
        """Return the value that these properties hold; `others` are its fields that no property holds."""
        for field, name in self._plain:
            others[field] = row.get(name)
        for field, name, decode in self._decoders:
            others[field] = decode(row.get(name))
        for field, names, decode in self._group_decoders:
            others[field] = decode(*(row.get(name) for name in names))
        return self._make(**others)


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...]:
    return tuple(values or ())
