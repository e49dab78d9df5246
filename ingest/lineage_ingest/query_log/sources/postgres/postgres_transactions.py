"""Finds the rows of PostgreSQL's or Redshift's log that roll back a transaction without a logged ROLLBACK.

The server logs what the client requests. A COMMIT rolls back if an earlier statement failed, or if it fails itself (a
deferred constraint). The end of the connection also rolls back.
https://www.postgresql.org/docs/current/sql-commit.html
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["find_rollbacks", "is_row"]

_VERB = (
    r"(?is)^(?:\s|--[^\n]*\n|/\*.*?\*/)*(?P<verb>begin|start\s+transaction|rollback\s+(?:(?:work|transaction)\s+)?to|"
    r"rollback|abort|commit|end|prepare\s+transaction)\b(?P<rest>.*)$"
)
_ENDS = r"(?i);\s*(?:commit|end|rollback|abort)\b"
_HEAD = 1_000  # maximum characters to inspect
_CHAIN = r"(?i)\band\s+chain\b"


def find_rollbacks(sql: Any, failed: Any, ends: Any, begins: Any) -> list[int]:
    """Return the indexes of the rows that have the effect of ROLLBACK.

    Args:
        sql: statement of each row, ordered by session; null for rows without one.
        failed: mask of the rows whose statement failed.
        ends: mask of the rows that end a connection.
        begins: mask of the rows that begin a session.
    """
    if not pc.any(pc.or_(failed, ends), min_count=0).as_py():
        return []
    found = pc.extract_regex(pc.utf8_slice_codeunits(sql, 0, _HEAD), _VERB)
    verb = pc.utf8_lower(pc.fill_null(found.field(0), ""))
    rest = pc.fill_null(found.field(1), "")
    opens = pc.or_(pc.equal(verb, "begin"), pc.starts_with(verb, "start"))
    verb = pc.if_else(pc.and_(opens, pc.match_substring_regex(rest, _ENDS)), "", verb)
    chained = pc.match_substring_regex(rest, _CHAIN)
    touched = pc.indices_nonzero(pc.or_(pc.or_(pc.or_(begins, failed), ends), pc.not_equal(verb, "")))
    columns = (one.take(touched).to_pylist() for one in (verb, chained, failed, ends, begins))
    rolled_back: list[int] = []
    is_open = is_broken = False
    for at, word, is_chained, is_failed, is_end, is_first in zip(touched.to_pylist(), *columns, strict=True):
        if is_first:
            is_open = is_broken = False
        if is_end:
            if is_open:
                rolled_back.append(at)
            is_open = is_broken = False
        elif word in ("commit", "end") or word.startswith("prepare"):
            if is_open and (is_failed or is_broken):
                rolled_back.append(at)
            is_open, is_broken = is_open and is_chained, False
        elif is_failed:
            is_broken = is_open
        elif word == "begin" or word.startswith("start"):
            is_open = True  # a second BEGIN only raises a warning
        elif word.endswith("to"):
            is_broken = False
        elif word:
            is_open, is_broken = is_open and is_chained, False
    return rolled_back


def is_row(numbers: list[int], rows: int) -> Any:
    """Return a mask of `rows` rows that is true at these indexes."""
    return pc.is_in(pa.array(range(rows), pa.int64()), value_set=pa.array(numbers, pa.int64()))
