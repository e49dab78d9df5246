"""The search of `breadth_first` over arrays: the same labels in the same hops, a few array operations a hop.

What each node has is a bit of one byte: which labels, whether it was reached or left out.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from lineage.model.influence.transformations import EdgeKind
from lineage.store.exploring import Leads
from lineage.traversal.adjacency.edge_lists import Bytes, Numbers
from lineage.traversal.adjacency.graph import AdjacencyGraph
from lineage.traversal.breadth_first import Group, Search, SearchingExplorer
from lineage.traversal.options import TraversalOptions

__all__ = ["ArraySearch", "GraphExplorer"]

_CLOSED, _FLOWS, _UNMASKED, _INFLUENCED, _REACHED = 1, 2, 4, 8, 16
_REFERENCE, _ROWS = int(Leads.REFERENCE), int(Leads.ROWS)
_SATURATED = -1
_MANY = 2**15 - 1
"""More references than a path has."""


class _Ends(NamedTuple):
    """Nodes with a label each, which is twice the number of references, and one if it masks."""

    nodes: Numbers
    labels: Numbers


class GraphExplorer(SearchingExplorer):
    """An explorer of a graph in memory."""

    graph: AdjacencyGraph

    @abstractmethod
    def edges_of(self, near: Numbers, members: Numbers) -> tuple[Numbers, Numbers, Bytes]:
        """Return the edges of members of families, but for those to the node whose family it is (`near`).

        They come as the place of the pair, the end, and the way of each.
        """


class ArraySearch(Search):
    """One traversal of a graph in memory."""

    def __init__(self, explorer: GraphExplorer, options: TraversalOptions) -> None:
        super().__init__(explorer, options)
        self._arrays = explorer
        self._graph = explorer.graph
        size = self._graph.nodes.size
        self._state = np.zeros(size, np.uint8)
        self._fewest_references = None if options.max_references is None else np.full(size, _MANY, np.int16)
        self._with_rows = EdgeKind.REFERENCES in options.kinds
        self._first_origins = np.zeros(size, np.int32)
        """With any number of references: the column (plus 1) that led on through a dataset's rows, or that two did."""

    def run(self, columns: Collection[str], datasets: Collection[str] = ()) -> None:
        """Search from these columns, and from the rows of these datasets; none of them counts as reached."""
        options = self._options
        numbers = self._arrays.begin(columns, datasets)
        starts = np.array(sorted(numbers.values()), np.int32)
        self._state[starts] |= _CLOSED
        self._closed = set(numbers.values())
        self._tables.update(number for key, number in numbers.items() if "#" not in key)
        self.groups = [[Group(0, False, set(numbers.values()))]]
        hop = _Ends(starts, np.zeros(len(starts), np.int32))
        for hops in itertools.count(1):
            _ = self._arrays.view.seconds_left
            next_hop = self._next(hop)
            if hops > options.max_hops:
                adding = self._adding_of(next_hop).nodes
                if not self._graph.nodes.is_dataset(adding).all():
                    self.cuts.append(f"max_hops={options.max_hops}: more lies beyond")
                break
            if options.max_references is not None:
                beyond = next_hop.nodes[next_hop.labels >> 1 > options.max_references]
                self._beyond.update(beyond[~self._graph.nodes.is_dataset(beyond)].tolist())
            hop = self._admit_at_once(hops, self._adding_of(next_hop))
            labels = np.unique(hop.labels).tolist()
            self.groups.append(
                [Group(one >> 1, one & 1 == 1, set(hop.nodes[hop.labels == one].tolist())) for one in labels]
            )
            full = self.left_out and len(self.reached) >= options.limit_total
            if full or not labels:
                break
        self._collect()
        self._say_what_was_left_out()

    def dataset_of(self, column: int) -> int:
        """Return the dataset of a column; -1 if influence was not followed."""
        owner = int(self._graph.nodes.owners[column])
        return owner if owner != column and self._with_rows else -1

    def row_dataset(self, node: int) -> int:
        """Return the dataset whose influenced rows lead to a node, downstream; -1 if there is none."""
        owner = int(self._graph.nodes.owners[node])
        return owner if owner in self.row_datasets else -1

    def _collect(self) -> None:
        """Give the labels as sets."""
        labelled = np.fromiter(self.reached | self._tables, np.int32)
        state = self._state[labelled]
        for bit, found in ((_FLOWS, self.flows), (_UNMASKED, self.unmasked), (_INFLUENCED, self.influenced)):
            found.update(labelled[(state & bit) > 0].tolist())

    def _next(self, hop: _Ends) -> _Ends:
        """Return where the nodes of a hop lead to."""
        of, members = self._graph.with_families(hop.nodes)
        near = hop.nodes[of]
        places, ends, ways = self._arrays.edges_of(near, members)
        if not self._options.through_masking:
            kept = ways % 2 == 0
            places, ends, ways = places[kept], ends[kept], ways[kept]
        labels = _led_on(hop.labels[of[places]], ways)
        if not self._with_rows:
            return _Ends(ends, labels)
        if self._down:
            is_row = ways >= _ROWS
            parts = [_Ends(ends[~is_row], labels[~is_row])]
            parts += self._into_datasets(_Ends(ends[is_row], labels[is_row]), near[places[is_row]])
        else:
            parts = [_Ends(ends, labels), *self._out_of_datasets(hop)]
        return _Ends(*(np.concatenate(one) for one in zip(*parts, strict=True)))

    def _into_datasets(self, into: _Ends, origins: Numbers) -> list[_Ends]:
        """Downstream: a column that determines a dataset's rows influences all its columns."""
        self.row_datasets.update(into.nodes.tolist())
        datasets, origins = self._leading_through(into, origins)
        places, columns = self._graph.nodes.columns_of(datasets.nodes)
        others = columns != origins[places]
        return [_Ends(columns[others], datasets.labels[places[others]]), datasets]

    def _out_of_datasets(self, hop: _Ends) -> list[_Ends]:
        """Upstream: a column is influenced by everything that determines its dataset's rows."""
        owners = self._graph.nodes.owners[hop.nodes]
        is_column = owners != hop.nodes
        datasets, origins = self._leading_through(_Ends(owners[is_column], hop.labels[is_column]), hop.nodes[is_column])
        places, ends, ways = self._arrays.edges_of(datasets.nodes, datasets.nodes)
        kept = (ways >= _REFERENCE) & (ends != origins[places])
        if not self._options.through_masking:
            kept &= ways % 2 == 0
        return [_Ends(ends[kept], _led_on(datasets.labels[places[kept]], ways[kept]))]

    def _leading_through(self, datasets: _Ends, origins: Numbers) -> tuple[_Ends, Numbers]:
        """Return the datasets through whose rows the labels of columns (`origins`) lead on, and the columns.

        Two columns of each are enough: what one of them must skip the other reaches.
        """
        order = np.lexsort((origins, datasets.labels, datasets.nodes))
        nodes, labels, origins = datasets.nodes[order], datasets.labels[order], origins[order]
        if self._options.max_references is not None:
            rows = enumerate(zip(nodes.tolist(), labels.tolist(), origins.tolist(), strict=True))
            by_label = sorted(rows, key=lambda row: row[1][1])
            leading = [place for place, (node, label, one) in by_label if self._rows.add(node, label >> 1, one)]
            return _Ends(nodes[leading], labels[leading]), origins[leading]
        first = self._first_origins[nodes]
        open_ones = (first != _SATURATED) & (first != origins + 1)
        nodes, labels, origins, first = nodes[open_ones], labels[open_ones], origins[open_ones], first[open_ones]
        begins = _begins(nodes)
        # Of a dataset that no column has led through: the next other column is the second.
        first_here = np.flatnonzero(begins)[np.cumsum(begins) - 1]
        others = np.flatnonzero((first == 0) & (origins != origins[first_here]))
        second = others[_begins(nodes[others])]
        both = np.concatenate([np.flatnonzero(begins), second])
        self._first_origins[nodes[begins]] = np.where(first[begins] == 0, origins[begins] + 1, _SATURATED)
        self._first_origins[nodes[second]] = _SATURATED
        return _Ends(nodes[both], labels[both]), origins[both]

    def _adding_of(self, found: _Ends) -> _Ends:
        """Return the labels that are better than the existing ones of their nodes, each once, by node.

        With any number of references, only the best label with references is, and the best one without.
        """
        nodes, labels = found
        allowed = self._options.max_references
        bits = np.where(labels >= 2, _INFLUENCED, np.where(labels % 2 == 1, _FLOWS, _UNMASKED)).astype(np.uint8)
        if self._fewest_references is None:
            better = self._state[nodes] & (bits | _CLOSED) == 0
        else:
            assert allowed is not None
            better = (labels < 2) & (self._state[nodes] & (bits | _CLOSED) == 0)
            fewer = (self._fewest_references[nodes] > labels >> 1) & (self._state[nodes] & _CLOSED == 0)
            better |= (labels >= 2) & (labels >> 1 <= allowed) & fewer
        nodes, labels = nodes[better], labels[better]
        packed = np.sort((nodes.astype(np.int64) << 32) | ((labels >= 2).astype(np.int64) << 31) | labels)
        # With few references every label that is better when its turn comes counts.
        packed = packed[_begins(packed >> 31 if self._fewest_references is None else packed)]
        return _Ends((packed >> 32).astype(np.int32), (packed & 0x7FFFFFFF).astype(np.int32))

    def _admit_at_once(self, hops: int, adding: _Ends) -> _Ends:
        """Give nodes their labels; return them. Within the limits no order counts."""
        nodes, labels = adding
        is_new = ~self._graph.nodes.is_dataset(nodes) & (self._state[nodes] & _REACHED == 0) & _begins(nodes)
        count = int(is_new.sum())
        options = self._options
        room = options.limit_total - len(self.reached)
        if options.limit_per_hop is not None:
            room = min(room, options.limit_per_hop)
        if self._fewest_references is not None or count > room:
            return self._admit_by_label(hops, adding)
        self._reach(hops, nodes[is_new], labels[is_new])
        for bit, some in ((_INFLUENCED, labels >= 2), (_FLOWS, labels < 2), (_UNMASKED, labels == 0)):
            self._state[nodes[some]] |= bit
        self._tables.update(nodes[self._graph.nodes.is_dataset(nodes)].tolist())
        return adding

    def _admit_by_label(self, hops: int, adding: _Ends) -> _Ends:
        """Give nodes their labels, the best labels first, up to the limits."""
        options, came, state = self._options, 0, self._state
        admitted: list[_Ends] = []
        for label in np.unique(adding.labels).tolist():
            nodes = self._still_adding(label, adding.nodes[adding.labels == label])
            is_table = self._graph.nodes.is_dataset(nodes)
            new = nodes[~is_table & (state[nodes] & _REACHED == 0)]
            room = options.limit_total - len(self.reached)
            if options.limit_per_hop is not None:
                room = min(room, options.limit_per_hop - came)
            if len(new) > room:
                kept = np.array(self._arrays.first(new.tolist(), room) if room else (), np.int32)
                left = np.setdiff1d(new, kept)
                state[left] |= _CLOSED
                self._closed.update(left.tolist())
                self.left_out += len(left)
                nodes, new = np.setdiff1d(nodes, left), kept
            came += len(new)
            self._reach(hops, new, np.full(len(new), label, np.int32))
            if label >= 2:
                state[nodes] |= _INFLUENCED
                if self._fewest_references is not None:
                    self._fewest_references[nodes] = label >> 1
            else:
                state[nodes] |= _FLOWS if label else _FLOWS | _UNMASKED
            self._tables.update(nodes[self._graph.nodes.is_dataset(nodes)].tolist())
            admitted.append(_Ends(nodes, np.full(len(nodes), label, np.int32)))
        if not admitted:
            return adding
        return _Ends(*(np.concatenate(one) for one in zip(*admitted, strict=True)))

    def _still_adding(self, label: int, nodes: Numbers) -> Numbers:
        """Return the nodes for which a label is still better after those before it in this hop."""
        if self._fewest_references is not None and label >= 2:
            better = (self._fewest_references[nodes] > label >> 1) & (self._state[nodes] & _CLOSED == 0)
        else:
            bit = _INFLUENCED if label >= 2 else _FLOWS if label else _UNMASKED
            better = self._state[nodes] & (bit | _CLOSED) == 0
        adding: Numbers = nodes[better]
        return adding

    def _reach(self, hops: int, nodes: Numbers, labels: Numbers) -> None:
        """Note that nodes are reached, by their first labels."""
        self._state[nodes] |= _REACHED
        self.reached.update(nodes.tolist())
        references = labels >> 1
        for number in np.unique(references).tolist():
            self.nearest[hops, number].update(nodes[references == number].tolist())


def _led_on(labels: Numbers, ways: Bytes) -> Numbers:
    """Return the labels at the ends of edges."""
    led_on: Numbers = (labels + 2 * (ways >= _REFERENCE).astype(np.int32)) | (ways % 2).astype(np.int32)
    return led_on


def _begins(values: np.ndarray[tuple[int], np.dtype[Any]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which of sorted values differ from the one before."""
    found = np.ones(len(values), np.bool_)
    found[1:] = values[1:] != values[:-1]
    return found
