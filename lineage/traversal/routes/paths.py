"""The shortest paths between two columns or tables."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of
from lineage.store.exploring import Explorer, Leads
from lineage.store.values import Direction
from lineage.traversal.lineage_reader import LineageReader, columns_at
from lineage.traversal.options import TraversalOptions
from lineage.traversal.routes.label_paths import ColumnPair
from lineage.traversal.routes.route import Route
from lineage.traversal.routes.routes_over import routes_over
from lineage.traversal.target import Target

__all__ = ["shortest_paths"]

_Arrivals = dict[str, list[tuple[str, ColumnPair]]]
_Path = tuple[ColumnPair, ...]
_WAYS = tuple(Leads)[: Leads.FIELD]


def shortest_paths(
    store: LineageReader, start: Target, end: Target, *, limit: int = 5, options: TraversalOptions | None = None
) -> tuple[Route, ...]:
    """Return up to `limit` of the shortest paths from `start` downstream to `end`, fewest references first.

    Of the options, `max_hops`, `kinds`, `as_of` and `timeout` apply. A path from a table begins at any of its columns
    or at its rows; a path to a table ends at any of its columns or where its rows are influenced; a path to a column
    may also end at its fields and parents. What is both start and end is reached again: over a cycle, or by an edge to
    itself. The result is empty if there is no path.

    Raises:
        StoreTimeoutError: it took longer than the timeout in the options.
        StoreError: the store could not be read.
    """
    options = options or TraversalOptions()
    deadline = None if options.timeout is None else time.monotonic() + options.timeout
    starts, table = [start.key], None
    if start.is_table:
        starts, table = [column.key for column in columns_at(store, [start.key], options.as_of)], start.key
    is_end = _is_end(end)
    ends = [column.key for column in store.columns([end.dataset], dropped=True) if is_end(column.key)]

    def arrive(explorer: Explorer) -> tuple[_Arrivals, list[str]]:
        explorer.begin(starts, [table] if table else ())
        numbers = explorer.numbers(ends, [end.key] if end.is_table else ())
        return _arrive(explorer, starts, table, set(numbers.values()), options.max_hops)

    arrivals, arrived = store.explore(
        arrive,
        Direction.DOWNSTREAM,
        kinds=options.kinds,
        as_of=options.as_of,
        hops=options.max_hops,
        deadline=deadline,
    )
    begins = frozenset([*starts, *([table] if table else ())])
    found = _paths(arrivals, begins, arrived)
    if start.dataset == end.dataset:
        found = _with_edges_to_itself(store, found, begins.intersection([*ends, end.key]), options)
    return routes_over(store, list(itertools.islice(found, limit)), options.as_of)


def _with_edges_to_itself(
    store: LineageReader, paths: Iterator[_Path], keys: Collection[str], options: TraversalOptions
) -> Iterator[_Path]:
    """Return the paths with the edges of these nodes to themselves, which are the shortest; a search skips them."""
    pairs = [ColumnPair(key, key, kind) for key in sorted(keys) for kind in options.kinds]
    stated = {ColumnPair(one.source, one.target, one.kind) for one in store.steps(pairs, as_of=options.as_of)}
    if not stated:
        return paths
    return iter(sorted([*((pair,) for pair in stated), *(path for path in paths if len(path) == 1)], key=_rank))


def _rank(path: _Path) -> tuple[int, _Path]:
    return sum(map(_cost, path)), path


def _is_end(target: Target) -> Callable[[str], bool]:
    if target.is_table:
        return lambda key: dataset_of(key) == target.key
    return lambda key: key == target.key or key.startswith(f"{target.key}.") or target.key.startswith(f"{key}.")


def _arrive(
    explorer: Explorer, starts: Collection[str], table: str | None, ends: set[int], max_hops: int
) -> tuple[_Arrivals, list[str]]:
    """Return the steps of the shortest paths to the nearest ends, nearest nodes first, and the keys of these ends."""
    layers = [set(explorer.numbers(starts, [table] if table else ()).values())]
    again = layers[0] & ends
    seen = layers[0] - again
    while layers[-1] and (len(layers) == 1 or not layers[-1] & ends) and len(layers) <= max_hops:
        explorer.load(layers[-1])
        layer: set[int] = set()
        for way in _WAYS:
            far = explorer.ends[way]
            next_nodes = set().union(*[far[node] for node in layers[-1] if node in far])
            if way < Leads.ROWS:
                layer |= next_nodes
            else:
                explorer.load_columns(next_nodes - ends)
                columns = set().union(*[explorer.columns(dataset) for dataset in next_nodes - ends])
                # A column does not lead to itself through the rows of its own table.
                layer |= next_nodes | (columns - again if len(layers) == 1 else columns)
        layers.append(layer - seen)
        seen |= layer
    arrived = layers[-1] & ends if len(layers) > 1 else set()
    explorer.load_keys(seen - explorer.keys.keys())
    keys = explorer.keys
    return _leading_to(explorer, layers, arrived), sorted(keys[node] for node in arrived)


def _leading_to(explorer: Explorer, layers: Sequence[set[int]], arrived: set[int]) -> _Arrivals:
    """Return the steps from layer to layer that lead to the ends."""
    reversed_layers = []
    wanted = set(arrived)
    for layer in reversed(layers[:-1]):
        steps = {(node, before, pair) for before in layer for node, pair in _steps(explorer, before, wanted, arrived)}
        reversed_layers.append(steps)
        wanted = {before for _, before, _ in steps}
    keys = explorer.keys
    arrivals: _Arrivals = {}
    for steps in reversed(reversed_layers):
        for node, before, pair in sorted(steps):
            arrivals.setdefault(keys[node], []).append((keys[before], pair))
    return arrivals


def _steps(explorer: Explorer, before: int, wanted: set[int], arrived: set[int]) -> Iterator[tuple[int, ColumnPair]]:
    """Yield the steps that lead from a column to the wanted nodes."""
    keys = explorer.keys
    for way in _WAYS:
        kind = EdgeKind.CONTRIBUTES if way < Leads.REFERENCE else EdgeKind.REFERENCES
        for end in set(explorer.ends[way].get(before, ())):
            is_whole = way < Leads.ROWS or end in arrived
            nodes = {end} & wanted if is_whole else wanted.intersection((end, *explorer.columns(end)))
            for node in nodes:
                target = keys[node] if way < Leads.ROWS else dataset_of(keys[node])
                for member in explorer.origins(before, end, way):
                    yield node, ColumnPair(keys[member], target, kind)


def _paths(arrivals: _Arrivals, starts: frozenset[str], ends: list[str]) -> Iterator[_Path]:
    """Yield the paths from an end back to a start, those with the fewest references first."""
    least = dict.fromkeys(starts, 0)
    to_end = {}
    for node, arriving in arrivals.items():
        to_end[node] = min(least[before] + _cost(pair) for before, pair in arriving)
        least.setdefault(node, to_end[node])
    # Each entry: lower bound of references, then the steps to the end as text, to order paths of equal cost.
    waiting: list[tuple[int, tuple[str, ...], int, str, _Path]] = [(to_end[end], (), 0, end, ()) for end in ends]
    heapq.heapify(waiting)
    while waiting:
        _, order, references, node, steps = heapq.heappop(waiting)
        if steps and node in starts:
            yield steps
            continue
        for before, pair in arrivals[node]:
            count = references + _cost(pair)
            text = (f"{pair.source}\n{pair.target}\n{pair.kind}", *order)
            heapq.heappush(waiting, (count + least[before], text, count, before, (pair, *steps)))


def _cost(pair: ColumnPair) -> int:
    return int(pair.kind is EdgeKind.REFERENCES)
