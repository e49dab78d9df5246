"""Replaces the tags of a template (Jinja, Liquid, Metabase's variables) in SQL, by where in the SQL they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum

from lineage.sql.scan.pieces import PieceKind, pieces

__all__ = ["TagPlace", "replace_tags"]

_NOT_NEW_LINE = re.compile(r"[^\n]")


class TagPlace(Enum):
    """What of SQL a tag stands in."""

    CODE = "code"
    STRING = "string"
    NAME = "name"
    COMMENT = "comment"


_PLACES = {
    PieceKind.COMMENT: TagPlace.COMMENT,
    PieceKind.STRING: TagPlace.STRING,
    PieceKind.ORACLE_STRING: TagPlace.STRING,
    PieceKind.DOLLAR_STRING: TagPlace.STRING,
    PieceKind.NAME: TagPlace.NAME,
}


def replace_tags(sql: str, dialect: str, tag: re.Pattern[str], write: Callable[[re.Match[str], TagPlace], str]) -> str:
    r"""Return SQL with each tag replaced by what `write` returns for it and its place.

    Which quotes and comments there are is a matter of the dialect; quotes inside a tag are its own.

    >>> found = lambda tag, place: place.value
    >>> replace_tags(r"SELECT 'it\'s', {{ a }}, '{{ b('x') }}' # don't {{ c }}", "mysql", re.compile(r"{{.*?}}"), found)
    "SELECT 'it\\'s', code, 'string' # don't comment"
    """
    tags = list(tag.finditer(sql))
    if not tags:
        return sql
    plain = tag.sub(_without_quotes, sql)
    regions = [(one.start, one.end, _PLACES[one.kind]) for one in pieces(plain, dialect) if one.kind in _PLACES]
    starts = [start for start, _, _ in regions]
    written: list[str] = []
    position = 0
    for match in tags:
        number = bisect_right(starts, match.start()) - 1
        is_inside = number >= 0 and match.start() < regions[number][1]
        written += [sql[position : match.start()], write(match, regions[number][2] if is_inside else TagPlace.CODE)]
        position = match.end()
    return "".join([*written, sql[position:]])


def _without_quotes(found: re.Match[str]) -> str:
    """Return text as long as a tag, in which nothing is a quote or a bracket of SQL."""
    own = found[0]
    return "  " if own in ("[[", "]]") else _NOT_NEW_LINE.sub("_", own)
