"""What the graph has about the tables of a comparison: edges of columns and rows, and table-level lineage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import ColumnPath, dataset_of, is_column_key, split_column_key
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge, StoredJob
from lineage_ingest.compare.graph_names import is_related, root_of

__all__ = ["OurLineage"]

_AT_ONCE = 100
_MAX_HOPS = 12
"""Maximum length of a path that `path_between` finds."""


@dataclass(slots=True)
class OurLineage:
    """Our edges into the compared tables, by their ends; `by_roots` is by top-level columns."""

    edges: dict[tuple[str, str], list[StoredEdge]] = field(default_factory=lambda: defaultdict(list))
    by_roots: dict[tuple[str, str], list[StoredEdge]] = field(default_factory=lambda: defaultdict(list))
    influence: dict[tuple[str, str], list[StoredEdge]] = field(default_factory=lambda: defaultdict(list))
    """References into a table or its columns, by the top-level column of the source, and the table."""
    feeds: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """Jobs of table-level lineage, by source and target."""
    jobs: dict[str, StoredJob] = field(default_factory=dict)
    writers: dict[str, list[str]] = field(default_factory=dict)
    """Jobs that write each table."""
    views: set[str] = field(default_factory=set)
    """The tables on paths that are views."""
    _upstream: dict[str, set[tuple[str, EdgeKind]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        store: GraphStore,
        targets: Collection[str],
        as_of: datetime | None,
        progress: Callable[[str, int, int | None], None],
    ) -> OurLineage:
        """Return what the graph has about these tables, now or as of a time.

        Raises:
            StoreError: the store could not be read.
        """
        ours = cls()
        listed = sorted(targets)
        for start in range(0, len(listed), _AT_ONCE):
            some = listed[start : start + _AT_ONCE]
            for edge in store.edges_into(some, as_of=as_of):
                ours.edges[edge.source, edge.target].append(edge)
                ours.by_roots[root_of(edge.source), root_of(edge.target)].append(edge)
                if edge.kind is EdgeKind.REFERENCES:
                    ours.influence[root_of(edge.source), dataset_of(edge.target)].append(edge)
            for feed in store.feeds(some, Direction.UPSTREAM, as_of=as_of):
                ours.feeds[feed.source, feed.target].append(feed.job)
            progress("our edges", start + len(some), len(listed))
        return ours

    def load_jobs(self, store: GraphStore, keys: Iterable[str]) -> None:
        """Load these jobs, for proofs.

        Raises:
            StoreError: the store could not be read.
        """
        listed = sorted(set(keys) - self.jobs.keys())
        for start in range(0, len(listed), _AT_ONCE):
            self.jobs |= {job.key: job for job in store.jobs(listed[start : start + _AT_ONCE])}

    def load_writers(self, store: GraphStore, targets: Iterable[str]) -> None:
        """Load the jobs that write these tables, for explanations.

        Raises:
            StoreError: the store could not be read.
        """
        found = store.job_keys_of(sorted(set(targets)))
        self.load_jobs(store, (key for keys in found.values() for key in keys))
        for target, keys in found.items():
            self.writers[target] = [key for key in keys if key in self.jobs and target in self.jobs[key].writes]

    def between(self, source: str, target: str) -> list[StoredEdge]:
        """Return our edges between two columns, else those of their fields, or from one to the rows of the other.

        One side may state a whole struct, and the other its fields; two fields are no match, and no field of a copy
        of the struct is another one.
        """
        found = self.edges.get((source, target)) or [
            edge
            for edge in self.by_roots.get((root_of(source), root_of(target)), ())
            if is_related(edge.source, source) and is_related(edge.target, target) and _copies(edge, source, target)
        ]
        return found or [
            edge
            for edge in self.by_roots.get((root_of(source), dataset_of(target)), ())
            if is_related(edge.source, source)
        ]

    def influences(self, source: str, table: str) -> list[StoredEdge]:
        """Return our references from a column to the rows of a table, or to some of its columns."""
        found = self.influence.get((root_of(source), table), ())
        return [edge for edge in found if is_related(edge.source, source)]

    def has_between_fields(self, source: str, target: str) -> bool:
        """Return whether we have an edge between the top-level columns of two fields, whichever fields it is of."""
        return bool(self.by_roots.get((root_of(source), root_of(target))))

    def explore_upstream(
        self,
        store: GraphStore,
        targets: Collection[str],
        as_of: datetime | None,
        progress: Callable[[str, int, int | None], None],
    ) -> None:
        """Load all edges upstream of these columns, for `path_between`; one query per hop.

        Raises:
            StoreError: the store could not be read.
        """
        frontier = {key for target in targets for key in (target, root_of(target), dataset_of(target))}
        for hop in range(_MAX_HOPS):
            frontier -= self._upstream.keys()
            if not frontier:
                return
            for key in frontier:
                self._upstream[key] = set()
            following: set[str] = set()
            listed = sorted(frontier)
            for start in range(0, len(listed), 10 * _AT_ONCE):
                for found in store.expand(listed[start : start + 10 * _AT_ONCE], Direction.UPSTREAM, as_of=as_of):
                    source = found.edge.source
                    self._upstream[found.via].add((source, found.edge.kind))
                    following |= {source, root_of(source)}
                    if is_column_key(source):
                        following.add(dataset_of(source))
            progress("paths", hop + 1, _MAX_HOPS)
            frontier = following

    def load_views(self, store: GraphStore) -> None:
        """Load which tables on the explored paths are views.

        Raises:
            StoreError: the store could not be read.
        """
        listed = sorted({dataset_of(key) for key in self._upstream})
        for start in range(0, len(listed), _AT_ONCE):
            found = store.datasets(listed[start : start + _AT_ONCE])
            self.views |= {one.key for one in found if one.kind is DatasetKind.VIEW}

    def values_into(self, column: str) -> set[str]:
        """Return the columns whose values flow into one on the explored paths."""
        return {source for source, kind in self._upstream.get(column, ()) if kind is EdgeKind.CONTRIBUTES}

    def path_between(self, source: str, target: str) -> tuple[tuple[str, ...], bool] | None:
        """Return the nodes between two columns on a path of ours, and whether it is of references; None without one.

        A path on which the value flows is preferred to a shorter one with a reference.
        """
        for kinds in ((EdgeKind.CONTRIBUTES,), tuple(EdgeKind)):
            found = self._shortest(source, target, kinds)
            if found is not None:
                return found, len(kinds) > 1
        return None

    def is_influenced(self, source: str, target: str) -> bool:
        """Return whether a path of ours between two columns has a reference."""
        return self._shortest(source, target, tuple(EdgeKind), by_reference=True) is not None

    def _shortest(
        self, source: str, target: str, kinds: Collection[EdgeKind], *, by_reference: bool = False
    ) -> tuple[str, ...] | None:
        """Return the nodes of a shortest path; `by_reference`: of one on which some edge is a reference."""
        is_wide = len(kinds) > 1
        root = root_of(source)
        starts = {target, root_of(target)} | ({dataset_of(target)} if is_wide else set())
        layer: dict[tuple[str, bool], tuple[str, ...]] = dict.fromkeys(((key, not by_reference) for key in starts), ())
        seen = set(layer)
        while layer:
            following: dict[tuple[str, bool], tuple[str, ...]] = {}
            for key, is_met in sorted(layer):
                for before, kind in sorted(self._upstream.get(key, ())):
                    if kind not in kinds:
                        continue
                    meets = is_met or kind is EdgeKind.REFERENCES
                    if meets and root_of(before) == root and is_related(before, source):
                        return layer[key, is_met]
                    reached = {before, root_of(before)} | ({dataset_of(before)} if is_wide else set())
                    for one in {(name, meets) for name in reached} - seen:
                        seen.add(one)
                        following[one] = (before, *layer[key, is_met])
            layer = following
        return None


def _copies(edge: StoredEdge, source: str, target: str) -> bool:
    """Return whether an edge of structs may be one of these fields: a copy has the same fields as its source."""
    if edge.subtypes != (Subtype.IDENTITY,):
        return True
    read, made = _fields_below(edge.source, source), _fields_below(edge.target, target)
    common = min(len(read), len(made))
    return read[:common] == made[:common]


def _fields_below(struct: str, key: str) -> list[str]:
    """Return the fields that lead from a column to the one of a key, in lower case; none if that is not within it."""
    outer, inner = (ColumnPath.parse(split_column_key(one)[1]).parts for one in (struct, key))
    return [part.casefold() for part in inner[len(outer) :]]
