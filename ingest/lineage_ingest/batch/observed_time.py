"""When what is ingested now was observed: not before what the store has of the same files, if a clock was set back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection

__all__ = ["observed_time"]

_FILES, _JOBS = 20, 200
"""How many files and jobs are looked at: all of a project were stated at one time, as a rule."""
_CLOCKS_DIFFER = timedelta(minutes=1)


def observed_time(
    store: GraphStore, files: Collection[str], given: datetime | None = None, *, now: datetime | None = None
) -> tuple[datetime, str | None]:
    """Return the time for an ingest of these files, and a notice if it is not what one would expect.

    Lineage that is older than what the store has of a job is history, so that after a clock was set back nothing that
    changed would become current. The present (`now`, by default this computer's) is therefore later than what the store
    has. A `given` time stays. `files` are beginnings of file keys.

    Raises:
        StoreError: the store could not be read.
    """
    now = now or datetime.now(UTC)
    latest = _last_stated(store, files)
    if given is not None:
        if given > now:
            return given, f"{given:%Y-%m-%d %H:%M} is in the future: until then, what other ingests state is history"
        if latest is None or latest <= given:
            return given, None
        return given, f"what was observed later (up to {latest:%Y-%m-%d %H:%M}) stays current; this ingest is history"
    if latest is None or latest < now:
        return now, None
    at = latest + timedelta(microseconds=1)
    if latest - now < _CLOCKS_DIFFER:
        return at, None
    return at, (
        f"the clock says {now:%Y-%m-%d %H:%M}, and the latest ingest of these is of {latest:%Y-%m-%d %H:%M}: that time "
        "is taken, so that this ingest counts as the later one. Is the clock right?"
    )


def _last_stated(store: GraphStore, files: Collection[str]) -> datetime | None:
    """Return when the store last heard of the jobs of some of these files; None if it has none."""
    some = sorted(files)[:: max(1, len(files) // _FILES)]
    heads = store.select_jobs(JobSelection(files=tuple(some))) if some else []
    jobs = store.jobs([one.key for one in heads[:: max(1, len(heads) // _JOBS)]]) if heads else []
    return max((one.last_seen for one in jobs), default=None)
