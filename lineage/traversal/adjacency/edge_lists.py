"""The edges of one direction as compressed sparse rows: of each node where its list starts, and how long it is.

A list that changes is appended, and only the two arrays of places are copied: so a reader of the former version keeps
what it has. What is no longer used is given back when the lists are packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

__all__ = ["Bytes", "EdgeLists", "Numbers", "make_lists", "spread"]

Numbers: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]
Bytes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint8]]

_WAYS = 8


@dataclass(frozen=True, slots=True)
class EdgeLists:
    """The ends of each node's edges, and how they lead on (`Leads`): 5 bytes an edge, 8 a node.

    `starts` and `counts` are int32, one a node; `ends` (int32) and `ways` (uint8) have `used` entries, then room for
    more. `unused` of those used belong to former versions.
    """

    starts: Numbers
    counts: Numbers
    ends: Numbers
    ways: Bytes
    used: int
    unused: int = 0

    @property
    def bytes(self) -> int:
        """Bytes of memory."""
        return self.starts.nbytes + self.counts.nbytes + self.ends.nbytes + self.ways.nbytes

    def of(self, nodes: Numbers) -> tuple[Numbers, Numbers, Bytes]:
        """Return the edges of some nodes: the place of the node among these, the end, and the way of each."""
        counts = self.counts[nodes]
        places, index = spread(self.starts[nodes], counts)
        return places, self.ends[index], self.ways[index]

    def replaced(self, nodes: Numbers, counts: Numbers, ends: Numbers, ways: Bytes, size: int) -> EdgeLists:
        """Return the lists of `size` nodes in which these have other edges, given one node after the other."""
        starts_of, counts_of = _longer(self.starts, size), _longer(self.counts, size)
        unused = self.unused + int(counts_of[nodes].sum())
        starts_of[nodes] = self.used + np.cumsum(counts, dtype=np.int32) - counts
        counts_of[nodes] = counts
        used = self.used + len(ends)
        all_ends, all_ways = self.ends, self.ways
        if used > len(all_ends):
            room = used + used // 32
            all_ends, all_ways = np.empty(room, np.int32), np.empty(room, np.uint8)
            all_ends[: self.used], all_ways[: self.used] = self.ends[: self.used], self.ways[: self.used]
        all_ends[self.used : used], all_ways[self.used : used] = ends, ways
        return EdgeLists(starts_of, counts_of, all_ends, all_ways, used, unused)

    def packed(self) -> EdgeLists:
        """Return the lists without what is unused."""
        _, index = spread(self.starts, self.counts)
        starts = np.cumsum(self.counts, dtype=np.int32) - self.counts
        return EdgeLists(starts, self.counts, self.ends[index], self.ways[index], len(index))


def make_lists(nodes: Numbers, ends: Numbers, ways: Bytes, size: int) -> EdgeLists:
    """Return the lists of `size` nodes from edges in any order, each once however often it is given."""
    packed = (nodes.astype(np.int64) * size + ends) * _WAYS + ways
    packed.sort()
    packed = packed[np.diff(packed, prepend=-1) != 0]
    rest, way = np.divmod(packed, _WAYS)
    source, end = np.divmod(rest, size)
    counts = np.bincount(source, minlength=size).astype(np.int32)
    starts = np.cumsum(counts, dtype=np.int32) - counts
    return EdgeLists(starts, counts, end.astype(np.int32), way.astype(np.uint8), len(packed))


def spread(starts: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Return the indexes of slices that start at `starts`, and of each the place of its slice."""
    places = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    before = np.cumsum(counts, dtype=np.int32) - counts
    return places, np.arange(len(places), dtype=np.int32) + (starts - before)[places]


def _longer(values: Numbers, size: int) -> Numbers:
    longer = np.zeros(size, values.dtype)
    longer[: len(values)] = values
    return longer
