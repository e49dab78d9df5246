"""Read the text in which PostgreSQL stores a parse tree (`pg_node_tree`), such as `pg_rewrite.ev_action`.

The form is that of PostgreSQL's `outfuncs.c` and `read.c`: `{TAG :field value …}`, lists in brackets, `<>` for
nothing. A backslash protects the next character. The fields differ by version, so they are kept by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["NodeTreeError", "TreeNode", "parse_node_tree"]

_TOKEN = re.compile(r"[(){}]|(?:\\.|[^\s(){}\\])+", re.DOTALL)
_PROTECTED = re.compile(r"\\(.)", re.DOTALL)
_OPENING = {"{": "}", "(": ")"}


class NodeTreeError(ValueError):
    """A text that is no parse tree, or a tree that cannot be read."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeNode:
    """A node: its tag, and its fields by name. A field is a node, a list, a text or None."""

    tag: str
    fields: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields.get(name)

    def number(self, name: str) -> int:
        """Return a field that is a number; 0 if it is absent."""
        return int(self.fields.get(name) or 0)

    def listed(self, name: str) -> list[Any]:
        """Return a field that is a list; an absent one is empty."""
        found = self.fields.get(name)
        return found if isinstance(found, list) else []

    def numbers(self, name: str) -> list[int]:
        """Return a list of numbers, which begins with the mark of their type."""
        return [int(one) for one in self.listed(name)[1:]]

    def children(self) -> Iterator[Any]:
        """Yield the fields that are nodes or lists."""
        for value in self.fields.values():
            if isinstance(value, TreeNode | list):
                yield value


def parse_node_tree(text: str) -> Any:
    """Return the value that a text denotes.

    >>> node = parse_node_tree("({VAR :varno 1 :colnames (\\"a\\\\ b\\" \\"c\\") :alias <> :value 4 [ 1 0 0 0 ]})")[0]
    >>> node.tag, node.number("varno"), node["colnames"], node["alias"]
    ('VAR', 1, ['a b', 'c'], None)

    Raises:
        NodeTreeError: the text is no parse tree.
    """
    open_lists: list[tuple[str, list[Any]]] = [("", [])]
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token in _OPENING:
            open_lists.append((_OPENING[token], []))
        elif token in (")", "}"):
            closing, items = open_lists.pop()
            if closing != token or not open_lists:
                raise NodeTreeError("the text is no parse tree: brackets do not match")
            open_lists[-1][1].append(_node(items) if token == "}" else [_atom(one) for one in items])
        else:
            open_lists[-1][1].append(token)
    [(_, top), *rest] = open_lists
    if rest or len(top) != 1:
        raise NodeTreeError("the text is no parse tree: it ends too early")
    return _atom(top[0])


def _node(items: list[Any]) -> TreeNode:
    if not items or not isinstance(items[0], str):
        raise NodeTreeError("the text is no parse tree: a node has no tag")
    fields: dict[str, Any] = {}
    at = 1
    while at + 1 < len(items):
        fields[str(items[at])[1:]] = _atom(items[at + 1])
        at += 2
        while at < len(items) and not (isinstance(items[at], str) and items[at].startswith(":")):
            at += 1  # the bytes of a constant
    return TreeNode(items[0], fields)


def _atom(token: Any) -> Any:
    """Return a text without its protection, None for `<>`; nodes and lists as they are."""
    if not isinstance(token, str):
        return token
    if token == "<>":
        return None
    text = token[1:-1] if len(token) > 1 and token.startswith('"') and token.endswith('"') else token
    return _PROTECTED.sub(r"\1", text) if "\\" in text else text
