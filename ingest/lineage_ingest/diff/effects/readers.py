"""Who reads what a change reaches: all that is downstream in a store, and the people and jobs of its query logs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from lineage.frozen import frozen
from lineage.model.batch import JobKind
from lineage.model.names import dataset_key, dataset_of, split_column_key, split_location
from lineage.model.statement import DatasetKind
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore
from lineage.traversal import Target, TraversalOptions, impact, total_usage
from lineage_ingest.diff.definitions.classification import ColumnEffect, TableDiff
from lineage_ingest.diff.revisions.revisions import Revision

__all__ = ["DownstreamDataset", "LogReader", "TableReach", "find_reach"]

_READERS = tuple(kind for kind in JobKind if kind is not JobKind.DBT)


@frozen
class LogReader:
    """A job outside of the project that reads a table: its users, how often it ran, and when last."""

    job: str
    kind: str
    reads: str
    users: tuple[str, ...]
    runs: int
    last: datetime

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "job": self.job, "kind": self.kind, "reads": self.reads, "users": list(self.users), "runs": self.runs,
            "last": self.last.isoformat(),
        }  # fmt: skip


@frozen
class DownstreamDataset:
    """A dataset downstream in the store: its reached columns; none if only table-level lineage leads to it."""

    name: str
    kind: str
    columns: tuple[str, ...]
    hops: int
    is_outside: bool
    tags: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name, "kind": self.kind, "columns": list(self.columns), "hops": self.hops,
            "outside_project": self.is_outside, "certain": bool(self.columns), "tags": list(self.tags),
        }  # fmt: skip


@frozen
class TableReach:
    """What the store knows downstream of one changed table, and who has read it and what is downstream.

    `in_store` is False if the store does not know the table: then nothing is known of its readers. `users` are the
    people who read the table itself, with the number of their queries; `last_read` is when.
    """

    in_store: bool
    downstream: tuple[DownstreamDataset, ...] = ()
    users: tuple[tuple[str, int], ...] = ()
    last_read: datetime | None = None
    readers: tuple[LogReader, ...] = ()
    truncated: tuple[str, ...] = ()
    read_columns: frozenset[str] = frozenset()
    """The columns of the table that a job outside the project, or a query of a log, is known to read."""

    @property
    def exposures(self) -> list[DownstreamDataset]:
        """The dashboards and reports."""
        return [one for one in self.downstream if one.kind == DatasetKind.EXPOSURE]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "in_store": self.in_store,
            "downstream": [one.to_dict() for one in self.downstream],
            "users": [{"user": user, "queries": queries} for user, queries in self.users],
            "last_read": self.last_read.isoformat() if self.last_read else None,
            "readers": [one.to_dict() for one in self.readers],
            "read_columns": sorted(self.read_columns),
            "truncated": list(self.truncated),
        }


def find_reach(store: GraphStore, revision: Revision, tables: Iterable[TableDiff]) -> dict[str, TableReach]:
    """Return the reach of each changed table in a store, by the table's key; the graph is that before the change.

    Raises:
        StoreError: the store could not be read.
    """
    listed = list(tables)
    own = {_key(revision, definition.name) for definition in revision.project.definitions.values()}
    return {table.key: _reach(store, revision, table, own) for table in listed}


def _key(revision: Revision, name: str) -> str:
    return dataset_key(*(split_location(name) or (revision.naming.dataset_namespace, name)))


def _reach(store: GraphStore, revision: Revision, table: TableDiff, own: Collection[str]) -> TableReach:
    name = table.name_before or table.name
    key = _key(revision, name)
    datasets = store.datasets([key])
    if not datasets:
        return TableReach(in_store=False)
    columns = {column.key: column.path for column in store.columns([key], dropped=True)}
    changed = {
        one.earlier or one.name for one in table.columns if one.is_content and one.effect is not ColumnEffect.ADDED
    }
    keys = [one for one, name in columns.items() if name in changed]
    everything = any(ColumnEffect.ROWS in one.effects for one in table.columns) or not keys
    starts: Sequence[Target] = [Target(key, name, key)]
    if not everything:
        starts = [Target(one, f"{name}.{columns[one]}", key, columns[one]) for one in keys]
    answer = impact(store, starts, TraversalOptions())
    columns_by_dataset: dict[str, list[str]] = {}
    for one in answer.outlines:
        columns_by_dataset.setdefault(one.dataset, []).append(one.key)
    hops = {one.key: one.hops for one in answer.datasets}
    possibly = {one.dataset: one.hops for one in answer.possibly_affected if one.dataset not in columns_by_dataset}
    stored = {one.key: one for one in store.datasets(sorted({*columns_by_dataset, *possibly} - {key}))}
    downstream = tuple(
        DownstreamDataset(
            dataset.display_name,
            str(dataset.kind),
            tuple(sorted(_column_name(column) for column in columns_by_dataset.get(dataset.key, ()))),
            hops.get(dataset.key, possibly.get(dataset.key, 0)),
            dataset.key not in own,
            dataset.tags,
        )
        for dataset in sorted(stored.values(), key=lambda one: (hops.get(one.key, possibly.get(one.key, 0)), one.name))
    )
    usage = total_usage(store.usages([key]))
    watched = [key, *(one for one in stored if one in own)]
    return TableReach(
        True,
        downstream,
        usage.users.named,
        usage.last_read,
        tuple(_log_readers(store, watched, {**{one: stored[one].display_name for one in stored}, key: name}, own)),
        tuple(answer.cuts),
        _read_columns(store, columns, own),
    )


def _column_name(key: str) -> str:
    return split_column_key(key)[1]


def _log_readers(
    store: GraphStore, datasets: Sequence[str], names: Mapping[str, str], own: Collection[str]
) -> list[LogReader]:
    """Return the jobs outside of the project that read any of these datasets, the latest first.

    A file that defines tables of the project (`own`) is the project's.
    """
    reading = store.job_keys_of(datasets, JobFilter(kinds=_READERS))
    keys = sorted({key for listed in reading.values() for key in listed})
    found = []
    for job in store.jobs(keys, users=True) if keys else []:
        read = [names[one] for one in job.reads if one in names]
        is_own = job.kind is JobKind.SQL_FILE and bool(job.writes) and all(one in own for one in job.writes)
        if read and job.retired_at is None and not is_own:
            users = tuple(user for user, _ in job.users.named) if job.users is not None else ()
            found.append(LogReader(job.key, str(job.kind), ", ".join(read), users, job.observations, job.last_seen))
    return sorted(found, key=lambda one: (-one.last.timestamp(), one.job))


def _read_columns(store: GraphStore, columns: Mapping[str, str], own: Collection[str]) -> frozenset[str]:
    """Return which columns something outside of the project reads: by an edge, or in a query of a log."""
    used = {one.of for one in store.usages(sorted(columns)) if one.reads}
    names = {columns[key] for key in used if key in columns}
    for key, name in columns.items():
        if name in names:
            continue
        answer = impact(store, Target(key, name, dataset_of(key), name), TraversalOptions(max_hops=1))
        if any(one.dataset not in own for one in answer.outlines):
            names.add(name)
    return frozenset(names)
