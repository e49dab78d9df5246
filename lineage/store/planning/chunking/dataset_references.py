"""References of a batch to datasets: when each is seen, what writes it, and which columns are referenced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lineage.model.batch import DatasetRecord, EdgeRecord, LineageBatch
from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key
from lineage.store.planning.naming import NamesOverTime

__all__ = [
    "DatasetReference",
    "edges_by_job",
    "find_references",
    "joined",
    "times_of_records",
]


@dataclass(slots=True)
class DatasetReference:
    """A dataset in a batch: the key `name_then` that it had at the time `at`, which determines its current key.

    `written` is when a job last wrote it, `described` the time of its last known schema; `defined` is True if a job of
    the batch defines it. `columns` are those that edges and usage counts refer to, with the first and last time.
    `spelling` and `spellings` (by path) are names as written, where they differ from the names compared.
    """

    name_then: str
    at: datetime
    first_seen: datetime
    last_seen: datetime
    names: tuple[str, str] | None = None
    written: datetime | None = None
    described: datetime | None = None
    defined: bool = False
    columns: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    spelling: str | None = None
    spellings: dict[str, str] = field(default_factory=dict)

    def is_made_again(self, dropped_at: datetime) -> bool:
        """Return whether the dataset is written at the time of its DROP or later, or has a later schema."""
        return (self.written is not None and self.written >= dropped_at) or (
            self.described is not None and self.described > dropped_at
        )

    def see(self, name_then: str, first: datetime, last: datetime, named: datetime) -> None:
        """Record that the dataset was seen from `first` to `last`, and had this name at `named`."""
        self.first_seen = min(self.first_seen, first)
        self.last_seen = max(self.last_seen, last)
        if named > self.at:
            self.name_then, self.at = name_then, named

    def name_column(self, path: str, first: datetime, last: datetime) -> None:
        """Record that a column was referenced from `first` to `last`."""
        known = self.columns.get(path)
        if known is None or known[0] > first or known[1] < last:
            self.columns[path] = (first, last) if known is None else (min(known[0], first), max(known[1], last))


def find_references(batch: LineageBatch, naming: NamesOverTime) -> dict[str, DatasetReference]:
    """Return the references of the batch to each dataset, by current key."""
    references: dict[str, DatasetReference] = {}
    edges = edges_by_job(batch)

    def referenced(name_then: str, first: datetime, last: datetime, named: datetime | None = None) -> DatasetReference:
        named = named or last
        key = naming.today(name_then, named)
        reference = references.get(key)
        if reference is None:
            reference = references[key] = DatasetReference(name_then, named, first, last)
        else:
            reference.see(name_then, first, last, named)
        return reference

    for job in batch.jobs:
        first, last = job.first_seen, job.last_seen
        of_job = edges.get(job.key, ())
        columns: dict[str, set[str]] = defaultdict(set)
        for edge in of_job:
            named = columns[dataset_of(edge.source)]
            if is_column_key(edge.source):
                named.add(edge.source)
            named = columns[edge.output]
            if edge.target != edge.output:
                named.add(edge.target)
        written = {*job.writes, *(edge.output for edge in of_job)}
        for name_then in {*job.reads, *written, *columns}:
            reference = referenced(name_then, first, last)
            if name_then in written:
                reference.written = latest(reference.written, last)
                reference.defined = reference.defined or job.kind.defines_output
            for column in columns.get(name_then, ()):
                reference.name_column(_path_today(column, last, naming), first, last)
    time_of = times_of_records(batch)
    for record in batch.datasets:
        at = time_of(record)
        reference = referenced(record.key, at, at)
        if naming.today(record.key, at) == record.key:
            # If the dataset was renamed since, the record has its old name.
            reference.names = (record.namespace, record.name)
        if record.schema_known:
            reference.described = latest(reference.described, at)
        reference.spelling = record.spelling or reference.spelling
        for one in record.columns:
            if one.spelling is not None:
                reference.spellings[_path_today(column_key(record.key, one.path), at, naming)] = one.spelling
    for stated in batch.facts:
        referenced(stated.dataset, stated.facts.at, stated.facts.at)
    for used in batch.usage:
        name_then, named_at = dataset_of(used.of), used.named_at
        # The usage is during that day: at its midnight the dataset may not have existed.
        seen = min((at for at in (used.last_read, used.last_write) if at is not None), default=named_at)
        reference = referenced(name_then, seen, seen, named_at)
        if name_then != used.of:
            reference.name_column(_path_today(used.of, named_at, naming), seen, seen)
    return references


def _path_today(key: str, at: datetime, naming: NamesOverTime) -> str:
    dataset, path = split_column_key(key)
    return naming.column_today(dataset, path, at)[1] if naming.renames_columns(dataset) else path


def joined(references: Iterable[DatasetReference], naming: NamesOverTime) -> dict[str, DatasetReference]:
    """Return references by current key; those of datasets that have been merged since are merged."""
    found: dict[str, DatasetReference] = {}
    for reference in references:
        key = naming.today(reference.name_then, reference.at)
        found[key] = _both(found[key], reference) if key in found else reference
    return found


def edges_by_job(batch: LineageBatch) -> Mapping[str, list[EdgeRecord]]:
    """Return the batch's edges by job key."""
    edges: dict[str, list[EdgeRecord]] = defaultdict(list)
    for edge in batch.edges:
        edges[edge.job].append(edge)
    return edges


def times_of_records(batch: LineageBatch) -> Callable[[DatasetRecord], datetime]:
    """Return a function for the time of a record: its own, else that of the jobs that write or read the dataset."""
    written: dict[str, datetime] = {}
    read: dict[str, datetime] = {}
    for job in batch.jobs:
        for keys, times in ((job.writes, written), (job.reads, read)):
            for key in keys:
                times[key] = max(job.last_seen, times.get(key, job.last_seen))

    def time_of(record: DatasetRecord) -> datetime:
        return record.at or written.get(record.key) or read.get(record.key) or batch.run.at

    return time_of


def latest(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two times; either may be None."""
    return max(one, other) if one is not None and other is not None else one or other


def _both(reference: DatasetReference, other: DatasetReference) -> DatasetReference:
    newer = reference if reference.at >= other.at else other
    first, second = (reference, other) if reference.first_seen <= other.first_seen else (other, reference)
    columns = dict(reference.columns)
    for path, (began, last) in other.columns.items():
        known_first, known_last = columns.get(path, (began, last))
        columns[path] = (min(began, known_first), max(last, known_last))
    return DatasetReference(
        name_then=newer.name_then,
        at=newer.at,
        first_seen=min(reference.first_seen, other.first_seen),
        last_seen=max(reference.last_seen, other.last_seen),
        names=other.names or reference.names,
        written=latest(reference.written, other.written),
        described=latest(reference.described, other.described),
        defined=reference.defined or other.defined,
        columns=columns,
        spelling=first.spelling,
        spellings={**second.spellings, **first.spellings},
    )
