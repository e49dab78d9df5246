"""What a store knows of tables, for a catalog; it tells whether a table has exactly the columns that are stated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime

from lineage.model.batch import DatasetRecord
from lineage.model.names import ColumnPath
from lineage.store.planning.columns import with_parents
from lineage.store.protocol import GraphStore
from lineage.store.values import ColumnHead, StoredDataset

__all__ = ["StoredSchemas", "top_level"]


class StoredSchemas:
    """The datasets and columns of a store, before an ingest.

    A table may have columns that its newest schema lacks, as long as others define or use them, and may lack columns
    that statements name. Whether they stay, or come back, is decided anew each time that the table is stated.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._datasets: list[StoredDataset] | None = None
        self._paths: dict[str, set[str]] = defaultdict(set)
        self._unplaced: set[str] = set()
        self._last_seen: dict[str, datetime] = {}
        self._with_schema: set[str] = set()

    def datasets(self) -> list[StoredDataset]:
        """Return all datasets; they are read once."""
        if self._datasets is None:
            self._datasets = self._store.datasets()
            self._last_seen = {one.key: one.last_seen for one in self._datasets}
            self._with_schema = {one.key for one in self._datasets if one.schema_known}
        return self._datasets

    def is_stored(self, dataset: str) -> bool:
        """Return whether the store had a dataset."""
        return dataset in self._last_seen

    def has_schema(self, dataset: str) -> bool:
        """Return whether the store had the schema of a dataset."""
        return dataset in self._with_schema

    def columns(self, dataset: str) -> set[str]:
        """Return the columns of a dataset, without nested fields; none if they have not been read."""
        return {path for path in self._paths.get(dataset, ()) if path == top_level(path)}

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

    def is_placed(self, record: DatasetRecord, named: Collection[str]) -> bool:
        """Return whether the schema of a dataset has all columns that the store has of it.

        It need not have the fields that are `named`, by the lineage that is stated: these stay. If the columns have not
        been read, it is not known, unless the dataset is new.
        """
        if record.key not in self._paths:
            return not self.is_stored(record.key)
        stated = {path for column in record.columns for path in with_parents(column.path)}
        fields = (path for path in self._paths[record.key] if path != top_level(path))
        return record.key not in self._unplaced and all(path in named or path in stated for path in fields)

    def is_settled(self, record: DatasetRecord, named: Collection[str]) -> bool:
        """Return whether stating a dataset as it was stated last decides nothing about its columns.

        `named` are the fields that the lineage which is stated names.
        """
        if record.key not in self._paths:
            return not record.schema_known
        paths = self._paths[record.key]
        return self.is_placed(record, named) and all(column.path in paths for column in record.columns)


def top_level(path: str) -> str:
    """Return the column that a nested field is in; a column itself.

    >>> top_level("address.zip"), top_level('"a.b"')
    ('address', '"a.b"')
    """
    return path if "." not in path else str(ColumnPath(ColumnPath.parse(path).parts[:1]))
