"""Columns of any Arrow type into text, numbers, truth and time. What cannot be read is null, never an error.

The same column comes as text from a CSV file, typed from Parquet, and as text again where Spark reads JSON with a
schema of strings: an adapter asks for what it needs and need not know.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["count_of", "flags", "is_absurd", "objects", "statement_texts", "texts", "times", "trimmed", "zone_named"]

_STRING = pa.string()
_MOMENT = pa.timestamp("us", "UTC")

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_LATEST = datetime(2100, 1, 1, tzinfo=UTC)
"""Outside of these no query log was written: zero, sentinels like 9999-12-31, and clocks gone wild."""

_DATED = (
    r"^\s*(?P<day>\d{4}-\d{2}-\d{2})(?:[T ](?P<hour>\d{1,2}:\d{2}:\d{2})(?:[.,](?P<part>\d{1,9})\d*)?"
    r"\s*(?P<zone>[A-Za-z]{1,5}|(?P<sign>[+-])(?P<zh>\d{2}):?(?P<zm>\d{2})?)?)?\s*$"
)
_ZONE_HOURS = {
    "z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3,
    "jst": 9, "est": -5, "edt": -4, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip
"""Abbreviations that mean one thing (CST, IST and BST mean several: such a log needs its zone said)."""

_NUMBER = r"^\s*[+-]?(?:\d{1,15}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d)?\s*$"
_WHOLE = r"^\s*-?\d{1,18}\s*$"


def texts(values: Any) -> Any:
    """Return values as strings; empty ones (which is how CSV writes null) and what is no text as null.

    >>> texts(pa.array([7, None])).to_pylist(), texts(pa.array([b"a", b"\\xff"])).to_pylist()
    (['7', None], ['a', None])
    """
    read = _strings(values)
    return pc.if_else(pc.equal(pc.binary_length(read), 0), pa.scalar(None, _STRING), read)


def trimmed(values: Any) -> Any:
    """Return texts without the blanks around them, which fixed-width columns are filled with."""
    return texts(pc.utf8_trim_whitespace(_strings(values)))


def statement_texts(values: Any) -> tuple[Any, Any]:
    """Return the statements, and which values are there but are no text (bytes that are not UTF-8, NULs)."""
    read = _strings(values)
    # Not to be read, or read and with a NUL: no SQL has one, and no store takes it.
    junk = pc.and_(pc.is_valid(values), pc.is_null(read))
    if _has_nul(read):
        junk = pc.or_(junk, pc.fill_null(pc.match_substring(read, "\0"), False))
    blank = pc.fill_null(pc.match_substring_regex(read, r"^\s*$"), False)
    return pc.if_else(pc.or_(junk, blank), pa.scalar(None, _STRING), read), junk


def count_of(values: Any, scale: float = 1) -> Any:
    """Return values as whole numbers, `scale` times what they say; null where they are none.

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
        return _rounded(values.cast(pa.float64(), safe=False), scale)
    if not _is_texty(kind):
        return pa.nulls(len(values), pa.int64())
    read = _strings(values)
    if scale == 1 and _all(pc.or_kleene(pc.is_null(read), pc.match_substring_regex(read, _WHOLE))):
        return pc.utf8_trim_whitespace(read).cast(pa.int64())  # exact, where a float would round an identifier
    number = pc.if_else(pc.match_substring_regex(read, _NUMBER), read, pa.scalar(None, _STRING))
    return _rounded(pc.utf8_ltrim(pc.utf8_trim_whitespace(number), "+").cast(pa.float64()), scale)


def flags(values: Any) -> Any:
    """Return values as true and false; null where they are neither.

    >>> flags(pa.array(["t", "FALSE", "1", "maybe", None])).to_pylist()
    [True, False, True, None, None]
    """
    if pa.types.is_boolean(values.type):
        return values
    read = pc.utf8_lower(trimmed(values))
    yes = pc.is_in(read, pa.array(["true", "t", "1", "yes"]))
    no = pc.is_in(read, pa.array(["false", "f", "0", "no"]))
    return pc.if_else(yes, True, pc.if_else(no, False, pa.scalar(None, pa.bool_())))


