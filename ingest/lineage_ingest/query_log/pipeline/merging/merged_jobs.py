"""The jobs of the stage "merge": each with one record, its edges and its runs, by their keys in the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from lineage.model.batch import EdgeRecord, JobKind, JobRecord, definition_job_key
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import plain_name
from lineage.model.statement import Completeness
from lineage_ingest.batch.composition import merged_edge
from lineage_ingest.query_log.pipeline.merging.statistics import JobRuns
from lineage_ingest.query_log.pipeline.versions.names_of_parts import keeps_what_is_there
from lineage_ingest.query_log.pipeline.versions.version_keys import VersionKeys

__all__ = ["MergedJob", "MergedJobs"]

_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)
_NEVER = datetime.max.replace(tzinfo=UTC)
_EdgeKey = tuple[str, str, EdgeKind, str]


@dataclass(slots=True)
class MergedJob:
    """A job, merged from one or more extraction units."""

    record: JobRecord
    edges: dict[_EdgeKey, EdgeRecord] = field(default_factory=dict)
    runs: JobRuns = field(default_factory=JobRuns)
    began: datetime = _NEVER

    def stated(self) -> Iterable[EdgeRecord]:
        """Return its edges."""
        return self.edges.values()

    def state(self, edge: EdgeRecord) -> None:
        """Add an edge, or merge it with the edge that has the same key."""
        key = (edge.source, edge.target, edge.kind, edge.output)
        known = self.edges.get(key)
        self.edges[key] = edge if known is None else merged_edge(known, edge)

    def take_back(self, edge: EdgeRecord) -> None:
        """Remove an edge."""
        self.edges.pop((edge.source, edge.target, edge.kind, edge.output), None)

    def joined(self, other: MergedJob) -> MergedJob:
        """Return this job and another one with the same text as one job, with the runs of both."""
        runs = JobRuns()
        runs.add(self.runs)
        runs.add(other.runs)
        record = replace(
            runs.into(self.record),
            first_seen=min(self.record.first_seen, other.record.first_seen),
            last_seen=max(self.record.last_seen, other.record.last_seen),
            reads=tuple(sorted({*self.record.reads, *other.record.reads})),
            writes=tuple(sorted({*self.record.writes, *other.record.writes})),
            completeness=max(self.record.completeness, other.record.completeness, key=_WORST.index),
        )
        joined = MergedJob(record, dict(self.edges), runs, min(self.began, other.began))
        for edge in other.stated():
            joined.state(edge)
        return joined

    def add(self, record: JobRecord, began: datetime) -> None:
        """Merge the job's record from another unit."""
        self.began = min(self.began, began)
        old = self.record
        if _text_order(record) < _text_order(old):  # keep the smallest text, in any order of units, and its spans
            self.edges = {key: replace(edge, spans=()) for key, edge in self.edges.items()}
            old, record = record, old
        self.record = replace(
            old,
            first_seen=min(old.first_seen, record.first_seen),
            last_seen=max(old.last_seen, record.last_seen),
            reads=tuple(sorted({*old.reads, *record.reads})),
            writes=tuple(sorted({*old.writes, *record.writes})),
            completeness=max(old.completeness, record.completeness, key=_WORST.index),
        )


