"""The tables and columns of the graph by number, and their keys.

Numbers are dense, and stay what they are from version to version; columns that a table had at the beginning follow
each other. A key is put together of the table's and the column's path, since paths repeat: 9 bytes a column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from lineage.model.names import dataset_of
from lineage.traversal.adjacency.edge_lists import Bytes, Numbers, spread

__all__ = ["DROPPED", "GONE", "THERE", "Keys", "NodeTable"]

Array = TypeVar("Array", Numbers, Bytes)

GONE, DROPPED, THERE = 0, 1, 2
"""Whether a node is not in the graph (any more), is a dropped column, or is there."""


@dataclass(slots=True)
class Keys:
    """The keys of all versions: these only grow, and a version uses what is below its size."""

    datasets: list[str]
    """By number: tables come first, those that are added later have none here."""
    paths: list[str]
    numbers: dict[str, int]
    """The numbers of tables by key."""
    path_numbers: dict[str, int]
    later: dict[int, str] = field(default_factory=dict)
    """The keys of tables that were added later, by number."""
    later_columns: dict[int, list[int]] = field(default_factory=dict)
    """The columns that were added later, by the number of their table."""

    def path_number(self, path: str) -> int:
        """Return the number of a path; it gets one if it has none."""
        number = self.path_numbers.get(path)
        if number is None:
            number = self.path_numbers[path] = len(self.paths)
            self.paths.append(path)
        return number

    @property
    def bytes(self) -> int:
        """Bytes of the texts, about."""
        return sum(len(text) + 57 for text in (*self.datasets, *self.later.values(), *self.paths))


@dataclass(frozen=True, slots=True)
class NodeTable:
    """The nodes of one version. Arrays may be longer than `size`, with nodes of later versions."""

    size: int
    keys: Keys
    owners: Numbers
    """Of a column its table, of a table itself (int32)."""
    paths: Numbers
    """Of a column the number of its path (int32)."""
    presence: Bytes
    """GONE, DROPPED or THERE (uint8); as long as `size`."""
    firsts: Numbers
    """Of each table of the beginning its first column (int32); one more entry ends the last."""

    def key(self, node: int) -> str:
        """Return the key of a node."""
        owner = int(self.owners[node])
        dataset = self.dataset_key(owner)
        return dataset if owner == node else f"{dataset}#{self.keys.paths[self.paths[node]]}"

    def dataset_key(self, dataset: int) -> str:
        """Return the key of a table."""
        listed = self.keys.datasets
        return listed[dataset] if dataset < len(listed) else self.keys.later[dataset]

    def number(self, key: str) -> int | None:
        """Return the number of a table or column, also of one that is gone; None if it has none."""
        name = dataset_of(key)
        dataset = self.keys.numbers.get(name)
        if dataset is None or dataset >= self.size or name == key:
            return dataset if dataset is not None and dataset < self.size else None
        path = self.keys.path_numbers.get(key[len(name) + 1 :])
        if path is None:
            return None
        columns = self.all_columns(dataset)
        found = columns[self.paths[columns] == path]
        return int(found[0]) if len(found) else None

    def all_columns(self, dataset: int) -> Numbers:
        """Return the columns that a table has or had."""
        first = last = 0
        if dataset < len(self.keys.datasets):
            first, last = self.firsts[dataset], self.firsts[dataset + 1]
        columns = np.arange(first, last, dtype=np.int32)
        later = self.keys.later_columns.get(dataset)
        if later is None:
            return columns
        added = np.array(later, np.int32)
        return np.concatenate([columns, added[added < self.size]])

    def columns(self, dataset: int) -> Numbers:
        """Return the columns that a table has now."""
        columns = self.all_columns(dataset)
        there: Numbers = columns[self.presence[columns] == THERE]
        return there

    def columns_of(self, datasets: Numbers) -> tuple[Numbers, Numbers]:
        """Return the columns that some tables have now, each with the place of its table among these."""
        known = np.minimum(datasets, len(self.firsts) - 1)
        starts = self.firsts[known]
        counts = self.firsts[np.minimum(known + 1, len(self.firsts) - 1)] - starts
        places, columns = spread(starts, counts)
        if self.keys.later_columns:
            later = [
                (place, column)
                for place, dataset in enumerate(datasets.tolist())
                for column in self.keys.later_columns.get(dataset, ())
                if column < self.size
            ]
            if later:
                more_places, more = np.array(later, np.int32).T
                places, columns = np.concatenate([places, more_places]), np.concatenate([columns, more])
        there = self.presence[columns] == THERE
        return places[there], columns[there]

    def is_dataset(self, nodes: Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which of these nodes are tables."""
        own: np.ndarray[tuple[int], np.dtype[np.bool_]] = self.owners[nodes] == nodes
        return own

    def with_presence(self, presence: Iterable[tuple[int, int]]) -> NodeTable:
        """Return the table with these values in `presence`, by number."""
        changed = self.presence.copy()
        for node, value in presence:
            changed[node] = value
        return replace(self, presence=changed)

    def with_nodes(self, keys: Collection[str]) -> NodeTable:
        """Return the table with new nodes; the table of a column is there before it, or among them."""
        size = self.size + len(keys)
        owners, paths = self.owners, self.paths
        if size > len(owners):
            owners, paths = (_with_room(one, self.size, size + size // 32) for one in (owners, paths))
        table = replace(
            self, size=size, owners=owners, paths=paths, presence=_with_room(self.presence, self.size, size)
        )
        number = self.size
        for key in sorted(keys, key=lambda one: "#" in one):
            dataset = dataset_of(key)
            if dataset == key:
                self.keys.numbers[key] = number
                self.keys.later[number] = key
                owners[number], paths[number] = number, 0
            else:
                owner = self.keys.numbers[dataset]
                owners[number], paths[number] = owner, self.keys.path_number(key[len(dataset) + 1 :])
                self.keys.later_columns.setdefault(owner, []).append(number)
            number += 1
        return table

    @property
    def bytes(self) -> int:
        """Bytes of the arrays, and of the texts, about."""
        arrays = (self.owners, self.paths, self.presence, self.firsts)
        return sum(one.nbytes for one in arrays) + self.keys.bytes


def _with_room(values: Array, used: int, room: int) -> Array:
    longer = np.zeros(room, values.dtype)
    longer[:used] = values[:used]
    return longer
