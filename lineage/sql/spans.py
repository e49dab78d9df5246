"""The place in the text that a node of the syntax tree was read from.

sqlglot's tokenizer records positions (`line`, `col`, `start`, `end`; inclusive, in code points, over the whole
script) on identifiers, stars, literals and named functions only. Other nodes get the hull of those below them.
"""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import Span

__all__ = ["span_of"]


_new = tuple.__new__  # past the constructor, which takes as long again


def _own(node: exp.Expr) -> Span | None:
    meta = node.meta if node._meta else None
    if not meta or "start" not in meta:
        return None
    start, end = meta["start"], meta["end"] + 1
    return Span(start, end, meta["line"], max(1, meta["col"] - (end - start) + 1))


def span_of(node: exp.Expr | None) -> Span | None:
    """Return the place of a node, or None where nothing in it has one (a node that sqlglot made up)."""
    if type(node) is not exp.Column:
        return _around(node) if node is not None else None
    # `a.b.c`, from its first part to its last: nearly all places are asked for columns.
    args = node.args
    first = last = args["this"]._meta
    if len(args) > 1:
        for part in ("catalog", "db", "table"):
            if part in args and (qualifier := args[part]) is not None and qualifier._meta is not None:
                first = qualifier._meta
                break
    try:
        start = first["start"]
        column = first["col"] - first["end"] + start
        return _new(Span, (start, last["end"] + 1, first["line"], column if column > 0 else 1))
    except (TypeError, KeyError):  # a name that sqlglot made up
        return None


def _around(node: exp.Expr) -> Span | None:
    """Return the place of a node that is no column: its own, or the hull of those below it."""
    own = _own(node)
    if own is not None and not node.args.get("expressions"):
        return own
    first: Span | None = own
    end = own.end if own else 0
    stack = [node]
    while stack:
        current = stack.pop()
        span = _own(current)
        if span is not None:
            end = max(end, span.end)
            if first is None or span.start < first.start:
                first = span
        for value in current.args.values():
            if isinstance(value, exp.Expr):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(item for item in value if isinstance(item, exp.Expr))
    return Span(first.start, end, first.line, first.column) if first is not None else None
