"""The span of the text that a node of the syntax tree was parsed from.

sqlglot's tokenizer records positions (`line`, `col`, `start`, `end`; inclusive, in code points, over the whole
script) on identifiers, stars, literals and named functions only. The span of any other node covers its descendants'.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage.model.diagnostics import Span

__all__ = ["span_of"]


_NOTHING_BELOW = frozenset((str, bool, int, type(None)))
_new = tuple.__new__  # bypasses the constructor, which takes as long again


def _own(node: exp.Expr) -> Span | None:
    meta = node.meta if node._meta else None
    if not meta or "start" not in meta:
        return None
    start, end = meta["start"], meta["end"] + 1
    return Span(start, end, meta["line"], max(1, meta["col"] - (end - start) + 1))


def span_of(node: exp.Expr | None) -> Span | None:
    """Return the span of a node; None if nothing in it has a position (a node that sqlglot generated)."""
    if type(node) is not exp.Column:
        if node is None:
            return None
        return (_of_table(node) if type(node) is exp.Table else None) or _around(node)
    # `a.b.c`, from its first part to its last. Columns are nearly all of the calls.
    args = node.args
    first = last = args["this"]._meta
    if len(args) > 1 and (qualifier := args.get("table")) is not None:
        first = qualifier._meta or first
        if len(args) > 2:
            for part in ("db", "catalog"):
                if (qualifier := args.get(part)) is not None:
                    first = qualifier._meta or first
    try:
        start = first["start"]
        column = first["col"] - first["end"] + start
        return _new(Span, (start, last["end"] + 1, first["line"], column if column > 0 else 1))
    except (TypeError, KeyError):  # a name that sqlglot generated
        return None


def _of_table(table: exp.Expr) -> Span | None:
    """Return the span of a table's name and alias; None if it has other clauses, or a part has no position."""
    args = table.args
    first: Any = args["this"]._meta if type(args["this"]) is exp.Identifier else None
    last: Any = first
    for name, value in args.items():
        if name == "this" or not value:
            continue
        if name in ("db", "catalog"):
            first = value._meta if type(value) is exp.Identifier else None
        elif name == "alias" and not value.args.get("columns") and value.args.get("this") is not None:
            last = value.args["this"]._meta
        else:
            return None
    try:
        start = first["start"]
        column = first["col"] - first["end"] + start
        return _new(Span, (start, last["end"] + 1, first["line"], column if column > 0 else 1))
    except (TypeError, KeyError):
        return None


def _around(node: exp.Expr) -> Span | None:
    """Return the span of a node other than a column: its own, or the one that covers its descendants'."""
    own = node._meta
    if own and "start" in own and not node.args.get("expressions"):
        return _own(node)
    first: dict[str, Any] | None = None
    begin = end = 0
    stack = [node]
    push, nothing_below = stack.append, _NOTHING_BELOW
    while stack:
        current = stack.pop()
        meta = current._meta
        if meta and "start" in meta:
            start = meta["start"]
            if meta["end"] >= end:
                end = meta["end"] + 1
            if first is None or start < begin:
                first, begin = meta, start
        for value in current.args.values():
            kind = type(value)
            if kind in nothing_below:
                continue
            if kind is list:
                stack += [item for item in value if isinstance(item, exp.Expr)]
            elif isinstance(value, exp.Expr):
                push(value)
    if first is None:
        return None
    own_end = first["end"] + 1
    return Span(begin, end, first["line"], max(1, first["col"] - (own_end - begin) + 1))
