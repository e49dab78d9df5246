"""One version of the live graph in memory: it never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lineage.store.live_graph import Version
from lineage.store.values import Direction
from lineage.traversal.adjacency.edge_lists import EdgeLists, Numbers
from lineage.traversal.adjacency.node_table import NodeTable

__all__ = ["AdjacencyGraph"]

_FEW = 10_000


@dataclass(frozen=True, slots=True)
class AdjacencyGraph:
    """The nodes, and their edges in both directions."""

    version: Version
    nodes: NodeTable
    lists: Mapping[Direction, EdgeLists]
    parents: Mapping[int, int]
    """Of each field the column that it is a field of."""
    fields: Mapping[int, tuple[int, ...]]
    """The fields of each column that has any."""
    in_family: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """Which nodes have fields or are fields."""

    @property
    def bytes(self) -> int:
        """Bytes of memory, about."""
        families = 200 * (len(self.parents) + len(self.fields)) + self.in_family.nbytes
        return self.nodes.bytes + families + sum(one.bytes for one in self.lists.values())

    @property
    def edges(self) -> int:
        """Number of edges."""
        lists = self.lists[Direction.DOWNSTREAM]
        return lists.used - lists.unused

    def packed(self) -> AdjacencyGraph:
        """Return the graph without what former versions used, if that is much."""
        lists = {way: one.packed() if one.unused * 4 > one.used > _FEW else one for way, one in self.lists.items()}
        return self if all(lists[way] is one for way, one in self.lists.items()) else replace(self, lists=lists)

    def family(self, node: int) -> list[int]:
        """Return a node, its fields at any depth, and its parents."""
        if not self.in_family[node]:
            return [node]
        family = {node: None}
        for steps in (self._fields_of, self._parent_of):
            level = [node]
            while level:
                level = [other for one in level for other in steps(one) if other not in family]
                family |= dict.fromkeys(level)
        return list(family)

    def with_families(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the places of nodes, and of each itself and the others of its family."""
        places = np.arange(len(nodes), dtype=np.int32)
        nested = np.flatnonzero(self.in_family[nodes])
        if not len(nested):
            return places, nodes
        others = [(place, one) for place in nested.tolist() for one in self.family(int(nodes[place]))[1:]]
        of, members = np.array(others, np.int32).T
        return np.concatenate([places, of]), np.concatenate([nodes, members])

    def _fields_of(self, node: int) -> tuple[int, ...]:
        return self.fields.get(node, ())

    def _parent_of(self, node: int) -> tuple[int, ...]:
        return (self.parents[node],) if node in self.parents else ()
