"""The search shared by impact and root cause: breadth first, one read per hop, few labels per column.

A label is the end of a path at a column: its number of references, and whether it masks. Value flow and unmasked flow
must never be hidden by other paths, so each column has at most

- two labels of paths without references, on which the value flows: the first, and the first unmasked one;
- labels of paths with references: the first, and with `max_references` each one with fewer references than those
  before, because its paths may be extended further.

Labels are created in order of hops. A label that is not better than an earlier one by these rules is dropped, with
all paths that extend it. Each label is followed once: the work grows with the number of edges, not of paths, and
cycles terminate.

Nodes are numbers here, and the labels of one hop with the same references and masking are a set, so a hop is a few
unions and differences of sets. The paths of the labels that are shown are traced afterwards (`label_paths`).
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.store.exploring import Explorer, Leads
from lineage.store.values import Direction
from lineage.traversal.options import TraversalOptions

__all__ = ["Group", "Label", "Search", "SearchingExplorer"]

_TO_COLUMNS = (Leads.FLOW, Leads.MASKED_FLOW, Leads.REFERENCE, Leads.MASKED_REFERENCE)
_TO_ROWS = (Leads.ROWS, Leads.MASKED_ROWS)


class Label(NamedTuple):
    """The end of a path: its number of hops and references, and whether one of its steps masks."""

    hops: int
    references: int
    masked: bool


class Group(NamedTuple):
    """Nodes with equal labels of one hop. Groups are ordered by references, the unmasked first."""

    references: int
    masked: bool
    nodes: Collection[int]


_Candidates = dict[tuple[int, bool], set[int]]


class Search:
    """One traversal: call `run`, then read `reached`, `groups`, `row_datasets` and `cuts`."""

    def __init__(self, explorer: Explorer, options: TraversalOptions) -> None:
        self.explorer = explorer
        self._options = options
        self._down = explorer.view.direction is Direction.DOWNSTREAM
        self._rows = _RowLabels(options.max_references is None)
        self._closed: set[int] = set()
        self._beyond: set[int] = set()
        self._fewest: dict[int, int] = {}
        self._datasets: dict[int, int] = {}
        self._row_datasets_of: dict[int, int] | None = None
        self._tables: set[int] = set()
        """The nodes that represent the rows of a dataset. They are followed, but not reached."""
        self.left_out = 0
        """Number of columns that were found but excluded by a limit."""
        self.reached: set[int] = set()
        """The columns that were reached."""
        self.flows: set[int] = set()
        """The columns that the value flows to, or comes from."""
        self.unmasked: set[int] = set()
        """The columns of `flows` with an unmasked path."""
        self.influenced: set[int] = set()
        """The columns with a path that has references."""
        self.nearest: dict[tuple[int, int], set[int]] = defaultdict(set)
        """The reached columns by the hops and the references of their first label, nearest first."""
        self.groups: list[list[Group]] = []
        """The labels of each hop, beginning with the start."""
        self.row_datasets: set[int] = set()
        """Downstream: the datasets whose rows are influenced."""
        self.cuts: list[str] = []
        """The limits that cut the search, each with a description."""

    def run(self, columns: Collection[str], datasets: Collection[str] = ()) -> None:
        """Search from these columns, and from the rows of these datasets; none of them counts as reached.

        Raises:
            StoreTimeoutError: the deadline has passed.
        """
        options = self._options
        numbers = self.explorer.begin(columns, datasets)
        starts = [numbers[column] for column in sorted(columns) if column in numbers]
        self._closed = set(starts)
        tables = [numbers[dataset] for dataset in sorted(datasets) if dataset in numbers]
        self._tables.update(tables)
        self._closed.update(tables)
        starts = [*tables, *starts]
        self.groups = [[Group(0, False, starts)]]
        for hops in itertools.count(1):
            candidates = self._one_hop(self.groups[-1])
            if hops > options.max_hops:
                if any(self._adding(*kind, nodes) - self._tables for kind, nodes in candidates.items()):
                    self.cuts.append(f"max_hops={options.max_hops}: more lies beyond")
                break
            admitted = self._admit(hops, candidates)
            self.groups.append(admitted)
            full = self.left_out and len(self.reached) >= options.limit_total
            if full or not admitted:
                break
        self.explorer.load_keys(self.reached)
        self._say_what_was_left_out()

    def labels(self, column: int) -> list[Label]:
        """Return the labels of a reached column, in order of hops."""
        return [
            Label(hops, references, masked)
            for hops, groups in enumerate(self.groups)
            for references, masked, nodes in groups
            if hops and column in nodes
        ]

    def dataset_of(self, column: int) -> int:
        """Return the dataset of a column whose labels were followed upstream; -1 if it has none."""
        return self._datasets.get(column, -1)

    def row_dataset(self, node: int) -> int:
        """Return the dataset whose influenced rows lead to a node, downstream; -1 if there is none."""
        if self._row_datasets_of is None:
            self._row_datasets_of = {
                one: dataset for dataset in self.row_datasets for one in (dataset, *self.explorer.columns(dataset))
            }
        return self._row_datasets_of.get(node, -1)

    def _one_hop(self, groups: Sequence[Group]) -> _Candidates:
        self.explorer.load(node for group in groups for node in group.nodes)
        candidates: _Candidates = defaultdict(set)
        for references, masked, nodes in groups:
            for way in self._followed(_TO_COLUMNS):
                ends = self.explorer.ends[way]
                found = candidates[references + (way >= Leads.REFERENCE), masked or way % 2 == 1]
                found.update(*[ends[node] for node in nodes if node in ends])
        if EdgeKind.REFERENCES in self._options.kinds:
            (self._into_rows if self._down else self._out_of_rows)(groups, candidates)
        return candidates

    def _followed(self, ways: tuple[Leads, ...]) -> tuple[Leads, ...]:
        return ways if self._options.through_masking else tuple(way for way in ways if way % 2 == 0)

    def _into_rows(self, groups: Sequence[Group], candidates: _Candidates) -> None:
        """Downstream: a column that determines a dataset's rows influences all its columns."""
        into = [
            (references + 1, masked or way == Leads.MASKED_ROWS, node, dataset)
            for references, masked, nodes in groups
            for way in self._followed(_TO_ROWS)
            for node in nodes
            for dataset in self.explorer.ends[way].get(node, ())
        ]
        datasets = {dataset for *_, dataset in into}
        self.row_datasets |= datasets
        self.explorer.load_columns(datasets)
        for references, masked, origin, dataset in sorted(into):
            if self._rows.add(dataset, references, origin):
                columns = self.explorer.columns(dataset)
                candidates[references, masked].update(column for column in columns if column != origin)
                candidates[references, masked].add(dataset)
                self._tables.add(dataset)

    def _out_of_rows(self, groups: Sequence[Group], candidates: _Candidates) -> None:
        """Upstream: a column is influenced by everything that determines its dataset's rows."""
        self._load_datasets(node for group in groups for node in group.nodes)
        for references, masked, nodes in groups:
            for node in nodes:
                self._through_tables(node, references, masked, candidates)
                dataset = self._datasets.get(node)
                if dataset is None or not self._rows.add(dataset, references, node):
                    continue
                self._through_tables(dataset, references, masked, candidates)
                for way in self._followed((Leads.REFERENCE, Leads.MASKED_REFERENCE)):
                    ends = self.explorer.ends[way].get(dataset, ())
                    found = candidates[references + 1, masked or way == Leads.MASKED_REFERENCE]
                    found.update(end for end in ends if end != node)

    def _through_tables(self, node: int, references: int, masked: bool, candidates: _Candidates) -> None:
        """Upstream: continue with the datasets whose rows determine a column, or the rows of a dataset."""
        for way in self._followed(_TO_ROWS):
            tables = self.explorer.ends[way].get(node, ())
            if tables:
                candidates[references + 1, masked or way == Leads.MASKED_ROWS].update(tables)
                self._tables.update(tables)

    def _load_datasets(self, columns: Iterable[int]) -> None:
        keys = self.explorer.keys
        new = {column: dataset_of(keys[column]) for column in columns if column not in self._datasets}
        new = {column: dataset for column, dataset in new.items() if is_column_key(keys[column])}
        numbers = self.explorer.numbers((), sorted(set(new.values())))
        self._datasets.update({column: numbers[dataset] for column, dataset in new.items() if dataset in numbers})
        self.explorer.load(sorted(set(numbers.values())))

    def _adding(self, references: int, masked: bool, nodes: set[int]) -> set[int]:
        """Return the nodes for which this label is better than their existing labels."""
        allowed = self._options.max_references
        if allowed is not None and references > allowed:
            return set()
        if references == 0:
            return nodes - (self.flows if masked else self.unmasked) - self._closed
        if allowed is None:
            return nodes - self.influenced - self._closed
        return {node for node in nodes - self._closed if self._fewest.get(node, references + 1) > references}

    def _admit(self, hops: int, candidates: _Candidates) -> list[Group]:
        groups: list[Group] = []
        options, came = self._options, 0
        for references, masked in sorted(candidates):
            if options.max_references is not None and references > options.max_references:
                self._beyond |= candidates[references, masked]
                continue
            adding = self._adding(references, masked, candidates[references, masked])
            tables = adding & self._tables
            nodes = adding - tables
            new = nodes - self.reached
            room = options.limit_total - len(self.reached)
            if options.limit_per_hop is not None:
                room = min(room, options.limit_per_hop - came)
            if len(new) > room:
                kept = set(self.explorer.first(new, room)) if room else set()
                # Mark these nodes as closed, so that a longer path does not add them later as a shortest one.
                left = new - kept
                self._closed |= left
                self.left_out += len(left)
                nodes, new = nodes - left, kept
            came += len(new)
            if new:
                self.reached |= new
                self.nearest[hops, references] |= new
            nodes |= tables
            if references:
                self.influenced |= nodes
                if options.max_references is not None:
                    self._fewest.update(dict.fromkeys(nodes, references))
            else:
                self.flows |= nodes
                self.unmasked |= set() if masked else nodes
            if nodes:
                groups.append(Group(references, masked, nodes))
        return groups

    def _say_what_was_left_out(self) -> None:
        options = self._options
        if self.left_out:
            full = len(self.reached) >= options.limit_total
            limit = f"limit_total={options.limit_total}" if full else f"limit_per_hop={options.limit_per_hop}"
            self.cuts.append(f"{limit}: at least {self.left_out} more columns were found and not followed")
        beyond = len(self._beyond - self.reached - self._closed - self._tables)
        if beyond:
            self.cuts.append(f"max_references={options.max_references}: at least {beyond} more columns lie beyond")


class SearchingExplorer(Explorer):
    """An explorer that has a search of its own, with the same results."""

    @abstractmethod
    def search(self, options: TraversalOptions) -> Search:
        """Return a search over its graph."""


class _RowLabels:
    """The labels that were propagated through a dataset's rows.

    A column does not lead to itself through the rows of its dataset, so labels of two columns are needed: one reaches
    the column that the other must skip.
    """

    def __init__(self, unlimited: bool) -> None:
        self._unlimited = unlimited
        self._through: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def add(self, dataset: int, references: int, origin: int) -> bool:
        """Return whether the label is better than those before; `origin` is the column that it comes from."""
        through = self._through[dataset]
        better = {column for count, column in through if self._unlimited or count <= references}
        if len(better) >= 2 or origin in better:
            return False
        through.append((references, origin))
        return True

    def count(self, dataset: int) -> int:
        """Return the number of labels that were propagated through a dataset's rows."""
        return len(self._through[dataset])
