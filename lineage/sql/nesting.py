"""Whether a statement nests too deep to be parsed: a parser that recurses must not see what it cannot survive."""

from __future__ import annotations

import sys

from lineage.sql.scan import nesting_depth

__all__ = ["too_deep"]

_SURELY_SHALLOW = 64
"""Characters. The least that counts sixteen, a join without ON, takes seven."""
_SHALLOW = 50
"""Levels for which Python's default limit is enough, wherever the caller is."""
_FRAMES_OF_A_LEVEL = 12
"""Python frames. A query in a query takes the resolver six; the rest is for what else stands on the stack."""
_FRAMES_AROUND = 1_000


def too_deep(text: str, dialect: str, limit: int) -> str | None:
    """Return a message where a statement nests deeper than the limit (as `nesting_depth` counts), else None.

    Python's own limit of recursion is raised to what a statement within the limit needs; it is never lowered again,
    since another thread may be in the midst of a deep one.
    """
    if len(text) <= _SURELY_SHALLOW and len(text) * 16 <= limit * 7:
        return None
    depth = nesting_depth(text, dialect)
    if depth > limit:
        return f"the statement nests {depth:,} deep, more than {limit:,}"
    frames = _FRAMES_AROUND + _FRAMES_OF_A_LEVEL * depth
    if depth > _SHALLOW and sys.getrecursionlimit() < frames:
        sys.setrecursionlimit(frames)
    return None
