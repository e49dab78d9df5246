"""A small graph in memory that answers as a store does, for tests of traversals alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import split_column_key
from lineage.model.statement import Completeness, DatasetKind
from lineage.store.exploring import Explorer, Leads, View
from lineage.store.values import (
    ColumnHead,
    Direction,
    FeedKey,
    Hop,
    NameHolder,
    SearchHit,
    StoredColumn,
    StoredDataset,
    StoredEdge,
    StoredStep,
)

NOW = datetime(2024, 6, 1, tzinfo=UTC)
NAMESPACE = "ns"
T = TypeVar("T")


def key(name: str) -> str:
    """Return the key of `shop.orders#id` or `shop.orders`."""
    return f"{NAMESPACE}/{name}"


def edge(
    text: str,
    *subtypes: Subtype,
    job: str = "job",
    masking: bool = False,
    since: datetime = NOW,
    until: datetime | None = None,
) -> StoredEdge:
    """Return the edge that `a#x -> b#y` (the value flows) or `a#x ~> b#y`, `a#x ~> b` (it influences) says."""
    source, arrow, target = text.split()
    kind = EdgeKind.CONTRIBUTES if arrow == "->" else EdgeKind.REFERENCES
    default = Subtype.IDENTITY if arrow == "->" else Subtype.FILTER
    return StoredEdge(
        source=key(source),
        target=key(target),
        kind=kind,
        job=job,
        subtypes=subtypes or (default,),
        masking=masking,
        limited=False,
        ambiguous=False,
        spans=(),
        valid_from=since,
        last_seen=since,
        valid_to=until,
    )


@dataclass
class FakeStore:
    """Columns by dataset (names without namespace), edges, and feeds as (source, target, job)."""

    tables: dict[str, list[str]]
    stated: list[StoredEdge] = field(default_factory=list)
    fed: list[tuple[str, str, str]] = field(default_factory=list)
    completeness: dict[str, Completeness] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    calls: int = 0

    @classmethod
    def of(cls, edges: Iterable[StoredEdge]) -> FakeStore:
        """Return a store with these edges, the columns that they name and the feeds that they imply."""
        edges = list(edges)
        tables: dict[str, set[str]] = {}
        for each in edges:
            for end in (each.source, each.target):
                name, mark, column = end.removeprefix(f"{NAMESPACE}/").partition("#")
                tables.setdefault(name, set()).update([column] if mark else [])
        feeds = {(_dataset(each.source), _dataset(each.target), each.job) for each in edges}
        fed = sorted((a.removeprefix("ns/"), b.removeprefix("ns/"), job) for a, b, job in feeds if a != b)
        return cls({name: sorted(columns) for name, columns in sorted(tables.items())}, edges, fed)

    def find_datasets(self, name: str) -> list[StoredDataset]:
        """Return datasets by key, else full name, else last parts, without case."""
        datasets = self.datasets()
        fold = name.casefold()
        by_key = [each for each in datasets if each.key == name]
        full = [each for each in datasets if each.name.casefold() == fold]
        ends = [each for each in datasets if each.name.casefold().endswith(f".{fold}")]
        return by_key or full or ends

    def datasets(self, keys: Collection[str] | None = None) -> list[StoredDataset]:
        """Return datasets, sorted by key."""
        return [
            StoredDataset(
                key=key(name),
                namespace=NAMESPACE,
                name=name,
                kind=DatasetKind.TABLE,
                dialect=None,
                schema_known=True,
                aliases=(),
                first_seen=NOW,
                last_seen=NOW,
                dropped_at=NOW if name in self.dropped else None,
            )
            for name in sorted(self.tables)
            if keys is None or key(name) in keys
        ]

    def columns(self, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
        """Return columns in order."""
        columns = [
            StoredColumn(
                key=f"{key(name)}#{path}",
                dataset=key(name),
                path=path,
                data_type=None,
                ordinal=place,
                inferred=False,
                dropped_at=NOW if f"{name}#{path}" in self.dropped else None,
            )
            for name in sorted(self.tables)
            if key(name) in datasets
            for place, path in enumerate(self.tables[name])
        ]
        return [column for column in columns if dropped or column.dropped_at is None]

    def column_heads(self, datasets: Collection[str]) -> list[ColumnHead]:
        """Return what schemas say of columns, in order."""
        return [
            ColumnHead(one.dataset, one.path, one.ordinal, one.spelling, one.data_type, False, one.inferred)
            for one in self.columns(datasets)
        ]

    def expand(
        self,
        keys: Collection[str],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
    ) -> list[Hop]:
        """Return the edges at each key, its fields and its parents."""
        self.calls += 1
        down = direction is Direction.DOWNSTREAM
        hops = [
            Hop(via, each)
            for via in keys
            for each in self.stated
            if each.kind in kinds and _holds(each, as_of) and _same_or_nested(via, each.source if down else each.target)
        ]
        return sorted(hops, key=lambda hop: (hop.via, hop.edge.source, hop.edge.target, hop.edge.job))

    def explore(
        self,
        work: Callable[[Explorer], T],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
        hops: int = 1,
        deadline: float | None = None,
    ) -> T:
        """Return what `work` makes of the graph."""
        return work(FakeExplorer(self, View(direction, frozenset(kinds), as_of, hops, deadline)))

    def steps(self, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None) -> list[StoredStep]:
        """Return what jobs say of these pairs."""
        held = [each for each in self.stated if _holds(each, as_of)]
        return [
            StoredStep(each.source, each.target, each.kind, each.job, each.subtypes, each.masking, each.spans)
            for each in held
            if (each.source, each.target, each.kind) in pairs
        ]

    def dataset_names(self, keys: Collection[str]) -> dict[str, str]:
        """Return names without namespace."""
        return {each.key: each.name for each in self.datasets(keys)}

    def name_holders(self, datasets: Collection[str]) -> dict[str, list[NameHolder]]:
        """Return that nothing had these names before."""
        return {key: [] for key in datasets}

    def column_spellings(self, keys: Collection[str]) -> dict[str, str]:
        """Return nothing: all are written as they are."""
        return {}

    def feed_keys(
        self, datasets: Collection[str], direction: Direction, *, as_of: datetime | None = None
    ) -> list[FeedKey]:
        """Return the feeds at these datasets."""
        down = direction is Direction.DOWNSTREAM
        return [
            FeedKey(key(source), key(target), job)
            for source, target, job in self.fed
            if key(source if down else target) in datasets
        ]

    def feeds_by_columns(self, feeds: Collection[FeedKey], *, as_of: datetime | None = None) -> frozenset[FeedKey]:
        """Return those that columns explain; jobs are fully resolved unless it was said otherwise."""
        stated = {
            FeedKey(each.source.split("#")[0], each.target.split("#")[0], each.job)
            for each in self.stated
            if _holds(each, as_of) and self.completeness.get(each.job, Completeness.FULL) is Completeness.FULL
        }
        return frozenset(stated.intersection(feeds))

    def dataset_keys_ending(self, names: Collection[str]) -> list[str]:
        """Return the keys of tables by the last parts of their names."""
        ends = tuple(f".{name.casefold()}" for name in names)
        return [key(name) for name in self.tables if name.casefold().endswith(ends)]

    def search(self, text: str, *, types: Sequence[str] = ("Table", "Column"), limit: int = 20) -> list[SearchHit]:
        """Return what holds the text."""
        fold = text.casefold()
        tables = [SearchHit(key(name), "Table", name, 1.0) for name in self.tables if fold in name.casefold()]
        columns = [
            SearchHit(f"{key(name)}#{path}", "Column", path, 0.5)
            for name, paths in self.tables.items()
            for path in paths
            if fold in path.casefold()
        ]
        return [hit for hit in tables + columns if hit.type in types][:limit]


class FakeExplorer(Explorer):
    """Walks a fake store. Its numbers are places in the list of all keys."""

    def __init__(self, store: FakeStore, view: View) -> None:
        super().__init__(view)
        self._store = store
        self._all = sorted(
            {key(name) for name in store.tables}
            | {f"{key(name)}#{path}" for name, paths in store.tables.items() for path in paths}
            | {end for each in store.stated for end in (each.source, each.target)}
        )
        self._number = {one: number for number, one in enumerate(self._all)}

    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return numbers."""
        return self.numbers(columns, datasets)

    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return numbers. A column that no table has is there all the same: it may be a field of one."""
        for one in columns:
            if one not in self._number:
                self._number[one] = len(self._all)
                self._all.append(one)
        return {one: self._number[one] for one in (*columns, *datasets) if one in self._number}

    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first by key."""
        return sorted(nodes, key=self._all.__getitem__)[:count]

    def load_keys(self, nodes: Iterable[int]) -> None:
        """Read keys."""
        self.keys.update({node: self._all[node] for node in nodes})

    def _read_around(self, nodes: list[int]) -> None:
        self._store.calls += 1
        self.load_keys(nodes)
        asked = {self._all[node] for node in nodes}
        for each in self._store.stated:
            if each.kind not in self.view.kinds or not _holds(each, self.view.as_of):
                continue
            near, far = (each.source, each.target) if self.view.down else (each.target, each.source)
            if near in asked:
                way = Leads.FLOW if each.kind is EdgeKind.CONTRIBUTES else Leads.REFERENCE
                way = Leads.ROWS if "#" not in far else way
                self._take(self._number[near], self._number[far], way + each.masking)

    def _read_columns(self, datasets: list[int]) -> None:
        dropped = self.view.as_of is not None
        for dataset in datasets:
            columns = self._store.columns([self._all[dataset]], dropped=dropped)
            self._columns[dataset] = [
                self._number[column.key] for column in columns if column.is_there(self.view.as_of)
            ]

    def _read_family(self, nodes: list[int]) -> None:
        for node in nodes:
            for other, number in self._number.items():
                if "#" in other and other.startswith(f"{self._all[node]}."):
                    self._nested[node].add(number)
                    self._holders[number].add(node)
                if "#" in other and self._all[node].startswith(f"{other}."):
                    self._nested[number].add(node)
                    self._holders[node].add(number)


def _dataset(name: str) -> str:
    return split_column_key(name)[0] if "#" in name else name


def _holds(each: StoredEdge, as_of: datetime | None) -> bool:
    if as_of is None:
        return each.live
    return each.valid_from <= as_of and (each.valid_to is None or as_of < each.valid_to)


def _same_or_nested(one: str, other: str) -> bool:
    if "#" not in one or "#" not in other:
        return one == other
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
