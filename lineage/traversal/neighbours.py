"""Which columns a dataset has at a time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from lineage.store.values import StoredColumn
from lineage.traversal.lineage_reader import LineageReader

__all__ = ["columns_at"]


def columns_at(store: LineageReader, datasets: Collection[str], as_of: datetime | None) -> list[StoredColumn]:
    """Return the columns of these datasets now, or as they were: without those dropped before or added later."""
    return [each for each in store.columns(datasets, dropped=as_of is not None) if each.is_there(as_of)]
