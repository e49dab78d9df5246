"""Finds MySQL transactions that are still open when the connection ends: MySQL rolls them back without logging it.

https://dev.mysql.com/doc/refman/8.4/en/commit.html and .../implicit-commit.html; changing the user and resetting the
connection also roll back (mysql_reset_connection()).
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

__all__ = ["find_unfinished"]

_VERB = (
    r"(?is)^(?:\s|--[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*(?P<verb>begin|start\s+transaction|rollback|commit|"
    r"xa\s+(?:start|begin|prepare|rollback|commit)|"
    r"set\s+(?:@@)?(?:session[\s.]+|local[\s.]+)?autocommit\s*:?=\s*(?:0|off|false)|"
    r"set\s+(?:@@)?(?:session[\s.]+|local[\s.]+)?autocommit\s*:?=\s*(?:1|on|true))\b(?P<rest>.*)$"
)
_CHAIN = r"(?i)^\s*(?:work\s+)?and\s+chain\b"
_TO = r"(?i)^\s*(?:work\s+)?to\b"
_HEAD = 1_000  # maximum characters to inspect


def find_unfinished(sql: Any, leaves: Any, begins: Any) -> list[int]:
    """Return the indexes of the rows at which a session ends with an open transaction.

    Implicit commits, such as DDL, are not detected: a ROLLBACK after one undoes nothing.

    Args:
        sql: statement of each row, ordered by connection; null for rows without one.
        leaves: mask of the rows that end a session.
        begins: mask of the rows that begin a session; such a row may also end the previous session.
    """
    matches = pc.extract_regex(pc.utf8_slice_codeunits(sql, 0, _HEAD), _VERB)
    opens = pc.fill_null(
        pc.match_substring_regex(matches.field(0), r"(?i)^(?:begin|start|set|xa\s+(?:start|begin))"), False
    )
    if not pc.any(opens, min_count=0).as_py():
        return []
    verb = pc.utf8_lower(pc.fill_null(matches.field(0), ""))
    rest = pc.fill_null(matches.field(1), "")
    again, partly = pc.match_substring_regex(rest, _CHAIN), pc.match_substring_regex(rest, _TO)
    touched = pc.indices_nonzero(pc.or_(pc.or_(leaves, begins), pc.not_equal(verb, "")))
    columns = (one.take(touched).to_pylist() for one in (verb, again, partly, leaves, begins))
    unfinished: list[int] = []
    is_open = by_itself = False
    for at, word, is_chained, is_part, is_end, is_first in zip(touched.to_pylist(), *columns, strict=True):
        if is_end and (is_open or by_itself):
            unfinished.append(at)
        if is_end or is_first:
            is_open = by_itself = False
        if word.startswith("set"):
            by_itself = is_open = word.endswith(("0", "off", "false"))
        elif word == "begin" or word.startswith("start") or word.split()[1:] in (["start"], ["begin"]):
            is_open = True
        elif word and not is_part:
            is_open = is_chained
    return unfinished
