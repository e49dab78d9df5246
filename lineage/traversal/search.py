"""The search that impact and root cause share: breadth first, one batch a hop, few labels a column.

A label says that a path with so many references, masked or not, ends at a column. What must never be hidden
is kept apart, so at each column there are at most

- two labels of paths without references, where the value flows: the first, and the first unmasked one;
- labels of paths with references: the first, and with `max_references` each one that has fewer than those
  before, since it may go on where they must stop.

Labels come in order of hops, so one that is not better than an earlier one in these terms is dropped, and so
are all paths that would begin with it. Each label is followed once: the work grows with the edges, not with
the paths, and cycles end.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lineage.model.names import split_column_key
from lineage.model.transformations import EdgeKind
from lineage.store.protocol import Direction
from lineage.traversal.neighbours import Neighbours, is_column
from lineage.traversal.options import TraversalOptions
from lineage.traversal.route import PathStep, Route

__all__ = ["Label", "Search"]


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
        self.row_datasets: set[str] = set()
        """Downstream: the datasets whose rows are influenced."""
        self.cuts: list[str] = []
        """Which limits cut something off, and what."""

    def run(self, columns: Iterable[str], dataset: str | None = None) -> None:
        """Search from these columns, upstream also from what decides a dataset's rows; none of them is reached."""
        options = self._options
        frontier = [Label(column) for column in sorted(columns)]
        self._closed = {label.node for label in frontier}
        if dataset and self._direction is Direction.UPSTREAM:
            frontier.insert(0, Label(dataset))
        for hops in itertools.count(1):
            ends = sorted(self._one_hop(frontier), key=lambda label: label.rank)
            if hops > options.max_hops:
                if any(map(self._adds, ends)):
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
                (yield label.then(end, step)) if is_column(end) else into_rows.append(label.then(end, step))
        self.row_datasets.update(label.node for label in into_rows)
        self._neighbours.load_columns(label.node for label in into_rows)
        for label in sorted(into_rows, key=lambda label: label.rank):
            origin = label.previous.node if label.previous else ""
            if self._rows.add(label.node, label.references, origin):
                columns = self._neighbours.columns(label.node)
                yield from (label.at(column) for column in columns if column != origin)

    def _upstream(self, frontier: list[Label]) -> Iterator[Label]:
        datasets = {label.node: split_column_key(label.node)[0] for label in frontier if is_column(label.node)}
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
        for other in self.labels.get(label.node, ()):
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
            if allowed is not None and label.references > allowed:
                self._beyond.add(label.node)
            if not self._adds(label):
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
