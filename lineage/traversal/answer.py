"""The result of impact and root cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from lineage.frozen import frozen
from lineage.model.data_frames import WithRows
from lineage.model.influence.transformations import EdgeKind, StepEffect, Subtype
from lineage.model.names import dataset_of, split_column_key
from lineage.traversal.breadth_first import Label, Search
from lineage.traversal.lineage_reader import LineageReader
from lineage.traversal.lookup import names_of
from lineage.traversal.options import TraversalOptions
from lineage.traversal.routes.label_paths import Tracing
from lineage.traversal.routes.path_tree import PathTree
from lineage.traversal.routes.route import PathStep, Route
from lineage.traversal.routes.routes_over import routes_over
from lineage.traversal.target import Target

__all__ = ["Answer", "Outline", "PossiblyAffected", "Reached", "ReachedDataset"]


@frozen
class Outline:
    """A reached column without its paths, cheap enough to build for all columns."""

    node: int
    key: str
    dataset: str
    table: str
    hops: int
    references: int
    influence: frozenset[EdgeKind]
    masked: bool
    root: bool


@frozen
class Reached:
    """A reached column: its distance, the kinds of path to it, and the paths that prove it.

    `route` is a shortest path with the fewest references. `contribution` is a shortest path on which the value itself
    flows, unmasked if such a path exists; None if the column is only influenced. `root` means that nothing contributes
    to it (upstream only).
    """

    key: str
    dataset: str
    table: str
    column: str
    route: Route
    contribution: Route | None
    influence: frozenset[EdgeKind]
    root: bool = False

    def __repr__(self) -> str:
        return f"<Reached {self.name} after {self.hops} hop{'' if self.hops == 1 else 's'}>"

    @property
    def name(self) -> str:
        """The full display name of the column."""
        return f"{self.table}.{self.column}"

    @property
    def hops(self) -> int:
        """The length of a shortest path."""
        return self.route.hops

    @property
    def references(self) -> int:
        """The number of references on that path."""
        return self.route.references

    @property
    def path(self) -> tuple[PathStep, ...]:
        """The steps of that path, in the direction in which data flows."""
        return self.route.steps

    @property
    def routes(self) -> tuple[Route, ...]:
        """The paths that prove it."""
        return (self.route, self.contribution) if self.contribution else (self.route,)

    @property
    def transformation(self) -> StepEffect:
        """The composed transformation of that path."""
        return self.route.transformation

    @property
    def how(self) -> tuple[Subtype, ...]:
        """How the column is reached: the subtype of the value flow, if any, then that of a shorter path, if different.

        A shortest path may be a join where the value flows on a longer one. Each is followed by the other subtypes that
        the same steps have.
        """
        routes = [one for one in (self.contribution, self.route) if one is not None]
        of_routes = [(route.transformation.subtype, route.steps) for route in routes]
        others = ((main, *one.subtypes) for main, steps in of_routes for one in steps if main in one.subtypes)
        return tuple(dict.fromkeys((*(main for main, _ in of_routes), *(each for listed in others for each in listed))))

    @property
    def masked(self) -> bool:
        """Whether the value flows here, but every path masks it."""
        return self.contribution is not None and self.contribution.transformation.masking

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON values, with its paths."""
        return {
            **self.facts(),
            "path": [step.to_dict() for step in self.path],
            "contribution": self.contribution.to_dict() if self.contribution else None,
        }

    def facts(self) -> dict[str, Any]:
        """Return the column as JSON values, without its paths."""
        return {
            "key": self.key,
            "dataset": self.dataset,
            "table": self.table,
            "column": self.column,
            "hops": self.hops,
            "references": self.references,
            "influence": sorted(str(kind) for kind in self.influence),
            "transformation": str(self.transformation.subtype),
            "how": [str(subtype) for subtype in self.how],
            "masked": self.masked,
            "root": self.root,
        }


