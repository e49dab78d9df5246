"""Build routes from pairs of keys: the edges of all jobs for a pair become one step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime

from lineage.store.errors import StoreError
from lineage.store.values import StoredStep
from lineage.traversal.lineage_reader import LineageReader
from lineage.traversal.routes.label_paths import ColumnPair
from lineage.traversal.routes.route import PathStep, Route

__all__ = ["routes_over"]


def routes_over(
    store: LineageReader, paths: Collection[Iterable[ColumnPair]], as_of: datetime | None
) -> tuple[Route, ...]:
    """Return a route for each path, given as its pairs.

    Raises:
        StoreError: the store could not be read, or no longer contains an edge of a path.
    """
    by_pair: defaultdict[ColumnPair, list[StoredStep]] = defaultdict(list)
    for step in store.steps({pair for path in paths for pair in path}, as_of=as_of):
        by_pair[ColumnPair(step.source, step.target, step.kind)].append(step)
    steps = {pair: _step_over(stored) for pair, stored in by_pair.items()}
    try:
        return tuple(Route(tuple(steps[pair] for pair in path)) for path in paths)
    except KeyError as missing:
        raise StoreError("the graph has changed while it was asked", "ask again") from missing


def _step_over(stored: list[StoredStep]) -> PathStep:
    shown = min(stored, key=lambda step: (step.masking, step.job))
    return PathStep(
        source=shown.source,
        target=shown.target,
        kind=shown.kind,
        subtypes=shown.subtypes,
        masking=shown.masking,
        job=shown.job,
        spans=shown.spans,
        partly_masking=shown.partly_masking,
    )
