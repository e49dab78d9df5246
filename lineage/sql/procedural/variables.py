"""Variables of programs: their names, and which assignments reach a statement (reaching definitions).

An assignment in the same or an enclosing block replaces earlier ones; one in a branch or a loop is added to them; a
later one reaches a statement if both are in the same loop.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.dialects import Dialect
from lineage.sql.procedural.program_steps import Block, BlockKind, ProgramStep
from lineage.sql.procedural.tokens import STRINGS

__all__ = ["Names", "Reaching", "Variables", "routines_of"]

_MARKS = frozenset((TokenType.PARAMETER, TokenType.COLON, TokenType.SESSION_PARAMETER))


class Names:
    """Folds names of variables as the dialect compares them; T-SQL's and MySQL's keep their `@`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def fold(self, name: str) -> str:
        """Return a name folded."""
        mark = "@" if name.startswith("@") else ""
        return mark + self._dialect.fold_column(name.lstrip("@:"))

    def read(self, tokens: Sequence[Token], words: Sequence[str], position: int) -> tuple[str | None, int]:
        """Return the variable at a position, and the position after it; for `r.a` the variable is r."""
        if position >= len(tokens):
            return None, position
        token, mark = tokens[position], ""
        if token.token_type in _MARKS and position + 1 < len(tokens):
            mark = "@" if token.token_type is TokenType.PARAMETER else ""
            position += 1
            token = tokens[position]
        text = token.text
        kind = token.token_type
        if kind in STRINGS or kind is TokenType.NUMBER or not text or not (text[0].isalpha() or text[0] in "_@$"):
            return None, position
        name = mark + self._dialect.fold_column(text, quoted=kind is TokenType.IDENTIFIER)
        position += 1
        while position + 1 < len(words) and words[position] == ".":
            position += 2
        return name, position


class Reaching(NamedTuple):
    """The statements whose assignments reach a statement: earlier ones, and later ones in the same loop."""

    before: list[int]
    around: list[int]


class Variables:
    """The variables of one text, from its statements' steps."""

    def __init__(self, steps: Iterable[ProgramStep | None]) -> None:
        self._blocks: list[tuple[Block, ...]] = []
        self._routines: list[frozenset[Block]] = []
        self._assigned: dict[str, list[int]] = defaultdict(list)
        self._declared: dict[str, list[int]] = defaultdict(list)
        for number, step in enumerate(steps):
            self._blocks.append(step.blocks if step is not None else ())
            self._routines.append(frozenset(routines_of(self._blocks[-1])))
            if step is not None:
                for name in step.assigns:
                    self._assigned[name].append(number)
                for name in step.declares:
                    self._declared[name].append(number)
        self.names = frozenset((*self._assigned, *self._declared))
        """Every name that is a variable somewhere in the text."""
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.names):
            self._by_word[name.lstrip("@")].append(name)

    def named(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the variables that words may refer to, with or without `@`."""
        for word in words:
            yield from self._by_word.get(word, ())

    def visible(self, name: str, use: int) -> bool:
        """Return whether a name is a variable at a statement: of its routine or an enclosing one."""
        routines = self._routines[use]
        places = chain(self._declared.get(name, ()), self._assigned.get(name, ()))
        return any(self._routines[place] <= routines for place in places)

    def reaching(self, name: str, use: int) -> Reaching:
        """Return the assignments of a variable that may reach a statement."""
        blocks = self._blocks[use]
        routines = self._routines[use]
        loops = {block for block in blocks if block.kind is BlockKind.LOOP}
        assigned = self._assigned.get(name, [])
        found = Reaching([], [])
        behind = bisect_left(assigned, use)
        for number in reversed(assigned[:behind]):
            theirs = self._blocks[number]
            if not self._routines[number] <= routines:
                continue
            found.before.append(number)
            if theirs == blocks[: len(theirs)]:  # replaces all earlier assignments, also of the previous iteration
                loops.difference_update(theirs)
                break
        found.before.reverse()
        for number in assigned[behind:] if loops else ():
            theirs = self._blocks[number]
            if self._routines[number] <= routines and not loops.isdisjoint(theirs):
                found.around.append(number)
        return found


def routines_of(blocks: tuple[Block, ...]) -> set[Block]:
    """Return the routine bodies among the blocks."""
    return {block for block in blocks if block.kind is BlockKind.ROUTINE}
