"""What the ingested query logs cover: from when to when, of which systems, and what of them was not understood."""

from __future__ import annotations

from datetime import date

from lineage.frozen import frozen
from lineage.model.names import split_dataset_key
from lineage.store.protocol import GraphStore

__all__ = ["LogCoverage", "NoLogError", "log_coverage"]

_ALL_RUNS = 100_000


class NoLogError(LookupError):
    """No query log covers the time that is asked about; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@frozen
class LogCoverage:
    """The first and last day with logged use, the namespaces with any, and the statements that were not understood."""

    first_day: date
    last_day: date
    namespaces: frozenset[str]
    statements: int
    unresolved: int

    @property
    def days(self) -> int:
        """Number of days from the first to the last."""
        return (self.last_day - self.first_day).days + 1

    @property
    def text(self) -> str:
        """What is covered, in words."""
        systems = ", ".join(sorted(self.namespaces))
        unresolved = f"; {self.unresolved:,} of {self.statements:,} statements were not understood"
        return f"logs from {self.first_day} to {self.last_day} of {systems}{unresolved if self.unresolved else ''}"


def log_coverage(store: GraphStore, since: date | None = None, until: date | None = None) -> LogCoverage:
    """Return what the logs cover; `since` and `until` are the time that is asked about.

    Raises:
        NoLogError: nothing is known of that time.
        StoreError: the store could not be read.
    """
    totals = store.usage_totals()
    if not totals:
        raise NoLogError("no log covers any day: no ingested query log shows any use", "lineage ingest log FILES")
    first, last = min(one.first_day for one in totals), max(one.last_day for one in totals)
    if (since is not None and last < since) or (until is not None and first > until):
        asked = f"{since or 'the beginning'} to {until or 'today'}"
        raise NoLogError(
            f"no log covers {asked}: the logs end on {last}" if since and last < since
            else f"no log covers {asked}: the logs begin on {first}",
            "ingest a log of that time, or ask about another time",
        )  # fmt: skip
    runs = [one for one in store.runs(_ALL_RUNS) if one.kind == "log"]
    return LogCoverage(
        first,
        last,
        frozenset(split_dataset_key(one.of)[0] for one in totals),
        sum(one.counts.get("statements", 0) for one in runs),
        sum(one.counts.get("unresolved", 0) for one in runs),
    )
