"""What a log drops or defines anew after it was copied: the copies keep their rows, and come from what those were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

from lineage.model.batch import DatasetChange, EdgeRecord, JobKind, JobRecord
from lineage.model.names import ColumnPath, column_key, dataset_of, is_column_key, split_column_key
from lineage.model.statement import ChangeKind
from lineage_ingest.composition import edges_past

__all__ = ["StatingJob", "state_past_ends"]


class StatingJob(Protocol):
    """A job and what it states."""

    record: JobRecord

    def stated(self) -> Iterable[EdgeRecord]:
        """Return its edges."""

    def state(self, edge: EdgeRecord) -> None:
        """Add an edge."""


class _End(NamedTuple):
    """A table, or one of its columns, that is something else from a time on, or not there; and who had made it."""

    at: datetime
    dataset: str
    column: str | None
    makers: Sequence[StatingJob]
    since: datetime | None = None
    """When it was first made so, where that is known to be of one definition."""


def state_past_ends(
    jobs: Sequence[StatingJob], changes: Iterable[DatasetChange], is_view: Callable[[str], bool]
) -> None:
    """Let what was made of a table or column before a DROP or another definition come from what that was made of.

    The store ends edges into it then, and by a DROP those out of it; these edges go past it. A view keeps no rows.
    """
    ends = [*_replacements(jobs), *_drops(jobs, changes)]
    if not ends:
        return
    readers: dict[str, list[StatingJob]] = defaultdict(list)
    for job in jobs:
        if not all(map(is_view, job.record.writes)):
            for dataset in {dataset_of(edge.source) for edge in job.stated()}:
                readers[dataset].append(job)
    for end in sorted(ends, key=lambda one: (one.at, one.dataset, one.column or "")):
        for reader in readers[end.dataset]:
            if not _read_before(reader.record, end):
                continue
            made = (edge for job in _in_force(end.makers, reader.record) for edge in job.stated())
            into = [edge for edge in made if _is_of(edge.target, end)]
            out_of = [edge for edge in reader.stated() if _is_of(edge.source, end)]
            for edge in edges_past((*into, *out_of), partial(_is_of, end=end)):
                reader.state(edge)
                source = dataset_of(edge.source)
                if reader not in readers[source]:
                    readers[source].append(reader)


def _drops(jobs: Sequence[StatingJob], changes: Iterable[DatasetChange]) -> Iterator[_End]:
    for change in changes:
        if change.kind in (ChangeKind.DROP, ChangeKind.DROP_COLUMN):
            writers = (job for job in jobs if change.dataset in job.record.writes)
            makers = [job for job in writers if job.record.first_seen <= change.at]
            yield _End(change.at, change.dataset, change.column, makers)


def _replacements(jobs: Sequence[StatingJob]) -> Iterator[_End]:
    """Yield the definitions that another one of the same table replaced."""
    versions: dict[str, list[StatingJob]] = defaultdict(list)
    for job in jobs:
        if job.record.kind is JobKind.DEFINITION:
            versions[job.record.key].append(job)
    for several in versions.values():
        several.sort(key=lambda job: (job.record.last_seen, job.record.first_seen, job.record.sql or ""))
        for old, new in pairwise(several):
            first, last = new.record.first_seen, new.record.last_seen
            until = first if first > old.record.last_seen else last
            for dataset in old.record.writes:
                yield _End(until, dataset, None, [old], old.record.first_seen)


def _read_before(job: JobRecord, end: _End) -> bool:
    """Return whether a job made something before the end, and does not make that of what took the name."""
    if end.since is not None:
        return end.dataset not in job.writes and end.since <= job.last_seen < end.at
    return (job.last_seen if job.kind.defines_output else job.first_seen) <= end.at


def _in_force(makers: Sequence[StatingJob], reader: JobRecord) -> Iterator[StatingJob]:
    """Yield the jobs whose rows were in the table when another one read it: the last definition, and what only adds."""
    definitions = [job.record for job in makers if job.record.kind is JobKind.DEFINITION]
    for job in makers:
        own = job.record
        newer = (one for one in definitions if own.last_seen < one.first_seen <= reader.first_seen)
        if own.kind is not JobKind.DEFINITION or not any(newer):
            yield job


def _is_of(key: str, end: _End) -> bool:
    """Return whether a key is that of what ends: a table and all its columns, or a column with its fields."""
    if dataset_of(key) != end.dataset:
        return False
    if end.column is None:
        return True
    if not is_column_key(key):
        return False
    path: ColumnPath | None = ColumnPath.parse(split_column_key(key)[1])
    while path is not None and column_key(end.dataset, str(path)) != column_key(end.dataset, end.column):
        path = path.parent
    return path is not None
