"""Converts columns of any Arrow type to UTC times. A time that cannot be parsed, or is ambiguous, is null, not a guess.

Arrow parses ISO 8601 by column; `time_parsing` parses other formats, text by text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.reading.coercion import count_of, is_texty, strings, texts
from lineage_ingest.query_log.reading.time_parsing import EARLIEST, LATEST, ZONE_MINUTES, read_by_formats, read_written

__all__ = ["is_absurd", "times"]

_STRING = pa.string()
_MOMENT = pa.timestamp("us", "UTC")

_DATED = (
    r"^\s*(?P<day>\d{4}-\d{2}-\d{2})(?:[T ](?P<hour>\d{1,2}:\d{2}:\d{2})(?:[.,](?P<part>\d{1,9})\d*)?"
    r"\s*(?P<zone>[A-Za-z]{1,5}|(?P<sign>[+-])(?P<zh>\d{2}):?(?P<zm>\d{2})?)?)?\s*$"
)
_PER_UNIT = {"s": 1_000_000.0, "ms": 1_000.0, "us": 1.0, "ns": 0.001}


def times(values: Any, zone: str | None = None, unit: str | None = None, formats: Sequence[str] = ()) -> Any:
    """Return values as times in UTC; null for values that are not times, or are too old or too new for a query log.

    >>> read = times(pa.array(["2026-03-29 10:00:00.5 CEST", "16.11.2026 08:00", "9999-12-31", "soon"]))
    >>> [str(moment) for moment in read.to_pylist()]
    ['2026-03-29 08:00:00.500000+00:00', '2026-11-16 08:00:00+00:00', 'None', 'None']
    >>> [str(moment) for moment in times(pa.array(["1.7672256E+09", "1767225600000", "0"])).to_pylist()]
    ['2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00', 'None']
    >>> [str(moment) for moment in times(pa.array(["03/01/2026"]), formats=["%d/%m/%Y"]).to_pylist()]
    ['2026-01-03 00:00:00+00:00']

    Args:
        values: timestamps, dates, texts, or numbers since 1970 in s, ms, us or ns; for the years that a log can
            have, the size of a number determines its unit.
        zone: the zone of times without one; default UTC. An ambiguous zone abbreviation is read as this zone; without
            it, such a time is null.
        unit: s, ms, us or ns: the unit of numbers that is tried first.
        formats: `strptime` formats. If given, a text must have one of them, or be ISO 8601.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        return times(values.dictionary_decode(), zone, unit, formats)
    if pa.types.is_timestamp(kind):
        return _bound_times(_local(values, zone) if kind.tz is None else values)
    if pa.types.is_date(kind):
        return _bound_times(_local(values.cast(pa.timestamp("ms")), zone))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _since_1970(values, unit)
    if not is_texty(kind):
        return pa.nulls(len(values), _MOMENT)
    read = strings(values)
    if formats:
        by_format = _one_by_one(read, lambda text: read_by_formats(text, formats, zone))
        return pc.coalesce(by_format, _iso(read, zone)) if by_format.null_count else by_format
    found = _rest(_iso(read, zone), read, lambda rest: _since_1970(rest, unit))
    return _rest(found, read, lambda rest: _one_by_one(rest, lambda text: read_written(text, zone)))


def _rest(found: Any, read: Any, reader: Callable[[Any], Any]) -> Any:
    """Return times; `reader` parses the texts that have no time yet."""
    rest = pc.if_else(pc.is_null(found), read, pa.scalar(None, _STRING))
    return found if rest.null_count == len(rest) else pc.coalesce(found, reader(rest))


def is_absurd(values: Any, moments: Any) -> Any:
    """Return a mask of values that are given but are not valid times."""
    given = pc.is_valid(texts(values)) if is_texty(values.type) else pc.is_valid(values)
    return pc.and_(given, pc.is_null(moments))


def _since_1970(values: Any, unit: str | None) -> Any:
    """Return numbers as times; for the years that a log can have, the units' ranges do not overlap."""
    moments = pa.nulls(len(values), _MOMENT)
    for one in dict.fromkeys((unit or "s", *_PER_UNIT)):
        moments = pc.coalesce(moments, _bound_times(count_of(values, _PER_UNIT[one]).cast(_MOMENT)))
        if moments.null_count == values.null_count:
            break
    return moments


