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

from lineage.model.dialect import Dialect
from lineage.sql.procedural.program_steps import Block, BlockKind, ProgramStep
from lineage.sql.procedural.text.tokens import STRINGS

__all__ = ["Names", "Reaching", "Variables", "routines_of"]

_CALLS = frozenset(("CALL", "EXECUTE"))
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
        is_name = bool(text) and (text[0].isalpha() or text[0] in "_@$")
        if (kind in STRINGS and not mark) or kind is TokenType.NUMBER or not is_name:
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
        self._declared: dict[str, list[frozenset[Block]]] = defaultdict(list)
        self._calls: list[int] = []
        self._loop_rows: list[tuple[str, Block, int]] = []
        for number, step in enumerate(steps):
            self._blocks.append(step.blocks if step is not None else ())
            self._routines.append(frozenset(routines_of(self._blocks[-1])))
            if step is not None:
                for name in step.assigns:
                    self._assigned[name].append(number)
                for name, blocks in step.declares:
                    self._declared[name].append(frozenset(routines_of(blocks)))
                if step.operation in _CALLS:
                    self._calls.append(number)
                if step.shows_columns:
                    self._loop_rows.append((step.assigns[0], step.blocks[-1], number))
        self.names = frozenset((*self._assigned, *self._declared))
        """Every name that is a variable somewhere in the text."""
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.names):
            self._by_word[name.lstrip("@")].append(name)

    def named(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the variables that words may refer to, with or without `@`."""
        for word in words:
            yield from self._by_word.get(word, ())

    def loop_rows(self, use: int) -> Iterator[str]:
        """Yield the rows of the loops around a statement whose columns it reads without naming the row."""
        for name, loop, number in self._loop_rows:
            if number != use and loop in self._blocks[use]:
                yield name

    def visible(self, name: str, use: int) -> bool:
        """Return whether a name is a variable at a statement: of its routine or an enclosing one."""
        if self._is_of_session(name):
            return True
        routines = self._routines[use]
        assigned = (self._routines[place] for place in self._assigned.get(name, ()))
        return any(place <= routines for place in chain(self._declared.get(name, ()), assigned))

    def reaching(self, name: str, use: int) -> Reaching:
        """Return the assignments of a variable that may reach a statement.

        A routine may assign to a variable of the program or package around it, whenever it is called.
        """
        blocks = self._blocks[use]
        routines = self._routines[use]
        loops = {block for block in blocks if block.kind is BlockKind.LOOP}
        assigned = self._assigned.get(name, [])
        of_session = self._is_of_session(name)
        assignments = Reaching([], [])
        behind = bisect_left(assigned, use)
        replaced_at = -1
        for number in reversed(assigned[:behind]):
            theirs = self._blocks[number]
            if not self._routines[number] <= routines:
                if of_session:
                    assignments.before.append(number)
                continue
            assignments.before.append(number)
            if theirs == blocks[: len(theirs)]:  # replaces all earlier assignments, also of the previous iteration
                loops.difference_update(theirs)
                replaced_at = number
                break
        assignments.before.reverse()
        in_this_run = replaced_at >= 0 and self._routines[replaced_at] == routines
        if not in_this_run or any(replaced_at < call < use for call in self._calls):
            self._add_by_calls(name, use, assignments)
        for number in assigned[behind:] if loops or (of_session and routines) else ():
            theirs = self._blocks[number]
            is_other = of_session and routines and self._routines[number] != routines
            if is_other or (self._routines[number] <= routines and not loops.isdisjoint(theirs)):
                assignments.around.append(number)
        return assignments

    def _is_of_session(self, name: str) -> bool:
        """Return whether all routines of a session share a name: MySQL's user variables, PostgreSQL's settings."""
        return (name.startswith("@") or "." in name) and name not in self._declared and name in self._assigned

    def end_of_loop(self, use: int, without: int | None) -> int | None:
        """Return the last statement of the outermost loop around a statement; None if it is in no loop.

        Loops around the statement `without` do not count.
        """
        outside = self._blocks[without] if without is not None else ()
        loop = next((one for one in self._blocks[use] if one.kind is BlockKind.LOOP and one not in outside), None)
        if loop is None:
            return None
        behind = (number for number in range(use, len(self._blocks)) if loop not in self._blocks[number])
        return next(behind, len(self._blocks)) - 1

    def _add_by_calls(self, name: str, use: int, found: Reaching) -> None:
        """Add the assignments that may run before this routine is called, or in what it calls.

        They are in other routines that see the same variable, or later in those around this one.
        """
        routines = self._routines[use]
        visible = [place for place in self._declared.get(name, ()) if place <= routines]
        if not visible:
            return
        own = max(visible, key=len)
        hiding = [place for place in self._declared[name] if own < place]
        for number in self._assigned.get(name, ()):
            theirs = self._routines[number]
            is_other = not theirs <= routines or (theirs < routines and number > use)
            if is_other and own <= theirs and not any(place <= theirs for place in hiding):
                (found.before if number < use else found.around).append(number)
        found.before.sort()


def routines_of(blocks: tuple[Block, ...]) -> set[Block]:
    """Return the routine bodies among the blocks."""
    return {block for block in blocks if block.kind is BlockKind.ROUTINE}
