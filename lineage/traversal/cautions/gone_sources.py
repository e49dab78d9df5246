"""What columns came from that is gone: a table that was dropped, or a column that its table has no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lineage.frozen import frozen
from lineage.model.batch import JobKind
from lineage.model.names import dataset_of, is_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredEdge, StoredJob
from lineage.traversal.cautions.broken_reads import broken_reads

__all__ = ["GoneSource", "gone_sources"]

_JUST_BEFORE = timedelta(microseconds=1)


@frozen
class GoneSource:
    """A column or table (by key) that is gone, and a column or table that came from it, by which job, until when.

    `name` and `target_name` are their full display names.
    """

    source: str
    name: str
    target: str
    target_name: str
    job: str
    until: datetime

    def __str__(self) -> str:
        until = f"{self.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return f"{self.target_name} was made of {self.name}, which is gone since {until}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "source": self.source,
            "name": self.name,
            "target": self.target,
            "target_name": self.target_name,
            "job": self.job,
            "until": self.until.astimezone(UTC).isoformat(),
        }


def gone_sources(store: GraphStore, keys: Collection[str]) -> list[GoneSource]:
    """Return what these columns and tables (by key), and the rows of their tables, came from and is gone, sorted.

    Left out is what `broken_reads` names, and what had sources itself: a copy of that comes from these.

    Raises:
        StoreError: the store could not be read.
    """
    owners = {dataset_of(key) for key in keys}
    jobs = _writing_jobs(store, owners)
    if not jobs:
        return []
    read = {one.key: one for one in store.datasets({key for job in jobs for key in job.reads})}
    columns = {one.key: one for one in store.columns(sorted(read), dropped=True)}
    gone = {key for key, one in read.items() if one.dropped_at is not None}
    gone |= {key for key, one in columns.items() if one.dropped_at is not None or one.dataset in gone}
    ended = [
        edge
        for edge in _last_edges(store, owners, jobs, gone)
        if edge.target in keys or dataset_of(edge.target) in keys or edge.target in owners
    ]
    if not ended:
        return []
    targets = {one.key: one for one in store.datasets({dataset_of(edge.target) for edge in ended})}
    columns |= {one.key: one for one in store.columns(sorted(targets))}

    def name(key: str) -> str:
        table = targets.get(dataset_of(key)) or read[dataset_of(key)]
        return f"{table.display_name}.{columns[key].display_path}" if key in columns else table.display_name

    found = {
        GoneSource(edge.source, name(edge.source), edge.target, name(edge.target), edge.job, until)
        for edge in _named_nowhere_else(store, ended, targets)
        if (until := edge.valid_to) is not None
    }
    return sorted(found, key=lambda one: (one.target_name, one.name, one.until, one.target, one.source, one.job))


def _writing_jobs(store: GraphStore, owners: Collection[str]) -> list[StoredJob]:
    """Return the jobs that write these tables now."""
    writers = store.writers_of(owners, tuple(JobKind)) if owners else {}
    wrote = {one.job for listed in writers.values() for one in listed if one.until is None}
    return [one for one in store.jobs(wrote) if one.retired_at is None] if wrote else []


def _last_edges(
    store: GraphStore, owners: Collection[str], jobs: Iterable[StoredJob], gone: Collection[str]
) -> Iterator[StoredEdge]:
    """Yield what has ended of the edges from what is gone, as each job was when it was seen last."""
    tables = {dataset_of(key) for key in gone}
    seen: dict[datetime, set[str]] = defaultdict(set)
    for job in jobs:
        if not tables.isdisjoint(job.reads):
            seen[job.last_seen].add(job.key)
    for at, seen_then in seen.items():
        for edge in store.edges_into(sorted(owners), as_of=at):
            if edge.job in seen_then and edge.valid_to is not None and edge.source in gone:
                yield edge


def _named_nowhere_else(
    store: GraphStore, ended: Sequence[StoredEdge], targets: Collection[str]
) -> Iterator[StoredEdge]:
    """Yield the edges whose lost source no other answer names."""
    named = {(one.column, one.reader) for one in broken_reads(store, sorted(targets))}
    live = {edge.target for edge in store.edges_into(sorted(targets))}
    named |= {(dataset_of(one.source), dataset_of(one.target)) for one in ended if is_column_key(one.source)}
    for edge in ended:
        is_named = (edge.source, dataset_of(edge.target)) in named
        if edge.valid_to is None or is_named:
            continue
        if edge.target not in live or not _had_sources(store, edge.source, edge.valid_to):
            yield edge


def _had_sources(store: GraphStore, key: str, until: datetime) -> bool:
    """Return whether a column or table had sources until it was gone."""
    return any(edge.target == key for edge in store.edges_into([dataset_of(key)], as_of=until - _JUST_BEFORE))
