"""The search of `breadth_first` over arrays: the same labels in the same hops, a few array operations a hop.

What each node has is a bit of one byte: which labels, whether it was reached or left out.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from lineage.model.transformations import EdgeKind
from lineage.store.exploring import Leads
from lineage.traversal.adjacency.edge_lists import Numbers
from lineage.traversal.breadth_first import Group, Search
from lineage.traversal.options import TraversalOptions

if TYPE_CHECKING:
    from lineage.traversal.adjacency.explorer import ArrayExplorer

__all__ = ["ArraySearch"]

_CLOSED, _FLOWS, _UNMASKED, _INFLUENCED, _REACHED = 1, 2, 4, 8, 16
_FIELD, _REFERENCE, _ROWS = int(Leads.FIELD), int(Leads.REFERENCE), int(Leads.ROWS)
_SATURATED = -1
_MANY = 2**15 - 1
"""More references than a path has."""

_Label: TypeAlias = tuple[int, bool]
"""References, and whether it masks."""
_Candidates: TypeAlias = dict[_Label, list[Numbers]]


class _NumberGroup(NamedTuple):
    """Nodes with equal labels of one hop."""

    references: int
    masked: bool
    nodes: Numbers


class ArraySearch(Search):
    """One traversal of a graph in memory."""

    def __init__(self, explorer: ArrayExplorer, options: TraversalOptions) -> None:
        super().__init__(explorer, options)
        self._arrays = explorer
        self._graph = explorer.graph
        size = self._graph.nodes.size
        self._state = np.zeros(size, np.uint8)
        self._fewest_references = None if options.max_references is None else np.full(size, _MANY, np.int16)
        self._with_rows = EdgeKind.REFERENCES in options.kinds
        self._first_origins = np.zeros(size, np.int32)
        """With any number of references: the column (plus 1) that led on through a dataset's rows, or that two did."""

    def run(self, columns: Collection[str], datasets: Collection[str] = ()) -> None:
        """Search from these columns, and from the rows of these datasets; none of them counts as reached."""
        options = self._options
        numbers = self._arrays.begin(columns, datasets)
        starts = np.array(sorted(numbers.values()), np.int32)
        self._state[starts] |= _CLOSED
        self._closed = set(numbers.values())
        self._tables.update(number for key, number in numbers.items() if "#" not in key)
        self.groups = [[Group(0, False, set(numbers.values()))]]
        groups = [_NumberGroup(0, False, starts)]
        for hops in itertools.count(1):
            _ = self._arrays.view.seconds_left
            candidates = self._next(groups)
            if hops > options.max_hops:
                nodes = self._graph.nodes
                found = (self._adding_of(*label, some) for label, some in candidates.items())
                if any(not nodes.is_dataset(one).all() for one in found):
                    self.cuts.append(f"max_hops={options.max_hops}: more lies beyond")
                break
            groups = self._admit_arrays(hops, candidates)
            self.groups.append([Group(one.references, one.masked, set(one.nodes.tolist())) for one in groups])
            full = self.left_out and len(self.reached) >= options.limit_total
            if full or not groups:
                break
        self._collect()
        self._say_what_was_left_out()

    def dataset_of(self, column: int) -> int:
        """Return the dataset of a column; -1 if influence was not followed."""
        owner = int(self._graph.nodes.owners[column])
        return owner if owner != column and self._with_rows else -1

    def row_dataset(self, node: int) -> int:
        """Return the dataset whose influenced rows lead to a node, downstream; -1 if there is none."""
        owner = int(self._graph.nodes.owners[node])
        return owner if owner in self.row_datasets else -1

    def _collect(self) -> None:
        """Give the labels as sets."""
        labelled = np.fromiter(self.reached | self._tables, np.int32)
        state = self._state[labelled]
        for bit, found in ((_FLOWS, self.flows), (_UNMASKED, self.unmasked), (_INFLUENCED, self.influenced)):
            found.update(labelled[(state & bit) > 0].tolist())

    def _next(self, groups: list[_NumberGroup]) -> _Candidates:
        """Return where the groups of a hop lead to."""
        candidates: _Candidates = defaultdict(list)
        into: defaultdict[_Label, list[tuple[Numbers, Numbers]]] = defaultdict(list)
        for references, masked, nodes in groups:
            near, members = self._graph.with_families(nodes)
            places, ends, ways = self._arrays.edges_of(near, members)
            for way in np.flatnonzero(np.bincount(ways, minlength=_FIELD)).tolist():
                if way % 2 and not self._options.through_masking:
                    continue
                chosen = ways == way
                label = references + (way >= _REFERENCE), masked or way % 2 == 1
                if way >= _ROWS and self._down:
                    into[label].append((ends[chosen], near[places[chosen]]))
                else:
                    candidates[label].append(ends[chosen])
            if self._with_rows and not self._down:
                self._out_of_datasets(references, masked, nodes, candidates)
        for label in sorted(into):
            self._into_datasets(label, into[label], candidates)
        return candidates

    def _into_datasets(self, label: _Label, into: list[tuple[Numbers, Numbers]], candidates: _Candidates) -> None:
        """Downstream: a column that determines a dataset's rows influences all its columns."""
        datasets, origins = (np.concatenate(one) for one in zip(*into, strict=True))
        self.row_datasets.update(datasets.tolist())
        datasets, origins = self._leading_through(label[0], datasets, origins)
        if len(datasets):
            places, columns = self._graph.nodes.columns_of(datasets)
            candidates[label] += [columns[columns != origins[places]], datasets]

    def _out_of_datasets(self, references: int, masked: bool, nodes: Numbers, candidates: _Candidates) -> None:
        """Upstream: a column is influenced by everything that determines its dataset's rows."""
        owners = self._graph.nodes.owners[nodes]
        of_columns = owners != nodes
        datasets, origins = self._leading_through(references, owners[of_columns], nodes[of_columns])
        if not len(datasets):
            return
        places, ends, ways = self._arrays.edges_of(datasets, datasets)
        kept = (ways >= _REFERENCE) & (ends != origins[places])
        ends, ways = ends[kept], ways[kept]
        for is_masking in (0, 1) if self._options.through_masking else (0,):
            found = ends[ways % 2 == is_masking]
            if len(found):
                candidates[references + 1, masked or is_masking == 1].append(found)

    def _leading_through(self, references: int, datasets: Numbers, origins: Numbers) -> tuple[Numbers, Numbers]:
        """Return the pairs of a dataset and a column whose label leads on through the dataset's rows.

        Two columns of each are enough: what one of them must skip the other reaches.
        """
        unlimited = self._options.max_references is None
        if unlimited:
            first = self._first_origins[datasets]
            better = (first != _SATURATED) & (first != origins + 1)
            datasets, origins = datasets[better], origins[better]
        pairs = np.sort((datasets.astype(np.int64) << 32) | origins)
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]
        datasets, origins = (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)
        is_first, is_second = np.ones(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
        is_first[1:] = datasets[1:] != datasets[:-1]
        is_second[1:] = ~is_first[1:] & is_first[:-1]
        if unlimited:
            has_one = self._first_origins[datasets] != 0
            leading = is_first | (is_second & ~has_one)
            self._first_origins[datasets[is_first & ~has_one]] = origins[is_first & ~has_one] + 1
            self._first_origins[datasets[(is_first & has_one) | is_second]] = _SATURATED
        else:
            leading = is_first | is_second
            for place in np.flatnonzero(leading).tolist():
                leading[place] = self._rows.add(int(datasets[place]), references, int(origins[place]))
        return datasets[leading], origins[leading]

    def _adding_of(self, references: int, masked: bool, found: list[Numbers]) -> Numbers:
        """Return the nodes for which this label is better than their existing labels, each once, in order."""
        allowed = self._options.max_references
        if allowed is not None and references > allowed:
            return np.zeros(0, np.int32)
        nodes = found[0] if len(found) == 1 else np.concatenate(found)
        if self._fewest_references is not None and references:
            better = (self._fewest_references[nodes] > references) & (self._state[nodes] & _CLOSED == 0)
        else:
            label = _INFLUENCED if references else _FLOWS if masked else _UNMASKED
            better = self._state[nodes] & (label | _CLOSED) == 0
        return _distinct(nodes[better])

    def _admit_arrays(self, hops: int, candidates: _Candidates) -> list[_NumberGroup]:
        groups: list[_NumberGroup] = []
        options, came, state = self._options, 0, self._state
        for references, masked in sorted(candidates):
            found = candidates[references, masked]
            if options.max_references is not None and references > options.max_references:
                beyond = np.unique(np.concatenate(found))
                self._beyond.update(beyond[~self._graph.nodes.is_dataset(beyond)].tolist())
                continue
            nodes = self._adding_of(references, masked, found)
            is_table = self._graph.nodes.is_dataset(nodes)
            new = nodes[~is_table & (state[nodes] & _REACHED == 0)]
            room = options.limit_total - len(self.reached)
            if options.limit_per_hop is not None:
                room = min(room, options.limit_per_hop - came)
            if len(new) > room:
                kept = np.array(self._arrays.first(new.tolist(), room) if room else (), np.int32)
                left = np.setdiff1d(new, kept)
                state[left] |= _CLOSED
                self._closed.update(left.tolist())
                self.left_out += len(left)
                nodes, new = np.setdiff1d(nodes, left), kept
            came += len(new)
            if len(new):
                listed = new.tolist()
                state[new] |= _REACHED
                self.reached.update(listed)
                self.nearest[hops, references].update(listed)
            if references:
                state[nodes] |= _INFLUENCED
                if self._fewest_references is not None:
                    self._fewest_references[nodes] = references
            else:
                state[nodes] |= _FLOWS if masked else _FLOWS | _UNMASKED
            self._tables.update(nodes[self._graph.nodes.is_dataset(nodes)].tolist())
            if len(nodes):
                groups.append(_NumberGroup(references, masked, nodes))
        return groups


def _distinct(nodes: Numbers) -> Numbers:
    """Return each number once, in order."""
    nodes = np.sort(nodes)
    found: Numbers = nodes[np.diff(nodes, prepend=np.int32(-1)) != 0]
    return found