@frozen
class PossiblyAffected:
    """A dataset reached by table-level lineage only: `job` connects it to `neighbour`, one hop nearer the start."""

    dataset: str
    table: str
    hops: int
    neighbour: str
    job: str

    def to_dict(self) -> dict[str, Any]:
        """Return the dataset as JSON values."""
        return {
            "dataset": self.dataset,
            "table": self.table,
            "hops": self.hops,
            "neighbour": self.neighbour,
            "job": self.job,
        }


@frozen
class ReachedDataset:
    """A dataset with reached columns: their number, and the number of hops to the nearest one."""

    key: str
    table: str
    columns: int
    hops: int


Feeds = tuple[tuple[PossiblyAffected, ...], str | None]


class Answer(WithRows):
    """Columns reached from `starts`, by hops, references and key; possibly affected datasets; limits that were hit.

    Counts are available immediately. Paths are computed for the requested columns (`page`), and possibly affected
    datasets on first access; both read from the store, which must still be open.
    """

    def __init__(
        self,
        store: LineageReader,
        starts: Sequence[Target],
        options: TraversalOptions,
        search: Search,
        roots: frozenset[int],
        find_feeds: Callable[[Mapping[str, int], frozenset[str]], Feeds],
    ) -> None:
        self.starts = tuple(starts)
        self.direction = search.explorer.view.direction
        self._store = store
        self._options = options
        self._search = search
        self._tracing = Tracing(search)
        self._keys = search.explorer.keys
        self._roots = roots
        self._find_feeds = find_feeds
        self._ranked: dict[tuple[object, ...], list[int]] = {}
        self._known_names: dict[str, str] = {}

    _columns: Mapping[str, str] = {
        **dict.fromkeys(("table", "column"), "string"), "hops": "int64", "flows": "bool", "masked": "bool",
        "root": "bool", "key": "string",
    }  # fmt: skip

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.starts[:2]) + (", …" if len(self.starts) > 2 else "")
        return f"<Answer {self.direction} of {names}: {self.total:,} columns in {len(self.by_dataset):,} tables>"

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a row for each column, in the order of `columns`; `flows`: its value does, not only an influence."""
        for outline in self.outlines:
            yield {
                "table": outline.table,
                "column": split_column_key(outline.key)[1],
                "hops": outline.hops,
                "flows": EdgeKind.CONTRIBUTES in outline.influence,
                "masked": outline.masked,
                "root": outline.root,
                "key": outline.key,
            }

    @property
    def start(self) -> Target:
        """The first start of the traversal."""
        return self.starts[0]

    @property
    def kinds(self) -> frozenset[EdgeKind]:
        """The kinds of edge that were followed."""
        return frozenset(self._options.kinds)

    @property
    def total(self) -> int:
        """Number of columns reached; a lower bound if `is_lower_bound`."""
        return len(self._search.reached)

    @property
    def is_lower_bound(self) -> bool:
        """Whether a limit excluded columns that were found."""
        return self._search.left_out > 0

    @property
    def cuts(self) -> tuple[str, ...]:
        """The limits that excluded columns, each with a description."""
        return tuple(self._search.cuts)

    @cached_property
    def by_hop(self) -> dict[int, int]:
        """Number of columns by number of hops."""
        counts: Counter[int] = Counter()
        for (hops, _), nodes in self._search.nearest.items():
            counts[hops] += len(nodes)
        return dict(sorted(counts.items()))

    @cached_property
    def datasets(self) -> tuple[ReachedDataset, ...]:
        """The datasets that the columns belong to, by name and key, with their number of columns."""
        names = self._names(self.by_dataset)
        found = [ReachedDataset(key, names[key], count, hops) for key, (count, hops) in self.by_dataset.items()]
        return tuple(sorted(found, key=lambda dataset: (dataset.table, dataset.key)))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the datasets that the columns belong to, sorted."""
        return tuple(sorted({dataset.table for dataset in self.datasets}))

    @cached_property
    def columns(self) -> tuple[Reached, ...]:
        """All columns, with their paths."""
        return self.page(0, self.total)

    def page(self, first: int, count: int, *, values_first: bool = False) -> tuple[Reached, ...]:
        """Return `count` columns from index `first` in rank order, with their paths.

        With `values_first`, columns that the value flows to (or comes from) rank before those that are only influenced.

        Raises:
            StoreError: the store could not be read, or the graph has changed and a path no longer exists.
        """
        return self.shown(self._rank(first, count, values_first))

    def index_of(self, rank: tuple[int, int, str]) -> int:
        """Return the number of columns ranked before these hops, references and key."""
        hops, references, key = rank
        index = 0
        for distance, nodes in self._search.nearest.items():
            if distance < (hops, references):
                index += len(nodes)
            elif distance == (hops, references):
                index += sum(self._keys[node] < key for node in nodes)
        return index

    @cached_property
    def outlines(self) -> tuple[Outline, ...]:
        """All columns in rank order, without their paths: for callers that scan all columns and show few."""
        names, search = self._names(self.by_dataset), self._search
        found = []
        for (hops, references), nodes in search.nearest.items():
            for node in sorted(nodes, key=self._keys.__getitem__):
                key = self._keys[node]
                dataset = dataset_of(key)
                masked = node in search.flows and node not in search.unmasked
                influence = self._influence(node)
                found.append(
                    Outline(
                        node, key, dataset, names[dataset], hops, references, influence, masked, node in self._roots
                    )
                )
        return tuple(found)

    def shown(self, nodes: Iterable[int]) -> tuple[Reached, ...]:
        """Return reached columns (`Outline.node`) with their paths.

        Raises:
            StoreError: the store could not be read, or the graph has changed and a path no longer exists.
        """
        of_nodes = [(node, self._search.labels(node)) for node in nodes]
        shown = [(node, labels[0], _contribution(labels)) for node, labels in of_nodes]
        traced = self._tracing.trace(
            {(node, label): None for node, *both in shown for label in both if label is not None}
        )
        routes = dict(zip(traced, routes_over(self._store, traced.values(), self._options.as_of), strict=True))
        names = self._names({self._dataset_of(node) for node, *_ in shown})
        spellings = self._store.column_spellings([self._keys[node] for node, *_ in shown])
        return tuple(
            self._reached_node(node, names, spellings, routes[node, label], routes[node, flow] if flow else None)
            for node, label, flow in shown
        )

    def names_of(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the full display names of columns and datasets by key."""
        return names_of(self._store, keys)

    @property
    def possibly_affected(self) -> tuple[PossiblyAffected, ...]:
        """Datasets reached by table-level lineage only."""
        return self._feeds[0]

    @property
    def truncated(self) -> str | None:
        """None if the answer is complete, else a description of the limits that cut it."""
        cut = self._feeds[1]
        return "; ".join([*self.cuts, *([cut] if cut else [])]) or None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values; each column has its whole paths, so those of a large answer are huge."""
        return self._to_json([column.to_dict() for column in self.columns])

    def to_tree(self) -> dict[str, Any]:
        """Return the answer as JSON values with each step once, in `steps`.

        `paths` is a tree: each of its nodes is a step (an index in `steps`) and its `predecessor`, the node one step
        nearer the start (an index in `paths`; None at the start). The `path` and the `contribution` of a column are the
        nodes at which they end.
        """
        tree = PathTree(self.direction)
        columns = [
            column.facts()
            | {
                "path": tree.add(column.route),
                "contribution": tree.add(column.contribution) if column.contribution else None,
            }
            for column in self.columns
        ]
        return self._to_json(columns) | {"steps": [step.to_dict() for step in tree.steps], "paths": tree.nodes}

    def _to_json(self, columns: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "start": self.start.name,
            "direction": str(self.direction),
            "columns": columns,
            "possibly_affected": [dataset.to_dict() for dataset in self.possibly_affected],
            "by_hop": {str(hops): count for hops, count in self.by_hop.items()},
            "truncated": self.truncated,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        return self._compared == other._compared

    def __hash__(self) -> int:
        return hash((self.starts, self.direction))

    @property
    def _compared(self) -> tuple[object, ...]:
        return (self.starts, self.direction, self.columns, self.possibly_affected, self.truncated)

    @cached_property
    def _feeds(self) -> Feeds:
        # A dataset without reached columns leads nowhere.
        rows = (self._search.explorer.columns(dataset) for dataset in self._search.row_datasets)
        inside = (next((column for column in columns if column in self._search.reached), None) for columns in rows)
        whole = frozenset(self._dataset_of(column) for column in inside if column is not None)
        nearest = {dataset: hops for dataset, (_, hops) in self.by_dataset.items()}
        return self._find_feeds(nearest | dict.fromkeys((one.dataset for one in self.starts), 0), whole)

    @cached_property
    def by_dataset(self) -> dict[str, tuple[int, int]]:
        """Number of reached columns and hops to the nearest one, by the dataset's key."""
        totals: dict[str, tuple[int, int]] = {}
        for (hops, _), nodes in self._search.nearest.items():
            counts = Counter(self._search.explorer.datasets_of(nodes))
            for dataset, count in counts.items():
                before, nearest = totals.get(dataset, (0, hops))
                totals[dataset] = (before + count, nearest)
        return totals

    def _names(self, datasets: Iterable[str]) -> Mapping[str, str]:
        """Return the names of these datasets (and possibly of others); each name is read once and cached."""
        missing = [dataset for dataset in datasets if dataset not in self._known_names]
        if missing:
            found = self._store.dataset_names(missing)
            self._known_names.update((dataset, found.get(dataset, dataset)) for dataset in missing)
        return self._known_names

    def _rank(self, first: int, count: int, values_first: bool) -> list[int]:
        """Return the columns at these ranks; only the groups that contain them are sorted by key."""
        ranked: list[int] = []
        skipped = 0
        for group, nodes in self._groups(values_first):
            if len(ranked) >= count:
                break
            if skipped + len(nodes) <= first:
                skipped += len(nodes)
                continue
            if group not in self._ranked:
                self._ranked[group] = sorted(nodes, key=self._keys.__getitem__)
            ranked += self._ranked[group][max(first - skipped, 0) :][: count - len(ranked)]
            skipped += len(nodes)
        return ranked

    def _groups(self, values_first: bool) -> Iterator[tuple[tuple[object, ...], Collection[int]]]:
        """Yield the groups of columns of equal rank in rank order, each with its key."""
        nearest, flows = self._search.nearest.items(), self._search.flows
        if not values_first:
            yield from nearest
            return
        for distance, nodes in nearest:
            yield (True, *distance), [node for node in nodes if node in flows]
        for distance, nodes in nearest:
            yield (False, *distance), [node for node in nodes if node not in flows]

    def _influence(self, node: int) -> frozenset[EdgeKind]:
        search = self._search
        influence = ((EdgeKind.CONTRIBUTES, search.flows), (EdgeKind.REFERENCES, search.influenced))
        return frozenset(kind for kind, nodes in influence if node in nodes)

    def _dataset_of(self, node: int) -> str:
        return dataset_of(self._keys[node])

    def _reached_node(
        self,
        node: int,
        names: Mapping[str, str],
        spellings: Mapping[str, str],
        route: Route,
        contribution: Route | None,
    ) -> Reached:
        key = self._keys[node]
        dataset, column = split_column_key(key)
        return Reached(
            key=key,
            dataset=dataset,
            table=names[dataset],
            column=spellings.get(key, column),
            route=route,
            contribution=contribution,
            influence=self._influence(node),
            root=node in self._roots,
        )


def _contribution(labels: list[Label]) -> Label | None:
    """Return the label of a shortest path on which the value flows, unmasked if such a path exists."""
    flows = [label for label in labels if label.references == 0]
    return min(flows, key=lambda label: (label.masked, label.hops), default=None)
