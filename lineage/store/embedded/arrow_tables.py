"""Rows for ladybug's COPY as Arrow tables. Importing Arrow takes longer than most commands.

Importing pandas takes 0.7 s of processor time. `pyarrow.array` does so to see whether its argument is a Series: the
arrays are made of their buffers. So does ladybug, to see whether a table is a DataFrame: pandas is hidden from it.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from types import ModuleType
from typing import Any, cast

import pyarrow as pa

from lineage.store.cypher.schema import Properties, PropertyType

__all__ = ["arrow_table", "without_pandas"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)
_MAX_BYTES = 2**31 - 1
"""What the 32-bit offsets of `pyarrow.string` reach."""


def arrow_table(columns: Mapping[str, Sequence[Any]], types: Properties) -> pa.Table:
    """Return a table of these columns, with the types of properties; None is NULL, times have a zone.

    Raises:
        ValueError: the texts of a column have 2 GiB or more.
    """
    arrays = [_ARRAYS[kind](columns[name]) for name, kind in types.items()]
    return pa.Table.from_arrays(arrays, names=list(types))


@contextmanager
def without_pandas() -> Iterator[None]:
    """Keep pandas from being imported, if it is not yet, and this is the main thread: others may want it meanwhile."""
    if "pandas" in sys.modules or threading.current_thread() is not threading.main_thread():
        yield
        return
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    modules["pandas"] = None  # importing it fails
    try:
        yield
    finally:
        if modules.get("pandas") is None:
            modules.pop("pandas", None)


def _texts(values: Sequence[str | None]) -> pa.Array:
    whole = [value or "" for value in values]
    joined = "".join(whole)
    data = joined.encode()
    # Of ASCII texts the lengths in characters are those in bytes.
    lengths = map(len, whole) if len(data) == len(joined) else (len(value.encode()) for value in whole)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"{len(data):,} bytes of text in one column")
    offsets = array("i", accumulate(lengths, initial=0))
    return _array(pa.string(), values, [pa.py_buffer(offsets), pa.py_buffer(data)])


def _lists(of: Callable[[Sequence[Any]], pa.Array]) -> Callable[[Sequence[Sequence[Any] | None]], pa.Array]:
    def lists(values: Sequence[Sequence[Any] | None]) -> pa.Array:
        items = of([item for value in values if value for item in value])
        offsets = array("i", accumulate((len(value) if value else 0 for value in values), initial=0))
        return _array(pa.list_(items.type), values, [pa.py_buffer(offsets)], [items])

    return lists


def _numbers(of: pa.DataType, code: str, convert: Callable[[Any], Any]) -> Callable[[Sequence[Any]], pa.Array]:
    """Return a function that makes an array of numbers; equal values, which many are, are converted once."""

    def numbers(values: Sequence[Any]) -> pa.Array:
        converted = {value: convert(value) for value in set(values) if value is not None}
        converted[None] = 0
        return _array(of, values, [pa.py_buffer(array(code, map(converted.__getitem__, values)))])

    return numbers


def _flags(values: Sequence[bool | None]) -> pa.Array:
    return _array(pa.bool_(), values, [_bits(list(map(bool, values)))])


def _array(
    of: pa.DataType, values: Sequence[Any], buffers: list[pa.Buffer], children: list[pa.Array] | None = None
) -> pa.Array:
    valid = None if None not in values else _bits([value is not None for value in values])
    return pa.Array.from_buffers(of, len(values), [valid, *buffers], children=children)


def _bits(values: Sequence[bool]) -> pa.Buffer:
    """Return a bitmap, the first value in the lowest bit."""
    number = int("".join("1" if value else "0" for value in reversed(values)) or "0", 2)
    return pa.py_buffer(number.to_bytes((len(values) + 7) // 8, "little"))


_INTEGERS = _numbers(pa.int64(), "q", int)
_ARRAYS: Mapping[PropertyType, Callable[[Sequence[Any]], pa.Array]] = {
    PropertyType.TEXT: _texts,
    PropertyType.TEXTS: _lists(_texts),
    PropertyType.INTEGER: _INTEGERS,
    PropertyType.INTEGERS: _lists(_INTEGERS),
    PropertyType.NUMBER: _numbers(pa.float64(), "d", float),
    PropertyType.FLAG: _flags,
    PropertyType.TIME: _numbers(pa.timestamp("us"), "q", lambda at: (at - _EPOCH) // _MICROSECOND),
    PropertyType.DAY: _numbers(pa.date32(), "i", lambda day: day.toordinal() - _FIRST_DAY),
}
