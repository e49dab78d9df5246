"""An answer as a tree: each column below the one that it is reached from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from lineage.screen.layout import cut_middle
from lineage.store.values import Direction
from lineage.traversal.answer import Answer, Reached

__all__ = ["answer_tree"]

Branches = dict[str, "Branches"]


def answer_tree(answer: Answer, shown: Sequence[Reached], width: int) -> Iterator[str]:
    """Yield the lines of a tree of columns; a name that does not fit loses its middle."""
    root: Branches = {}
    how: dict[str, str] = {}
    for column in shown:
        upstream = answer.direction is Direction.UPSTREAM
        keys = [step.source for step in reversed(column.path)] if upstream else [step.target for step in column.path]
        below = root
        for key in keys if keys[-1] == column.key else [*keys, column.key]:  # a step may lead to the rows of its table
            below = below.setdefault(key, {})
        words = [*map(str, column.how), *(["masked"] if column.masked else []), *(["root"] if column.root else [])]
        how[column.key] = ", ".join(words)
    names = answer.names_of(_keys(root))
    yield answer.start.name
    yield from _lines(root, names, how, "", width)


def _keys(branches: Branches) -> Iterator[str]:
    for key, below in branches.items():
        yield key
        yield from _keys(below)


def _lines(branches: Branches, names: dict[str, str], how: dict[str, str], before: str, width: int) -> Iterator[str]:
    for number, (key, below) in enumerate(branches.items(), start=1):
        is_last = number == len(branches)
        name = names.get(key, key) if "#" in key else f"{names.get(key, key)} (rows)"
        head, tail = f"{before}{'└' if is_last else '├'}─ ", f"  {how[key]}" if how.get(key) else ""
        room = max(width - cell_len(head) - cell_len(tail), 20)
        yield f"{head}{cut_middle(name, room)}{tail}"
        yield from _lines(below, names, how, f"{before}{' ' if is_last else '│'}  ", width)
