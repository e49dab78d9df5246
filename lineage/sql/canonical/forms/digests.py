"""Digests of terms: equal terms have equal digests, and different ones differ."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from sqlglot import exp

__all__ = ["digest", "is_stated", "spelling", "tree_digest"]

Part = str | int | bool | None | Iterable["Part"]


def digest(*parts: Part) -> str:
    """Return the digest of a tuple of texts, numbers and nested tuples.

    Nesting counts, so that no two different tuples are written alike.

    >>> digest("a", ("b", "c")) == digest("a", "b", "c")
    False
    """
    hashed = blake2b(digest_size=16)
    stack: list[Part] = [parts]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            text = part.encode("utf-8", "surrogatepass")
            hashed.update(b"s%d:" % len(text))
            hashed.update(text)
        elif part is None or isinstance(part, (bool, int)):
            hashed.update(f"v{part!r};".encode())
        else:
            nested = list(part)
            hashed.update(b"t%d:" % len(nested))
            stack.extend(reversed(nested))
    return hashed.hexdigest()


def tree_digest(tree: exp.Expr, text: str) -> str:
    """Return the digest of a syntax tree as it is written, apart from comments and white space.

    A function's name counts as written in `text`, since the tree has one node for several names.
    """
    parts: list[str] = []
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Expr):
            parts.append(f"<{type(node).__name__}{spelling(node, text)}")
            stack.append(_END)
            for key, value in sorted(node.args.items(), reverse=True):
                if not is_stated(key, value):
                    continue
                stack.append(value)
                stack.append(_Key(key))
        elif isinstance(node, list):
            parts.append(f"[{len(node)}")
            stack.extend(reversed(node))
        elif isinstance(node, _Key):
            parts.append(f".{node}")
        else:
            parts.append(")" if node is _END else repr(node))
    return digest("tree", parts)


def is_stated(key: str, value: object) -> bool:
    """Return whether an argument of a node says something: most that are False do not."""
    return key == "from_first" or not (value is None or value is False or value == [])


def spelling(node: exp.Expr, text: str) -> str:
    """Return a function's name as written, in upper case; empty if the tree has no position of it."""
    if not isinstance(node, exp.Func):
        return ""
    start, end = node.meta.get("start"), node.meta.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        return ""
    return f" {text[start : end + 1].upper()}"


class _Key(str):
    """The name of an argument, as distinct from a value."""

    __slots__ = ()


_END = object()