class MergedJobs:
    """The jobs of all extraction units."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[str, MergedJob]] = defaultdict(dict)
        """By job key, then by SQL for definitions: several texts may define one dataset."""

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[MergedJob]:
        return (job for jobs in self._by_key.values() for job in jobs.values())

    @property
    def keys(self) -> Collection[str]:
        """The keys of the jobs."""
        return self._by_key.keys()

    def add(self, record: JobRecord, began: datetime) -> MergedJob:
        """Add a record, and return its job, merged with earlier records of the job."""
        versions = self._by_key[record.key]
        version = (record.sql or "") if record.kind.defines_output else ""
        known = versions.get(version)
        if known is None:
            known = versions[version] = MergedJob(record, began=began)
        else:
            known.add(record, began)
        return known

    def rounds(self) -> Iterator[tuple[MergedJob, ...]]:
        """Yield the jobs in rounds; each has a key at most once, and the last has all newest definitions."""
        ordered = [
            sorted(jobs.values(), key=lambda job: (job.record.last_seen, job.record.first_seen, job.record.sql or ""))
            for jobs in self._by_key.values()
        ]
        count = max(map(len, ordered), default=1)
        for number in range(max(count, 1)):
            yield tuple(
                jobs[index] for jobs in ordered if 0 <= (index := len(jobs) - count + number) < len(jobs)
            )  # aligned at the end

    def rename_versions(self, keys: VersionKeys) -> None:
        """Replace the keys of jobs and edges by those in the graph, and drop jobs and edges of datasets not in it."""
        renamed: dict[str, dict[str, MergedJob]] = defaultdict(dict)
        for jobs in self._by_key.values():
            for text, job in jobs.items():
                new = _rename_job(job, keys)
                if new is not None:
                    gone = [key for key in job.record.writes if keys.is_gone(key)]
                    name = f"{text}\x01{gone[0]}" if gone else text
                    known = renamed[new.record.key].get(name)
                    renamed[new.record.key][name] = new if known is None else known.joined(new)
        self._by_key = renamed

    def last_seen(self, keys: VersionKeys) -> dict[str, datetime]:
        """Return the last time that a job reads or writes each dataset that the log renames."""
        seen: dict[str, datetime] = {}
        for job in self:
            at = job.record.last_seen
            for key in filter(keys.moves, (*job.record.reads, *job.record.writes)):
                seen[key] = max(at, seen.get(key, at))
        return seen

    def take_rebuilds_for_definitions(self, anew: Collection[str]) -> None:
        """Turn a CREATE of a table from itself, or with IF NOT EXISTS, into a definition if the log has an earlier one.

        `anew` are tables that IF NOT EXISTS created after the log had dropped them. Otherwise it stays a query, which
        adds to the table's lineage from an earlier log. An IF NOT EXISTS that found the table is not among the jobs.
        """
        for key in [key for key, jobs in self._by_key.items() for job in jobs.values() if _is_rebuild(job.record)]:
            for text, job in list(self._by_key[key].items()):
                [dataset] = job.record.writes
                own = definition_job_key(dataset)
                definitions = self._by_key.get(own, {}).values()
                is_anew = dataset in anew and dataset not in job.record.reads
                if not is_anew and not any(one.record.first_seen < job.record.first_seen for one in definitions):
                    continue
                record = replace(job.record, key=own, kind=JobKind.DEFINITION)
                edges = {edge_key: replace(edge, job=own) for edge_key, edge in job.edges.items()}
                self._by_key[own][record.sql or ""] = MergedJob(record, edges, job.runs, job.began)
                del self._by_key[key][text]
            if not self._by_key[key]:
                del self._by_key[key]


def _rename_job(job: MergedJob, keys: VersionKeys) -> MergedJob | None:
    """Return a job with the keys in the graph; None if the graph has none of the datasets that it writes."""
    record, at = job.record, job.record.last_seen
    writes = tuple(dict.fromkeys(keys.key(key, at) for key in record.writes if not keys.is_unseen(key)))
    if record.writes and not writes:
        return None
    own = keys.job(record.key, at)
    if record.kind is JobKind.POLICY:
        own = plain_name(own)
    if record.kind.defines_output:
        for key in record.writes:
            first, last = keys.since(key, record.first_seen), keys.since(key, record.last_seen)
            record = replace(record, first_seen=first, last_seen=last)
    reads = tuple(dict.fromkeys(keys.key(key, at) for key in record.reads if not keys.is_unseen(key)))
    if record.kind is JobKind.POLICY and record.reads and not reads:
        return None
    new = replace(job, record=replace(record, key=own, reads=reads, writes=writes), edges={})
    for edge in job.edges.values():
        source, target, output = (keys.key(key, at) for key in (edge.source, edge.target, edge.output))
        is_own = source == output  # a table always decides its own rows
        if not (is_own or keys.is_unseen(edge.source) or keys.is_unseen(edge.target)):
            new.state(replace(edge, source=source, target=target, output=output, job=own))
    return new


def _is_rebuild(record: JobRecord) -> bool:
    """Return whether a job creates a table from itself, or unless it is there."""
    return (
        record.kind is JobKind.QUERY
        and len(record.writes) == 1
        and (
            (record.operation == "CREATE_TABLE_AS" and record.writes[0] in record.reads)
            or keeps_what_is_there(record.sql or "")
        )
    )


def _text_order(record: JobRecord) -> tuple[int, str]:
    return len(record.sql or ""), record.sql or ""
