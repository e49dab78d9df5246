"""When what is ingested now was observed: never before what the store has of the same kind, if a clock was set back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lineage.store.protocol import GraphStore

__all__ = ["observed_time"]

_RUNS = 1_000
_CLOCKS_DIFFER = timedelta(minutes=1)


def observed_time(
    store: GraphStore, kind: str, given: datetime | None = None, *, now: datetime | None = None
) -> tuple[datetime, str | None]:
    """Return the time for an ingest of this kind (`RunRecord.kind`), and a notice if it is not what one would expect.

    Lineage that is older than what the store has is history, so that after a clock was set back nothing that changed
    would become current. The present (`now`, by default this computer's) is therefore at least the time of the latest
    ingest. A `given` time stays.
    """
    now = now or datetime.now(UTC)
    latest = next((run.last_seen for run in store.runs(_RUNS) if run.kind == kind), None)
    if given is not None:
        if latest is None or latest <= given:
            return given, None
        return given, f"what was observed later (up to {latest:%Y-%m-%d %H:%M}) stays current; this ingest is history"
    if latest is None or latest < now:
        return now, None
    at = latest + timedelta(microseconds=1)
    if latest - now < _CLOCKS_DIFFER:
        return at, None
    return at, (
        f"the clock says {now:%Y-%m-%d %H:%M}, and the latest ingest is of {latest:%Y-%m-%d %H:%M}: that "
        "time is taken, so that this ingest counts as the later one. Is the clock right?"
    )
