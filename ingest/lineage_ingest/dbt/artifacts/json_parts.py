"""A JSON text taken apart: Python objects are made of the parts that are read, and of nothing else.

Most of a manifest is not read, or not again: SQL, descriptions and settings of nodes that have not changed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from msgspec import UNSET, Raw, ValidationError, defstruct
from msgspec.json import Decoder
from msgspec.structs import astuple
from pydantic_core import from_json, to_json

__all__ = ["FieldReader", "Part", "parts_of", "read_parts", "value_of"]

Part: TypeAlias = Raw
"""The text of a value within a larger one."""

_ANY = Decoder()
_OBJECT: Decoder[dict[str, Raw]] = Decoder(dict[str, Raw])


def read_parts(text: bytes) -> tuple[dict[str, Part] | None, bool]:
    """Return the members of the object that a JSON text is, and whether the text is whole.

    Of a text that is cut off, these are the members that are there; None if it is not the text of an object.
    """
    try:
        return parts_of(Raw(text)), True
    except ValueError:
        pass
    for partial in (False, True):  # the other reader takes NaN, and texts that are cut off
        try:
            value = from_json(text, allow_partial=partial)
        except ValueError:
            continue
        return parts_of(Raw(to_json(value, inf_nan_mode="null"))), not partial
    return None, False


def parts_of(part: Part) -> dict[str, Part] | None:
    """Return the members of an object, in order; None if the value is something else.

    Raises:
        ValueError: the text is damaged.
    """
    try:
        return _OBJECT.decode(part)
    except ValidationError:
        return None


def value_of(part: Part) -> Any:
    """Return a value.

    Raises:
        ValueError: the text is damaged.
    """
    try:
        return _ANY.decode(part)
    except ValueError:
        return from_json(bytes(part))  # it takes numbers of any size


class FieldReader:
    """Reads some members of objects and none of the others, each object in one pass."""

    def __init__(self, names: Collection[str], *, parts: Collection[str] = ()) -> None:
        """Read the members with these names; those in `parts` are given as texts."""
        self._names = tuple(names)
        self._parts = frozenset(parts)
        kinds = [(name, Raw, _NO_PART) if name in self._parts else (name, Any, UNSET) for name in self._names]
        self._decoder = Decoder(defstruct("_Fields", kinds, gc=False))

    def read(self, part: Part) -> dict[str, Any] | None:
        """Return the members that an object has; None if the value is something else.

        Raises:
            ValueError: the text is damaged.
        """
        try:
            values = astuple(self._decoder.decode(part))
        except ValueError:
            found = parts_of(part)
            if found is None:
                return None
            read = {name: found[name] for name in self._names if name in found}
            return {name: text if name in self._parts else value_of(text) for name, text in read.items()}
        return {
            name: value
            for name, value in zip(self._names, values, strict=True)
            if value is not UNSET and value is not _NO_PART
        }


_NO_PART = Raw()
