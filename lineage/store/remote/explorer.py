"""Explore the graph through a service, hop by hop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.store.exploring import Explorer, Leads, View

__all__ = ["RemoteExplorer"]


class RemoteExplorer(Explorer):
    """Explores the graph of a service; `call` calls a method of its store. Node numbers are assigned here."""

    def __init__(self, call: Callable[..., Any], view: View) -> None:
        super().__init__(view)
        self._call = call
        self._numbers: dict[str, int] = {}
        self._all_keys: list[str] = []
        self._fields_of: set[str] = set()

    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of those of these nodes that are in the graph."""
        return self.numbers(columns, datasets)

    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of those of these nodes that are in the graph."""
        there = [one.key for one in self._call("columns_by_key", list(columns))] if columns else []
        there += [one.key for one in self._call("datasets", list(datasets))] if datasets else []
        return {key: self._number(key) for key in there}

    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first `count` of these columns, ordered by key."""
        return sorted(nodes, key=self._all_keys.__getitem__)[:count]

    def load_keys(self, nodes: Iterable[int]) -> None:
        """Record the keys of these columns; they are known since the column got its number."""
        self.keys.update((node, self._all_keys[node]) for node in nodes)

    def _number(self, key: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._all_keys)
            self._all_keys.append(key)
        return number

    def _read_around(self, nodes: list[int]) -> None:
        self.load_keys(nodes)
        keys = [self._all_keys[node] for node in nodes]
        hops = self._call("expand", keys, self.view.direction, kinds=list(self.view.kinds), as_of=self.view.as_of)
        for hop in hops:
            near, far = (hop.edge.source, hop.edge.target) if self.view.down else (hop.edge.target, hop.edge.source)
            # Edges of a field or a parent are read for these nodes themselves.
            if near == hop.via:
                way = Leads.FLOW if hop.edge.kind is EdgeKind.CONTRIBUTES else Leads.REFERENCE
                way = Leads.ROWS if not is_column_key(far) else way
                self._take(self._number(near), self._number(far), way + hop.edge.masking)

    def _read_columns(self, datasets: list[int]) -> None:
        at = self.view.as_of
        keys = {self._all_keys[dataset]: dataset for dataset in datasets}
        self._columns.update({dataset: [] for dataset in datasets})
        for column in self._call("columns", list(keys), dropped=at is not None):
            if column.is_there(at):
                self._columns[keys[column.dataset]].append(self._number(column.key))

    def _read_family(self, nodes: list[int]) -> None:
        columns = (self._all_keys[node] for node in nodes if is_column_key(self._all_keys[node]))
        new = {dataset_of(key) for key in columns} - self._fields_of
        self._fields_of |= new
        for column in self._call("columns", sorted(new), dropped=True) if new else ():
            if column.parent is not None:
                one, other = self._number(column.parent), self._number(column.key)
                self._nested[one].add(other)
                self._holders[other].add(one)
