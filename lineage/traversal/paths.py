"""The shortest paths between two columns or tables."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator

from lineage.model.names import split_column_key
from lineage.model.transformations import EdgeKind
from lineage.store.protocol import Direction
from lineage.traversal.neighbours import Neighbours, columns_at, is_column
from lineage.traversal.options import TraversalOptions
from lineage.traversal.reader import LineageReader
from lineage.traversal.route import PathStep, Route
from lineage.traversal.target import Target

__all__ = ["shortest_paths"]

_Arrivals = dict[str, list[tuple[str, PathStep]]]


def shortest_paths(
    store: LineageReader, start: Target, end: Target, *, limit: int = 5, options: TraversalOptions | None = None
) -> tuple[Route, ...]:
    """Return up to `limit` of the shortest paths from `start` downstream to `end`, fewest references first.

    Of the options `max_hops`, `kinds` and `as_of` count. A table begins or ends at any of its columns, and ends
    where its rows are influenced; a column ends at its fields and its parents too. Empty if no path leads there.

    Raises:
        StoreError: the store could not be read.
    """
    options = options or TraversalOptions()
    neighbours = Neighbours(store, Direction.DOWNSTREAM, options.kinds, options.as_of)
    starts = [start.key]
    if start.is_table:
        starts = [column.key for column in columns_at(store, [start.key], options.as_of)]
    arrivals, ends = _arrive(neighbours, starts, _is_end(end), options.max_hops)
    return tuple(itertools.islice(_paths(arrivals, frozenset(starts), ends), limit))


def _is_end(target: Target) -> Callable[[str], bool]:
    if target.is_table:
        return lambda key: key == target.key or (is_column(key) and split_column_key(key)[0] == target.key)
    return lambda key: key == target.key or key.startswith(f"{target.key}.") or target.key.startswith(f"{key}.")


def _arrive(
    neighbours: Neighbours, starts: list[str], is_end: Callable[[str], bool], max_hops: int
) -> tuple[_Arrivals, list[str]]:
    """Return, nearest nodes first, the steps by which each is reached soonest, and the ends that are nearest."""
    arrivals: _Arrivals = {}
    frontier = sorted(starts)
    seen = set(starts)
    for _ in range(max_hops):
        layer: _Arrivals = {}
        neighbours.load(frontier)
        for column in frontier:
            for far, step in neighbours.around(column):
                for node in _nodes(neighbours, far, is_end):
                    if node not in seen:
                        layer.setdefault(node, []).append((column, step))
        arrivals |= layer
        ends = sorted(node for node in layer if is_end(node))
        if ends or not layer:
            return arrivals, ends
        seen.update(layer)
        frontier = sorted(layer)
    return arrivals, []


def _nodes(neighbours: Neighbours, far: str, is_end: Callable[[str], bool]) -> list[str]:
    if is_column(far) or is_end(far):
        return [far]
    neighbours.load_columns([far])
    return neighbours.columns(far)


def _paths(arrivals: _Arrivals, starts: frozenset[str], ends: list[str]) -> Iterator[Route]:
    """Yield the paths from an end back to a start, those with the fewest references first."""
    least = dict.fromkeys(starts, 0)
    for node, arriving in arrivals.items():
        least[node] = min(least[before] + _cost(step) for before, step in arriving)
    # Each entry: references at best, then the steps to the end as text, which orders paths that are alike.
    waiting: list[tuple[int, tuple[str, ...], int, str, tuple[PathStep, ...]]] = [
        (least[end], (), 0, end, ()) for end in ends
    ]
    heapq.heapify(waiting)
    while waiting:
        _, order, references, node, steps = heapq.heappop(waiting)
        if node in starts:
            yield Route(steps)
            continue
        for before, step in arrivals[node]:
            count = references + _cost(step)
            text = (f"{step.source}\n{step.target}\n{step.kind}", *order)
            heapq.heappush(waiting, (count + least[before], text, count, before, (step, *steps)))


def _cost(step: PathStep) -> int:
    return int(step.kind is EdgeKind.REFERENCES)
