"""Orders rows across the files of a rotated log, for logs whose rows are ordered only by their position."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.sources.runs import carry_forward, starts

__all__ = ["log_names", "places_in_log"]

_PACKED = r"\.(?:gz|bz2|zst|lz4|xz)$"
_ROTATED = r"(?:[-_.]\d{1,14}|\d{6,14})*(?:\.log)?(?:[-_.]\d{1,14})*$"
"""Matches the dates and numbers that rotation appends; `db1.log` and `db2.log` are logs of different servers."""
_FILE = 40
"""Number of bits for a row's position in its file."""


def log_names(files: Any) -> Any:
    """Return the log of each file: its path without the suffixes of rotation and compression.

    >>> log_names(pa.array(["a/general.log", "a/general.log.2.gz", "b/pg-2026-03-01_000000.log"])).to_pylist()
    ['a/general', 'a/general', 'b/pg']
    """
    plain = pc.replace_substring_regex(pc.fill_null(coercion.texts(files), ""), _PACKED, "")
    return pc.replace_substring_regex(plain, _ROTATED, "", max_replacements=1)


def places_in_log(sessions: Any, files: Any, places: Any, times: Any) -> Any:
    """Return numbers that order the rows of each session: by the file's first time, then by position in the file."""
    keys = pc.binary_join_element_wise(pc.fill_null(sessions, ""), pc.fill_null(files, ""), "\x1f")
    seconds = pc.divide(times.cast(pa.int64()), 1_000_000)
    log = pa.table({"key": keys, "session": sessions, "file": files, "time": seconds})
    found = log.group_by(["key", "session", "file"], use_threads=False).aggregate([("time", "min"), ("time", "max")])
    named = found.append_column(
        "turn", pa.array([_turn(name or "") for name in found["file"].to_pylist()], pa.string())
    )
    by = ("session", "time_min", "time_max", "turn")
    ordered = named.sort_by([(name, "ascending") for name in by]).combine_chunks()
    number = pa.array(range(ordered.num_rows), pa.int64())
    begins = starts(_flat(ordered["session"]))
    rank = pc.subtract(number, carry_forward(number, begins, begins))
    rank = rank.take(pc.index_in(keys, value_set=_flat(ordered["key"])))
    return pc.add(pc.shift_left(rank, pa.scalar(_FILE, pa.int64())), places)


def _turn(name: str) -> str:
    """Return a sort key that orders the files of a log by name: `log.2`, `log.1`, those with dates, `log`.

    >>> sorted(["log", "log.1", "log.10.gz", "log-20260301"], key=_turn)
    ['log.10.gz', 'log.1', 'log-20260301', 'log']
    """
    plain = re.sub(_PACKED, "", name)
    if found := re.search(r"\.(\d{1,3})$", plain):
        return f"1{1_000 - int(found[1]):04}"
    return f"2{plain}" if re.search(r"\d(?:\.log)?$", plain) else f"3{plain}"


def _flat(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
