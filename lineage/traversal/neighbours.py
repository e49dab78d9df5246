"""What keys tell, and which columns a dataset has at a time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from lineage.store.protocol import StoredColumn
from lineage.traversal.reader import LineageReader

__all__ = ["columns_at", "is_column"]


def is_column(key: str) -> bool:
    """Return whether the key is a column's, not a dataset's.

    >>> is_column("postgres/shop.orders#id"), is_column("postgres/shop.orders")
    (True, False)
    """
    return "#" in key


def columns_at(store: LineageReader, datasets: Collection[str], as_of: datetime | None) -> list[StoredColumn]:
    """Return the columns of these datasets now, or as they were: without those that were dropped before."""
    columns = store.columns(datasets, dropped=as_of is not None)
    return [each for each in columns if each.dropped_at is None or (as_of and as_of < each.dropped_at)]
