"""Lists of names in messages: the first ones, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["name_list"]


def name_list(names: Sequence[object], most: int) -> str:
    """Return the first `most` names, and the number of the others.

    >>> name_list(["a", "b", "c"], 2), name_list(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    listed = ", ".join(map(str, names[:most]))
    return f"{listed} and {len(names) - most:,} more" if len(names) > most else listed
