"""Free syntax trees after use. Nodes refer to their parents, so every tree is full of reference cycles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from sqlglot import exp

from lineage.sql.scan.implementation import chosen_engine

__all__ = ["column_names", "take_apart", "take_apart_in_python"]

_TYPES: tuple[type[Any], ...] = (exp.Identifier, exp.Literal, str, bool, int, type(None))
_NOTHING_BELOW = frozenset(_TYPES)
_NAMES_BELOW = frozenset((exp.Column, exp.TableAlias, exp.DataType))
"""Nodes with (nearly) only leaves below them; the few nodes of parameterized types are left to the collector."""


def column_names(tree: exp.Expr) -> frozenset[str]:
    """Return the names of the columns that a tree has, without their tables.

    >>> from sqlglot import parse_one
    >>> sorted(column_names(parse_one("SELECT t.a + b AS c FROM t")))
    ['a', 'b']
    """
    return frozenset(column.name for column in tree.find_all(exp.Column))


def take_apart(tree: exp.Expr) -> None:
    """Break a tree's reference cycles, so that its memory is freed with the last reference to it.

    Left to Python's cycle collector, trees would cost a tenth of the extraction time.
    """
    native = _native()
    if native is None:
        take_apart_in_python(tree)
    else:
        native(tree, _TYPES)


@cache
def _native() -> Callable[[exp.Expr, tuple[type[Any], ...]], None] | None:
    """Return the native function; None if the native wheel is not in use or does not have it."""
    return getattr(chosen_engine().arrays, "take_apart", None)


def take_apart_in_python(tree: exp.Expr) -> None:
    """Do the same as `take_apart` without the native wheel."""
    stack = [tree]
    push, pop = stack.append, stack.pop
    nothing_below, names_below, node = _NOTHING_BELOW, _NAMES_BELOW, exp.Expr
    while stack:
        args = pop().args
        for value in args.values():
            kind = type(value)
            if kind in nothing_below:
                continue
            if kind in names_below:
                value.args.clear()
            elif kind is list:
                for item in value:
                    kind = type(item)
                    if kind in names_below:
                        item.args.clear()
                    elif kind not in nothing_below and isinstance(item, node):
                        push(item)
            elif isinstance(value, node):
                push(value)
        args.clear()
