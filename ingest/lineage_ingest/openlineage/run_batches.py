"""Batches of observations of runs: each covers one hour of event time, and contains a job at most once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage.model.batch import (
    DatasetRecord,
    EdgeRecord,
    JobRecord,
    LineageBatch,
    RunRecord,
)
from lineage.model.statement import DatasetKind
from lineage_ingest.openlineage.observations import Observed

__all__ = ["batches", "run_of_hour"]


def batches(all_observed: Iterable[Observed]) -> Iterator[LineageBatch]:
    """Yield batches, each of one hour of event time, with each job at most once.

    Equal observations of a job in that hour are merged, from the first time to the last.
    """
    by_hour: dict[datetime, list[Observed]] = defaultdict(list)
    for observation in all_observed:
        by_hour[observation.at.replace(minute=0, second=0, microsecond=0)].append(observation)
    for hour, within in sorted(by_hour.items()):
        within.sort(key=lambda one: one.at)
        rounds: list[_Round] = []
        for observation in within:
            _add_to_rounds(observation, rounds)
        if rounds and rounds[0].others is not None:
            # One batch each: the meaning of a change must not depend on which events arrive together.
            changes, rounds[0].others.changes = dict.fromkeys(rounds[0].others.changes), []
            for change in sorted(changes, key=lambda one: one.at):
                yield LineageBatch(run=_run_of(hour, change.at), changes=(change,))
        for number, each in enumerate(rounds):
            yield each.batch(hour, is_first=number == 0)


@dataclass(slots=True)
class _Round:
    jobs: dict[str, tuple[JobRecord, tuple[EdgeRecord, ...]]] = field(default_factory=dict)
    others: Observed | None = None

    def batch(self, hour: datetime, *, is_first: bool) -> LineageBatch:
        at = max((job.last_seen for job, _ in self.jobs.values()), default=None)
        others = self.others if is_first else None
        if others is not None:
            at = max(at, others.at) if at else others.at
        assert at is not None  # a round is never empty
        return LineageBatch(
            run=_run_of(hour, at),
            datasets=_latest(others.datasets) if others else (),
            jobs=tuple(job for job, _ in self.jobs.values()),
            edges=tuple(edge for _, edges in self.jobs.values() for edge in edges),
            diagnostics=tuple(dict.fromkeys(others.diagnostics)) if others else (),
            aliases=tuple(sorted(set(others.aliases))) if others else (),
        )


def run_of_hour(at: datetime) -> RunRecord:
    """Return the run of the hour of this time."""
    return _run_of(at.replace(minute=0, second=0, microsecond=0), at)


def _run_of(hour: datetime, at: datetime) -> RunRecord:
    source = f"events of {hour:%Y-%m-%d %H}:00"
    return RunRecord(f"openlineage:{hour:%Y-%m-%dT%H}", "openlineage", source, at, began=hour)


def _add_to_rounds(observation: Observed, rounds: list[_Round]) -> None:
    if not rounds:
        rounds.append(_Round(others=Observed(observation.at)))
    others = rounds[0].others
    assert others is not None  # the first round has the records without a job
    others.at = max(others.at, observation.at)
    others.datasets += observation.datasets
    others.changes += observation.changes
    others.diagnostics += observation.diagnostics
    others.aliases += observation.aliases
    edges: dict[str, list[EdgeRecord]] = defaultdict(list)
    for edge in observation.edges:
        edges[edge.job].append(edge)
    for job in observation.jobs:
        stated = tuple(edges[job.key])
        for number, each in enumerate(rounds):
            known = each.jobs.get(job.key)
            if known is None:
                each.jobs[job.key] = (job, stated)
                break
            if (
                known[1] == stated
                and _same(known[0], job)
                and not any(job.key in more.jobs for more in rounds[number + 1 :])
            ):
                each.jobs[job.key] = (_merge(known[0], job), stated)
                break
        else:
            rounds.append(_Round({job.key: (job, stated)}))


def _same(one: JobRecord, other: JobRecord) -> bool:
    return one == replace(other, first_seen=one.first_seen, last_seen=one.last_seen, ties=one.ties)


def _merge(job: JobRecord, other: JobRecord) -> JobRecord:
    """Return one record for two equal ones, from the first time to the last."""
    first, tie_of_first = min((each.first_seen, each.ties[0]) for each in (job, other))
    last, tie_of_last = max((each.last_seen, each.ties[1]) for each in (job, other))
    if job.first_seen == other.first_seen:
        tie_of_first = max(job.ties[0], other.ties[0])
    return replace(other, first_seen=first, last_seen=last, ties=(tie_of_first, tie_of_last))


def _latest(records: Iterable[DatasetRecord]) -> tuple[DatasetRecord, ...]:
    """Return at most two records per dataset, with all aliases: the latest with a schema, and the latest without.

    They have different times: a record without a schema does not confirm the schema.
    """
    latest_records: dict[tuple[str, bool], DatasetRecord] = {}
    for record in records:
        key = record.key, record.schema_known
        known = latest_records.get(key)
        if known is None:
            latest_records[key] = record
            continue
        older, newer = (known, record) if _time_of(record) >= _time_of(known) else (record, known)
        kind = newer.kind if newer.kind is not DatasetKind.TABLE else older.kind
        aliases = tuple(sorted({*older.aliases, *newer.aliases}))
        written = newer if newer.is_spelled or not older.is_spelled else older
        latest_records[key] = replace(
            newer, kind=kind, aliases=aliases, spelling=written.spelling, is_spelled=written.is_spelled
        )
    return tuple(latest_records.values())


def _time_of(record: DatasetRecord) -> datetime:
    assert record.at is not None  # records from events have the event's time
    return record.at
