"""Jobs that define their outputs and are observed again, unchanged: only times move, by a few statements for all.

What such a job reads and writes has no times of its own, and its live edges are as old as the observation of their
output: writing that to each would take most of the time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import job_from, writes_from, writes_relationship
from lineage.store.graph.schema import Changes, Relationship, SeenAgain
from lineage.store.graph.statements import query

__all__ = ["is_seen_after", "see_again"]


def is_seen_after(transaction: Transaction, jobs: Collection[str], datasets: Collection[str], at: datetime) -> bool:
    """Return whether anything from after a time is known of jobs, of what they read and write, or of datasets.

    A DROP, rename or prune counts whatever it is of, a retired job whenever it was.
    """
    row = {"jobs": sorted(jobs), "datasets": sorted(datasets), "at": at}
    asked = {
        "changes_after": ("at",),
        "prunes_after": ("at",),
        "jobs_seen_after": ("jobs", "at"),
        "datasets_seen_after": ("datasets", "at"),
        "datasets_of_jobs_seen_after": ("jobs", "at"),
    }
    return any(transaction.read(query(name), [{one: row[one] for one in names}]) for name, names in asked.items())


def see_again(
    transaction: Transaction, jobs: Collection[str], datasets: Collection[str], since: datetime, at: datetime
) -> None:
    """Record that jobs and datasets were observed again at `at`, as they were at `since`."""
    listed = tuple(sorted(jobs))
    transaction.write(Changes(seen_again=(SeenAgain(listed, tuple(sorted(datasets)), since, at),)))
    # Few have times of their own: those that the jobs no longer write, and those of jobs that others were merged with.
    rows = transaction.read(query("dated_writes_of_jobs"), [{"jobs": [*listed]}])
    changed = tuple(one for row in rows if (one := _written_again(row, at)) is not None)
    transaction.write(Changes(updated_relationships=changed))


def _written_again(row: Mapping[str, Any], at: datetime) -> Relationship | None:
    """Return the relationship to what a job still writes, after an observation with the same content."""
    job = job_from(row["n"])
    unit = writes_from({**row, "first_seen": row["since"]}, job)
    if not unit.timeline.present:
        return None
    line = unit.timeline.observe(at, unit.timeline.points[-1][1])
    return writes_relationship(job, row["dataset"], replace(unit, last_seen=max(unit.last_seen, at), timeline=line))
