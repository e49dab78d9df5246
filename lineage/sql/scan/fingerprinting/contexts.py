"""The context of a literal, and whether its value can affect lineage there.

A literal is dropped if its region of the text allows that after the preceding piece. In any case not listed here it is
kept.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = ["DROPPED", "DROPPED_CONSTANTS", "Behind", "Region"]


class Behind(IntFlag):
    """The kind of the preceding piece. After NOTHING a literal is never dropped."""

    NOTHING = 0
    EQUALS = 1
    COMPARISON = 2
    LIKE = 4
    """LIKE and similar operators, BETWEEN, and BETWEEN's AND."""
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
    """`||`: its result may be a name, if it is the argument of an unknown function."""


class Region(IntEnum):
    """The kind of a region of text between brackets and clause keywords."""

    OTHER = 0
    """Unknown, or may contain names in strings: options, arguments of table functions, procedures."""
    FIXED = 1
    """PIVOT, whose values become column names."""
    PROJECTION = 2
    SOURCES = 3
    """FROM, JOIN, INTO."""
    CONDITION = 4
    GROUPED = 5
    """Parentheses within a condition."""
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
    """Arguments of a pure function of constants, in a region above that allows constants."""
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
"""By region, the preceding pieces after which a literal is dropped."""

DROPPED_CONSTANTS: dict[Region, int] = {
    Region.PROJECTION: _COMPUTED | Behind.ITEM | Behind.COMMA | Behind.PARENTHESIS,
    Region.KEYS: _COMPUTED,
    Region.ASSIGNMENT: _COMPUTED | Behind.PARENTHESIS | Behind.COMMA,
    Region.CALL: Behind.LOGIC | Behind.ARITHMETIC,
}
"""By region, further preceding pieces after which a string or number is dropped, as a computed or written value.

Placeholders and templates are kept there: they may stand for a column, and are the same in every run. In KEYS, a
literal after the clause's keyword or a comma is kept, because it may be an ordinal.
"""
