"""The traversals as a specification: hop by hop over `store.expand`, every label with its whole path.

What it says is what the search must say, on every store. It is slow, and plain.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import is_column_key, split_column_key
from lineage.store.values import Direction, Hop, StoredEdge
from lineage.traversal.answer import Reached
from lineage.traversal.lineage_reader import LineageReader, columns_at
from lineage.traversal.options import TraversalOptions
from lineage.traversal.routes.route import PathStep, Route
from lineage.traversal.target import Target

__all__ = ["paths_by_specification", "reached_by_specification"]


class ExpandingReader(LineageReader, Protocol):
    """A store that is asked hop by hop."""

    def expand(
        self, keys: Collection[str], direction: Direction, *, kinds: Collection[EdgeKind], as_of: datetime | None
    ) -> list[Hop]:
        """Return one hop from columns, or from which rows datasets have."""


def reached_by_specification(
    store: ExpandingReader, target: Target, direction: Direction, options: TraversalOptions
) -> tuple[tuple[Reached, ...], list[str]]:
    """Return the columns that are reached, ranked, and what limits cut off."""
    neighbours = Neighbours(store, direction, options.kinds, options.as_of, options.through_masking)
    search = Search(neighbours, direction, options)
    if target.is_table:
        search.run([column.key for column in columns_at(store, [target.key], options.as_of)], target.key)
    else:
        search.run([target.key])
    datasets = {split_column_key(key)[0] for key in search.labels}
    names = {dataset.key: dataset.name for dataset in store.datasets(sorted(datasets))}
    roots = _roots(store, search.labels, options) if direction is Direction.UPSTREAM else frozenset()
    columns = [_reached(key, labels, direction, names, key in roots) for key, labels in search.labels.items()]
    return tuple(sorted(columns, key=lambda column: (column.hops, column.references, column.key))), search.cuts


def _reached(key: str, labels: list[Label], direction: Direction, names: Mapping[str, str], root: bool) -> Reached:
    dataset, column = split_column_key(key)
    flows = [label for label in labels if label.references == 0]
    contribution = min(flows, key=lambda label: (label.masked, label.hops), default=None)
    influence = {EdgeKind.CONTRIBUTES} if flows else set()
    if len(flows) < len(labels):
        influence.add(EdgeKind.REFERENCES)
    return Reached(
        key=key,
        dataset=dataset,
        table=names.get(dataset, dataset),
        column=column,
        route=labels[0].route(direction),
        contribution=contribution.route(direction) if contribution else None,
        influence=frozenset(influence),
        root=root,
    )


def _roots(store: ExpandingReader, columns: Mapping[str, list[Label]], options: TraversalOptions) -> frozenset[str]:
    contributions = Neighbours(store, Direction.UPSTREAM, frozenset({EdgeKind.CONTRIBUTES}), options.as_of)
    contributions.load(columns)
    return frozenset(column for column in columns if not contributions.around(column))


class Neighbours:
    """Steps and columns around nodes, in one direction. `load` reads, the rest answers from what was read."""

    def __init__(
        self,
        store: ExpandingReader,
        direction: Direction,
        kinds: Collection[EdgeKind],
        as_of: datetime | None,
        through_masking: bool = True,
    ) -> None:
        self._store = store
        self._direction = direction
        self._kinds = kinds
        self._as_of = as_of
        self._through_masking = through_masking
        self._steps: dict[str, list[tuple[str, PathStep]]] = {}
        self._columns: dict[str, list[str]] = {}
        self.self_edges: dict[str, list[PathStep]] = defaultdict(list)

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
            if step.source == step.target == via:
                self.self_edges[via].append(step)
            if end != via and (self._through_masking or not step.masking):
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


@dataclass(frozen=True, slots=True)
class Label:
    """The end of a path: how many hops and references it has, and whether one of its steps masks."""

    node: str
    hops: int = 0
    references: int = 0
    masked: bool = False
    previous: Label | None = None
    step: PathStep | None = None

    @property
    def rank(self) -> tuple[int, bool, str]:
        """The order of labels of one hop: those that hide others come first."""
        return self.references, self.masked, self.node

    def then(self, node: str, step: PathStep) -> Label:
        """Return the label of the path that goes on over `step`."""
        references = self.references + (step.kind is EdgeKind.REFERENCES)
        return Label(node, self.hops + 1, references, self.masked or step.masking, self, step)

    def at(self, node: str) -> Label:
        """Return the same path, ending at a dataset's column, or at a column's dataset: that is no hop."""
        return Label(node, self.hops, self.references, self.masked, self.previous, self.step)

    def route(self, direction: Direction) -> Route:
        """Return the path's steps in the direction in which data flows."""
        steps: list[PathStep] = []
        label: Label | None = self
        while label is not None and label.step is not None:
            steps.append(label.step)
            label = label.previous
        return Route(tuple(steps if direction is Direction.UPSTREAM else reversed(steps)))