def times(values: Any, zone: str | None = None, unit: str | None = None) -> Any:
    """Return values as moments in UTC; null where they are none, or no query log can be as old or as new.

    >>> read = times(pa.array(["2026-03-29 10:00:00.5 CEST", "2026-01-01T00:00:00Z", "9999-12-31", "soon"]))
    >>> [str(moment) for moment in read.to_pylist()]
    ['2026-03-29 08:00:00.500000+00:00', '2026-01-01 00:00:00+00:00', 'None', 'None']
    >>> [str(moment) for moment in times(pa.array([1767225600000, 0]), unit="ms").to_pylist()]
    ['2026-01-01 00:00:00+00:00', 'None']

    Args:
        values: timestamps, dates, texts, or numbers since 1970 (in `unit`).
        zone: of times that do not say theirs; UTC if left out. An abbreviation that means several zones is read
            as this one, and is no time without it.
        unit: s, ms, us or ns: of numbers.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        return times(values.dictionary_decode(), zone, unit)
    if pa.types.is_timestamp(kind):
        return _bounded(_local(values, zone) if kind.tz is None else values)
    if pa.types.is_date(kind):
        return _bounded(_local(values.cast(pa.timestamp("ms")), zone))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _since_1970(values, unit)
    if not _is_texty(kind):
        return pa.nulls(len(values), _MOMENT)
    read = _strings(values)
    written = _written(read, zone)
    if unit is None or written.null_count == len(written):
        return written if unit is None else _since_1970(read, unit)
    return pc.coalesce(written, _since_1970(read, unit))


def is_absurd(values: Any, moments: Any) -> Any:
    """Return where a time is given that is none."""
    given = pc.is_valid(texts(values)) if _is_texty(values.type) else pc.is_valid(values)
    return pc.and_(given, pc.is_null(moments))


def objects(values: Any) -> list[Any]:
    """Return values as Python objects: nested Arrow values as they are, texts as the JSON that stands in them.

    >>> objects(pa.array(['{"a": [1]}', "not JSON", None]))
    [{'a': [1]}, None, None]
    """
    if _is_texty(values.type):
        return [_json(text) for text in _strings(values).to_pylist()]
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


def _is_texty(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_texty(kind.value_type)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _strings(values: Any) -> Any:
    kind = values.type
    if kind == _STRING:
        return values
    if pa.types.is_dictionary(kind):
        return _strings(values.dictionary_decode())
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return pa.nulls(len(values), _STRING)
    try:
        return values.cast(_STRING)
    except pa.ArrowException:
        return _one_by_one(values)


def _one_by_one(values: Any) -> Any:
    """Return as texts what cannot be cast together: each value by itself, null where it is none."""
    read: list[str | None] = []
    for value in values:
        try:
            raw = value.as_py()
            read.append(raw.decode() if isinstance(raw, bytes) else None if raw is None else str(raw))
        except (UnicodeDecodeError, ValueError, OverflowError):
            read.append(None)
    return pa.array(read, _STRING)


def _has_nul(read: Any) -> bool:
    """Return whether a NUL is in any of the strings: one look at all their bytes, which is much the faster."""
    _validity, offsets, data = read.buffers()
    if data is None or not len(read):
        return False
    ends = memoryview(offsets).cast("i")
    start, end = ends[read.offset], ends[read.offset + len(read)]
    return b"\0" in data.slice(start, end - start).to_pybytes()


def _all(mask: Any) -> bool:
    return pc.all(mask, min_count=0).as_py() is not False


def _rounded(numbers: Any, scale: float) -> Any:
    scaled = pc.round(pc.multiply(numbers, float(scale)))
    fits = pc.less(pc.abs(scaled), 2.0**62)  # not for NaN and infinity
    return pc.if_else(fits, scaled, pa.scalar(None, pa.float64())).cast(pa.int64())


_PER_UNIT = {"s": 1_000_000.0, "ms": 1_000.0, "us": 1.0, "ns": 0.001}


def _since_1970(values: Any, unit: str | None) -> Any:
    if unit is None:
        return pa.nulls(len(values), _MOMENT)
    return _bounded(count_of(values, _PER_UNIT[unit]).cast(pa.timestamp("us", "UTC")))


def _written(read: Any, zone: str | None) -> Any:
    found = pc.extract_regex(read, _DATED)
    part = {name: found.field(i) for i, name in enumerate(("day", "hour", "part", "zone", "sign", "zh", "zm"))}
    part = {name: pc.if_else(pc.is_valid(found), column, pa.scalar(None, _STRING)) for name, column in part.items()}
    hour = pc.if_else(pc.equal(part["hour"], ""), "00:00:00", part["hour"])
    stamp = pc.strptime(
        pc.binary_join_element_wise(part["day"], hour, "T"), format="%Y-%m-%dT%H:%M:%S", unit="us", error_is_null=True
    )
    micros = pc.utf8_slice_codeunits(pc.ascii_rpad(part["part"], 6, "0"), 0, 6).cast(pa.int64())
    stamp = pc.add(stamp.cast(pa.int64()), micros)
    signed = pc.not_equal(part["sign"], "")
    minutes = pc.add(
        pc.multiply(_digits(part["zh"]), 60),
        _digits(part["zm"]),
    )
    numeric = pc.if_else(pc.equal(part["sign"], "-"), pc.negate(minutes), minutes)
    named = pc.utf8_lower(part["zone"])
    by_name = pc.take(
        pa.array([hours * 60 for hours in _ZONE_HOURS.values()], pa.int64()),
        pc.index_in(named, pa.array(list(_ZONE_HOURS))),
    )
    offset = pc.if_else(signed, numeric, by_name)  # null: no zone is said, or one that means several
    moments = pc.subtract(stamp, pc.multiply(offset, 60_000_000)).cast(_MOMENT)
    unsaid = pc.equal(part["zone"], "")
    local_time = stamp.cast(pa.timestamp("us"))
    if zone is None:
        local = pc.if_else(unsaid, local_time.cast(_MOMENT), pa.scalar(None, _MOMENT))
    else:
        local = _local(local_time, zone)
    return _bounded(pc.coalesce(moments, local))


def _digits(column: Any) -> Any:
    return pc.if_else(pc.equal(column, ""), "0", column).cast(pa.int64())


def _local(naive: Any, zone: str | None) -> Any:
    """Return local times as moments; of the hour that a clock shows twice the first one."""
    bounded = _bounded(naive)
    if zone is None or zone.upper() == "UTC":
        return bounded.cast(_MOMENT)
    aware = pc.assume_timezone(bounded.cast(pa.timestamp("us")), zone, ambiguous="earliest", nonexistent="latest")
    return aware.cast(_MOMENT)


def _bounded(moments: Any) -> Any:
    """Return moments in microseconds, null outside of the years that a log can be of."""
    kind = moments.type
    lowest, highest = (
        pa.scalar(bound if kind.tz else bound.replace(tzinfo=None), pa.timestamp("s", "UTC" if kind.tz else None)).cast(
            pa.timestamp(kind.unit, kind.tz)
        )
        for bound in (_EARLIEST, _LATEST)
    )
    inside = pc.and_(pc.greater_equal(moments, lowest), pc.less(moments, highest))
    kept = pc.if_else(inside, moments, pa.scalar(None, kind))
    return kept.cast(pa.timestamp("us", "UTC" if kind.tz else None), safe=False)


def zone_named(name: str) -> str:
    """Return a time zone's name.

    Raises:
        ValueError: there is no such zone.
    """
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"unknown time zone {name!r}; expected a name like 'Europe/Vienna'") from error
    return name
