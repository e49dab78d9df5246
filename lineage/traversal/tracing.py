"""By which path a label came, for those labels that are shown.

Of several paths the one counts whose last step begins at the label that comes first: by references, the unmasked
ones first, then by key; and of several steps from there, that with the first key. So an answer is the same each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from lineage.model.names import split_column_key
from lineage.model.transformations import EdgeKind
from lineage.store.exploring import Leads
from lineage.store.protocol import Direction
from lineage.traversal.search import Label, Search

__all__ = ["Pair", "Tracing"]


class Pair(NamedTuple):
    """The ends of a step, in the direction in which data flows, and its kind."""

    source: str
    target: str
    kind: EdgeKind


class _Came(NamedTuple):
    """A node with a label of the hop before, by its group's number, that a way leads on from."""

    group: int
    node: int
    way: Leads


_Arrivals = dict[int, list[_Came]]
_WAYS = tuple(Leads)[: Leads.FIELD]


class Tracing:
    """Traces labels of one search back to its start."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._explorer = search.explorer
        self._down = search.explorer.view.direction is Direction.DOWNSTREAM
        self._arrivals: dict[int, tuple[_Arrivals, _Arrivals]] = {}
        self._datasets: dict[int, int] | None = None

    def pairs(self, node: int, label: Label) -> list[Pair]:
        """Return the steps of the path that ends in this label, in the direction in which data flows."""
        found = []
        while label.hops:
            pair, node, label = self._before(node, label)
            found.append(pair)
        return found[::-1] if self._down else found

    def _before(self, node: int, label: Label) -> tuple[Pair, int, Label]:
        hop = label.hops - 1
        direct, by_rows = self._came_from(node, hop)
        steps = sorted(self._steps(node, label, direct))
        rows = sorted(self._row_steps(node, label, by_rows))
        if self._down:
            # What leads to the column itself comes before what leads to its dataset's rows.
            (group, _, _), pair, origin = (steps or rows)[0]
        else:
            (group, _, _), pair, origin = min(steps[:1] + rows[:1])
        references, masked, _ = self._search.groups[hop][group]
        return pair, origin, Label(hop, references, masked)

    def _steps(self, node: int, label: Label, came: list[_Came]) -> Iterator[tuple[tuple[int, str, int], Pair, int]]:
        explorer, keys = self._explorer, self._explorer.keys
        for group, origin, way in came:
            if not self._leads_to(label, group, way):
                continue
            for member in explorer.origins(origin, node, way):
                kind = EdgeKind.REFERENCES if way >= Leads.REFERENCE else EdgeKind.CONTRIBUTES
                ends = (member, node) if self._down else (node, member)
                pair = Pair(keys[ends[0]], keys[ends[1]], kind)
                yield (group, keys[origin], 0), pair, origin

    def _row_steps(
        self, node: int, label: Label, came: list[_Came]
    ) -> Iterator[tuple[tuple[int, str, int], Pair, int]]:
        explorer, keys = self._explorer, self._explorer.keys
        for group, origin, way in came:
            if origin == node or not self._leads_to(label, group, way):
                continue
            if self._down:
                dataset = split_column_key(keys[node])[0]
                for member in explorer.origins(origin, self._dataset(node), way):
                    yield (group, keys[origin], 1), Pair(keys[member], dataset, EdgeKind.REFERENCES), origin
            else:
                dataset = split_column_key(keys[origin])[0]
                yield (group, keys[origin], 1), Pair(keys[node], dataset, EdgeKind.REFERENCES), origin

    def _leads_to(self, label: Label, group: int, way: Leads) -> bool:
        references, masked, _ = self._search.groups[label.hops - 1][group]
        return references + (way >= Leads.REFERENCE) == label.references and (masked or way % 2 == 1) == label.masked

    def _dataset(self, node: int) -> int:
        """Return the dataset of a column that was reached through its rows, downstream."""
        if not self._down:
            return node
        if self._datasets is None:
            explorer = self._explorer
            self._datasets = {
                column: dataset for dataset in self._search.row_datasets for column in explorer.columns(dataset)
            }
        return self._datasets.get(node, -1)

    def _came_from(self, node: int, hop: int) -> tuple[list[_Came], list[_Came]]:
        """Return what of a hop leads to a column: by itself, and by the rows of a dataset."""
        if hop not in self._arrivals:
            self._arrivals[hop] = self._led_on(hop)
        direct, rows = self._arrivals[hop]
        return direct.get(node, []), rows.get(self._dataset(node), [])

    def _led_on(self, hop: int) -> tuple[_Arrivals, _Arrivals]:
        """Return what of a hop leads where: to columns, and to datasets or (upstream) out of them."""
        direct: _Arrivals = defaultdict(list)
        rows: _Arrivals = defaultdict(list)
        ends = self._explorer.ends
        for number, group in enumerate(self._search.groups[hop]):
            for way in _WAYS:
                into = rows if way >= Leads.ROWS else direct
                for node in group.nodes:
                    for end in ends[way].get(node, ()):
                        into[end].append(_Came(number, node, way))
            for way in () if self._down else (Leads.REFERENCE, Leads.MASKED_REFERENCE):
                for node in group.nodes:
                    for end in ends[way].get(self._search.dataset_of(node), ()):
                        rows[end].append(_Came(number, node, way))
        return direct, rows
