"""What a log drops after it was copied: the copies keep their rows, so they come from what the dropped was made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

from lineage.model.batch import DatasetChange, EdgeRecord, JobKind, JobRecord
from lineage.model.names import ColumnPath, column_key, dataset_of, is_column_key, split_column_key
from lineage.model.statement import ChangeKind
from lineage_ingest.composition import edges_past

__all__ = ["StatingJob", "state_past_drops"]


class StatingJob(Protocol):
    """A job and what it states."""

    record: JobRecord

    def stated(self) -> Iterable[EdgeRecord]:
        """Return its edges."""

    def state(self, edge: EdgeRecord) -> None:
        """Add an edge."""


def state_past_drops(
    jobs: Sequence[StatingJob], changes: Iterable[DatasetChange], is_view: Callable[[str], bool]
) -> None:
    """Let what was made of a dropped table or column before the DROP also come from what that was made of.

    The DROP ends edges into what it drops and out of it; these go past it. A view keeps no rows.
    """
    kinds = (ChangeKind.DROP, ChangeKind.DROP_COLUMN)
    drops = (one for one in changes if one.kind in kinds)
    for drop in sorted(drops, key=lambda one: (one.at, one.dataset, str(one.column))):
        readers = [job for job in jobs if _read_before(job.record, drop, is_view)]
        makers = [job for job in jobs if drop.dataset in job.record.writes and job.record.first_seen <= drop.at]
        for reader in readers:
            made = (edge for job in _in_force(makers, reader.record) for edge in job.stated())
            into = [edge for edge in made if _is_of(edge.target, drop)]
            out_of = [edge for edge in reader.stated() if _is_of(edge.source, drop)]
            for edge in edges_past((*into, *out_of), partial(_is_of, drop=drop)):
                reader.state(edge)


def _read_before(job: JobRecord, drop: DatasetChange, is_view: Callable[[str], bool]) -> bool:
    """Return whether a job made something of what is dropped, and does not make that of what took its name."""
    if drop.dataset not in (*job.reads, *job.writes) or all(is_view(key) for key in job.writes):
        return False
    return (job.last_seen if job.kind.defines_output else job.first_seen) <= drop.at


def _in_force(makers: Sequence[StatingJob], reader: JobRecord) -> Iterator[StatingJob]:
    """Yield the jobs whose rows were in the table when another one read it: the last definition, and what only adds."""
    definitions = [job.record for job in makers if job.record.kind is JobKind.DEFINITION]
    for job in makers:
        own = job.record
        newer = (one for one in definitions if own.last_seen < one.first_seen <= reader.first_seen)
        if own.kind is not JobKind.DEFINITION or not any(newer):
            yield job


def _is_of(key: str, drop: DatasetChange) -> bool:
    """Return whether a key is that of what is dropped: a table and all its columns, or a column with its fields."""
    if dataset_of(key) != drop.dataset:
        return False
    if drop.kind is ChangeKind.DROP:
        return True
    if not is_column_key(key):
        return False
    path: ColumnPath | None = ColumnPath.parse(split_column_key(key)[1])
    while path is not None and column_key(drop.dataset, str(path)) != column_key(drop.dataset, str(drop.column)):
        path = path.parent
    return path is not None
