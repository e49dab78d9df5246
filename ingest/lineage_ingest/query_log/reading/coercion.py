"""Converts columns of any Arrow type to text, numbers and booleans. What cannot be converted is null, never an error.

The same column is text in a CSV file, typed in Parquet, and text again if Spark reads JSON with a schema of strings.
An adapter asks for the type that it needs, and does not depend on the file.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["count_of", "flags", "is_texty", "objects", "readable", "statement_texts", "strings", "texts", "trimmed"]

_STRING = pa.string()

_NUMBER = r"^\s*[+-]?(?:\d{1,19}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?\s*$"
_WHOLE = r"^\s*-?\d{1,18}\s*$"


def texts(values: Any) -> Any:
    """Return values as strings; empty strings (CSV's null) and values that are not text become null.

    >>> texts(pa.array([7, None])).to_pylist(), texts(pa.array([b"a", b"\\xff"])).to_pylist()
    (['7', None], ['a', None])
    """
    read = strings(values)
    return pc.if_else(pc.equal(pc.binary_length(read), 0), pa.scalar(None, _STRING), read)


def trimmed(values: Any) -> Any:
    """Return texts without leading and trailing blanks, the padding of fixed-width columns."""
    return texts(pc.utf8_trim_whitespace(strings(values)))


def statement_texts(values: Any) -> tuple[Any, Any]:
    """Return the statements, and a mask of the values that are not text (invalid UTF-8, or with a NUL)."""
    read = strings(values)
    # Not decodable, or with a NUL: SQL never has one, and stores reject it.
    junk = pc.and_(pc.is_valid(values), pc.is_null(read))
    if _has_nul(read):
        junk = pc.or_(junk, pc.fill_null(pc.match_substring(read, "\0"), False))
    blank = pc.fill_null(pc.match_substring_regex(read, r"^\s*$"), False)
    return pc.if_else(pc.or_(junk, blank), pa.scalar(None, _STRING), read), junk


def count_of(values: Any, scale: float = 1) -> Any:
    """Return values multiplied by `scale`, as whole numbers; null for values that are not numbers.

    >>> count_of(pa.array(["12", "1.5", "x", "", None, "1e400"]), scale=1000).to_pylist()
    [12000, 1500, None, None, None, None]
    >>> count_of(pa.array([2**64 - 1, 3], pa.uint64())).to_pylist()
    [None, 3]
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        return count_of(values.dictionary_decode(), scale)
    if pa.types.is_integer(kind) and scale == 1:
        fits = pc.less_equal(values, pa.scalar(2**63 - 1, kind)) if kind == pa.uint64() else None
        return (values if fits is None else pc.if_else(fits, values, pa.scalar(None, kind))).cast(pa.int64())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _scale_to_integers(values.cast(pa.float64(), safe=False), scale)
    if not is_texty(kind):
        return pa.nulls(len(values), pa.int64())
    read = strings(values)
    if scale == 1 and _all(pc.or_kleene(pc.is_null(read), pc.match_substring_regex(read, _WHOLE))):
        return pc.utf8_trim_whitespace(read).cast(pa.int64())  # exact, where a float would round an identifier
    number = pc.if_else(pc.match_substring_regex(read, _NUMBER), read, pa.scalar(None, _STRING))
    return _scale_to_integers(pc.utf8_ltrim(pc.utf8_trim_whitespace(number), "+").cast(pa.float64()), scale)


def flags(values: Any) -> Any:
    """Return values as booleans; null for values that are neither true nor false.

    >>> flags(pa.array(["t", "FALSE", "1", "maybe", None])).to_pylist()
    [True, False, True, None, None]
    """
    if pa.types.is_boolean(values.type):
        return values
    read = pc.utf8_lower(trimmed(values))
    yes = pc.is_in(read, pa.array(["true", "t", "1", "yes"]))
    no = pc.is_in(read, pa.array(["false", "f", "0", "no"]))
    return pc.if_else(yes, True, pc.if_else(no, False, pa.scalar(None, pa.bool_())))


def objects(values: Any) -> list[Any]:
    """Return values as Python objects: nested Arrow values are converted, texts are parsed as JSON.

    >>> objects(pa.array(['{"a": [1]}', "not JSON", None]))
    [{'a': [1]}, None, None]
    """
    if is_texty(values.type):
        return [_json(text) for text in strings(values).to_pylist()]
    try:
        return list(values.to_pylist())
    except (ValueError, OverflowError, ArithmeticError):  # an inner time that Python cannot hold
        return [None] * len(values)


def _json(text: str | None) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_texty(kind: Any) -> bool:
    """Return whether values of a type are text, or bytes that may be."""
    if pa.types.is_dictionary(kind):
        return is_texty(kind.value_type)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def readable(values: Any) -> Any:
    """Return values as strings in which U+FFFD stands for each byte that is not UTF-8.

    >>> readable(pa.array([b"SELECT '\\xe9'", None])).to_pylist()
    ["SELECT '\ufffd'", None]
    """
    if not pa.types.is_binary(values.type) and not pa.types.is_large_binary(values.type):
        return values
    return pa.array([None if raw is None else raw.decode(errors="replace") for raw in values.to_pylist()], _STRING)


def strings(values: Any) -> Any:
    """Return values as strings; values that are not text become null."""
    kind = values.type
    if kind == _STRING:
        return values
    if pa.types.is_dictionary(kind):
        return strings(values.dictionary_decode())
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return pa.nulls(len(values), _STRING)
    try:
        return values.cast(_STRING)
    except pa.ArrowException:
        return _one_by_one(values)


def _one_by_one(values: Any) -> Any:
    """Return values as texts, cast one by one where the whole column cannot be; null for values that are not text."""
    read: list[str | None] = []
    for value in values:
        try:
            raw = value.as_py()
            read.append(raw.decode() if isinstance(raw, bytes) else None if raw is None else str(raw))
        except (UnicodeDecodeError, ValueError, OverflowError):
            read.append(None)
    return pa.array(read, _STRING)


def _has_nul(read: Any) -> bool:
    """Return whether any of the strings has a NUL; searching their joined bytes is much faster than each string."""
    _validity, offsets, data = read.buffers()
    if data is None or not len(read):
        return False
    ends = memoryview(offsets).cast("i")
    start, end = ends[read.offset], ends[read.offset + len(read)]
    return b"\0" in data.slice(start, end - start).to_pybytes()


def _all(mask: Any) -> bool:
    return pc.all(mask, min_count=0).as_py() is not False


def _scale_to_integers(numbers: Any, scale: float) -> Any:
    scaled = pc.round(pc.multiply(numbers, float(scale)))
    fits = pc.less(pc.abs(scaled), 2.0**62)  # not for NaN and infinity
    return pc.if_else(fits, scaled, pa.scalar(None, pa.float64())).cast(pa.int64())
