"""Values in saved files: pickled, and read back without running anything that a file could name."""

from __future__ import annotations

import io
import pickle
from enum import Enum
from typing import Any, BinaryIO

__all__ = ["UnexpectedClassError", "from_saved", "read_saved", "to_saved", "write_saved"]

_PLAIN = frozenset(
    (
        *(("builtins", name) for name in ("frozenset", "list", "set")),
        ("collections", "defaultdict"),
        *(("datetime", name) for name in ("date", "datetime", "timedelta", "timezone")),
    )
)

UnexpectedClassError = pickle.UnpicklingError
"""A file has a value of a class that is not expected in it."""


def to_saved(values: Any) -> bytes:
    """Return plain values, and values of the product's own classes, as `from_saved` reads them."""
    file = io.BytesIO()
    write_saved(values, file)
    return file.getvalue()


def write_saved(values: Any, file: BinaryIO) -> None:
    """Write plain values, and values of the product's own classes, as `read_saved` reads them."""
    _ValuesWriter(file, pickle.HIGHEST_PROTOCOL).dump(values)


def from_saved(content: bytes, modules: tuple[str, ...]) -> Any:
    """Return the values in a file, whose classes are in these modules (the beginnings of their names).

    Raises:
        UnexpectedClassError: there is a value of another class.
    """
    return read_saved(io.BytesIO(content), modules)


def read_saved(file: BinaryIO, modules: tuple[str, ...]) -> Any:
    """Return the next values in a file, as `from_saved` does.

    Raises:
        UnexpectedClassError: there is a value of another class.
    """
    return _ValuesReader(file, modules).load()


class _ByClass(pickle.Pickler):
    """Saves a member of an enum as its class and value."""

    def reducer_override(self, obj: Any) -> Any:
        return (type(obj), (obj.value,)) if isinstance(obj, Enum) else NotImplemented


class _Probe(Enum):
    MEMBER = 1


# Early releases of Python 3.11 (Debian 12 has 3.11.2) save a call of getattr, which the reader refuses.
_ValuesWriter = _ByClass if _Probe.MEMBER.__reduce_ex__(4)[0] is getattr else pickle.Pickler


class _ValuesReader(pickle.Unpickler):
    def __init__(self, file: BinaryIO, modules: tuple[str, ...]) -> None:
        super().__init__(file)
        self._modules = modules

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if module.startswith(self._modules):
            found = super().find_class(module, name)
            # A module also holds what it imports, and a dotted name reaches into that.
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise UnexpectedClassError(f"{module}.{name} is not expected in a saved file")
