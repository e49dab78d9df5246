"""What a run stores besides lineage: itself, the jobs it observed, diagnostics and usage counts."""

from __future__ import annotations

from dataclasses import replace

from lineage.model.batch import UNFINISHED
from lineage.model.usage import UserCounts
from lineage.store.planning.graph_state import GraphState, JobCounts, RunUsage
from lineage.store.planning.intake import Intake
from lineage.store.values import StoredDiagnostic, StoredRun

__all__ = ["record_run", "record_usage"]


def record_run(state: GraphState, intake: Intake) -> None:
    """Store the run, its observations and diagnostics. Counts are overwritten, never summed."""
    run = intake.run
    known = state.runs.get(run.key)
    finishes = known is not None and UNFINISHED in known.counts and not run.is_unfinished
    state.runs[run.key] = (
        replace(known, last_seen=max(known.last_seen, run.at))
        if known and not finishes
        else StoredRun(
            key=run.key,
            kind=run.kind,
            source=run.source,
            at=known.at if known else run.began or run.at,
            last_seen=max(known.last_seen, run.at) if known else run.at,
            counts=dict(sorted(run.counts.items())),
            seconds=run.seconds,
            complete_sources=tuple(sorted(intake.complete_sources)),
        )
    )
    for job in (*(observation.job for observation in intake.observations), *intake.unchanged):
        state.observed[run.key, job.key] = JobCounts(job.observations, job.duration_us, UserCounts.of(job.users))
    _replace_diagnostics(state, intake)


def record_usage(state: GraphState, intake: Intake) -> None:
    """Store the run's usage counts of datasets and columns."""
    run = intake.run
    for record in intake.usage:
        used = RunUsage(
            run=run.key,
            of=record.of,
            day=record.day,
            reads=record.reads,
            writes=record.writes,
            users=UserCounts.of(record.users),
            last_read=record.last_read,
            last_write=record.last_write,
        )
        state.usage[used.key] = used


def _replace_diagnostics(state: GraphState, intake: Intake) -> None:
    """Replace the older diagnostics of the jobs and sources in the batch by the batch's own.

    The age of a job's diagnostic is that of the job; the age of a source's diagnostic is that of its latest run.
    """
    at = intake.run.at
    observed = {observation.job.key: observation.job.last_seen for observation in intake.observations}
    observed |= {job.key: job.last_seen for job in intake.unchanged}
    late_jobs = {key for key, seen in observed.items() if key in state.jobs and seen < state.jobs[key].last_seen}
    sources = {*intake.complete_sources, *(record.origin for record in intake.diagnostics if record.job is None)}
    newer = {found.origin for found in state.diagnostics.values() if found.job is None and found.last_seen > at}
    for key, diagnostic in list(state.diagnostics.items()):
        job, source = diagnostic.job, diagnostic.origin
        if job in observed:
            restated = job not in late_jobs
        else:
            restated = source in (sources if job is None else intake.complete_sources) and diagnostic.last_seen <= at
        if restated:
            del state.diagnostics[key]
    for record in intake.diagnostics:
        if record.job not in late_jobs if record.job is not None else record.origin not in newer:
            diagnostic = StoredDiagnostic(
                record.diagnostic, record.source, record.job, record.file_key, run=intake.run.key, last_seen=at
            )
            state.diagnostics[diagnostic.key] = diagnostic
