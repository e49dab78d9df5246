"""Explores a version of the graph in memory, as the stores' explorers do a state of theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import is_column_key
from lineage.store.exploring import Leads, View
from lineage.store.values import Direction
from lineage.traversal.adjacency.array_search import ArraySearch, GraphExplorer
from lineage.traversal.adjacency.edge_lists import Bytes, Numbers
from lineage.traversal.adjacency.graph import AdjacencyGraph
from lineage.traversal.adjacency.node_table import GONE
from lineage.traversal.options import TraversalOptions

__all__ = ["ArrayExplorer"]


class ArrayExplorer(GraphExplorer):
    """An explorer of one version."""

    def __init__(self, graph: AdjacencyGraph, view: View) -> None:
        super().__init__(view)
        self.graph = graph
        self.keys = _Keys(graph)
        self._lists = graph.lists[view.direction]
        self._allowed = np.zeros(Leads.FIELD, np.bool_)
        for way in tuple(Leads)[: Leads.FIELD]:
            kind = EdgeKind.CONTRIBUTES if way < Leads.REFERENCE else EdgeKind.REFERENCES
            self._allowed[way] = kind in view.kinds

    def search(self, options: TraversalOptions) -> ArraySearch:
        """Return a search over this graph."""
        return ArraySearch(self, options)

    def edges_of(self, near: Numbers, members: Numbers) -> tuple[Numbers, Numbers, Bytes]:
        """Return the edges of members of families, but for those to the node whose family it is (`near`).

        They come as the place of the pair, the end, and the way of each.
        """
        places, ends, ways = self._lists.of(members)
        kept = self._allowed[ways] & (ends != near[places])
        return places[kept], ends[kept], ways[kept]

    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        return self.numbers(columns, datasets)

    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        nodes = self.graph.nodes
        asked = [key for key in columns if is_column_key(key)] + [key for key in datasets if not is_column_key(key)]
        found = ((key, nodes.number(key)) for key in asked)
        return {key: number for key, number in found if number is not None and nodes.presence[number] != GONE}

    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first `count` of these columns, ordered by key."""
        return sorted(nodes, key=self.keys.__getitem__)[:count]

    def load_keys(self, nodes: Iterable[int]) -> None:
        """Do nothing: keys are put together when they are asked for."""

    def columns(self, dataset: int) -> list[int]:
        """Return the columns and fields of a dataset."""
        found: list[int] = self.graph.nodes.columns(dataset).tolist()
        return found

    def datasets_of(self, columns: Iterable[int]) -> list[str]:
        """Return the key of the dataset of each column."""
        owners = self.graph.nodes.owners[np.fromiter(columns, np.int32)].tolist()
        known = {owner: self.graph.nodes.dataset_key(owner) for owner in set(owners)}
        return [known[owner] for owner in owners]

    def without(self, nodes: Collection[int], leads: Collection[Leads]) -> list[int]:
        """Return the nodes that have no relationships of these kinds."""
        asked = np.fromiter(nodes, np.int32, len(nodes))
        of, members = self.graph.with_families(asked)
        places, _, ways = self.edges_of(asked[of], members)
        lacking = np.ones(len(asked), np.bool_)
        lacking[of[places[np.isin(ways, list(leads))]]] = False
        found: list[int] = asked[lacking].tolist()
        return found

    def leading_to(self, nodes: Collection[int], ends: Collection[int]) -> Collection[int]:
        """Return those of these nodes that may lead to one of these ends, and load them."""
        found = {one for end in self._leading_back(ends) for one in self.graph.family(end)}.intersection(nodes)
        self.load(found)
        return found

    def leading_by_dataset(self, nodes: Collection[int], ends: Collection[int]) -> Collection[int]:
        """Return those of these columns whose datasets may lead to one of these ends, and load the datasets."""
        nodes_of = self.graph.nodes
        datasets = {end for end in self._leading_back(ends) if nodes_of.owners[end] == end}
        self.load(datasets)
        return [node for node in nodes if int(nodes_of.owners[node]) in datasets]

    def _leading_back(self, ends: Collection[int]) -> list[int]:
        back = self.graph.lists[Direction.UPSTREAM if self.view.down else Direction.DOWNSTREAM]
        _, found, _ = back.of(np.array([end for end in ends if end >= 0], np.int32))
        nodes: list[int] = np.unique(found).tolist()
        return nodes

    def _read_around(self, nodes: list[int]) -> None:
        asked = np.array(nodes, np.int32)
        places, ends, ways = self._lists.of(asked)
        for place, end, way in zip(places.tolist(), ends.tolist(), ways.tolist(), strict=True):
            if self._allowed[way]:
                self.ends[way].setdefault(nodes[place], []).append(end)

    def _read_columns(self, datasets: list[int]) -> None:
        """Do nothing: see `columns`."""

    def _read_family(self, nodes: list[int]) -> None:
        for node in nodes:
            for field in self.graph.fields.get(node, ()):
                self._nested[node].add(field)
                self._holders[field].add(node)
            parent = self.graph.parents.get(node)
            if parent is not None:
                self._nested[parent].add(node)
                self._holders[node].add(parent)


class _Keys(dict[int, str]):
    """Keys by number, each put together when it is first asked for."""

    def __init__(self, graph: AdjacencyGraph) -> None:
        super().__init__()
        self._nodes = graph.nodes

    def __missing__(self, node: int) -> str:
        key = self[node] = self._nodes.key(node)
        return key
