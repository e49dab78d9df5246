"""Lineage past tables that a log drops or replaces after they were copied: the copies come from the old sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from lineage.model.batch import DatasetChange, EdgeRecord, JobRecord
from lineage.model.names import ColumnPath, column_key, dataset_of, is_column_key, split_column_key
from lineage.model.statement import ChangeKind
from lineage_ingest.batch.column_names import ColumnNames
from lineage_ingest.batch.composition import DECLARES, edges_past
from lineage_ingest.query_log.pipeline.versions.version_keys import VersionKeys

__all__ = [
    "StatingJob",
    "declared_by",
    "declared_only",
    "filled_elsewhere",
    "state_past_columns",
    "state_past_versions",
]


class StatingJob(Protocol):
    """A job and its edges."""

    record: JobRecord
    began: datetime
    """The time of the first statement in its unit: the earliest time at which it may have read."""

    def stated(self) -> Iterable[EdgeRecord]:
        """Return its edges."""

    def state(self, edge: EdgeRecord) -> None:
        """Add an edge."""

    def take_back(self, edge: EdgeRecord) -> None:
        """Remove an edge."""


def state_past_versions(
    jobs: Sequence[StatingJob],
    before: Iterable[EdgeRecord],
    before_at: datetime,
    changes: Iterable[DatasetChange],
    keys: VersionKeys,
    is_view: Callable[[str], bool],
    may_have: Callable[[str | None, str], bool],
) -> None:
    """Add edges to what was copied from a version that no longer exists, from that version's own sources.

    The table that now has the name is a source, too, if it `may_have` the column: the SQL may run again. A view stores
    no rows: it reads the table that has the name. `before` are edges into tables that existed when the log began. What
    was read of a table that was created without a query stays: it may have been filled by what no log shows.
    """
    names = ColumnNames(changes)
    made = [(edge, before_at) for edge in before]
    behind = _sources_behind(jobs, [edge for edge, _ in made], keys)
    for job in jobs:
        made += [(edge, job.record.last_seen) for edge in job.stated() if keys.is_gone(edge.target)]
    known = {dataset_of(edge.target) for edge, _ in made}
    passed = keys.passed
    declared = declared_by(jobs)

    def is_origin(key: str) -> bool:
        dataset = dataset_of(key)
        return is_column_key(key) and (dataset in declared or (dataset in keys.before and dataset not in known))

    def is_passed(key: str) -> bool:
        dataset = dataset_of(key)
        return dataset in keys.gone and (dataset in known or dataset not in keys.before)

    for job in jobs:
        _leave_dropped_names(job, keys, is_view)
        read = [edge for edge in job.stated() if keys.is_gone(edge.source) and not is_view(edge.output)]
        if read and not all(map(keys.is_gone, job.record.writes)):
            then = (names.edge_at(edge, at, job.record.last_seen) for edge, at in made)
            for edge in list(edges_past(then, read, is_passed, is_origin)):
                job.state(edge)
        lost = {edge.source for edge in read if not may_have(keys.holder(dataset_of(edge.source)), edge.source)}
        lost |= set(map(dataset_of, lost))  # nor does it read the rows of the new version: its SQL would fail
        for edge in read:
            source = dataset_of(edge.source)
            # A table recreated from itself does not come from its new version, nor anything from dropped columns.
            is_own = keys.key(source) == keys.key(edge.output) and source != edge.output
            is_replaced = is_passed(source) and edge.source in lost
            if (is_own or is_replaced) and not is_origin(edge.source):
                job.take_back(edge)
        _read_behind(job, behind, passed)


def _leave_dropped_names(job: StatingJob, keys: VersionKeys, is_view: Callable[[str], bool]) -> None:
    """Take back what views read of dropped versions that the graph has under another name than the views use."""
    left: set[str] = set()
    for edge in list(job.stated()):
        source = dataset_of(edge.source)
        if keys.is_gone(source) and is_view(edge.output) and keys.read_as(edge.output, source) != keys.key(source):
            job.take_back(edge)
            left.add(source)
    if left:
        job.record = replace(job.record, reads=tuple(key for key in job.record.reads if key not in left))


def _sources_behind(
    jobs: Iterable[StatingJob], before: Iterable[EdgeRecord], keys: VersionKeys
) -> dict[str, dict[str, None]]:
    """Return what each version that is gone was made of, and each table of before the log: its sources, in order."""
    behind: dict[str, dict[str, None]] = defaultdict(dict)
    for edge in before:
        behind[dataset_of(edge.target)][dataset_of(edge.source)] = None
    for job in jobs:
        for output in job.record.writes:
            if output in keys.gone:
                behind[output].update(dict.fromkeys(job.record.reads))
    return behind


def _read_behind(job: StatingJob, behind: Mapping[str, Iterable[str]], passed: Collection[str]) -> None:
    """Add the sources of versions that are not in the graph, or have another name there, to a job's reads."""
    seen: dict[str, None] = dict.fromkeys(job.record.reads)
    stack = [key for key in seen if key in passed]
    while stack:
        for source in behind.get(stack.pop(), ()):
            if source not in seen:
                seen[source] = None
                stack += [source] if source in passed else []
    if len(seen) > len(job.record.reads):
        job.record = replace(job.record, reads=tuple(sorted(seen)))


