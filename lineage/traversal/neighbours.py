"""The graph one hop around a node, read in batches and kept: what several jobs say of a pair becomes one step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime

from lineage.model.transformations import EdgeKind
from lineage.store.protocol import Direction, StoredColumn, StoredEdge
from lineage.traversal.reader import LineageReader
from lineage.traversal.route import PathStep

__all__ = ["Neighbours", "columns_at", "is_column"]


def is_column(key: str) -> bool:
    """Return whether the key is a column's, not a dataset's.

    >>> is_column("postgres/shop.orders#id"), is_column("postgres/shop.orders")
    (True, False)
    """
    return "#" in key


def columns_at(store: LineageReader, datasets: Collection[str], as_of: datetime | None) -> list[StoredColumn]:
    """Return the columns of these datasets now, or as they were: without those that were dropped before."""
    columns = store.columns(datasets, dropped=as_of is not None)
    return [each for each in columns if each.dropped_at is None or (as_of and as_of < each.dropped_at)]


class Neighbours:
    """Steps and columns around nodes, in one direction. `load` reads, the rest answers from what was read."""

    def __init__(
        self, store: LineageReader, direction: Direction, kinds: Collection[EdgeKind], as_of: datetime | None
    ) -> None:
        self._store = store
        self._direction = direction
        self._kinds = kinds
        self._as_of = as_of
        self._steps: dict[str, list[tuple[str, PathStep]]] = {}
        self._columns: dict[str, list[str]] = {}

    def load(self, nodes: Iterable[str]) -> None:
        """Read the steps around all these nodes at once; those read before are not read again."""
        missing = sorted({node for node in nodes if node not in self._steps})
        if not missing:
            return
        pairs: defaultdict[tuple[str, str, str, EdgeKind], list[StoredEdge]] = defaultdict(list)
        for hop in self._store.expand(missing, self._direction, kinds=self._kinds, as_of=self._as_of):
            pairs[hop.via, hop.edge.source, hop.edge.target, hop.edge.kind].append(hop.edge)
        self._steps.update({node: [] for node in missing})
        for (via, *_), edges in sorted(pairs.items()):
            step = _step_over(edges)
            end = step.target if self._direction is Direction.DOWNSTREAM else step.source
            if end != via:
                self._steps[via].append((end, step))

    def around(self, node: str) -> list[tuple[str, PathStep]]:
        """Return the far ends of the node's steps with the steps; self-edges lead nowhere and are left out."""
        return self._steps[node]

    def load_columns(self, datasets: Iterable[str]) -> None:
        """Read the columns of all these datasets at once."""
        missing = sorted({dataset for dataset in datasets if dataset not in self._columns})
        if not missing:
            return
        self._columns.update({dataset: [] for dataset in missing})
        for column in columns_at(self._store, missing, self._as_of):
            self._columns[column.dataset].append(column.key)

    def columns(self, dataset: str) -> list[str]:
        """Return the keys of the dataset's columns and fields."""
        return self._columns[dataset]


def _step_over(edges: list[StoredEdge]) -> PathStep:
    shown = min(edges, key=lambda edge: (edge.masking, edge.job))
    return PathStep(
        source=shown.source,
        target=shown.target,
        kind=shown.kind,
        subtypes=shown.subtypes,
        masking=shown.masking,
        job=shown.job,
        spans=shown.spans,
    )
