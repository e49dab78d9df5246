"""Trace the paths of the labels that are shown.

Among several paths, the one whose last step begins at the first label is chosen: by references, the unmasked first,
then by key; among several steps from that label, the one with the first key. So the result is deterministic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of
from lineage.store.exploring import Leads
from lineage.store.values import Direction
from lineage.traversal.breadth_first import Label, Search

__all__ = ["End", "ColumnPair", "Tracing"]


class ColumnPair(NamedTuple):
    """The ends of a step, in the direction in which data flows, and its kind."""

    source: str
    target: str
    kind: EdgeKind


class _Came(NamedTuple):
    """A node with a label of the previous hop (given by its group's index), and the kind of edge that leaves it."""

    group: int
    node: int
    way: Leads


_Arrivals = dict[int, list[_Came]]
End = tuple[int, Label]
"""A column and one of its labels."""
_WAYS = tuple(Leads)[: Leads.FIELD]
_DECIDING_ROWS = tuple(Leads)[Leads.REFERENCE : Leads.FIELD]
"""Upstream: the edges from a dataset to what determines its rows: columns, and the rows of other datasets."""


class Tracing:
    """Traces labels of one search back to its start."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._explorer = search.explorer
        self._down = search.explorer.view.direction is Direction.DOWNSTREAM

    def trace(self, ends: Iterable[End]) -> dict[End, list[ColumnPair]]:
        """Return the steps of each label's path, in the direction in which data flows."""
        ends = list(ends)
        at_hop: defaultdict[int, set[End]] = defaultdict(set)
        for node, label in ends:
            at_hop[label.hops].add((node, label))
        before: dict[End, tuple[ColumnPair, End]] = {}
        for hops in range(max(at_hop, default=0), 0, -1):
            direct, rows = self._led_on(hops - 1, {node for node, _ in at_hop[hops]})
            for node, label in at_hop[hops]:
                came = direct.get(node, []), rows.get(self._dataset(node), [])
                before[node, label] = self._before(node, label, *came)
                at_hop[hops - 1].add(before[node, label][1])
        return {end: self._steps_to(end, before) for end in ends}

    def _steps_to(self, end: End, before: Mapping[End, tuple[ColumnPair, End]]) -> list[ColumnPair]:
        found = []
        while end in before:
            pair, end = before[end]
            found.append(pair)
        return found[::-1] if self._down else found

    def _before(self, node: int, label: Label, direct: list[_Came], by_rows: list[_Came]) -> tuple[ColumnPair, End]:
        steps = sorted(self._steps(node, label, direct))
        rows = sorted(self._row_steps(node, label, by_rows))
        if self._down:
            # Steps to the column itself take precedence over steps to its dataset's rows.
            (group, _, _), pair, origin = (steps or rows)[0]
        else:
            (group, _, _), pair, origin = min(steps[:1] + rows[:1])
        references, masked, _ = self._search.groups[label.hops - 1][group]
        return pair, (origin, Label(label.hops - 1, references, masked))

    def _steps(
        self, node: int, label: Label, came: list[_Came]
    ) -> Iterator[tuple[tuple[int, str, int], ColumnPair, int]]:
        explorer, keys = self._explorer, self._explorer.keys
        for group, origin, way in came:
            if not self._leads_to(label, group, way):
                continue
            for member in explorer.origins(origin, node, way):
                kind = EdgeKind.REFERENCES if way >= Leads.REFERENCE else EdgeKind.CONTRIBUTES
                ends = (member, node) if self._down else (node, member)
                pair = ColumnPair(keys[ends[0]], keys[ends[1]], kind)
                yield (group, keys[origin], 0), pair, origin

    def _row_steps(
        self, node: int, label: Label, came: list[_Came]
    ) -> Iterator[tuple[tuple[int, str, int], ColumnPair, int]]:
        explorer, keys = self._explorer, self._explorer.keys
        for group, origin, way in came:
            if origin == node or not self._leads_to(label, group, way):
                continue
            if self._down:
                dataset = dataset_of(keys[node])
                for member in explorer.origins(origin, self._dataset(node), way):
                    yield (group, keys[origin], 1), ColumnPair(keys[member], dataset, EdgeKind.REFERENCES), origin
            else:
                dataset = dataset_of(keys[origin])
                yield (group, keys[origin], 1), ColumnPair(keys[node], dataset, EdgeKind.REFERENCES), origin

    def _leads_to(self, label: Label, group: int, way: Leads) -> bool:
        references, masked, _ = self._search.groups[label.hops - 1][group]
        return references + (way >= Leads.REFERENCE) == label.references and (masked or way % 2 == 1) == label.masked

    def _dataset(self, node: int) -> int:
        """Return the dataset whose rows lead to a column, downstream; for a dataset, itself."""
        return self._search.row_dataset(node) if self._down else node

    def _led_on(self, hop: int, wanted: set[int]) -> tuple[_Arrivals, _Arrivals]:
        """Return the nodes of a hop that lead to the wanted columns directly, and through the rows of a dataset."""
        direct: _Arrivals = defaultdict(list)
        rows: _Arrivals = defaultdict(list)
        datasets = {self._dataset(node) for node in wanted}
        explorer, ends = self._explorer, self._explorer.ends
        for number, group in enumerate(self._search.groups[hop]):
            nodes = explorer.leading_to(group.nodes, wanted | datasets)
            for way in _WAYS:
                into, sought = (rows, datasets) if self._down and way >= Leads.ROWS else (direct, wanted)
                for node in nodes:
                    for end in sought.intersection(ends[way].get(node, ())):
                        into[end].append(_Came(number, node, way))
            nodes = () if self._down else explorer.leading_by_dataset(group.nodes, wanted)
            for way in _DECIDING_ROWS:
                for node in nodes:
                    for end in wanted.intersection(ends[way].get(self._search.dataset_of(node), ())):
                        rows[end].append(_Came(number, node, way))
        return direct, rows
