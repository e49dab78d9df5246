"""The scanner's table of facts, `facts.txt`: lexical features of each dialect, and roles of SQL keywords.

The native crate compiles the same file in, so that there is one source of these facts.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

__all__ = ["dialect_features", "facts_text", "word_flags", "word_roles"]


@cache
def facts_text() -> str:
    """Return the text of the table; a native wheel that was built with another text is out of date."""
    return (resources.files(__package__) / "facts.txt").read_text(encoding="utf-8")


@cache
def _sections() -> dict[str, dict[str, tuple[str, ...]]]:
    sections: dict[str, dict[str, tuple[str, ...]]] = {}
    section: dict[str, tuple[str, ...]] = {}
    for line in facts_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, _, words = line.partition(":")
            section[name] = (*section.get(name, ()), *words.split())
    return sections


@cache
def dialect_features(dialect: str) -> frozenset[str]:
    """Return the features of a dialect, by its name (not an alias).

    >>> sorted(dialect_features("sqlite"))
    ['bracket_names', 'digit_groups']
    """
    return frozenset(_sections()["dialects"][dialect])


@cache
def word_roles() -> dict[str, str]:
    """Return the role of each word that has one, in lower case."""
    return {word: role for role, words in _sections()["roles"].items() for word in words}


@cache
def word_flags(flag: str) -> frozenset[str]:
    """Return the words that carry a flag, in lower case."""
    return frozenset(_sections()["flags"][flag])