class Search:
    """One traversal: `run` it, then read `labels`, `row_datasets` and `cuts`."""

    def __init__(self, neighbours: Neighbours, direction: Direction, options: TraversalOptions) -> None:
        self._neighbours = neighbours
        self._direction = direction
        self._options = options
        self._rows = _RowLabels(options.max_references is None)
        self._closed: set[str] = set()
        self._beyond: set[str] = set()
        self._left_out = 0
        self.labels: dict[str, list[Label]] = {}
        """The labels of each column that was reached, in order of hops."""
        self._row_labels: dict[str, list[Label]] = {}
        """The labels of datasets: by which rows they have, they decide others' rows and columns."""
        self.row_datasets: set[str] = set()
        """Downstream: the datasets whose rows are influenced."""
        self.cuts: list[str] = []
        """Which limits cut something off, and what."""

    def run(self, columns: Iterable[str], dataset: str | None = None) -> None:
        """Search from these columns and from which rows a dataset has; none of them is reached."""
        options = self._options
        frontier = [Label(column) for column in sorted(columns)]
        self._closed = {label.node for label in frontier}
        if dataset:
            frontier.insert(0, Label(dataset))
            self._closed.add(dataset)
        for hops in itertools.count(1):
            ends = sorted(self._one_hop(frontier), key=lambda label: label.rank)
            if hops > options.max_hops:
                if any(is_column_key(label.node) and self._adds(label) for label in ends):
                    self.cuts.append(f"max_hops={options.max_hops}: more lies beyond")
                break
            frontier = self._admit(ends)
            full = self._left_out and len(self.labels) >= options.limit_total
            if full or not frontier:
                break
        self._say_what_was_left_out()

    def _one_hop(self, frontier: list[Label]) -> Iterator[Label]:
        if self._direction is Direction.DOWNSTREAM:
            return self._downstream(frontier)
        return self._upstream(frontier)

    def _downstream(self, frontier: list[Label]) -> Iterator[Label]:
        self._neighbours.load(label.node for label in frontier)
        into_rows: list[Label] = []
        for label in frontier:
            for end, step in self._neighbours.around(label.node):
                (yield label.then(end, step)) if is_column_key(end) else into_rows.append(label.then(end, step))
        self.row_datasets.update(label.node for label in into_rows)
        self._neighbours.load_columns(label.node for label in into_rows)
        for label in sorted(into_rows, key=lambda label: label.rank):
            origin = label.previous.node if label.previous else ""
            if self._rows.add(label.node, label.references, origin):
                columns = self._neighbours.columns(label.node)
                yield from (label.at(column) for column in columns if column != origin)
                yield label

    def _upstream(self, frontier: list[Label]) -> Iterator[Label]:
        datasets = {label.node: split_column_key(label.node)[0] for label in frontier if is_column_key(label.node)}
        self._neighbours.load({*(label.node for label in frontier), *datasets.values()})
        for label in frontier:
            for end, step in self._neighbours.around(label.node):
                yield label.then(end, step)
            dataset = datasets.get(label.node)
            if dataset and self._rows.add(dataset, label.references, label.node):
                for end, step in self._neighbours.around(dataset):
                    if end != label.node:
                        yield label.then(end, step)

    def _adds(self, label: Label) -> bool:
        allowed = self._options.max_references
        if label.node in self._closed or (allowed is not None and label.references > allowed):
            return False
        labels = self.labels if is_column_key(label.node) else self._row_labels
        for other in labels.get(label.node, ()):
            if label.references == 0:
                if other.references == 0 and other.masked <= label.masked:
                    return False
            elif other.references > 0 and (allowed is None or other.references <= label.references):
                return False
        return True

    def _admit(self, ends: list[Label]) -> list[Label]:
        kept: list[Label] = []
        new = 0
        per_hop, allowed = self._options.limit_per_hop, self._options.max_references
        for label in ends:
            if allowed is not None and label.references > allowed and is_column_key(label.node):
                self._beyond.add(label.node)
            if not self._adds(label):
                continue
            if not is_column_key(label.node):
                self._row_labels.setdefault(label.node, []).append(label)
                kept.append(label)
                continue
            if label.node not in self.labels:
                if new == per_hop or len(self.labels) == self._options.limit_total:
                    # Closed, so that a longer path does not bring it in as if it were the shortest.
                    self._closed.add(label.node)
                    self._left_out += 1
                    continue
                new += 1
            self.labels.setdefault(label.node, []).append(label)
            kept.append(label)
        return kept

    def _say_what_was_left_out(self) -> None:
        options = self._options
        if self._left_out:
            full = len(self.labels) >= options.limit_total
            limit = f"limit_total={options.limit_total}" if full else f"limit_per_hop={options.limit_per_hop}"
            self.cuts.append(f"{limit}: at least {self._left_out} more columns were found and not followed")
        beyond = len(self._beyond - self.labels.keys() - self._closed)
        if beyond:
            self.cuts.append(f"max_references={options.max_references}: at least {beyond} more columns lie beyond")


