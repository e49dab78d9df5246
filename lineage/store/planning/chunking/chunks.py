"""Split a batch into parts that are applied in separate transactions, many of them concurrently.

A batch is applied in stages (`Stage`), in order. The parts of one round may be applied concurrently, in any order and
repeatedly; a round starts when the previous one is applied. Together they have the effect of the whole batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from zlib import crc32

from lineage.frozen import frozen
from lineage.model.batch import DatasetRecord, EdgeRecord, JobRecord, LineageBatch, UsageRecord
from lineage.model.facts import FactsRecord
from lineage.model.names import dataset_of
from lineage.store.planning.chunking.dataset_references import (
    DatasetReference,
    edges_by_job,
    find_references,
    joined,
    times_of_records,
)
from lineage.store.planning.naming import NamesOverTime

__all__ = ["LOCK_STRIPES", "BatchPart", "Stage", "split_batch", "whole_batch"]

LOCK_STRIPES = 16
"""Number of lock stripes that jobs and datasets hash to; a power of two. Parts of different stripes change different
nodes and relationships."""

EDGES_IN_A_PART = 30_000
COLUMNS_IN_A_PART = 30_000
"""Size of a part. It bounds the memory for planning; a commit of copied rows costs the embedded store up to a second
regardless of their number."""


class Stage(StrEnum):
    """A step of applying a batch."""

    CHANGES = "changes"
    """RENAME, SWAP and DROP of datasets."""
    NODES = "nodes"
    """New datasets and columns, so that relationships find both ends."""
    JOBS = "jobs"
    """Jobs, their edges, and what they read and write."""
    RETIREMENT = "retirement"
    """Jobs that a complete source no longer contains."""
    DATASETS = "datasets"
    """Times and descriptions of datasets, removed columns, usage counts."""
    RUN = "run"
    """The run, the jobs that it observed, its diagnostics."""


@frozen
class BatchPart:
    """A part of a batch: its stages, and the records that they apply. It can be pickled.

    `references` are its datasets; None: all datasets of the batch. Parts that share one of the `stripes` are not
    written concurrently; a part without stripes is written alone. `unchanged` are jobs that the run observed as well,
    and that are stored as it observed them.
    """

    batch: LineageBatch
    stages: frozenset[Stage] = frozenset(Stage)
    references: tuple[DatasetReference, ...] | None = None
    stripes: tuple[int, ...] = ()
    unchanged: tuple[JobRecord, ...] = ()

    def references_today(self, naming: NamesOverTime) -> Mapping[str, DatasetReference]:
        """Return the references to each dataset of the part, by the dataset's current key."""
        if self.references is not None:
            return joined(self.references, naming)
        if self.stages.isdisjoint({Stage.CHANGES, Stage.NODES, Stage.DATASETS}):
            return {}
        return find_references(self.batch, naming)

    def with_nodes(self) -> BatchPart:
        """Return the part with the nodes that its relationships need; it must be written alone."""
        return replace(self, stages=self.stages | {Stage.NODES}, stripes=())

    @property
    def begins(self) -> datetime:
        """The earliest time in the part."""
        batch = self.batch
        times = chain(
            (job.first_seen for job in batch.jobs),
            (change.at for change in batch.changes),
            (record.at for record in batch.datasets if record.at is not None),
            (used.midnight for used in batch.usage),
            (stated.facts.at for stated in batch.facts),
            (reference.first_seen for reference in self.references or ()),
        )
        return min(times, default=batch.run.at)


def whole_batch(batch: LineageBatch) -> BatchPart:
    """Return a batch as a single part."""
    return BatchPart(batch)


def split_batch(batch: LineageBatch, naming: NamesOverTime) -> list[list[BatchPart]]:
    """Return the parts of a batch, in rounds. `naming` includes the batch's own changes."""
    parts = _BatchParts(batch, naming)
    rounds = [
        parts.of_changes(),
        parts.of_datasets(Stage.NODES),
        parts.of_jobs(),
        parts.of_retirement(),
        parts.of_datasets(Stage.DATASETS),
        parts.of_run(),
    ]
    return [found for found in rounds if found]


