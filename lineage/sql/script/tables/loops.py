"""What a statement in a loop reads of the loop's earlier runs: what later statements of the loop leave for it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from lineage.sql.procedural import Variables
from lineage.sql.script.definitions import Position

__all__ = ["LoopReads", "changes_in_loop"]


class LoopReads:
    """The statements that read in a loop what was not resolved by then: the loop is resolved again from there."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}

    def note(self, use: Position) -> None:
        """Note a statement that reads what a later statement of its loop leaves."""
        index, number = use
        self._first[index] = min(number, self._first.get(index, number))

    def take(self, index: int) -> int | None:
        """Return, once, the first noted statement of a text."""
        return self._first.pop(index, None)


def changes_in_loop(
    variables: Variables | None, made: Position | None, changes: Sequence[Position], use: Position
) -> Sequence[Position]:
    """Return the changes of a table's rows, from a use on, that precede the use when its loop runs again.

    `variables` are those of the use's text, `made` is the statement that creates the table: a loop that creates it
    again begins without these rows. `changes` are sorted.
    """
    if variables is None:
        return ()
    index, number = use
    end = variables.end_of_loop(number, made[1] if made is not None and made[0] == index else None)
    return changes[bisect_left(changes, use) : bisect_right(changes, (index, end))] if end is not None else ()
