"""Find what an export names in the graph: datasets by name and alias, columns by path, earlier path and spelling."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineage.model.names import (
    ColumnPath,
    column_key,
    is_column_key,
    split_column_key,
    split_dataset_key,
)
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredDataset

if TYPE_CHECKING:
    from lineage.store.values import StoredColumn

__all__ = ["GraphNames", "is_related", "root_of"]

_AT_ONCE = 200


def root_of(key: str) -> str:
    """Return the key of the top-level column of a nested field; other keys are returned unchanged.

    >>> root_of("bigquery/web.users#address.city"), root_of("bigquery/web.users")
    ('bigquery/web.users#address', 'bigquery/web.users')
    """
    if not is_column_key(key):
        return key
    dataset, path = split_column_key(key)
    parts = ColumnPath.parse(path).parts
    return key if len(parts) == 1 else column_key(dataset, str(ColumnPath(parts[:1])))


def is_related(key: str, other: str) -> bool:
    """Return whether two keys are of one column, or of a column and a field in it.

    >>> is_related("bigquery/t#address", "bigquery/t#address.city"), is_related("bigquery/t#a.x", "bigquery/t#a.y")
    (True, False)
    """
    if key == other:
        return True
    (dataset, path), (other_dataset, other_path) = split_column_key(key), split_column_key(other)
    if dataset != other_dataset or not is_column_key(key) or not is_column_key(other):
        return False
    parts, other_parts = ColumnPath.parse(path).parts, ColumnPath.parse(other_path).parts
    common = min(len(parts), len(other_parts))
    return parts[:common] == other_parts[:common]


@dataclass(slots=True)
class GraphNames:
    """The datasets and columns of an export in the graph.

    `datasets` has the graph's key of each known dataset by the key made from the export; `elsewhere` are datasets that
    were found in another namespace, by name, because the user gave none. `columns` has the keys of a graph's dataset.
    """

    datasets: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    schema_known: set[str] = field(default_factory=set)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    respelled: dict[str, str] = field(default_factory=dict)
    """The graph's keys of datasets and columns whose names in the export differ in case, where case matters."""
    _folded: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, store: GraphStore, keys: Collection[str], *, any_namespace: bool) -> GraphNames:
        """Return which of these datasets the graph has; `any_namespace`: also those of another namespace.

        Raises:
            StoreError: the store could not be read.
        """
        names = cls()
        listed = sorted(keys)
        for start in range(0, len(listed), _AT_ONCE):
            for dataset in store.datasets(listed[start : start + _AT_ONCE]):
                names._add(dataset.key, dataset)
        exact = set(names.datasets)
        for key in listed:
            if key not in names.datasets and (stored_dataset := _by_name(store, key, any_namespace)) is not None:
                if stored_dataset.key in exact and stored_dataset.key.casefold() == key.casefold():
                    continue  # the export has both: they differ in case only, and the graph has the other one
                names._add(key, stored_dataset)
                if not _has_name(stored_dataset, key):
                    names.respelled[key] = stored_dataset.key
                if not stored_dataset.key.startswith(f"{_namespace(key)}/"):
                    names.elsewhere[key] = stored_dataset.key
        names._load_columns(store)
        return names

    def _add(self, key: str, dataset: StoredDataset) -> None:
        self.datasets[key] = dataset.key
        if dataset.schema_known:
            self.schema_known.add(dataset.key)

    def _load_columns(self, store: GraphStore) -> None:
        keys = sorted(set(self.datasets.values()))
        for start in range(0, len(keys), _AT_ONCE):
            for column in store.columns(keys[start : start + _AT_ONCE], dropped=True):
                paths = self.columns.setdefault(column.dataset, {})
                paths[column.path] = column.key
        for start in range(0, len(keys), _AT_ONCE):
            for column in store.columns(keys[start : start + _AT_ONCE], dropped=True):
                self._add_other_names(column)

    def _add_other_names(self, column: StoredColumn) -> None:
        paths, folded = self.columns[column.dataset], self._folded.setdefault(column.dataset, {})
        for alias in column.aliases:
            paths.setdefault(alias, column.key)
        fold = column.path.casefold()
        # Only their exact names distinguish two columns that differ in case.
        folded[fold] = "" if folded.get(fold, column.key) != column.key else column.key

    def key_of(self, key: str) -> str:
        """Return the graph's key of a dataset or column of the export; unknown ones keep theirs."""
        dataset, path = split_column_key(key)
        own = self.datasets.get(dataset, dataset)
        if not is_column_key(key):
            return own
        if exact := self.columns.get(own, {}).get(path):
            return exact
        if folded := self._folded.get(own, {}).get(path.casefold()):
            self.respelled[key] = folded
            return folded
        return column_key(own, path)

    def unknown_columns(self, keys: Iterable[str]) -> list[str]:
        """Return those of these columns that the graph's dataset does not have, although it knows others."""
        unknown = []
        for key in keys:
            dataset, path = split_column_key(root_of(key))
            if is_column_key(key) and path not in self.columns.get(dataset, {}):
                unknown.append(key)
        return unknown


def _namespace(key: str) -> str:
    return split_dataset_key(key)[0]


def _full_names(dataset: StoredDataset, namespace: str) -> set[str]:
    """Return the full name and the aliases of a dataset: `find_datasets` also finds by last parts."""
    aliases = {split_dataset_key(alias, namespace)[1] for alias in dataset.aliases} | set(dataset.aliases)
    return {dataset.name, *aliases}


def _has_name(dataset: StoredDataset, key: str) -> bool:
    """Return whether a key has the name of a dataset or one of its aliases, to the letter."""
    namespace, name = split_dataset_key(key)
    return name in _full_names(dataset, namespace)


def _by_name(store: GraphStore, key: str, any_namespace: bool) -> StoredDataset | None:
    """Return the one live dataset with the full name or alias of a key; None if there is none, or several."""
    namespace, name = split_dataset_key(key)
    found = [
        dataset
        for dataset in store.find_datasets(name)
        if (any_namespace or dataset.namespace == namespace)
        and name.casefold() in map(str.casefold, _full_names(dataset, namespace))
    ]
    live = [one for one in found if one.dropped_at is None] or found
    own = [one for one in live if one.namespace == namespace] or live
    return own[0] if len(own) == 1 else None
