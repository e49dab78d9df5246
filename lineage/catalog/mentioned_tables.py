"""Which of many tables some texts may name: of the others, nobody needs the columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from lineage.model.names import split_name

__all__ = ["MentionedTables"]

_WORD = re.compile(r"\w+")
_DIGITS = "0123456789"
_ESCAPED = "u&"
"""Begins a name whose letters may be written as numbers."""
_DYNAMIC = re.compile(r"\bexec(?:ute)?\b")
"""Runs SQL that may be put together from pieces."""


class MentionedTables:
    """The tables that texts may name, by the words of their names; case is ignored.

    >>> mentioned = MentionedTables(['SELECT * FROM "My table" JOIN events_20260131'])
    >>> [mentioned.has(name) for name in ('s."my table"', "events_*", "s.orders", "events")]
    [True, True, False, False]
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the words of the texts."""
        self._words: set[str] = set()
        self._is_open = False
        for text in texts:
            lowered = text.lower()
            words = _WORD.findall(lowered)
            self._words.update(words)
            self._is_open = self._is_open or _ESCAPED in lowered
            if _DYNAMIC.search(lowered) is not None:
                self._words.update(map("".join, pairwise(words)))
        self._beginnings = {word.rstrip(_DIGITS).rstrip("_") for word in self._words}

    def has(self, name: str) -> bool:
        """Return whether the texts may name the table of this full name: they have all words of its last part."""
        own = split_name(name)[-1][0].lower()
        if self._is_open or own in self._words:
            return True
        if own.endswith("*"):  # the date shards of a table
            return own.rstrip("*_") in self._beginnings
        words = _WORD.findall(own)
        return (len(words) > 1 or words != [own]) and all(word in self._words for word in words)