class _RowLabels:
    """Which labels went through a dataset's rows.

    A column does not lead to itself through the rows of its dataset, so two labels are needed, from two
    columns: what one of them may not reach the other does.
    """

    def __init__(self, unlimited: bool) -> None:
        self._unlimited = unlimited
        self._through: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)

    def add(self, dataset: str, references: int, origin: str) -> bool:
        """Return whether the label adds to those before; `origin` is the column that it goes through the rows from."""
        better = {column for count, column in self._through[dataset] if self._unlimited or count <= references}
        if len(better) >= 2 or origin in better:
            return False
        self._through[dataset].append((references, origin))
        return True


_Arrivals = dict[str, list[tuple[str, PathStep]]]


def paths_by_specification(
    store: ExpandingReader, start: Target, end: Target, *, limit: int = 5, options: TraversalOptions | None = None
) -> tuple[Route, ...]:
    """Return up to `limit` of the shortest paths from `start` downstream to `end`, fewest references first.

    Of the options `max_hops`, `kinds` and `as_of` count. A table begins at any of its columns or by its rows,
    and ends at any of its columns or where its rows are influenced; a column ends at its fields and its parents too.
    Empty if no path leads there.

    Raises:
        StoreError: the store could not be read.
    """
    options = options or TraversalOptions()
    neighbours = Neighbours(store, Direction.DOWNSTREAM, options.kinds, options.as_of)
    starts = [start.key]
    if start.is_table:
        starts = [column.key for column in columns_at(store, [start.key], options.as_of)]
        starts.append(start.key)
    arrivals, ends = _arrive(neighbours, starts, _is_end(end), options.max_hops)
    found = _paths(arrivals, frozenset(starts), ends)
    own = [Route((step,)) for node in starts if _is_end(end)(node) for step in neighbours.self_edges[node]]
    if own:  # the shortest paths; a search skips them
        direct = [route for route in found if len(route.steps) == 1]
        found = iter(sorted([*own, *direct], key=lambda route: (_cost(route.steps[0]), *_text(route.steps[0]))))
    return tuple(itertools.islice(found, limit))


def _text(step: PathStep) -> tuple[str, str, str]:
    return step.source, step.target, str(step.kind)


def _is_end(target: Target) -> Callable[[str], bool]:
    if target.is_table:
        return lambda key: key == target.key or (is_column_key(key) and split_column_key(key)[0] == target.key)
    return lambda key: key == target.key or key.startswith(f"{target.key}.") or target.key.startswith(f"{key}.")


def _arrive(
    neighbours: Neighbours, starts: list[str], is_end: Callable[[str], bool], max_hops: int
) -> tuple[_Arrivals, list[str]]:
    """Return, nearest nodes first, the steps by which each is reached soonest, and the ends that are nearest."""
    arrivals: _Arrivals = {}
    frontier = sorted(starts)
    again = {node for node in starts if is_end(node)}  # what is both start and end is reached again
    seen = set(starts) - again
    for hops in range(max_hops):
        layer: _Arrivals = {}
        neighbours.load(frontier)
        for column in frontier:
            for far, step in neighbours.around(column):
                for node in _nodes(neighbours, far, is_end):
                    # A column does not lead to itself through the rows of its own table.
                    by_own_rows = hops == 0 and node in again and node != far
                    if node not in seen and not by_own_rows:
                        layer.setdefault(node, []).append((column, step))
        arrivals |= layer
        ends = sorted(node for node in layer if is_end(node))
        if ends or not layer:
            return arrivals, ends
        seen.update(layer)
        frontier = sorted(layer)
    return arrivals, []


def _nodes(neighbours: Neighbours, far: str, is_end: Callable[[str], bool]) -> list[str]:
    if is_column_key(far) or is_end(far):
        return [far]
    neighbours.load_columns([far])
    return [far, *neighbours.columns(far)]


def _paths(arrivals: _Arrivals, starts: frozenset[str], ends: list[str]) -> Iterator[Route]:
    """Yield the paths from an end back to a start, those with the fewest references first."""
    least = dict.fromkeys(starts, 0)
    to_end = {}
    for node, arriving in arrivals.items():
        to_end[node] = min(least[before] + _cost(step) for before, step in arriving)
        least.setdefault(node, to_end[node])
    # Each entry: references at best, then the steps to the end as text, which orders paths that are alike.
    waiting: list[tuple[int, tuple[str, ...], int, str, tuple[PathStep, ...]]] = [
        (to_end[end], (), 0, end, ()) for end in ends
    ]
    heapq.heapify(waiting)
    while waiting:
        _, order, references, node, steps = heapq.heappop(waiting)
        if steps and node in starts:
            yield Route(steps)
            continue
        for before, step in arrivals[node]:
            count = references + _cost(step)
            text = (f"{step.source}\n{step.target}\n{step.kind}", *order)
            heapq.heappush(waiting, (count + least[before], text, count, before, (step, *steps)))


def _cost(step: PathStep) -> int:
    return int(step.kind is EdgeKind.REFERENCES)
