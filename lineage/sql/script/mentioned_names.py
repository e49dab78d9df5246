"""Names beside the words of a text that define, drop or rename tables, found without parsing.

They decide which texts are parsed or followed together before a name is looked up: one too many costs time, one that is
missed hides a definition from other texts. Names are in lower case, with their quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

__all__ = ["changed_names", "defined_names", "defines_function", "moves_tables", "name_parts"]

# Lengths are limited, so that what is never closed does not make the search quadratic.
_COMMENT = r"/\*(?:[^*]|\*(?!/)){0,4000}+\*/|--[^\n]*\n"
_GAP = rf"(?:\s|{_COMMENT})++"
_PART = r'(?:[\w$#*]+(?:-[\w$#*]+)*|"(?:[^"]|""){1,300}+"|`(?:[^`]|``){1,300}+`|\[(?:[^\]]|\]\]){1,300}+\])'
_NAME = rf"(?:identifier\s*\(\s*'[^']+'|{_PART}(?:\s*(?:\.\s*)+{_PART})*)"
_EXISTING = rf"(?:if{_GAP}(?:not{_GAP})?exists{_GAP})?(?:(?:only|unlogged){_GAP})?"


def _after(word: str, rest: str) -> str:
    """Return a pattern for text in lower case that begins with a word; its literal beginning is searched for fast."""
    return rf"{word}(?<=\b{word}){rest}"


_DEFINITIONS = tuple(_after(word, rf"{_GAP}{_EXISTING}({_NAME})") for word in ("table", "view", "into", "to"))
_SWAPS = (
    _after("swap", rf"{_GAP}with{_GAP}({_NAME})"),
    _after("exchange", rf"{_GAP}tables{_GAP}({_NAME}(?:{_GAP}and{_GAP}{_NAME}|\s*,\s*{_NAME})*)"),
)

_NAMES = rf"{_EXISTING}({_NAME}(?:\s*,\s*{_NAME})*)"
_RELATION = rf"{_GAP}(?:\w+{_GAP}){{0,3}}?(?:table|view){_GAP}"
_CHANGES = (
    _after("drop", _RELATION + _NAMES),
    _after("or", rf"{_GAP}(?:replace|alter){_RELATION}{_NAMES}"),
    _after("alter", _RELATION + _NAMES),
    _after("rename", rf"{_GAP}(?:table|to){_GAP}{_NAMES}"),
)

# What moves a table to another schema, whose name need not stand beside the table's.
_MOVES = r"\bset\s+schema\b|\btransfer\b|\bsp_rename\b|\brename\b"
_MOVING = ("schema", "transfer", "rename")

# T-SQL's rename of a table or column, whose names are strings.
_RENAMES = _after("sp_rename", r"\b[^;']{0,500}'((?:[^']|''){1,300})'[^;']{0,500}'((?:[^']|''){1,300})'")

_FUNCTION = _after("create", rf"\b(?:{_COMMENT}|[^;/-]|/(?!\*)|-(?!-)){{0,60}}?\b(?:function|macro)\b")

_AROUND_NAMES = ' \t\r\n"`[]'
_IDENTIFIER = "identifier"


# Compiled at their first use: it takes 14 ms, and many commands use none of them.
_compiled = cache(re.compile)


def defined_names(text: str) -> Iterator[str]:
    """Yield the names that a text in lower case may define."""
    for pattern in _DEFINITIONS:
        yield from (_plain(match.group(1)) for match in _compiled(pattern).finditer(text))
    for match in _compiled(_RENAMES).finditer(text):
        old, new = match.groups()
        yield from (old, old.rpartition(".")[0], new)
    yield from _swapped_names(text)


def changed_names(text: str) -> Iterator[str]:
    """Yield the names of tables that a text in lower case may drop, replace, alter or rename."""
    for pattern in _CHANGES:
        for match in _compiled(pattern).finditer(text):
            yield from map(_plain, match.group(1).split(","))
    yield from _swapped_names(text)


def _swapped_names(text: str) -> Iterator[str]:
    for pattern in _SWAPS:
        for match in _compiled(pattern).finditer(text):
            yield from map(_plain, re.split(rf",|{_GAP}and{_GAP}", match.group(1)))


def moves_tables(text: str) -> bool:
    """Return whether a text in lower case may move a table to another schema."""
    return any(word in text for word in _MOVING) and _compiled(_MOVES).search(text) is not None


def defines_function(text: str) -> bool:
    """Return whether a text in lower case may define a function or macro."""
    return ("function" in text or "macro" in text) and _compiled(_FUNCTION).search(text) is not None


def name_parts(name: str) -> tuple[str, ...]:
    """Return the parts of a dotted name, without quotes and in lower case; only the last one if a part is left out."""
    parts = tuple(part.strip(_AROUND_NAMES).lower() for part in name.split("."))
    return parts if all(parts) else parts[-1:]


def _plain(name: str) -> str:
    """Return a name; of Snowflake's `identifier('name')` the string."""
    return name.partition("'")[2].rstrip("'") if name.startswith(_IDENTIFIER) and "'" in name else name
