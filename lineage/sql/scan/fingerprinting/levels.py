"""A level of brackets or CASE in the computation of a fingerprint, and the region that an opening bracket begins."""

from __future__ import annotations

from dataclasses import dataclass

from lineage.sql.scan.fingerprinting.contexts import Behind, Region

__all__ = ["Level", "inner_region", "takes_rows"]

_TAKES_LISTS = frozenset((Region.CONDITION, Region.GROUPED, Region.ROW, Region.LIST, Region.PURE))
_TAKES_CONSTANTS = _TAKES_LISTS | {Region.PROJECTION, Region.KEYS, Region.ASSIGNMENT, Region.CALL}
_TAKES_ROWS = frozenset((Region.OTHER, Region.SOURCES, Region.LIST))
_UNKNOWN = frozenset((Region.OTHER, Region.SOURCES))
_GROUPS = {Region.CONDITION: Region.GROUPED, Region.ROW: Region.PURE, Region.LIST: Region.PURE}


@dataclass(slots=True)
class Level:
    """State of the innermost open bracket or CASE, or of the statement itself. Positions are in the output."""

    region: Region = Region.OTHER
    base: Region = Region.OTHER
    """The region of a CASE, which is also that of its results."""
    is_case: bool = False
    is_row: bool = False
    start: int = 0
    last_row: tuple[int, int] = (-1, -1)
    """Start and end of the last row in this level."""
    last_dropped: int = -1
    """The end of the last dropped literal in this level."""
    loops: bool = False
    """FOR was read: FOR name IN (…) lists the values that become a PIVOT's columns."""
    updates: bool = False
    inserts: bool = False
    """INSERT INTO was read: SET writes columns (MySQL)."""
    selects: bool = False
    named: bool = False
    """The select-list item has an AS."""
    item: int = 0
    """Number of constants dropped before the item."""
    between: bool = False

    def enter(self, region: Region) -> None:
        """Begin another region; a fixed region does not change."""
        if self.region is not Region.FIXED:
            self.region = region
        self.loops = self.between = False


def takes_rows(region: Region) -> bool:
    """Return whether VALUES in a region begins rows (otherwise it is a name or MySQL's function)."""
    return region in _TAKES_ROWS


def inner_region(level: Level, behind: int, role: str, opener: str, *, pure: bool) -> tuple[Region, bool]:
    """Return the region that a bracket begins in a level, and whether it is a row of constants.

    `behind` and `role` describe the piece before the bracket; `pure`: that piece is the name of a pure function.
    The first case that fits decides, in the order of the native scanner's twin (`contexts.rs`).
    """
    region = level.region
    is_row = False
    inner = Region.CALL
    if region is Region.FIXED or role == "pivot" or (role == "columns" and opener == "("):
        inner = Region.FIXED
    elif opener == "{":
        inner = Region.OTHER
    elif role == "in" and region not in _UNKNOWN:
        inner = Region.FIXED if level.loops else Region.LIST
    elif opener == "[":
        inner = Region.LIST if region in _TAKES_LISTS and (behind or role == "array") else Region.OTHER
    elif role == "values" and takes_rows(region):
        level.region = Region.ROWS
        inner, is_row = Region.ROW, True
    elif (region is Region.ROWS and (behind & Behind.COMMA or role == "row")) or (
        region is Region.LIST and behind & (Behind.PARENTHESIS | Behind.COMMA)
    ):
        inner, is_row = Region.ROW, True
    elif role == "top" and behind & Behind.LIMIT:
        inner = Region.LIMITED
    elif role == "partition":  # PARTITION (day = '…') of Hive's INSERT
        inner = Region.CALL
    elif behind & ~(Behind.LIMIT | Behind.INTERVAL):
        inner = _GROUPS.get(region, region)
    elif pure and region in _TAKES_CONSTANTS:
        inner = Region.PURE
    elif region in _UNKNOWN:
        inner = Region.OTHER
    return inner, is_row
