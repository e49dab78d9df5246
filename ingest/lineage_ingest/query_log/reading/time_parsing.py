"""Parses times in formats other than ISO 8601: one text to one time, or None.

A date is None if day and month could be swapped: 03/01/2026 needs a format. With dots between the numbers, the day
comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

__all__ = [
    "EARLIEST",
    "LATEST",
    "TimeFormatError",
    "ZONE_MINUTES",
    "read_by_formats",
    "read_written",
    "time_format_named",
    "zone_named",
]

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
"""Times out of these bounds are invalid: zero, sentinels like 9999-12-31, and wrong clocks."""

ZONE_MINUTES = {
    name: round(hours * 60)
    for name, hours in {
        "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "eet": 2,
        "eest": 3, "msk": 3, "sast": 2, "cat": 2, "eat": 3, "wat": 1, "pkt": 5, "ict": 7, "wib": 7, "hkt": 8, "sgt": 8,
        "awst": 8, "jst": 9, "kst": 9, "acst": 9.5, "acdt": 10.5, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
        "hst": -10, "akst": -9, "akdt": -8, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
        "nst": -3.5, "ndt": -2.5, "brt": -3, "art": -3,
    }.items()
}  # fmt: skip
"""Unambiguous abbreviations. (CST, IST, BST and AST are ambiguous: such a log needs an explicit zone.)"""

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_CLOCK = (
    r"(?:[T :,]+(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,:](?P<part>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?\s*(?P<zone>(?:(?:gmt|utc)?[+-]\d{1,2}(?::?\d{2})?)(?:\s+[a-z]{1,5})?|"
    r"[a-z]{1,5}|[a-z]+(?:/[a-z_]+)+)?(?:\s*[(\[][^)\]]*[)\]])?)?\s*$"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_MONTH = rf"(?P<name>(?:{'|'.join(_NAMES)})[a-z]*)\.?"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\s*(?P<year>\d{{4}})(?P<by>[-/.])(?P<month>\d{{1,2}})(?P=by)(?P<day>\d{{1,2}}){_CLOCK}",
        rf"\s*(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}){_CLOCK}",
        rf"\s*(?P<one>\d{{1,2}})(?P<by>[-/])(?P<other>\d{{1,2}})(?P=by)(?P<year>\d{{4}}){_CLOCK}",
        rf"\s*{_WEEKDAY}(?P<day>\d{{1,2}})[-/ ]{_MONTH}[-/ ,]+(?P<year>\d{{4}}|\d\d(?!\d)){_CLOCK}",
        rf"\s*{_WEEKDAY}{_MONTH}\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}}){_CLOCK}",
        rf"\s*{_WEEKDAY}{_MONTH}\s+(?P<day>\d{{1,2}})\s+(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
        r"(?:\.(?P<part>\d{1,9}))?(?:\s+(?P<zone>[a-z]{1,5}))?\s+(?P<year>\d{4})\s*$",
        r"\s*(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:[T ]?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)"
        r"(?:[.,](?P<part>\d{1,9}))?\s*(?P<zone>[a-z]{1,5}|[+-]\d{2}:?\d{0,2})?)?\s*$",
    )
)
_OFFSET = re.compile(r"(?:gmt|utc)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)


class TimeFormatError(ValueError):
    """An invalid time format, or one without year, month and day."""


def read_written(text: str, zone: str | None) -> datetime | None:
    """Return the time in a text; None if it has none, or is ambiguous.

    >>> str(read_written("16/Nov/2026:08:00:00 +0100", None)), str(read_written("Nov 16, 2026 8:00 PM", None))
    ('2026-11-16 07:00:00+00:00', '2026-11-16 20:00:00+00:00')
    >>> read_written("03/01/2026", None), str(read_written("03/16/2026", None))
    (None, '2026-03-16 00:00:00+00:00')
    """
    for form in _FORMS:
        found = form.match(text)
        if found is not None:
            try:
                return _moment({name: value or "" for name, value in found.groupdict().items()}, zone)
            except (ValueError, OverflowError):
                return None
    return None


def read_by_formats(text: str, formats: Sequence[str], zone: str | None) -> datetime | None:
    """Return a text's time by the first of these formats that matches; None if none does."""
    for one in formats:
        try:
            read = datetime.strptime(text.strip(), one)
        except ValueError:
            continue
        aware = read if read.tzinfo is not None else read.replace(tzinfo=ZoneInfo(zone) if zone else UTC)
        return _bound_time(aware)
    return None


def time_format_named(text: str) -> str:
    """Return a `strptime` format after validation.

    Raises:
        TimeFormatError: the format is invalid, or lacks the year, the month or the day.
    """
    then = datetime(2001, 12, 23, 22, 11, 10, 123_456, UTC)
    try:
        read = datetime.strptime(then.strftime(text), text)
    except ValueError as error:
        raise TimeFormatError(f"{text!r} is no format of a time: {error}") from error
    if read.date() != then.date():
        raise TimeFormatError(f"{text!r} does not say year, month and day, as '%d/%m/%Y %H:%M:%S' does")
    return text


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


def _moment(part: dict[str, str], zone: str | None) -> datetime | None:
    month = _MONTHS[part["name"][:3].lower()] if part.get("name") else int(part.get("month") or 0)
    day = int(part.get("day") or 0)
    if "one" in part:
        one, other = int(part["one"]), int(part["other"])
        if one <= 12 and other <= 12 and one != other:  # either may be the day
            return None
        day, month = (one, other) if one > 12 or one == other else (other, one)
    year = int(part["year"])
    hour = int(part.get("hour") or 0)
    half = part.get("half", "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    minute, second = int(part.get("minute") or 0), int(part.get("second") or 0)
    if hour > 23 or minute > 59 or second > 60:  # 60 is a leap second
        return None
    micros = int(f"{part.get('part', ''):0<6}"[:6])
    local = datetime(2000 + year if len(part["year"]) == 2 else year, month, day) + timedelta(
        hours=hour, minutes=minute, seconds=second, microseconds=micros
    )
    return _in_zone(local, part.get("zone", ""), zone)


def _in_zone(local: datetime, written: str, zone: str | None) -> datetime | None:
    offset = _OFFSET.match(written)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return _bound_time(local.replace(tzinfo=timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))))
    if written.lower() in ZONE_MINUTES:
        return _bound_time(local.replace(tzinfo=timezone(timedelta(minutes=ZONE_MINUTES[written.lower()]))))
    if "/" in written:
        return _bound_time(local.replace(tzinfo=ZoneInfo(zone_named(written))))
    if written and zone is None:
        return None
    return _bound_time(local.replace(tzinfo=ZoneInfo(zone) if zone else UTC))


def _bound_time(moment: datetime) -> datetime | None:
    return moment.astimezone(UTC) if EARLIEST <= moment < LATEST else None
