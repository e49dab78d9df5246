"""What a store knows of tables, for a catalog; tables whose columns differ from their schema are noted."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredDataset

__all__ = ["StoredSchemas"]


class StoredSchemas:
    """The datasets and columns of a store.

    A table may have columns that its newest schema lacks, as long as others define or use them. Whether they stay is
    decided anew each time that the schema is stated, so such a table is not `settled`.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._asked: frozenset[str] = frozenset()
        self._unplaced: set[str] = set()

    def datasets(self) -> list[StoredDataset]:
        """Return all datasets."""
        return self._store.datasets()

    def columns(self, datasets: Collection[str]) -> Iterator[StoredColumn]:
        """Yield the columns of datasets, by key, in order."""
        self._asked |= frozenset(datasets)
        for column in self._store.columns(datasets):
            if column.ordinal is None and column.parent is None:
                self._unplaced.add(column.dataset)
            yield column

    @property
    def settled(self) -> frozenset[str]:
        """The datasets that have exactly the columns of their schema, among those whose columns were read."""
        return self._asked - self._unplaced
