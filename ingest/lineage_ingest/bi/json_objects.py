"""Values of JSON and YAML whose form is not certain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["objects_in", "text_or_none"]


def objects_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; of anything else, nothing.

    >>> objects_in([{"a": 1}, 2]), objects_in({"a": 1})
    ([{'a': 1}], [])
    """
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def text_or_none(value: Any) -> str | None:
    """Return a value as a text; None if it is empty."""
    return str(value) if value else None
