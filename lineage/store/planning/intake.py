"""A batch with current names, as observations of jobs and references to datasets."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import date, datetime
from typing import NamedTuple

from lineage.frozen import frozen
from lineage.model.batch import (
    DatasetChange,
    DatasetRecord,
    DiagnosticRecord,
    EdgeRecord,
    JobRecord,
    RunRecord,
    UsageRecord,
)
from lineage.model.facts import FactsRecord
from lineage.model.influence.evidence import Chain, is_sound
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.model.namespaces import is_path
from lineage.model.spelling import spelling_of
from lineage.model.statement import DatasetKind
from lineage.model.usage import latest
from lineage.store.planning.chunking.chunks import BatchPart, Stage
from lineage.store.planning.chunking.dataset_references import DatasetReference, edges_by_job, times_of_records
from lineage.store.planning.graph_state import EdgeType, JobEdge
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.observations import CONTENT_SIZE
from lineage.store.planning.validity import NOTHING_SAID, Meaning

__all__ = ["DatasetNews", "Intake", "Observation", "Stated", "resolve_intake"]

_RELATION = {EdgeKind.CONTRIBUTES: EdgeType.CONTRIBUTES, EdgeKind.REFERENCES: EdgeType.REFERENCES}


class Stated(NamedTuple):
    """The meaning of an edge, and its spans in the SQL."""

    meaning: Meaning = NOTHING_SAID
    spans: tuple[Chain, ...] = ()


@frozen
class Observation:
    """A job of the batch, with its edges by output; an output with table-level lineage has feeds only.

    `digests` identify the content of an output. They use the names at that time, so that a later RENAME does not change
    them, and do not include spans. An ad-hoc job has none. `spared` are the DROPs of keys that concern other datasets.
    """

    job: JobRecord
    outputs: dict[str, dict[JobEdge, Stated]]
    digests: Mapping[str, str]
    spared: Mapping[str, frozenset[datetime]] = field(default_factory=dict)


@frozen
class DatasetNews:
    """A record of a dataset, with its current key and its time."""

    key: str
    record: DatasetRecord
    at: datetime


@frozen
class Intake:
    """A batch with current names; `changes` are in order, with the names of their time.

    `unchanged` are jobs that the run observed as they are stored.
    """

    run: RunRecord
    complete_sources: frozenset[str]
    observations: tuple[Observation, ...]
    datasets: tuple[DatasetNews, ...]
    changes: tuple[DatasetChange, ...]
    diagnostics: tuple[DiagnosticRecord, ...]
    usage: tuple[UsageRecord, ...]
    references: Mapping[str, DatasetReference]
    stages: frozenset[Stage]
    facts: tuple[FactsRecord, ...] = ()
    unchanged: tuple[JobRecord, ...] = ()

    @property
    def observed_jobs(self) -> set[str]:
        """The keys of the jobs that the run observed."""
        return {one.job.key for one in self.observations} | {job.key for job in self.unchanged}


def resolve_intake(part: BatchPart, naming: NamesOverTime) -> Intake:
    """Return a batch, or a part of one, with current names. `naming` includes the batch's own changes."""
    batch = part.batch
    times = {job.key: job.last_seen for job in batch.jobs}
    edges = edges_by_job(batch)
    observations = (_observation(job, edges.get(job.key, ()), naming) for job in batch.jobs)
    time_of = times_of_records(batch)

    def job_today(job: str | None) -> str | None:
        return naming.job_today(job, times.get(job, batch.run.at)) if job else None

    def used_today(record: UsageRecord) -> UsageRecord:
        of = naming.key_today(record.of, record.named_at)
        return record if of == record.of else replace(record, of=of)

    def reported_today(record: DiagnosticRecord) -> DiagnosticRecord:
        job = job_today(record.job)
        return record if job == record.job else replace(record, job=job)

    return Intake(
        run=batch.run,
        complete_sources=frozenset(batch.complete_sources),
        observations=tuple(sorted(observations, key=lambda one: (one.job.last_seen, one.job.key))),
        datasets=tuple(_news(record, time_of(record), naming) for record in batch.datasets),
        changes=batch.changes,
        diagnostics=tuple(map(reported_today, batch.diagnostics)),
        usage=_one_a_day(used_today(record) for record in batch.usage),
        references=part.references_today(naming),
        stages=part.stages,
        facts=tuple(_facts_today(record, naming) for record in batch.facts),
        unchanged=part.unchanged,
    )


