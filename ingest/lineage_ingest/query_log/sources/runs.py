"""Operations on groups of consecutive equal keys in sorted columns, such as the rows of a session."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["carry_forward", "last_before", "starts"]


def starts(*keys: Any) -> Any:
    """Return a mask of the first row of each group, in columns sorted by these keys; null equals null.

    >>> starts(pa.array(["a", "a", "b", None])).to_pylist()
    [True, False, True, True]
    """
    begins = pa.repeat(pa.scalar(False), len(keys[0]))
    for key in keys:
        before = pa.concat_arrays([pa.nulls(1, key.type), key.slice(0, max(len(key) - 1, 0))]).slice(0, len(key))
        differs = pc.fill_null(pc.not_equal(key, before), pa.scalar(True))
        begins = pc.or_(begins, pc.and_(differs, pc.invert(pc.and_(pc.is_null(key), pc.is_null(before)))))
    first = pa.array([True] + [False] * (len(begins) - 1)) if len(begins) else begins
    return pc.or_(begins, first)


def last_before(mask: Any, begins: Any) -> Any:
    """Return for each row the index of the latest masked row of its group, at or before it; else null.

    >>> last_before(pa.array([True, False, False]), pa.array([True, False, True])).to_pylist()
    [0, 0, None]
    """
    numbers = pa.array(range(len(mask)), pa.int64())
    nowhere = pa.scalar(None, pa.int64())
    found = pc.fill_null_forward(pc.if_else(mask, numbers, nowhere))
    first = pc.fill_null_forward(pc.if_else(begins, numbers, nowhere))
    return pc.if_else(pc.fill_null(pc.greater_equal(found, first), False), found, nowhere)


def carry_forward(values: Any, mask: Any, begins: Any) -> Any:
    """Return for each row the value of the latest masked row of its group, at or before it; else null."""
    return values.take(last_before(mask, begins))
