"""Compare the graph at two times: datasets, columns and edges that were added, removed, renamed or changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from lineage.frozen import frozen
from lineage.model.batch import DatasetChange
from lineage.model.influence.edge_effects import masked_subtypes_of
from lineage.model.names import dataset_of, split_dataset_key
from lineage.model.spelling import spelling_of
from lineage.model.statement import ChangeKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, EdgeChange, StoredColumn, StoredDataset, StoredEdge
from lineage.traversal.target import Target

__all__ = ["Difference", "EdgeDifference", "NodeDifference", "Sort", "difference"]

_MAX_EDGES = 10_000


class Sort(StrEnum):
    """The kind of difference between two times."""

    CAME = "came"
    WENT = "went"
    RENAMED = "renamed"
    CHANGED = "changed"


@frozen
class NodeDifference:
    """A dataset or column that was added or removed, or renamed from `earlier`."""

    sort: Sort
    name: str
    key: str
    kind: str
    at: datetime | None = None
    earlier: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        at = self.at.isoformat() if self.at else None
        shown = {"change": str(self.sort), "name": self.name, "key": self.key, "kind": self.kind, "at": at}
        return {**shown, "earlier": self.earlier} if self.earlier else shown


@frozen
class EdgeDifference:
    """An edge that was added or removed, or whose properties changed."""

    sort: Sort
    before: StoredEdge | None
    after: StoredEdge | None

    @property
    def edge(self) -> StoredEdge:
        """The edge at the later time, or at the earlier time if it was removed."""
        edge = self.after or self.before
        if edge is None:
            raise ValueError("an edge difference needs the edge at one of the two times")
        return edge

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        ends = {"source": self.edge.source, "target": self.edge.target, "kind": str(self.edge.kind)}
        sides = {"before": _meaning(self.before), "after": _meaning(self.after)}
        return {"change": str(self.sort), **ends, "job": self.edge.job, **sides}


@frozen
class Difference:
    """The differences between two times. `truncated` means that there are more edges than listed."""

    since: datetime
    until: datetime
    datasets: tuple[NodeDifference, ...]
    columns: tuple[NodeDifference, ...]
    edges: tuple[EdgeDifference, ...]
    truncated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "as_of": [self.since.isoformat(), self.until.isoformat()],
            "datasets": [one.to_dict() for one in self.datasets],
            "columns": [one.to_dict() for one in self.columns],
            "edges": [one.to_dict() for one in self.edges],
            "truncated": self.truncated,
        }


def difference(
    store: GraphStore, since: datetime, until: datetime, table: Target | None = None, *, limit: int = _MAX_EDGES
) -> Difference:
    """Return the differences between two times: of the whole graph, or of one table and the edges into it.

    A renamed column is the same column. The time at which a dropped dataset was created again is derived from writes
    to it; a dataset without writes counts as present all the time.

    Raises:
        ValueError: `since` is after `until`.
        StoreError: the store could not be read.
    """
    if since > until:
        raise ValueError(f"{since.isoformat()} is after {until.isoformat()}")
    found, cut = store.changed_edges(since, until, scope=table.dataset if table else "", limit=limit)
    edges = [one for one in map(_edge_difference, found) if one is not None]
    if table is not None:
        edges = [one for one in edges if dataset_of(one.edge.target) == table.dataset]
    datasets = {one.key: one for one in store.datasets([table.dataset] if table else None)}
    there = _Presence(store, since, until, datasets)
    names = {key: one.display_name for key, one in datasets.items()}
    columns = store.columns(list(datasets), dropped=True)
    # Later renames determine the dataset's current name.
    later = [one for one in store.dataset_changes(since, _end(since)) if one.other is not None]
    renames = [one for one in later if one.at <= until]
    of_columns, new_keys = _join_renamed(list(_columns(there, columns, names)), columns)
    return Difference(
        since,
        until,
        (*_nodes(there, datasets.values()), *_renamed_datasets(renames, datasets)),
        (*of_columns, *_renamed_columns(renames, later, columns, names)),
        tuple(_without_moved(edges, new_keys)),
        cut,
    )


class _Presence:
    """The datasets and columns that exist at each of two times."""

    def __init__(self, store: GraphStore, since: datetime, until: datetime, datasets: dict[str, StoredDataset]) -> None:
        self.times = (since, until)
        first = min((one.first_seen for one in datasets.values()), default=since)
        drops: dict[str, list[datetime]] = {}
        for change in store.dataset_changes(first, until):
            if change.kind is ChangeKind.DROP:
                drops.setdefault(change.dataset, []).append(change.at)
        self._absent = [self._not_made_again(store, at, drops, datasets) for at in self.times]
        self._datasets = datasets

    @staticmethod
    def _not_made_again(
        store: GraphStore, at: datetime, drops: dict[str, list[datetime]], datasets: dict[str, StoredDataset]
    ) -> frozenset[str]:
        """Return the datasets that were dropped before a time and created again after it."""
        dropped = [
            key
            for key, times in drops.items()
            if key in datasets and datasets[key].dropped_at is None and any(one <= at for one in times)
        ]
        written_then = (
            {feed.target for feed in store.feeds(dropped, Direction.UPSTREAM, as_of=at)} if dropped else set()
        )
        written_now = {feed.target for feed in store.feeds(dropped, Direction.UPSTREAM)} if dropped else set()
        return frozenset(written_now - written_then)

    def of_dataset(self, dataset: StoredDataset) -> tuple[bool, bool]:
        """Return whether a dataset exists at the first and at the second time."""
        before, after = (
            dataset.first_seen <= at < (dataset.dropped_at or _end(at)) and dataset.key not in absent
            for at, absent in zip(self.times, self._absent, strict=True)
        )
        return before, after

    def dropped_at(self, dataset: str) -> datetime | None:
        """Return when a dataset was dropped."""
        return self._datasets[dataset].dropped_at

    def of_column(self, column: StoredColumn) -> tuple[bool, bool]:
        """Return whether a column exists at the first and at the second time."""
        before, after = (
            whole and (column.first_seen is None or column.first_seen <= at) and at < (column.dropped_at or _end(at))
            for at, whole in zip(self.times, self.of_dataset(self._datasets[column.dataset]), strict=True)
        )
        return before, after


def _end(at: datetime) -> datetime:
    return datetime.max.replace(tzinfo=at.tzinfo)


def _nodes(there: _Presence, datasets: Iterable[StoredDataset]) -> Iterable[NodeDifference]:
    for dataset in datasets:
        before, after = there.of_dataset(dataset)
        if before != after:
            at = dataset.first_seen if after and dataset.first_seen > there.times[0] else None
            at = at if after else dataset.dropped_at
            yield NodeDifference(_sort(after), dataset.display_name, dataset.key, str(dataset.kind), at)


def _columns(there: _Presence, columns: Iterable[StoredColumn], names: dict[str, str]) -> Iterable[NodeDifference]:
    for column in columns:
        before, after = there.of_column(column)
        if before != after:
            at = column.first_seen if after else column.dropped_at or there.dropped_at(column.dataset)
            name = f"{names[column.dataset]}.{column.display_path}"
            yield NodeDifference(_sort(after), name, column.key, column.data_type or "", at)


def _join_renamed(
    differences: list[NodeDifference], columns: list[StoredColumn]
) -> tuple[list[NodeDifference], dict[str, str]]:
    """Return the differing columns, with an added and a removed one of the same name joined as renamed; and their keys.

    This happens if a new version of the file that creates a table renames the column, which gives it a new key.
    """
    known = {column.key: column for column in columns}
    went = {known[one.key].dataset + "#" + known[one.key].path: one for one in differences if one.sort is Sort.WENT}
    new_keys: dict[str, str] = {}
    renamed: dict[str, NodeDifference] = {}
    for node_difference in differences:
        column = known[node_difference.key]
        earlier = next((path for path in column.aliases if f"{column.dataset}#{path}" in went), None)
        if node_difference.sort is Sort.CAME and earlier is not None:
            new_keys[went[f"{column.dataset}#{earlier}"].key] = node_difference.key
            renamed[node_difference.key] = replace(node_difference, sort=Sort.RENAMED, earlier=earlier)
    return [renamed.get(one.key, one) for one in differences if one.key not in new_keys], new_keys


def _without_moved(edges: list[EdgeDifference], new_keys: dict[str, str]) -> Iterable[EdgeDifference]:
    """Yield the edges, except those that differ only in the name of a renamed column."""

    def ends(edge: StoredEdge) -> tuple[object, ...]:
        source, target = (new_keys.get(key, key) for key in (edge.source, edge.target))
        effects = (edge.subtypes, edge.masking, edge.partly_masking)
        return (source, target, edge.kind, edge.job, effects, edge.limited, edge.ambiguous)

    sides = {sort: {ends(one.edge) for one in edges if one.sort is sort} for sort in (Sort.CAME, Sort.WENT)}
    both = sides[Sort.CAME] & sides[Sort.WENT] if new_keys else set()
    return (one for one in edges if one.sort is Sort.CHANGED or ends(one.edge) not in both)


def _sort(after: bool) -> Sort:
    return Sort.CAME if after else Sort.WENT


def _renamed_datasets(changes: list[DatasetChange], datasets: dict[str, StoredDataset]) -> Iterable[NodeDifference]:
    """Yield the renamed datasets; for a single table, only its own renames."""
    for change in changes:
        if change.kind.of_column or change.other is None:
            continue
        pairs = [(change.dataset, change.other), (change.other, change.dataset)]
        for old, new in pairs if change.kind is ChangeKind.SWAP else pairs[:1]:
            names = (split_dataset_key(old)[1], split_dataset_key(new)[1])
            known = datasets.get(new) or next((one for one in datasets.values() if names[1] in one.aliases), None)
            if known is not None:
                name = spelling_of(names[1], known.spelling if new == known.key else change.spelling) or names[1]
                yield NodeDifference(Sort.RENAMED, name, known.key, str(known.kind), change.at, names[0])


def _renamed_columns(
    changes: list[DatasetChange], later: list[DatasetChange], columns: list[StoredColumn], names: dict[str, str]
) -> Iterable[NodeDifference]:
    for change in changes:
        if change.kind is not ChangeKind.RENAME_COLUMN or change.column is None or change.other is None:
            continue
        for column in columns:
            then = change.dataset in (column.dataset, *_keys_before(column.dataset, later))
            if then and change.other in (column.path, *column.aliases) and change.column in column.aliases:
                path = spelling_of(change.other, change.spelling) or change.other
                name = f"{names[column.dataset]}.{path}"
                yield NodeDifference(Sort.RENAMED, name, column.key, column.data_type or "", change.at, change.column)


def _keys_before(dataset: str, changes: list[DatasetChange]) -> list[str]:
    """Return the key of a dataset, followed by those that it had before it was renamed."""
    keys = [dataset]
    for change in reversed(changes):
        if change.kind is ChangeKind.RENAME and change.other == keys[-1]:
            keys.append(change.dataset)
    return keys


def _edge_difference(change: EdgeChange) -> EdgeDifference | None:
    before, after = change.before, change.after
    if before is None or after is None:
        return EdgeDifference(_sort(after is not None), before, after)
    # An edge that was retired in between and added again unchanged is not a difference.
    return EdgeDifference(Sort.CHANGED, before, after) if _meaning(before) != _meaning(after) else None


def _meaning(edge: StoredEdge | None) -> dict[str, Any] | None:
    if edge is None:
        return None
    return {
        "subtypes": [str(subtype) for subtype in edge.subtypes],
        "masking": edge.masking,
        "masked_subtypes": [str(subtype) for subtype in masked_subtypes_of(edge)],
        "limited": edge.limited,
        "ambiguous": edge.ambiguous,
    }