def _observation(job: JobRecord, edges: Iterable[EdgeRecord], naming: NamesOverTime) -> Observation:
    at = job.last_seen
    edges = tuple(edges)
    digests = _digests(job, edges, lambda key: naming.today(key, at)) if job.kind.defines_output else {}
    same = naming.keeps_all
    spared = (
        {}
        if same
        else {
            naming.today(name, at): drops
            for name in (*job.reads, *job.writes)
            if (drops := naming.drops_of_others(name, at))
        }
    )
    key = naming.job_today(job.key, at)
    reads = tuple(dict.fromkeys(naming.today(key, at) for key in job.reads))
    writes = tuple(dict.fromkeys(naming.today(key, at) for key in job.writes))
    if (key, reads, writes) != (job.key, job.reads, job.writes):
        job = replace(job, key=key, reads=reads, writes=writes)
    outputs: dict[str, dict[JobEdge, Stated]] = {output: {} for output in job.writes}
    for output, stated in outputs.items():
        for read in job.reads:
            if read != output:
                stated[JobEdge(read, output, EdgeType.FEEDS, job.key, read, output)] = Stated()
    for edge in edges:
        relation, output = _RELATION[edge.kind], edge.output
        if same:
            target = edge.target if is_column_key(edge.target) else output
            pair = JobEdge(edge.source, target, relation, job.key, dataset_of(edge.source), output)
        else:
            output = naming.today(output, at)
            pair = JobEdge(
                source=naming.key_today(edge.source, at),
                target=naming.key_today(edge.target, at) if is_column_key(edge.target) else output,
                relation=relation,
                job=job.key,
                from_dataset=naming.today(dataset_of(edge.source), at),
                output=output,
            )
        stated = outputs.setdefault(output, {})
        new = Stated(_meaning(edge), _proofs(edge))
        stated[pair] = _both(stated[pair], new) if pair in stated else new
    if len(outputs) > len(job.writes):
        job = replace(job, writes=tuple(outputs))
    return Observation(job, outputs, digests, spared)


def _digests(job: JobRecord, edges: Iterable[EdgeRecord], today: Callable[[str], str]) -> dict[str, str]:
    reads = [f"{read}\x1f{EdgeType.FEEDS}" for read in job.reads]
    lines: dict[str, set[str]] = defaultdict(set)
    for output in job.writes:
        lines[today(output)].update(reads)
    for edge in edges:
        lines[today(edge.output)].add(f"{edge.source}\x1f{edge.target}\x1f{edge.kind}\x1f{_meaning(edge)}")
    return {
        output: hashlib.sha256("\x1e".join(sorted(found)).encode()).hexdigest()[:CONTENT_SIZE]
        for output, found in lines.items()
    }


def _meaning(edge: EdgeRecord) -> Meaning:
    return Meaning(edge.subtypes, edge.masking, edge.limited, edge.ambiguous, edge.partly_masking)


def _proofs(edge: EdgeRecord) -> tuple[Chain, ...]:
    """Return the valid proofs of an edge; invalid ones are not stored."""
    return edge.spans if all(map(is_sound, edge.spans)) else tuple(filter(is_sound, edge.spans))


def _both(one: Stated, other: Stated) -> Stated:
    return Stated(one.meaning.joined(other.meaning), tuple(sorted({*one.spans, *other.spans})))


def _one_a_day(records: Iterable[UsageRecord]) -> tuple[UsageRecord, ...]:
    """Merge the records of the same day whose dataset or column is the same today."""
    merged_records: dict[tuple[str, date], UsageRecord] = {}
    for record in records:
        key = (record.of, record.day)
        known = merged_records.get(key)
        merged_records[key] = record if known is None else _counted_together(known, record)
    return tuple(merged_records.values())


def _counted_together(record: UsageRecord, other: UsageRecord) -> UsageRecord:
    return replace(
        record,
        reads=record.reads + other.reads,
        writes=record.writes + other.writes,
        users=(*record.users, *other.users),
        last_read=latest(record.last_read, other.last_read),
        last_write=latest(record.last_write, other.last_write),
    )


def _facts_today(record: FactsRecord, naming: NamesOverTime) -> FactsRecord:
    key, at = record.dataset, record.facts.at
    columns = record.columns
    if naming.renames_columns(key):
        columns = {naming.column_today(key, path, at)[1]: facts for path, facts in columns.items()}
    return FactsRecord(naming.today(key, at), record.facts, columns)


def _news(record: DatasetRecord, at: datetime, naming: NamesOverTime) -> DatasetNews:
    if naming.renames_columns(record.key):
        paths = (naming.column_today(record.key, column.path, at)[1] for column in record.columns)
        columns = tuple(
            replace(column, path=path, spelling=spelling_of(path, column.spelling))
            for column, path in zip(record.columns, paths, strict=True)
        )
        record = replace(record, columns=columns)
    if record.key in naming.aliases and record.kind is DatasetKind.FILE and not is_path(naming.aliases[record.key]):
        record = replace(record, kind=DatasetKind.TABLE)
    return DatasetNews(naming.today(record.key, at), record, at)
