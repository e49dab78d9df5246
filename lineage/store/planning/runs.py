"""What a run leaves beside lineage: itself, what it observed, its diagnostics and its counts of use."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from lineage.store.planning.intake import Intake
from lineage.store.planning.state import FoundDiagnostic, Run, State, Usage

__all__ = ["record_run"]


def record_run(state: State, before: State, intake: Intake) -> None:
    """Store the run, its observations, diagnostics and use. Counts are overwritten, never added up."""
    run = intake.run
    known = state.runs.get(run.key)
    state.runs[run.key] = (
        replace(known, last_seen=max(known.last_seen, run.at))
        if known
        else Run(
            key=run.key,
            kind=run.kind,
            source=run.source,
            at=run.at,
            last_seen=run.at,
            counts=tuple(sorted(run.counts.items())),
            seconds=run.seconds,
            complete_sources=tuple(sorted(intake.complete_sources)),
        )
    )
    for observation in intake.observations:
        state.observed[run.key, observation.job.key] = observation.job.observations
    for record in intake.usage:
        used = Usage(
            run=run.key,
            of=record.of,
            of_column=intake.column_owner(record.of) != record.of,
            day=record.day,
            reads=record.reads,
            writes=record.writes,
        )
        state.usage[used.key] = used
    _replace_diagnostics(state, before, intake)


def _replace_diagnostics(state: State, before: State, intake: Intake) -> None:
    """Store the batch's diagnostics in place of those of the jobs and sources that it restates, if they are older."""
    jobs = {observation.job.key: observation.job.last_seen for observation in intake.observations}
    sources = {*intake.complete_sources, *(record.source for record in intake.diagnostics if record.job is None)}
    newest: dict[str, datetime] = {}
    for found in before.diagnostics.values():
        source = found.record.source
        newest[source] = max(found.last_seen, newest.get(source, found.last_seen))

    def is_late(job: str | None, source: str) -> bool:
        if job is not None and job in before.jobs and job in jobs:
            return jobs[job] < before.jobs[job].last_seen
        return source in newest and intake.run.at < newest[source]

    for key, found in list(state.diagnostics.items()):
        job, source = found.record.job, found.record.source
        restated = job in jobs or source in intake.complete_sources or (job is None and source in sources)
        if restated and not is_late(job, source):
            del state.diagnostics[key]
    for record in intake.diagnostics:
        if not is_late(record.job, record.source):
            state.diagnostics[record.key] = FoundDiagnostic(record, intake.run.key, intake.run.at)
