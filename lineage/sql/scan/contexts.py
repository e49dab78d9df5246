"""Where a literal stands, and whether its value can shape lineage there.

A literal is dropped when the region of the text that it stands in allows it behind the piece that it follows. What
is not listed here is kept.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = ["DROPPED", "DROPPED_CONSTANTS", "Behind", "Region"]


class Behind(IntFlag):
    """What a piece follows. NOTHING stands for all that never lets a literal drop."""

    NOTHING = 0
    EQUALS = 1
    COMPARISON = 2
    LIKE = 4
    """LIKE and its kin, BETWEEN, and BETWEEN's AND."""
    LOGIC = 8
    """AND, OR, NOT, and the word that begins a condition."""
    ARITHMETIC = 16
    PARENTHESIS = 32
    COMMA = 64
    INTERVAL = 128
    LIMIT = 256
    ITEM = 512
    """The word that begins a select list."""
    CONCAT = 1024
    """`||`: what it makes of texts may be a name, where a function of which nothing is known takes it."""


class Region(IntEnum):
    """What a stretch of text between brackets and clause words is."""

    OTHER = 0
    """Not known, or known to hold names in strings: options, arguments of table functions, procedures."""
    FIXED = 1
    """PIVOT: its values name columns."""
    PROJECTION = 2
    SOURCES = 3
    """FROM, JOIN, INTO."""
    CONDITION = 4
    GROUPED = 5
    """In parentheses within a condition."""
    KEYS = 6
    """GROUP BY, ORDER BY, PARTITION BY."""
    ASSIGNMENT = 7
    """UPDATE … SET."""
    ROWS = 8
    """VALUES."""
    ROW = 9
    LIST = 10
    """IN (…)."""
    PURE = 11
    """Arguments of a function that makes a constant of constants, in one of the places above that take constants."""
    CALL = 12
    LIMITED = 13
    """TOP (…)."""


_COMPARED = Behind.EQUALS | Behind.COMPARISON | Behind.LIKE | Behind.INTERVAL
_COMPUTED = Behind.LOGIC | Behind.ARITHMETIC | Behind.CONCAT
_CONDITION = _COMPARED | _COMPUTED | Behind.LIMIT
_CONSTANTS = _COMPARED | _COMPUTED | Behind.PARENTHESIS | Behind.COMMA

DROPPED: dict[Region, int] = {
    Region.OTHER: Behind.NOTHING,
    Region.FIXED: Behind.NOTHING,
    Region.PROJECTION: _COMPARED | Behind.LIMIT,
    Region.SOURCES: Behind.INTERVAL | Behind.LIMIT,
    Region.CONDITION: _CONDITION,
    Region.GROUPED: _CONDITION | Behind.PARENTHESIS | Behind.COMMA,
    Region.KEYS: _COMPARED | Behind.LIMIT,
    Region.ASSIGNMENT: _COMPARED | Behind.LIMIT,
    Region.ROWS: Behind.COMMA | Behind.INTERVAL | Behind.LIMIT,
    Region.ROW: _CONSTANTS,
    Region.LIST: _CONSTANTS,
    Region.PURE: _CONSTANTS,
    Region.CALL: _COMPARED,
    Region.LIMITED: Behind.PARENTHESIS | Behind.ARITHMETIC | Behind.CONCAT,
}
"""What a literal may follow in each region to be dropped."""

DROPPED_CONSTANTS: dict[Region, int] = {
    Region.PROJECTION: _COMPUTED | Behind.ITEM | Behind.COMMA | Behind.PARENTHESIS,
    Region.KEYS: _COMPUTED,
    Region.ASSIGNMENT: _COMPUTED | Behind.PARENTHESIS | Behind.COMMA,
    Region.CALL: Behind.LOGIC | Behind.ARITHMETIC,
}
"""What a string or number may follow besides: as a value that is computed with or written, and names nothing.

Placeholders and templates stay there: they may stand for a column, and do not differ from run to run. In KEYS what
follows the clause's word or a comma stays, since it may be an ordinal.
"""
