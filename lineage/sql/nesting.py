"""Whether a statement nests too deep to be parsed: a parser that recurses must not see what it cannot survive."""

from __future__ import annotations

from lineage.sql.scan import nesting_depth

__all__ = ["too_deep"]

_SURELY_SHALLOW = 64
"""Characters. The least that counts sixteen, a join without ON, takes seven."""


def too_deep(text: str, dialect: str, limit: int) -> str | None:
    """Return a message where a statement nests deeper than the limit (as `nesting_depth` counts), else None."""
    if len(text) <= _SURELY_SHALLOW and len(text) * 16 <= limit * 7:
        return None
    depth = nesting_depth(text, dialect)
    return f"the statement nests {depth:,} deep, more than {limit:,}" if depth > limit else None
