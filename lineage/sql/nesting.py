"""Whether a statement nests too deep to be parsed: a parser that recurses must not see what it cannot survive."""

from __future__ import annotations

from lineage.sql.scan import nesting_depth

__all__ = ["MAX_NESTING", "too_deep"]

MAX_NESTING = 200
"""As `nesting_depth` counts. Hand-written SQL stays below 30, generated below 100."""

_SURELY_SHALLOW = 64
"""Characters. The least that counts sixteen, a join without ON, takes seven."""


def too_deep(text: str, dialect: str) -> str | None:
    """Return a message where a statement nests deeper than the limit, else None."""
    if len(text) <= _SURELY_SHALLOW:
        return None
    depth = nesting_depth(text, dialect)
    return f"the statement nests {depth:,} deep, more than {MAX_NESTING}" if depth > MAX_NESTING else None
