"""Values in saved files: pickled, and read back without running anything that a file could name."""

from __future__ import annotations

import io
import pickle
from typing import Any

__all__ = ["UnexpectedClassError", "from_saved", "to_saved"]

_BUILTINS = frozenset(
    (("builtins", "frozenset"), ("builtins", "set"), ("collections", "defaultdict"), ("builtins", "list"))
)

UnexpectedClassError = pickle.UnpicklingError
"""A file has a value of a class that is not expected in it."""


def to_saved(values: Any) -> bytes:
    """Return plain values, and values of the product's own classes, as `from_saved` reads them."""
    return pickle.dumps(values, pickle.HIGHEST_PROTOCOL)


def from_saved(content: bytes, modules: tuple[str, ...]) -> Any:
    """Return the values in a file, whose classes are in these modules (the beginnings of their names).

    Raises:
        UnexpectedClassError: there is a value of another class.
    """
    return _ValuesReader(content, modules).load()


class _ValuesReader(pickle.Unpickler):
    def __init__(self, content: bytes, modules: tuple[str, ...]) -> None:
        super().__init__(io.BytesIO(content))
        self._modules = modules

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _BUILTINS or module.startswith(self._modules):
            return super().find_class(module, name)
        raise UnexpectedClassError(f"{module}.{name} is not expected in a saved file")
