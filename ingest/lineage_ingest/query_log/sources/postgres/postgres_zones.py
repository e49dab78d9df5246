"""Resolves ambiguous zone abbreviations in PostgreSQL's times from the session's id.

The id is `SECONDS.PROCESS` in hexadecimal, where SECONDS is the session's start in seconds since 1970. The log also has
that start in the log's zone; the difference is the zone's offset.
https://www.postgresql.org/docs/current/runtime-config-logging.html#GUC-LOG-LINE-PREFIX
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.reading.coercion import is_texty, strings
from lineage_ingest.query_log.reading.time_parsing import ZONE_MINUTES

__all__ = ["with_stated_zones"]

_WRITTEN = r"^(?P<local>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (?P<zone>[A-Za-z]{2,6})$"
_START = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) ([A-Za-z]{2,6})")
_SESSION = re.compile(r"([0-9a-f]{8,10})\.[0-9a-f]+")
_QUARTER, _MOST = 15 * 60, 14 * 3_600


def with_stated_zones(times: Any, starts: Any, sessions: Any) -> Any:
    """Return times with ambiguous zone abbreviations replaced by offsets, if the session determines them.

    >>> with_stated_zones(*(pa.array([one]) for one in (
    ...     "2026-07-01 11:30:00.5 BST", "2026-07-01 11:00:00 BST", "6a44e520.7b"))).to_pylist()
    ['2026-07-01 11:30:00.5 +0100']

    Args:
        times: times as logged.
        starts: start of each row's session, in the same zone.
        sessions: session id of each row.
    """
    if not is_texty(times.type):
        return times
    matches = pc.extract_regex(strings(times), _WRITTEN)
    zone = matches.field(1)
    is_open = pc.and_(pc.is_valid(matches), pc.invert(pc.is_in(pc.utf8_lower(zone), pa.array(list(ZONE_MINUTES)))))
    if not pc.any(is_open, min_count=0).as_py():
        return times
    own = pc.replace_substring_regex(strings(sessions), r" .*$", "")
    keys = pc.binary_join_element_wise(own, strings(starts), " ").dictionary_encode()
    stated = [_offset(key) for key in keys.dictionary.to_pylist()]
    names = pa.array([one and one[0] for one in stated], pa.string()).take(keys.indices)
    offsets = pa.array([one and one[1] for one in stated], pa.string()).take(keys.indices)
    known = pc.and_(is_open, pc.fill_null(pc.equal(names, zone), False))
    return pc.if_else(known, pc.binary_join_element_wise(matches.field(0), offsets, " "), strings(times))


def _offset(key: str | None) -> tuple[str, str] | None:
    """Return the zone abbreviation and the offset of `SESSION_ID START`; None if they cannot be determined."""
    session, _, start = (key or "").partition(" ")
    began, written = _SESSION.match(session), _START.fullmatch(start)
    if began is None or written is None:
        return None
    try:
        local = datetime.strptime(written[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    seconds = int(local.timestamp()) - int(began[1], 16)
    if seconds % _QUARTER or abs(seconds) > _MOST:
        return None
    hours, rest = divmod(abs(seconds), 3_600)
    return written[2], f"{'-' if seconds < 0 else '+'}{hours:02}{rest // 60:02}"