def state_past_columns(
    jobs: Sequence[StatingJob], changes: Iterable[DatasetChange], is_view: Callable[[str], bool]
) -> list[DatasetChange]:
    """Add edges to what was copied from a column before its DROP, from that column's own sources.

    Return the DROPs of columns that were read, of tables that the log creates without a query: what was read goes on
    coming from these columns.
    """
    changes = list(changes)
    drops = [change for change in changes if change.kind is ChangeKind.DROP_COLUMN]
    if not drops:
        return []
    declared = declared_by(jobs)
    origins: list[DatasetChange] = []
    names = ColumnNames(changes)
    readers: dict[str, dict[int, StatingJob]] = defaultdict(dict)
    for job in jobs:
        keeps_rows = not all(map(is_view, job.record.writes))
        for dataset in {dataset_of(edge.source) for edge in job.stated()}:
            if keeps_rows or dataset in declared:
                readers[dataset][id(job)] = job
    for drop in sorted(drops, key=lambda one: (one.at, one.dataset, one.column or "")):
        for reader in list(readers[drop.dataset].values()):
            if reader.began <= drop.at:
                then = _rename_drop(drop, reader.record.last_seen, names)
                read = [edge for edge in reader.stated() if _is_of(edge.source, then) and not _is_of(edge.target, then)]
                if read and drop.dataset in declared:
                    origins.append(drop)
                    break
                _go_past(then, reader, read, jobs, readers, names)
    return origins


def declared_by(jobs: Iterable[StatingJob]) -> frozenset[str]:
    """Return the tables that these jobs create without a query."""
    return frozenset(key for job in jobs if job.record.operation == DECLARES for key in job.record.writes)


def filled_elsewhere(jobs: Iterable[StatingJob]) -> frozenset[str]:
    """Return the tables that are created without a query, read, and filled by none of these jobs."""
    jobs = list(jobs)
    return declared_only(jobs) & {key for job in jobs for key in job.record.reads}


def declared_only(jobs: Iterable[StatingJob]) -> frozenset[str]:
    """Return the tables that are created without a query, and filled by none of these jobs."""
    jobs = list(jobs)
    filled = {key for job in jobs if not _fills_nothing(job.record) for key in job.record.writes}
    return declared_by(jobs) - filled


def _fills_nothing(record: JobRecord) -> bool:
    operation = record.operation or ""
    return operation == DECLARES or operation.partition("_")[0] in ("ALTER", "DELETE", "DROP", "TRUNCATE")


def _rename_drop(drop: DatasetChange, at: datetime, names: ColumnNames) -> DatasetChange:
    """Return a DROP with the name that the column has at another time."""
    key = names.key_at(column_key(drop.dataset, drop.column or ""), drop.at, at)
    return replace(drop, column=split_column_key(key)[1])


def _go_past(
    drop: DatasetChange,
    reader: StatingJob,
    read: Sequence[EdgeRecord],
    jobs: Sequence[StatingJob],
    readers: dict[str, dict[int, StatingJob]],
    names: ColumnNames,
) -> None:
    """Add a job's edges past a dropped column, for the edges that read it; names are those at the time it ran."""
    if not read:
        return
    ran = reader.record.last_seen
    every = (
        names.edge_at(edge, job.record.last_seen, ran) for job in _makers(jobs, drop) for edge in list(job.stated())
    )
    made = [edge for edge in every if _is_of(edge.target, drop)]
    past = list(edges_past(made, read, lambda key: _is_of(key, drop)))
    if drop.dataset in reader.record.writes and reader.record.first_seen <= drop.at <= reader.record.last_seen:
        for edge in read:  # the table is recreated without the column, from its earlier rows
            reader.take_back(edge)
    for edge in past:
        reader.state(edge)
        readers[dataset_of(edge.source)][id(reader)] = reader


def _makers(jobs: Iterable[StatingJob], drop: DatasetChange) -> Iterator[StatingJob]:
    return (job for job in jobs if drop.dataset in job.record.writes and job.record.first_seen <= drop.at)


def _is_of(key: str, drop: DatasetChange) -> bool:
    """Return whether a key is that of the dropped column, or of a field in it."""
    if dataset_of(key) != drop.dataset or not is_column_key(key):
        return False
    path: ColumnPath | None = ColumnPath.parse(split_column_key(key)[1])
    while path is not None and column_key(drop.dataset, str(path)) != column_key(drop.dataset, drop.column or ""):
        path = path.parent
    return path is not None
