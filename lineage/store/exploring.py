"""The graph around columns, by numbers: read hop by hop from a store, kept, and walked in memory.

A store numbers its nodes; numbers hold within one read. What a store sends is packed: of each relationship the
numbers of its ends and how it leads on, not its properties.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from lineage.model.names import split_column_key
from lineage.model.transformations import EdgeKind
from lineage.store.errors import StoreTimeoutError
from lineage.store.planning.graph_state import EdgeType
from lineage.store.values import Direction

__all__ = ["Explorer", "Leads", "View"]


class Leads(IntEnum):
    """How a relationship leads on. Each of the first three is followed by its like that masks.

    ROWS leads to a dataset: downstream to one whose rows are decided, upstream to one whose rows decide.
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


@dataclass(frozen=True, slots=True)
class View:
    """What of the graph is explored: a direction, kinds of edges, the live ones or those that held at a time.

    `hops` is how far it will be asked for, as far as that is known. It may take until `deadline` (by
    `time.monotonic`), if there is one.
    """

    direction: Direction
    kinds: frozenset[EdgeKind] = frozenset(EdgeKind)
    as_of: datetime | None = None
    hops: int = 1
    deadline: float | None = None

    @property
    def seconds_left(self) -> float | None:
        """How long it may still take.

        Raises:
            StoreTimeoutError: no longer.
        """
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise StoreTimeoutError
        return left

    @property
    def down(self) -> bool:
        """Whether it goes downstream."""
        return self.direction is Direction.DOWNSTREAM

    @property
    def types(self) -> tuple[str, ...]:
        """The types of relationship that are followed."""
        live = tuple(sorted(str(kind) for kind in self.kinds))
        return live if self.as_of is None else (*live, *(EdgeType(name).retired for name in live))


Ends = Mapping[int, list[int]]
"""For nodes that lead somewhere, where to."""

_FOLLOWED = tuple(Leads)[: Leads.FIELD]


class Explorer(ABC):
    """Walks the graph as a view shows it. `load` reads, the rest answers from what was read."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.keys: dict[int, str] = {}
        """The keys that were read: of all loaded columns, and maybe of others."""
        self.ends: tuple[dict[int, list[int]], ...] = tuple({} for _ in _FOLLOWED)
        """By `Leads`, for each loaded node that leads somewhere: where to."""
        self._stated: dict[int, tuple[list[int] | None, ...]] = {}
        self._nested: defaultdict[int, set[int]] = defaultdict(set)
        self._holders: defaultdict[int, set[int]] = defaultdict(set)
        self._members: dict[int, list[int]] = {}
        self._columns: dict[int, list[int]] = {}
        self._loaded: set[int] = set()
        self._read: set[int] = set()

    @abstractmethod
    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of those of these nodes that are in the graph; what is explored begins there."""

    @abstractmethod
    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of those of these nodes that are in the graph."""

    @abstractmethod
    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return so many of these columns, those whose keys come first, in order."""

    @abstractmethod
    def load_keys(self, nodes: Iterable[int]) -> None:
        """Read the keys of these columns."""

    @abstractmethod
    def _read_around(self, nodes: list[int]) -> None:
        """Read what leads on from these nodes, at least, by `_take`, and their keys."""

    @abstractmethod
    def _read_columns(self, datasets: list[int]) -> None:
        """Read the columns of these datasets into `_columns`."""

    @abstractmethod
    def _read_family(self, nodes: list[int]) -> None:
        """Read what of `_holders` and `_nested` these columns, which may be fields or have some, have not yet."""

    def load(self, nodes: Iterable[int]) -> None:
        """Read what leads on from these columns and datasets; those loaded before are not read again.

        Raises:
            StoreTimeoutError: the deadline is past.
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
        """Return the columns and fields of a dataset, as they are or were at the time."""
        return self._columns[dataset]

    def leads_on(self, node: int, leads: Iterable[Leads]) -> bool:
        """Return whether anything leads on from a loaded node in one of these ways."""
        return any(self.ends[way].get(node) for way in leads)

    def origins(self, node: int, end: int, way: Leads) -> list[int]:
        """Return which of a loaded node, its fields and its parents lead to `end` in this way."""
        if node not in self._members:
            return [node]
        # What only masks is not distinguished here: of a pair that is stated both ways the unmasked label came first.
        return [one for one in self._members[node] if end in (self._stated[one][way] or ())]

    def _is_nested(self, node: int) -> bool:
        """Return whether a column may be a field, as its key tells: others have no dot in their path."""
        return "." in split_column_key(self.keys[node])[1]

    def _take(self, source: int, end: int, way: int) -> None:
        """Keep a relationship of a node that was not read before."""
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
        """Read the fields and parents of those that have any; return these."""
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
        """Let all that leads on from a column's fields and parents lead on from it."""
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
    found: dict[int, None] = {}
    level = [node]
    while level:
        level = [other for one in level for other in sorted(steps.get(one, ())) if other not in found]
        found |= dict.fromkeys(level)
    return list(found)