def _one_by_one(read: Any, reader: Callable[[str], datetime | None]) -> Any:
    """Return the times that a function parses from each text."""
    encoded = read.dictionary_encode()
    moments = [None if text is None else reader(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(moments, _MOMENT).take(encoded.indices)


def _iso(read: Any, zone: str | None) -> Any:
    matches = pc.extract_regex(read, _DATED)
    if matches.null_count == len(matches):
        return pa.nulls(len(read), _MOMENT)
    part = {name: matches.field(i) for i, name in enumerate(("day", "hour", "part", "zone", "sign", "zh", "zm"))}
    part = {name: pc.if_else(pc.is_valid(matches), column, pa.scalar(None, _STRING)) for name, column in part.items()}
    hour = pc.if_else(pc.equal(part["hour"], ""), "00:00:00", part["hour"])
    stamp = pc.strptime(
        pc.binary_join_element_wise(part["day"], hour, "T"), format="%Y-%m-%dT%H:%M:%S", unit="us", error_is_null=True
    )
    # strptime takes the thirtieth of February for the second of March.
    of_month = pc.utf8_slice_codeunits(part["day"], 8, 10).cast(pa.int64())
    stamp = pc.if_else(pc.equal(pc.day(stamp), of_month), stamp, pa.scalar(None, stamp.type))
    micros = pc.utf8_slice_codeunits(pc.ascii_rpad(part["part"], 6, "0"), 0, 6).cast(pa.int64())
    stamp = pc.add(stamp.cast(pa.int64()), micros)
    signed = pc.not_equal(part["sign"], "")
    minutes = pc.add(pc.multiply(_digits(part["zh"]), 60), _digits(part["zm"]))
    numeric = pc.if_else(pc.equal(part["sign"], "-"), pc.negate(minutes), minutes)
    named = pc.utf8_lower(part["zone"])
    by_name = pc.take(
        pa.array(list(ZONE_MINUTES.values()), pa.int64()), pc.index_in(named, pa.array(list(ZONE_MINUTES)))
    )
    offset = pc.if_else(signed, numeric, by_name)  # null: no zone, or an ambiguous one
    moments = pc.subtract(stamp, pc.multiply(offset, 60_000_000)).cast(_MOMENT)
    unsaid = pc.equal(part["zone"], "")
    local_time = stamp.cast(pa.timestamp("us"))
    if zone is None:
        local = pc.if_else(unsaid, local_time.cast(_MOMENT), pa.scalar(None, _MOMENT))
    else:
        local = _second_of_two(_local(local_time, zone), local_time, part["zone"], zone)
    return _bound_times(pc.coalesce(moments, local))


def _second_of_two(moments: Any, naive: Any, names: Any, zone: str) -> Any:
    """Return times, an hour later where the zone is named as after the clock change from summer time."""
    later = _local(naive, zone, "latest")
    doubtful = pc.fill_null(pc.and_(pc.not_equal(moments, later), pc.not_equal(names, "")), False)
    if not pc.any(doubtful, min_count=0).as_py():
        return moments
    after = [
        doubt and time is not None and time.replace(tzinfo=ZoneInfo(zone), fold=1).tzname() == name
        for doubt, time, name in zip(doubtful.to_pylist(), naive.to_pylist(), names.to_pylist(), strict=True)
    ]
    return pc.if_else(pa.array(after, pa.bool_()), later, moments)


def _digits(column: Any) -> Any:
    return pc.if_else(pc.equal(column, ""), "0", column).cast(pa.int64())


def _local(naive: Any, zone: str | None, ambiguous: Literal["earliest", "latest"] = "earliest") -> Any:
    """Return local times as UTC; `ambiguous` selects the first or second of the hour repeated at a clock change."""
    bounded = _bound_times(naive)
    if zone is None or zone.upper() == "UTC":
        return bounded.cast(_MOMENT)
    aware = pc.assume_timezone(bounded.cast(pa.timestamp("us")), zone, ambiguous=ambiguous, nonexistent="latest")
    return aware.cast(_MOMENT)


def _bound_times(moments: Any) -> Any:
    """Return times in microseconds; null outside the years that a log can have."""
    kind = moments.type
    lowest, highest = (
        pa.scalar(bound if kind.tz else bound.replace(tzinfo=None), pa.timestamp("s", "UTC" if kind.tz else None)).cast(
            pa.timestamp(kind.unit, kind.tz)
        )
        for bound in (EARLIEST, LATEST)
    )
    inside = pc.and_(pc.greater_equal(moments, lowest), pc.less(moments, highest))
    kept = pc.if_else(inside, moments, pa.scalar(None, kind))
    return kept.cast(pa.timestamp("us", "UTC" if kind.tz else None), safe=False)
