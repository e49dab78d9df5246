"""No regular expression of the project takes time exponential in the length of a text (CWE-1333).

Each is tested on texts generated from it: a repeatable part occurs many times, and the rest does not match.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from re import _constants as codes
from re import _parser as parser
from types import FrameType
from typing import Any

import lineage
import lineage_graphql
import lineage_ingest

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_CHARACTERS = [*map(chr, range(32, 127)), "\n", "\t", "é"]
_TIMES = 40
_TRIES = 15
_SECONDS = 2.0
_METHODS = frozenset(("compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"))
_KINDS = {"SPACE": r"\s", "NOT_SPACE": r"\S", "DIGIT": r"\d", "NOT_DIGIT": r"\D", "WORD": r"\w"}


def test_no_pattern_takes_exponential_time() -> None:
    patterns = dict(_patterns())
    assert len(patterns) > 120
    slow = [where for pattern, where in patterns.items() if _is_slow(pattern)]
    assert slow == []


def test_a_pattern_that_does_is_found() -> None:
    assert _is_slow(re.compile(r"(?:\s|/\*.*?\*/)*create", re.DOTALL))


def _patterns() -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield the patterns of all modules: those in variables, and those in calls."""
    for package in (lineage, lineage_ingest, lineage_graphql):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if (
                found.name.endswith("__main__") or found.name == "lineage.notebook.live"
            ):  # of an extra that is not locked
                continue
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                for pattern in _patterns_in(value):
                    yield pattern, f"{found.name}.{name}"
            file = Path(module.__file__ or "")
            if file.suffix == ".py":
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                    match node:
                        case ast.Call(
                            func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                            args=[ast.Constant(value=str(constant)), *_],
                        ) if method in _METHODS:
                            yield re.compile(constant), f"{found.name}:{node.lineno}"


def _patterns_in(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth and isinstance(value, tuple | list | set | frozenset | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(one, depth - 1)


def _is_slow(pattern: re.Pattern[str]) -> bool:
    tree = parser.parse(pattern.pattern, pattern.flags)
    made = _Maker(random.Random(repr(pattern.pattern)))
    for repeat in _repeats(tree):
        for _ in range(_TRIES):
            text = made.text(tree, repeat).partition("\0")[0]
            if any(_takes_long(pattern, text + tail) for tail in ("\x01", "")):
                return True
    return False


class _TakesLongError(Exception):
    pass


def _takes_long(pattern: re.Pattern[str], text: str) -> bool:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TakesLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)  # matching checks for signals periodically
    try:
        pattern.search(text)
    except _TakesLongError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


def _repeats(tree: Any) -> Iterator[Any]:
    """Yield the parts of a pattern that may repeat without limit."""
    for code, value in tree:
        if code in _REPEATS:
            if value[1] is codes.MAXREPEAT:
                yield value
            yield from _repeats(value[2])
        else:
            for part in _parts(code, value):
                yield from _repeats(part)


def _parts(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


class _Maker:
    """Generates texts that match a pattern, from its syntax tree."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def text(self, tree: Any, repeated: Any = None) -> str:
        """Return a matching text, with a NUL after the repeated part."""
        return "".join(self._one(code, value, repeated) for code, value in tree)

    def _one(self, code: Any, value: Any, repeated: Any) -> str:
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.NOT_LITERAL:
            return self._chance.choice([one for one in _CHARACTERS if ord(one) != value])
        if code is codes.ANY:
            return self._chance.choice("a -*/'\"(")
        if code is codes.IN:
            return self._of_class(value)
        if code in _REPEATS:
            least, most, part = value
            if value is repeated:
                return "".join(self.text(part) for _ in range(self._chance.choice((1, 1, 2)))) * _TIMES + "\0"
            times = max(least, min(self._chance.choice((0, 1, 1, 2)), int(most)))
            return "".join(self.text(part, repeated) for _ in range(times))
        parts = [] if code in (codes.ASSERT, codes.ASSERT_NOT) else _parts(code, value)
        return self.text(self._chance.choice(parts), repeated) if parts else ""

    def _of_class(self, items: Any) -> str:
        fitting = _characters_of(tuple(items))
        return self._chance.choice(fitting) if fitting else ""


@cache
def _characters_of(items: tuple[Any, ...]) -> list[str]:
    """Return the characters that a class contains; few classes are in most patterns."""
    negated = items[0][0] is codes.NEGATE
    return [one for one in _CHARACTERS if any(_is_in(one, *item) for item in items) is not negated]


def _is_in(character: str, code: Any, value: Any) -> bool:
    if code is codes.LITERAL:
        return bool(ord(character) == value)
    if code is codes.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if code is codes.CATEGORY:
        kind = str(value).removeprefix("CATEGORY_")
        return re.match(_KINDS.get(kind, r"\W"), character) is not None
    return False
