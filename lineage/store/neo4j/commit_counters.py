"""Counters that show readers whether a transaction was committed while they read.

Neo4j's isolation level is read committed, and it applies a commit change by change: a reader sees a part of it until
it is complete. So a writer increments a counter immediately before its commit and once more after it, in transactions
of their own, and a reader that finds an odd or a changed counter reads again (a sequence lock).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from neo4j import ManagedTransaction

from lineage.store.errors import StoreError
from lineage.store.exploring import View
from lineage.store.planning.chunking.chunks import LOCK_STRIPES

__all__ = ["ABANDONED_SECONDS", "begin_commit", "end_commit", "read_between_commits", "read_one_state"]

T = TypeVar("T")
Run = Callable[..., object]
"""Runs a statement with parameters in a transaction of its own, and returns when that is committed."""

ATTEMPTS = 5
"""Times that a reader reads before it accepts that commits overlap with every attempt."""
WAIT_SECONDS = 2.0
"""Time that a reader waits for commits to be complete."""
POLL_SECONDS = 0.002
ABANDONED_SECONDS = 30
"""A commit takes less; the writer of an older odd counter was killed between its commit and the second increment."""

_BEGIN = (
    "MERGE (m:Meta {key: $key}) SET m.version = coalesce(m.version, 0) + 1 + coalesce(m.version, 0) % 2, "
    "m.began = timestamp()"
)
_END = "MATCH (m:Meta {key: $key}) SET m.version = m.version + m.version % 2"
_READ = (
    "UNWIND $keys AS key MATCH (m:Meta {key: key}) RETURN sum(m.version) AS commits, "
    f"max(CASE WHEN m.version % 2 = 1 THEN m.began END) > timestamp() - {ABANDONED_SECONDS * 1000} AS committing"
)


def begin_commit(run: Run, stripe: int) -> None:
    """Make the counter of a lock stripe odd. The caller holds the stripe, so no other writer uses its counter."""
    run(_BEGIN, key=_key(stripe))


def end_commit(run: Run, stripe: int) -> None:
    """Make the counter even again, after the commit or its failure."""
    run(_END, key=_key(stripe))


def read_between_commits(transaction: ManagedTransaction, read: Callable[[], T], view: View) -> T:
    """Return the result of `read`, repeated while writers commit beside it.

    If commits overlap with every one of `ATTEMPTS` attempts, or one takes longer than `WAIT_SECONDS`, the last result
    is returned: a writer that never rests does not stop readers, but what they see may be in the middle of a commit.

    Raises:
        StoreTimeoutError: the view's deadline has passed.
    """
    waiting_until = time.monotonic() + WAIT_SECONDS
    before = _wait_for_commits(transaction, waiting_until, view)
    for attempt in range(1, ATTEMPTS + 1):
        result = read()
        after, _ = _count_commits(transaction)
        if after == before or attempt == ATTEMPTS:
            break
        before = _wait_for_commits(transaction, waiting_until, view)
    return result


def read_one_state(transaction: ManagedTransaction, read: Callable[[], T]) -> T:
    """Return the result of `read`, repeated until no commit has overlapped with it.

    Raises:
        StoreError: commits overlap with every attempt.
    """
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        before, committing = _count_commits(transaction)
        if not committing:
            result = read()
            if _count_commits(transaction) == (before, False):
                return result
        time.sleep(POLL_SECONDS)
    raise StoreError("the graph is written all the time", "try again later")


def _wait_for_commits(transaction: ManagedTransaction, until: float, view: View) -> int:
    while True:
        commits, committing = _count_commits(transaction)
        if not committing or time.monotonic() > until:
            return commits
        time.sleep(POLL_SECONDS)
        # Raises when the deadline has passed.
        _ = view.seconds_left


def _count_commits(transaction: ManagedTransaction) -> tuple[int, bool]:
    """Return the sum of the counters, which only grow, and whether a commit is being applied."""
    record = transaction.run(_READ, keys=_KEYS).single(strict=True)
    return record["commits"], bool(record["committing"])


def _key(stripe: int) -> str:
    return f"commits {stripe}"


_KEYS = [_key(stripe) for stripe in range(LOCK_STRIPES)]
