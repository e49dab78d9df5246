"""Which of many tables some texts may name: of the others, nobody needs the columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Generic, TypeVar

from lineage.model.names import split_name

__all__ = ["MentionedTables", "TextsByWords", "words_of"]

K = TypeVar("K", bound=Hashable)

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
            words, is_open = _read(text)
            self.words.update(words)
            self.is_open = self.is_open or is_open
        self._beginnings = {_without_date(word) for word in self.words}

    def has(self, name: str) -> bool:
        """Return whether the texts may name the table of this full name: they have all words of its last part."""
        words, beginning = _words_of_name(name)
        return self.is_open or (self.words.issuperset(words) and (beginning is None or beginning in self._beginnings))


class TextsByWords(Generic[K]):
    """Texts, by the words that they have: which of them may name a table.

    >>> texts = TextsByWords({"a": "SELECT * FROM s.orders", "b": 'SELECT * FROM "My table", events_20260131'}.items())
    >>> [sorted(texts.naming(name)) for name in ("orders", 's."my table"', "events_*", "events")]
    [['a'], ['b'], ['b'], []]
    """

    def __init__(self, texts: Iterable[tuple[K, str]]) -> None:
        """Read the words of texts, given with their keys."""
        self._by_word: dict[bytes, set[K]] = defaultdict(set)
        self._by_beginning: dict[bytes, set[K]] = defaultdict(set)
        self._open: set[K] = set()
        self._all: set[K] = set()
        for key, text in texts:
            words, is_open = _read(text)
            self._all.add(key)
            for word in set(words):
                self._by_word[word].add(key)
                if (beginning := _without_date(word)) != word:
                    self._by_beginning[beginning].add(key)
            if is_open:
                self._open.add(key)

    def naming(self, table: str) -> set[K]:
        """Return the keys of the texts that may name the table of this full name."""
        words, beginning = _words_of_name(table)
        found = [self._by_word.get(word, set()) for word in words]
        if beginning is not None:
            found.append(self._by_beginning.get(beginning, set()) | self._by_word.get(beginning, set()))
        named = found[0].intersection(*found[1:]) if found else self._all
        return named | self._open


def _read(text: str) -> tuple[list[bytes], bool]:
    """Return the words of a text, with those that its pieces of SQL may make, and whether names may hide theirs."""
    lowered = text.lower()
    words = words_of(lowered)
    if _DYNAMIC in lowered:
        words += [b"".join(pair) for pair in pairwise(tuple(words))]
    return words, _ESCAPED in lowered


def _words_of_name(name: str) -> tuple[list[bytes], bytes | None]:
    """Return the words of the last part of a table's full name; of date shards, how the last word begins apart."""
    own = split_name(name)[-1][0].lower()
    words = words_of(own)
    return (words[:-1], words[-1].rstrip(b"_")) if own.endswith("*") and words else (words, None)


def _without_date(word: bytes) -> bytes:
    return word.rstrip(_DIGITS).rstrip(b"_")


def words_of(text: str) -> list[bytes]:
    """Return the words of a text in lower case: ASCII letters, digits, `_`, and all beyond ASCII."""
    if not text.isascii():
        text = " ".join(text.split())  # spaces beyond ASCII, too
    return text.encode(errors="surrogatepass").translate(_SPACES).split()
