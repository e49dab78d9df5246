"""What a store knows of tables, for a catalog; it tells whether a table has exactly the columns that are stated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime

from lineage.model.batch import DatasetRecord
from lineage.store.protocol import GraphStore
from lineage.store.values import ColumnHead, StoredDataset

__all__ = ["StoredSchemas"]


class StoredSchemas:
    """The datasets and columns of a store, before an ingest.

    A table may have columns that its newest schema lacks, as long as others define or use them, and may lack columns
    that statements name. Whether they stay, or come back, is decided anew each time that the table is stated.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._paths: dict[str, set[str]] = defaultdict(set)
        self._unplaced: set[str] = set()
        self._last_seen: dict[str, datetime] = {}

    def datasets(self) -> list[StoredDataset]:
        """Return all datasets."""
        found = self._store.datasets()
        self._last_seen = {one.key: one.last_seen for one in found}
        return found

    def seen_after(self, at: datetime) -> set[str]:
        """Return the datasets that were seen after a time."""
        return {key for key, seen in self._last_seen.items() if seen > at}

    def column_heads(self, datasets: Collection[str]) -> Iterator[ColumnHead]:
        """Yield the columns of datasets, by key, in order."""
        for key in datasets:
            self._paths[key].clear()
        for column in self._store.column_heads(datasets):
            self._paths[column.dataset].add(column.path)
            if column.ordinal is None and not column.nested:
                self._unplaced.add(column.dataset)
            yield column

    def is_settled(self, record: DatasetRecord) -> bool:
        """Return whether stating a dataset as it was stated last decides nothing about its columns."""
        if record.key not in self._paths:
            return not record.schema_known
        paths = self._paths[record.key]
        return record.key not in self._unplaced and all(column.path in paths for column in record.columns)
