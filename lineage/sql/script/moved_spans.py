"""Values that hold spans, at another place of a text."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar

from lineage.model.diagnostics import Span

__all__ = ["moved"]

T = TypeVar("T")


def moved(value: T, was: Span, now: Span) -> T:
    """Return a value whose spans lie in `was`, with its spans as they are after `was` has moved to `now`.

    >>> moved((Span(7, 9, 1, 8), Span(12, 13, 2, 1)), Span(5, 20, 1, 6), Span(8, 23, 3, 2))
    (Span(start=10, end=12, line=3, column=4), Span(start=15, end=16, line=4, column=1))
    """
    by, lines, columns = now.start - was.start, now.line - was.line, now.column - was.column

    def place(span: Span) -> Span:
        column = span.column + columns if span.line == was.line else span.column
        return Span(span.start + by, span.end + by, span.line + lines, column)

    def move(one: Any) -> Any:
        kind: Any = type(one)
        if kind is Span:
            return place(one)
        if kind is tuple or kind is list:
            return kind([move(each) for each in one])
        names = _holding(kind)
        if not names:
            return one
        changed = {name: move(getattr(one, name)) for name in names}
        return one._replace(**changed) if hasattr(one, "_replace") else dataclasses.replace(one, **changed)

    found: T = move(value)
    return found


@cache
def _holding(kind: Hashable) -> tuple[str, ...]:
    """Return the fields of a class of named tuples or dataclasses that may hold spans."""
    return tuple(name for name, hint in _hints(kind).items() if _may_hold(hint, frozenset((kind,))))


def _may_hold(hint: Any, around: frozenset[Hashable]) -> bool:
    if hint is Span or hint is Any:
        return True
    if arguments := typing.get_args(hint):
        return any(_may_hold(one, around) for one in arguments)
    return hint not in around and any(_may_hold(one, around | {hint}) for one in _hints(hint).values())


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    if not isinstance(kind, type) or not (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
        return {}
    hints = typing.get_type_hints(kind)
    names = kind._fields if hasattr(kind, "_fields") else [one.name for one in dataclasses.fields(kind)]
    return {name: hints[name] for name in names}