class _BatchParts:
    def __init__(self, batch: LineageBatch, naming: NamesOverTime) -> None:
        self.batch = batch
        self.of_all = LineageBatch(run=batch.run, changes=batch.changes, aliases=batch.aliases)
        """What each part has."""
        self.naming = naming
        self.references = find_references(batch, naming)
        time_of = times_of_records(batch)
        self.records: dict[str, list[DatasetRecord]] = defaultdict(list)
        for record in batch.datasets:
            at = time_of(record)
            self.records[naming.today(record.key, at)].append(replace(record, at=at))
        self.facts: dict[str, list[FactsRecord]] = defaultdict(list)
        for stated in batch.facts:
            self.facts[naming.today(stated.dataset, stated.facts.at)].append(stated)
        self.usage: dict[str, list[UsageRecord]] = defaultdict(list)
        for used in batch.usage:
            self.usage[naming.today(dataset_of(used.of), used.named_at)].append(used)
        # Each job once, without the fields that only its edges need.
        self.jobs_alone = tuple(replace(job, reads=(), writes=(), sql=None) for job in batch.jobs)

    def of_changes(self) -> list[BatchPart]:
        changes = self.batch.changes
        if not changes and not self.batch.aliases:
            return []
        keys = {
            key for change in changes for name in change.datasets for key in (name, self.naming.after(name, change))
        }
        references = tuple(self.references[key] for key in keys & self.references.keys())
        return [_part(Stage.CHANGES, self.of_all, references=references)]

    def of_datasets(self, stage: Stage) -> list[BatchPart]:
        made = stage is Stage.NODES

        def size(key: str) -> int:
            described = sum(len(record.columns) for record in self.records.get(key, ()))
            described += sum(len(record.columns) for record in self.facts.get(key, ()))
            return 1 + len(self.references[key].columns) + described

        return [
            _part(
                stage,
                replace(
                    self.of_all,
                    datasets=tuple(record for key in keys for record in self.records.get(key, ())),
                    usage=() if made else tuple(used for key in keys for used in self.usage.get(key, ())),
                    facts=() if made else tuple(one for key in keys for one in self.facts.get(key, ())),
                ),
                stripes,
                tuple(self._mention(key, with_columns=made) for key in keys),
            )
            for stripes, keys in _chunks({key: size(key) for key in self.references}, COLUMNS_IN_A_PART)
        ]

    def of_jobs(self) -> list[BatchPart]:
        edges = edges_by_job(self.batch)
        records: dict[str, list[JobRecord]] = defaultdict(list)
        for job in self.batch.jobs:
            records[self.naming.job_today(job.key, job.last_seen)].append(job)

        def stated(key: str) -> Iterable[EdgeRecord]:
            return chain.from_iterable(edges.get(name, ()) for name in dict.fromkeys(job.key for job in records[key]))

        def size(key: str) -> int:
            return sum(1 + len(job.reads) * len(job.writes) + len(edges.get(job.key, ())) for job in records[key])

        return [
            _part(
                Stage.JOBS,
                replace(
                    self.of_all,
                    jobs=tuple(job for key in keys for job in records[key]),
                    edges=tuple(edge for key in keys for edge in stated(key)),
                ),
                stripes,
            )
            for stripes, keys in _chunks({key: size(key) for key in records}, EDGES_IN_A_PART)
        ]

    def of_retirement(self) -> list[BatchPart]:
        sources = self.batch.complete_sources
        retired = replace(self.of_all, jobs=self.jobs_alone, complete_sources=sources)
        return [_part(Stage.RETIREMENT, retired)] if sources else []

    def of_run(self) -> list[BatchPart]:
        batch = self.batch
        listed = (record for records in self.records.values() for record in records)
        ran = replace(
            self.of_all,
            jobs=self.jobs_alone,
            datasets=tuple(record for record in listed if any(one.is_added for one in record.columns)),
            diagnostics=batch.diagnostics,
            complete_sources=batch.complete_sources,
        )
        return [_part(Stage.RUN, ran)]

    def _mention(self, key: str, *, with_columns: bool) -> DatasetReference:
        reference = self.references[key]
        return reference if with_columns else replace(reference, columns={})


def _part(
    stage: Stage,
    batch: LineageBatch,
    stripes: tuple[int, ...] = (),
    references: tuple[DatasetReference, ...] | None = None,
) -> BatchPart:
    return BatchPart(batch, frozenset({stage}), references, stripes)


def _chunks(sizes: Mapping[str, int], at_most: int) -> Iterator[tuple[tuple[int, ...], Sequence[str]]]:
    """Yield chunks of keys, each with its lock stripes; chunks of one stripe are spread as far apart as possible.

    If there are fewer chunks than stripes, a chunk has several stripes.
    """
    groups = LOCK_STRIPES
    while groups > 1 and sum(sizes.values()) < at_most * groups:
        groups //= 2
    chunks: dict[int, list[list[str]]] = defaultdict(lambda: [[]])
    filled: dict[int, int] = defaultdict(int)
    for key, size in sizes.items():
        group = crc32(key.encode()) % LOCK_STRIPES % groups
        if chunks[group][-1] and filled[group] + size > at_most:
            chunks[group].append([])
            filled[group] = 0
        chunks[group][-1].append(key)
        filled[group] += size
    for turn in range(max(map(len, chunks.values()), default=0)):
        for group, in_turn in sorted(chunks.items()):
            if turn < len(in_turn):
                yield tuple(range(group, LOCK_STRIPES, groups)), in_turn[turn]
