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
from lineage.model.transformations import EdgeKind, Subtype
from lineage_ingest.column_names import ColumnNames
from lineage_ingest.composition import edges_past

__all__ = ["StatingJob", "state_past_ends"]


class StatingJob(Protocol):
    """A job and what it states."""

    record: JobRecord
    began: datetime
    """When the first of the statements ran that were resolved with it: from then on it may have read."""

    def stated(self) -> Iterable[EdgeRecord]:
        """Return its edges."""

    def state(self, edge: EdgeRecord) -> None:
        """Add an edge."""

    def take_back(self, edge: EdgeRecord) -> None:
        """Remove an edge."""


class _End(NamedTuple):
    """A table, or one of its columns, that is something else from a time on, or not there; and who had made it."""

    at: datetime
    dataset: str
    column: str | None
    makers: Sequence[StatingJob]
    since: datetime | None = None
    """When it was first made so, where that is known to be of one definition."""
    by: StatingJob | None = None
    """The definition that takes its place: what that reads of the table is what was there before."""
    remade: bool = True
    """Whether something was written to it after that."""

    def named_at(self, at: datetime, names: ColumnNames) -> _End:
        """Return it with the name that the column has at another time."""
        if self.column is None:
            return self
        key = names.key_at(column_key(self.dataset, self.column), self.at, at)
        return self._replace(column=split_column_key(key)[1])


def state_past_ends(
    jobs: Sequence[StatingJob], changes: Iterable[DatasetChange], is_view: Callable[[str], bool]
) -> None:
    """Let what was made of a table or column before a DROP or another definition come from what that was made of.

    The store ends edges into it then, and by a DROP those out of it; these edges go past it. A view keeps no rows.
    """
    changes = list(changes)
    ends = [*_replacements(jobs), *_drops(jobs, changes)]
    if not ends:
        return
    names = ColumnNames(changes)
    readers: dict[str, dict[int, StatingJob]] = defaultdict(dict)
    for job in jobs:
        if not all(map(is_view, job.record.writes)):
            for dataset in {dataset_of(edge.source) for edge in job.stated()}:
                readers[dataset][id(job)] = job
    for end in sorted(ends, key=lambda one: (one.at, one.dataset, one.column or "")):
        for reader in list(readers[end.dataset].values()):
            if reader is not end.by and _read_before(reader, end):
                then = end.named_at(reader.record.last_seen, names)
                read = [edge for edge in reader.stated() if _is_of(edge.source, then)]
                _go_past(then, reader, [edge for edge in read if not _is_of(edge.target, then)], readers, names)
        if end.by is not None:
            read = [edge for edge in end.by.stated() if _is_of(edge.source, end)]
            if end.dataset in end.by.record.reads:
                read.append(_of_own_rows(end.by.record.key, end.dataset))
            _go_past(end, end.by, read, readers, names)


def _go_past(
    end: _End,
    reader: StatingJob,
    read: Sequence[EdgeRecord],
    readers: dict[str, dict[int, StatingJob]],
    names: ColumnNames,
) -> None:
    """Let a job state edges past what ends, for the edges by which it reads it; names are those of when it ran."""
    if not read:
        return
    ran = reader.record.last_seen
    made = (
        names.edge_at(edge, job.record.last_seen, ran)
        for job in _in_force(end.makers, reader.record)
        for edge in job.stated()
    )
    past = list(edges_past([edge for edge in made if _is_of(edge.target, end)], read, partial(_is_of, end=end)))
    if reader is end.by or _ends_itself(reader.record, end):
        for edge in read:
            reader.take_back(edge)
    for edge in past:
        reader.state(edge)
        readers[dataset_of(edge.source)][id(reader)] = reader


def _drops(jobs: Sequence[StatingJob], changes: Iterable[DatasetChange]) -> Iterator[_End]:
    drops = [change for change in changes if change.kind in (ChangeKind.DROP, ChangeKind.DROP_COLUMN)]
    writers: dict[str, list[StatingJob]] = {drop.dataset: [] for drop in drops}
    for job in jobs:
        for dataset in job.record.writes:
            if dataset in writers:
                writers[dataset].append(job)
    for drop in drops:
        makers = [job for job in writers[drop.dataset] if job.record.first_seen <= drop.at]
        remade = any(job.record.last_seen > drop.at for job in writers[drop.dataset])
        yield _End(drop.at, drop.dataset, drop.column, makers, remade=remade and drop.column is None)


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
                yield _End(until, dataset, None, [old], old.record.first_seen, new)


def _read_before(reader: StatingJob, end: _End) -> bool:
    """Return whether a job made something before the end, and does not make that of what took the name."""
    job = reader.record
    if end.since is not None:
        return end.dataset not in job.writes and end.since <= job.last_seen < end.at
    if not end.remade:
        return reader.began <= end.at
    return (job.last_seen if job.kind.defines_output else job.first_seen) <= end.at


def _of_own_rows(job: str, dataset: str) -> EdgeRecord:
    """Return what is said of a table that is made anew from itself: no job says it of a table in the graph."""
    return EdgeRecord(dataset, dataset, EdgeKind.REFERENCES, job, dataset, (Subtype.ROWS,))


def _ends_itself(job: JobRecord, end: _End) -> bool:
    """Return whether a job makes the table anew without a column, from what the table had before."""
    return end.column is not None and end.dataset in job.writes and job.first_seen <= end.at <= job.last_seen


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
