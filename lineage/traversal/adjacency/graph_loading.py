"""Load the whole live graph from a store."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, islice

import numpy as np

from lineage.store.exploring import Leads
from lineage.store.live_graph import REFERENCE, LiveGraph
from lineage.store.values import Direction
from lineage.traversal.adjacency.edge_lists import Bytes, EdgeLists, Numbers, make_lists
from lineage.traversal.adjacency.graph import AdjacencyGraph
from lineage.traversal.adjacency.node_table import DROPPED, THERE, Keys, NodeTable

__all__ = ["fields_of", "load_graph", "ways_of"]

_AT_ONCE = 200_000


def load_graph(live: LiveGraph) -> AdjacencyGraph:
    """Return the live graph of a state of a store.

    Raises:
        StoreError: the store could not be read.
    """
    version = live.version
    stored, datasets = array("q"), []
    for number, key in live.datasets():
        stored.append(number)
        datasets.append(key)
    by_stored = dict(zip(stored, range(len(stored)), strict=True))
    keys = Keys(datasets, [], {key: number for number, key in enumerate(datasets)}, {})
    columns, owners, paths, there, parents = array("q"), array("i"), array("i"), array("b"), array("q")
    for number, dataset, key, is_there, parent in live.columns():
        owner = by_stored[dataset]
        columns.append(number)
        owners.append(owner)
        paths.append(keys.path_number(key[len(datasets[owner]) + 1 :]))
        there.append(THERE if is_there else DROPPED)
        parents.append(parent)
    # Columns are numbered table by table.
    order = np.argsort(np.array(owners, np.int32), kind="stable")
    count = len(datasets)
    of_columns = np.array(owners, np.int32)[order]
    numbers = np.concatenate([np.array(stored, np.int64), np.array(columns, np.int64)[order]])
    nodes = NodeTable(
        size=len(numbers),
        keys=keys,
        owners=np.concatenate([np.arange(count, dtype=np.int32), of_columns]),
        paths=np.concatenate([np.zeros(count, np.int32), np.array(paths, np.int32)[order]]),
        presence=np.concatenate([np.full(count, THERE, np.uint8), np.array(there, np.uint8)[order]]),
        firsts=(count + np.searchsorted(of_columns, np.arange(count + 1))).astype(np.int32),
    )
    number_of = _Renumbering(numbers)
    held = np.array(parents, np.int64)[order]
    fields = np.flatnonzero(held >= 0)
    parent_of = dict(zip((fields + count).tolist(), number_of(held[fields]).tolist(), strict=True))
    return AdjacencyGraph(
        version, nodes, _edges(live, nodes, number_of), parent_of, fields_of(parent_of), _in_family(nodes, parent_of)
    )


def fields_of(parents: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Return the fields of each column that has any."""
    fields: defaultdict[int, list[int]] = defaultdict(list)
    for one, parent in parents.items():
        fields[parent].append(one)
    return {parent: tuple(found) for parent, found in fields.items()}


def ways_of(codes: Bytes, to_datasets: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Bytes:
    """Return how edges lead on, by their codes and whether their ends are tables."""
    rows = (codes >= REFERENCE) & to_datasets
    return (codes + rows * np.uint8(Leads.ROWS - Leads.REFERENCE)).astype(np.uint8)


class _Renumbering:
    """From the numbers of a store to ours."""

    def __init__(self, stored: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        self._order = np.argsort(stored).astype(np.int32)
        self._sorted = stored[self._order]

    def __call__(self, stored: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Numbers:
        return self._order[np.searchsorted(self._sorted, stored)]


def _edges(live: LiveGraph, nodes: NodeTable, number_of: _Renumbering) -> dict[Direction, EdgeLists]:
    parts: list[tuple[Numbers, Numbers, Bytes]] = []
    rows = iter(live.edges())
    while True:
        flat = np.fromiter(chain.from_iterable(islice(rows, _AT_ONCE)), np.int64)
        if not len(flat):
            break
        parts.append((number_of(flat[::3]), number_of(flat[1::3]), flat[2::3].astype(np.uint8)))
    if not parts:
        parts.append((np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8)))
    sources, targets, codes = (np.concatenate(one) for one in zip(*parts, strict=True))
    parts.clear()
    return {
        way: make_lists(near, far, ways_of(codes, nodes.is_dataset(far)), nodes.size)
        for way, near, far in ((Direction.DOWNSTREAM, sources, targets), (Direction.UPSTREAM, targets, sources))
    }


def _in_family(nodes: NodeTable, parents: Mapping[int, int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    members = np.zeros(nodes.size, np.bool_)
    members[list(parents)] = True
    members[list(parents.values())] = True
    return members
