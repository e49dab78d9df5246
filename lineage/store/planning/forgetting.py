"""Plan the manual retirement of jobs, and changes of job keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from lineage.model.batch import JobKind
from lineage.store.planning.datasets import AllDrops
from lineage.store.planning.graph_state import GraphState, Seen
from lineage.store.planning.job_outputs import Units
from lineage.store.planning.renaming.renames import join_jobs, join_units, rekey_items
from lineage.store.planning.validity import join
from lineage.store.values import JobIdentity, StoredJob

__all__ = ["plan_rekeying", "plan_retirement"]


def plan_retirement(before: GraphState, at: datetime) -> GraphState:
    """Return the state in which the jobs are retired from `at` on and their diagnostics deleted."""
    after = before.copy()
    units = Units(after, AllDrops({}, {}), {})
    for job in before.jobs.values():
        if job.retired_at is None:
            units.retire(job, max(at, job.last_seen))
    after.diagnostics.clear()
    return after


def plan_rekeying(before: GraphState, identities: Mapping[str, JobIdentity]) -> GraphState:
    """Return the state in which jobs have new keys; they are merged with jobs that already have such a key."""
    after = before.copy()

    def key_of(job: str) -> str:
        return identities[job].key if job in identities else job

    def renamed(key: str, job: StoredJob) -> tuple[str, StoredJob]:
        known = identities.get(key)
        if known is None:
            return key, job
        kind, operation = known.kind or job.kind, known.operation or job.operation
        moved = replace(
            job, key=known.key, file_key=known.file_key, source=known.source, kind=kind, operation=operation
        )
        if job.kind is JobKind.SQL_FILE:
            return known.key, moved
        # The positions are of its own text, not of the file that has it now.
        return known.key, replace(moved, source_line=None, positions=())

    after.jobs = rekey_items(before.jobs, renamed, join_jobs)
    after.reads = rekey_items(before.reads, lambda link, seen: ((key_of(link[0]), link[1]), seen), Seen.joined)
    after.units = rekey_items(before.units, lambda link, unit: ((key_of(link[0]), link[1]), unit), join_units)
    after.histories = rekey_items(
        before.histories,
        lambda pair, history: (pair._replace(job=key_of(pair.job)), history),
        lambda arriving, there: join(there, arriving),
    )
    after.observed = rekey_items(before.observed, lambda link, seen: ((link[0], key_of(link[1])), seen), max)
    # The ingest that assigns the keys reports their diagnostics again.
    after.diagnostics.clear()
    return after
