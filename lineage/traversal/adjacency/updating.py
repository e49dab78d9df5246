"""Make the next version of the live graph: of what has changed, the edges are read again from the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from lineage.model.names import dataset_of
from lineage.store.live_graph import EdgeRow, LiveGraph, NodeRow
from lineage.store.values import Direction
from lineage.traversal.adjacency.edge_lists import EdgeLists
from lineage.traversal.adjacency.graph import AdjacencyGraph
from lineage.traversal.adjacency.graph_loading import fields_of, ways_of
from lineage.traversal.adjacency.node_table import DROPPED, GONE, THERE, NodeTable

__all__ = ["OutOfStepError", "updated"]


class OutOfStepError(Exception):
    """What has changed does not fit to the graph in memory, which must be loaded again."""


def updated(graph: AdjacencyGraph, live: LiveGraph, keys: Collection[str]) -> AdjacencyGraph:
    """Return the graph of a later state, in which these tables and columns may have changed.

    Call it for the newest version only: what is added is shared by all versions.

    Raises:
        OutOfStepError: the graph must be loaded again.
        StoreError: the store could not be read.
    """
    version = live.version
    if not keys:
        return replace(graph, version=version)
    rows = {row.key: row for row in live.nodes_of(keys)}
    nodes = _with_nodes(graph.nodes, keys, rows)
    numbers = {key: number for key in keys if (number := nodes.number(key)) is not None}
    lists = {way: _replaced(graph.lists[way], nodes, numbers, live.edges_of(list(rows), way), way) for way in Direction}
    parents = _parents(graph.parents, nodes, numbers, rows)
    in_family = np.zeros(nodes.size, np.bool_)
    in_family[: graph.nodes.size] = graph.in_family[: graph.nodes.size]
    fields = graph.fields
    if parents is not graph.parents:
        fields = fields_of(parents)
        in_family[:] = False
        in_family[[*parents, *parents.values()]] = True
    return AdjacencyGraph(version, nodes, lists, parents, fields, in_family)


def _with_nodes(nodes: NodeTable, keys: Collection[str], rows: Mapping[str, NodeRow]) -> NodeTable:
    new = [key for key in rows if nodes.number(key) is None]
    if any(nodes.number(dataset_of(key)) is None and dataset_of(key) not in rows for key in new):
        raise OutOfStepError
    if new:
        nodes = nodes.with_nodes(new)
    presence = []
    for key in keys:
        number = nodes.number(key)
        if number is not None:
            row = rows.get(key)
            now = GONE if row is None else THERE if row.there else DROPPED
            if nodes.presence[number] != now:
                presence.append((number, now))
    return nodes.with_presence(presence) if presence else nodes


def _replaced(
    lists: EdgeLists, nodes: NodeTable, numbers: Mapping[str, int], rows: Iterable[EdgeRow], way: Direction
) -> EdgeLists:
    """Return the lists in which these nodes have these edges only."""
    down = way is Direction.DOWNSTREAM
    edges_by_node: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for source, target, code in rows:
        near, far = (source, target) if down else (target, source)
        end = numbers.get(far)
        if end is None:
            end = nodes.number(far)
        if end is None:
            raise OutOfStepError
        edges_by_node[numbers[near]].add((end, code))
    changed = sorted(numbers.values())
    edges = [edge for number in changed for edge in sorted(edges_by_node.get(number, ()))]
    ends = np.array([end for end, _ in edges], np.int32)
    codes = np.array([code for _, code in edges], np.uint8)
    counts = np.array([len(edges_by_node.get(number, ())) for number in changed], np.int32)
    ways = ways_of(codes, nodes.is_dataset(ends))
    return lists.replaced(np.array(changed, np.int32), counts, ends, ways, nodes.size)


def _parents(
    parents: Mapping[int, int], nodes: NodeTable, numbers: Mapping[str, int], rows: Mapping[str, NodeRow]
) -> Mapping[int, int]:
    """Return the parents of fields; the same mapping if none has changed."""
    changed = {}
    for key, number in numbers.items():
        row = rows.get(key)
        parent = nodes.number(row.parent) if row is not None and row.parent is not None else None
        if parents.get(number) != parent:
            changed[number] = parent
    if not changed:
        return parents
    merged = {**parents, **changed}
    return {number: parent for number, parent in merged.items() if parent is not None}
