"""The graph around columns, with numbered nodes: read hop by hop from a store, cached, and traversed in memory.

A store numbers its nodes; the numbers are valid within one read transaction. Results are compact: for each
relationship the numbers of its ends and its kind (`Leads`), without properties.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import IntEnum

from lineage.frozen import frozen
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, split_column_key
from lineage.store.errors import StoreTimeoutError
from lineage.store.planning.graph_state import EdgeType
from lineage.store.time_limit import seconds_left
from lineage.store.values import Direction

__all__ = ["Explorer", "Leads", "View"]


class Leads(IntEnum):
    """The kind of a relationship. Each of the first three is followed by its masking variant.

    ROWS leads to a dataset: downstream to one whose rows are determined, upstream to one whose rows determine the node.
    """

    FLOW = 0
    MASKED_FLOW = 1
    REFERENCE = 2
    MASKED_REFERENCE = 3
    ROWS = 4
    MASKED_ROWS = 5
    FIELD = 6
    """To a field of the node, downstream; to the column that it is a field of, upstream."""
    COLUMN = 7
    """From a dataset to its column, downstream; from a column to its dataset, upstream."""


@frozen
class View:
    """The part of the graph to explore: a direction, kinds of edges, and the live edges or those valid at a time.

    `hops` is the expected number of hops, a hint for reading ahead. `deadline` (by `time.monotonic`) is the time limit,
    if there is one.
    """

    direction: Direction
    kinds: frozenset[EdgeKind] = frozenset(EdgeKind)
    as_of: datetime | None = None
    hops: int = 1
    deadline: float | None = None

    @property
    def seconds_left(self) -> float | None:
        """Time left in seconds, by the deadline and by the thread's time limit; None without either.

        Raises:
            StoreTimeoutError: the deadline has passed, or the time limit is over.
        """
        limit = seconds_left()
        if self.deadline is None:
            return limit
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise StoreTimeoutError
        return left if limit is None else min(left, limit)

    @property
    def down(self) -> bool:
        """Whether the direction is downstream."""
        return self.direction is Direction.DOWNSTREAM

    @property
    def types(self) -> tuple[str, ...]:
        """The relationship types to follow."""
        live = tuple(sorted(str(kind) for kind in self.kinds))
        return live if self.as_of is None else (*live, *(EdgeType(name).retired for name in live))


Ends = Mapping[int, list[int]]
"""Adjacency lists: the end nodes by source node."""

_FOLLOWED = tuple(Leads)[: Leads.FIELD]


class Explorer(ABC):
    """Traverses the graph of a view. `load` reads from the store, the other methods use what was read."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.keys: dict[int, str] = {}
        """The keys read so far: of all loaded columns, and possibly of others."""
        self.ends: tuple[dict[int, list[int]], ...] = tuple({} for _ in _FOLLOWED)
        """By `Leads`: the end nodes of each loaded node."""
        self._stated: dict[int, tuple[list[int] | None, ...]] = {}
        self._nested: defaultdict[int, set[int]] = defaultdict(set)
        self._holders: defaultdict[int, set[int]] = defaultdict(set)
        self._members: dict[int, list[int]] = {}
        self._columns: dict[int, list[int]] = {}
        self._loaded: set[int] = set()
        self._read: set[int] = set()

    @abstractmethod
    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Begin the exploration at these nodes; return the numbers of those that are in the graph."""

    @abstractmethod
    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""

    @abstractmethod
    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first `count` of these columns, ordered by key."""

    @abstractmethod
    def load_keys(self, nodes: Iterable[int]) -> None:
        """Read the keys of these columns."""

    @abstractmethod
    def _read_around(self, nodes: list[int]) -> None:
        """Read at least the relationships of these nodes (with `_take`), and their keys."""

    @abstractmethod
    def _read_columns(self, datasets: list[int]) -> None:
        """Read the columns of these datasets into `_columns`."""

    @abstractmethod
    def _read_family(self, nodes: list[int]) -> None:
        """Read the fields and parents of these columns into `_nested` and `_holders`, if not yet read."""

    def load(self, nodes: Iterable[int]) -> None:
        """Read the relationships of these columns and datasets; nodes that are already loaded are skipped.

        Raises:
            StoreTimeoutError: the deadline has passed.
        """
        wanted = [node for node in nodes if node not in self._loaded]
        if not wanted:
            return
        _ = self.view.seconds_left
        self._read_missing(wanted)
        families = self._load_families(wanted)
        self._loaded.update(wanted)
        for node in families:
            self._join_family(node)
        for ends in self.ends:
            for node in wanted:
                if node in ends and node in ends[node]:
                    ends[node] = [end for end in ends[node] if end != node]

    def load_columns(self, datasets: Iterable[int]) -> None:
        """Read the columns of these datasets."""
        missing = [dataset for dataset in datasets if dataset not in self._columns]
        if missing:
            _ = self.view.seconds_left
            self._read_columns(missing)

    def columns(self, dataset: int) -> list[int]:
        """Return the columns and fields of a dataset, now or as of the view's time."""
        return self._columns[dataset]

    def without(self, nodes: Collection[int], leads: Collection[Leads]) -> list[int]:
        """Return the nodes that have no relationships of these kinds."""
        self.load(nodes)
        return [node for node in nodes if not any(self.ends[way].get(node) for way in leads)]

    def datasets_of(self, columns: Iterable[int]) -> list[str]:
        """Return the key of the dataset of each column."""
        return [dataset_of(self.keys[column]) for column in columns]

    def leading_to(self, nodes: Collection[int], ends: Collection[int]) -> Collection[int]:  # noqa: ARG002
        """Return those of these loaded nodes that may lead to one of these ends."""
        return nodes

    def leading_by_dataset(self, nodes: Collection[int], ends: Collection[int]) -> Collection[int]:  # noqa: ARG002
        """Return those of these loaded columns whose datasets may lead to one of these ends."""
        return nodes

    def origins(self, node: int, end: int, way: Leads) -> list[int]:
        """Return which of a loaded node, its fields and its parents have a relationship of this kind to `end`."""
        if node not in self._members:
            return [node]
        # Masking is not distinguished here: for a pair with both kinds of edge, the unmasked label came first.
        return [one for one in self._members[node] if end in (self._stated[one][way] or ())]

    def _is_nested(self, node: int) -> bool:
        """Return whether a column may be a field: only paths of fields contain a dot."""
        return "." in split_column_key(self.keys[node])[1]

    def _take(self, source: int, end: int, way: int) -> None:
        """Store a relationship of a node that was not read before."""
        if way < Leads.FIELD:
            self.ends[way].setdefault(source, []).append(end)
        elif way == Leads.FIELD:
            one, other = (source, end) if self.view.down else (end, source)
            self._nested[one].add(other)
            self._holders[other].add(one)

    def _read_missing(self, nodes: Iterable[int]) -> None:
        missing = [node for node in nodes if node not in self._read]
        if missing:
            self._read_around(missing)
            self._read.update(missing)

    def _load_families(self, wanted: list[int]) -> list[int]:
        """Read fields and parents; return the nodes that have any."""
        self._read_family(wanted)
        nested = [node for node in wanted if node in self._nested or node in self._holders]
        seen, level = set(nested), nested
        while level:
            following = {other for node in level for other in self._relatives(node)} - seen
            level = sorted(following)
            self._read_missing(level)
            self._read_family(level)
            seen |= following
        return nested

    def _relatives(self, node: int) -> set[int]:
        return self._nested.get(node, set()) | self._holders.get(node, set())

    def _join_family(self, node: int) -> None:
        """Add the relationships of a column's fields and parents to the column."""
        members = [node, *_closure(node, self._nested), *_closure(node, self._holders)]
        for one in members:
            if one not in self._stated:
                self._stated[one] = tuple(ends.get(one) for ends in self.ends)
        self._members[node] = members
        for way, ends in enumerate(self.ends):
            joined = [end for one in members for end in self._stated[one][way] or ()]
            if joined:
                ends[node] = joined


def _closure(node: int, steps: Mapping[int, set[int]]) -> list[int]:
    nodes: dict[int, None] = {}
    level = [node]
    while level:
        level = [other for one in level for other in sorted(steps.get(one, ())) if other not in nodes]
        nodes |= dict.fromkeys(level)
    return list(nodes)
