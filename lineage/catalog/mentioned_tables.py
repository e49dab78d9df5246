"""Which of many tables some texts may name: of the others, nobody needs the columns."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lineage.model.names import split_name

__all__ = ["MentionedTables", "words_of"]

_NOT_OF_WORDS = bytes(range(48)) + bytes(range(58, 95)) + b"`{|}~\x7f"
_SPACES = bytes.maketrans(_NOT_OF_WORDS, b" " * len(_NOT_OF_WORDS))
_DIGITS = b"0123456789"
_ESCAPED = "u&"
"""Begins a name whose letters may be written as numbers."""
_DYNAMIC = "exec"
"""Texts that run SQL may put it together from pieces."""


class MentionedTables:
    """The tables that texts may name, by the words of their names; case is ignored.

    >>> mentioned = MentionedTables(['SELECT * FROM "My table" JOIN events_20260131'])
    >>> [mentioned.has(name) for name in ('s."my table"', "events_*", "s.orders", "events")]
    [True, True, False, False]
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the words of the texts."""
        self.words: set[bytes] = set()
        """The words of the texts, and those that pieces of dynamic SQL may make."""
        self.is_open = False
        """Whether names may be written in ways that hide their words."""
        for text in texts:
            lowered = text.lower()
            words = words_of(lowered)
            self.words.update(words)
            self.is_open = self.is_open or _ESCAPED in lowered
            if _DYNAMIC in lowered:
                self.words.update(map(b"".join, pairwise(words)))
        self._beginnings = {word.rstrip(_DIGITS).rstrip(b"_") for word in self.words}

    def has(self, name: str) -> bool:
        """Return whether the texts may name the table of this full name: they have all words of its last part."""
        own = split_name(name)[-1][0].lower()
        words = words_of(own)
        if own.endswith("*") and words:  # the date shards of a table
            *others, last = words
            return self.is_open or (last.rstrip(b"_") in self._beginnings and self.words.issuperset(others))
        return self.is_open or self.words.issuperset(words)


def words_of(text: str) -> list[bytes]:
    """Return the words of a text in lower case: ASCII letters, digits, `_`, and all beyond ASCII."""
    if not text.isascii():
        text = " ".join(text.split())  # spaces beyond ASCII, too
    return text.encode(errors="surrogatepass").translate(_SPACES).split()
