"""How SQLite stores the values of properties: times in microseconds, flags as 0 and 1, lists as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias

from lineage.store.graph.schema import PropertyType

__all__ = ["DECODERS", "ENCODERS", "Decoder", "from_microseconds", "parameter", "to_microseconds"]

Decoder: TypeAlias = Callable[[Any], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@lru_cache(maxsize=100_000)
def to_microseconds(at: datetime) -> int:
    """Return a time in microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=100_000)
def from_microseconds(microseconds: int) -> datetime:
    """Return the time that is so many microseconds after 1970, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _list_to_text(values: Any) -> str:
    if not values:
        return "[]"
    if isinstance(values[0], str):
        joined = '","'.join(values)
        if joined.isprintable() and "\\" not in joined and joined.count('"') == 2 * (len(values) - 1):
            return f'["{joined}"]'  # nothing in it has to be escaped
    return _encode(list(values))


@lru_cache(maxsize=10_000)
def _tuple_from_text(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


def _list_from_text(text: str) -> list[Any]:
    return [] if text == "[]" else list(_tuple_from_text(text)) if len(text) < 100 else json.loads(text)


def _moment(value: Any) -> Any:
    return from_microseconds(value) if isinstance(value, int) else value


ENCODERS: Mapping[PropertyType, Callable[[Any], Any]] = {
    PropertyType.TEXTS: _list_to_text,
    PropertyType.INTEGERS: _list_to_text,
    PropertyType.FLAG: int,
    PropertyType.TIME: to_microseconds,
    PropertyType.DAY: date.isoformat,
}
"""Functions from a value to what is stored; other kinds of values, and None, are stored as they are."""

DECODERS: Mapping[str, Decoder] = {
    "texts": _list_from_text,
    "integers": _list_from_text,
    "flag": bool,
    "time": from_microseconds,
    "day": date.fromisoformat,
    "moment": _moment,
}
"""The reverse, by the names of property types; a `moment` is a time, or a text."""


def parameter(value: Any) -> Any:
    """Return a parameter of a statement as SQLite takes it."""
    if isinstance(value, datetime):
        return to_microseconds(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return _list_to_text(value)
    return int(value) if isinstance(value, bool) else value
