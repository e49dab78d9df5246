"""Jobs that define their outputs and are observed again, unchanged: only times move, by a few statements for all.

Live edges of such a job are as old as the job's observation of their output; writing that to each would take most of
the time, so it is read from there (`loading`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from lineage.store.cypher.backend import Transaction
from lineage.store.cypher.records import writes_from, writes_relationship
from lineage.store.cypher.schema import Changes, SeenAgain
from lineage.store.cypher.statements import query
from lineage.store.planning.graph_state import JobOutput
from lineage.store.planning.observations import ABSENT

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
    # Few are left, and need more than a statement can do: outputs of earlier times, or with many observations.
    rows = transaction.read(query("other_writes_of_jobs"), [{"jobs": [*listed], "last_seen": at}])
    units = {(row["job"], row["dataset"]): writes_from(row["e"]) for row in rows}
    seen = {key: _seen(unit, at) for key, unit in units.items()}
    changed = (writes_relationship(*key, unit) for key, unit in sorted(seen.items()) if unit != units[key])
    transaction.write(Changes(updated_relationships=tuple(changed)))


def _seen(unit: JobOutput, at: datetime) -> JobOutput:
    """Return a unit as an observation with the same content leaves it."""
    if not unit.timeline.present:
        return replace(unit, timeline=unit.timeline.observe(at, ABSENT))
    content = unit.timeline.points[-1][1]
    return replace(unit, last_seen=max(unit.last_seen, at), timeline=unit.timeline.observe(at, content))
