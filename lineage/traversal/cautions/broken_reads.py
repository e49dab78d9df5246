"""Columns that a table does not have, or has no more, and what still reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from lineage.frozen import frozen
from lineage.model.batch import JobKind
from lineage.model.names import dataset_of
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredEdge, StoredJob

__all__ = ["BrokenRead", "broken_reads"]

_JUST_BEFORE = timedelta(microseconds=1)
_DROP_TIMES = 10
"""Of columns that were dropped at more times than this, only the latest are looked at: each costs a read."""


@frozen
class BrokenRead:
    """A column (by key) that its table does not have, and a table that reads it (by key), by which job.

    `name`, `table` and `reader_name` are the full display names of the column, its table and the reader. `since` is the
    time of the schema that lacks the column; None if no schema ever had it.
    """

    column: str
    name: str
    table: str
    reader: str
    reader_name: str
    job: str
    since: datetime | None

    def __str__(self) -> str:
        has = f"has not had since {self.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if self.since else "does not have"
        return f"{self.reader_name} reads {self.name}, which {self.table} {has}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "column": self.column,
            "name": self.name,
            "reader": self.reader,
            "reader_name": self.reader_name,
            "job": self.job,
            "since": self.since.astimezone(UTC).isoformat() if self.since else None,
        }


def broken_reads(store: GraphStore, datasets: Collection[str]) -> list[BrokenRead]:
    """Return what reads columns that are not there, where these datasets (by key) lack the column or read it, sorted.

    A column is not there if a newer schema lacks it, or if only lineage knows it while a schema lists the others.

    Raises:
        StoreError: the store could not be read.
    """
    asked = set(datasets)
    if not asked:
        return []
    owners = asked | {feed.source for feed in store.feed_keys(sorted(asked), Direction.UPSTREAM)}
    tables = {one.key: one for one in store.datasets(sorted(owners)) if one.dropped_at is None and one.schema_known}
    columns = {one.key: one for one in store.columns(sorted(tables), dropped=True) if _is_absent(one)}
    reads = [
        edge for edge in _edges_out_of(store, columns.values()) if asked & {dataset_of(edge.source), _reader(edge)}
    ]
    jobs = {job.key: job for job in store.jobs({edge.job for edge in reads})} if reads else {}
    readers = {one.key: one for one in store.datasets({_reader(edge) for edge in reads})} if reads else {}
    found = set()
    for edge in reads:
        column, reader = columns[edge.source], readers[_reader(edge)]
        table = tables[column.dataset]
        if reader.dropped_at is None and reader.key != table.key and _still_reads(jobs.get(edge.job), reader, edge):
            name = f"{table.display_name}.{column.display_path}"
            since = edge.valid_to or column.dropped_at
            found.add(
                BrokenRead(column.key, name, table.display_name, reader.key, reader.display_name, edge.job, since)
            )
    return sorted(found, key=lambda one: (one.name, one.reader_name, one.column, one.reader, one.job))


def _is_absent(column: StoredColumn) -> bool:
    if column.path == "*":  # all columns of a table whose schema was not known
        return False
    return column.dropped_at is not None or (column.inferred and column.ordinal is None and column.parent is None)


def _edges_out_of(store: GraphStore, columns: Iterable[StoredColumn]) -> list[StoredEdge]:
    """Return the edges out of columns: live ones, and those that ended when the column was dropped."""
    by_time: defaultdict[datetime | None, set[str]] = defaultdict(set)
    for column in columns:
        by_time[None].add(column.key)
        if column.dropped_at is not None:
            by_time[column.dropped_at].add(column.key)
    found = []
    latest = sorted((at for at in by_time if at is not None), reverse=True)[:_DROP_TIMES]
    for at in (None, *latest):
        keys = by_time[at]
        then = None if at is None else at - _JUST_BEFORE
        hops = store.expand(sorted(keys), Direction.DOWNSTREAM, as_of=then) if keys else ()
        found += [hop.edge for hop in hops if hop.edge.source in keys and hop.edge.valid_to == at]
    return found


def _reader(edge: StoredEdge) -> str:
    return dataset_of(edge.target)


def _still_reads(job: StoredJob | None, reader: StoredDataset, edge: StoredEdge) -> bool:
    """Return whether a job reads the column as far as is known: it has not been seen without it.

    A table that a logged statement made of the column is a copy: nothing reads the column until that runs again.
    """
    if job is None or job.retired_at is not None:
        return False
    if edge.valid_to is None:
        return True
    is_copy = job.kind is JobKind.QUERY or (job.kind is JobKind.DEFINITION and reader.kind is DatasetKind.TABLE)
    return not is_copy and job.last_seen < edge.valid_to
