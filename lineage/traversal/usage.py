"""Usage totals of a dataset or a column over a range of days."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from lineage.frozen import frozen
from lineage.model.usage import UserCounts, latest
from lineage.store.values import StoredUsage

__all__ = ["UsageTotal", "total_usage"]


@frozen
class UsageTotal:
    """Usage over a range of days: number of reading and writing queries, and their users, the most frequent first.

    `days` is the number of days with any usage, `first_day` and `last_day` the first and last of them (None if unused).
    """

    reads: int
    writes: int
    days: int
    first_day: date | None
    last_day: date | None
    users: UserCounts
    last_read: datetime | None
    last_write: datetime | None

    def to_dict(self, top: int = 10) -> dict[str, Any]:
        """Return the totals as plain values, with at most `top` users by name."""
        return {
            "reads": self.reads,
            "writes": self.writes,
            "days": self.days,
            "first_day": self.first_day,
            "last_day": self.last_day,
            "distinct_users": self.users.distinct,
            "top_users": [{"user": user, "queries": queries} for user, queries in self.users.named[:top]],
            "last_read": self.last_read,
            "last_write": self.last_write,
        }


def total_usage(usage: Iterable[StoredUsage], since: date | None = None, until: date | None = None) -> UsageTotal:
    """Return the usage on all days from `since` to `until` (inclusive; None: unbounded).

    `usage` are the days of one dataset or column, as `GraphStore.usage` returns them; a user who occurs on several days
    counts once.
    """
    counted = [one for one in usage if (since is None or one.day >= since) and (until is None or one.day <= until)]
    days = {one.day for one in counted}
    return UsageTotal(
        reads=sum(one.reads for one in counted),
        writes=sum(one.writes for one in counted),
        days=len(days),
        first_day=min(days, default=None),
        last_day=max(days, default=None),
        users=UserCounts.joined(one.users for one in counted),
        last_read=latest(*(one.last_read for one in counted)),
        last_write=latest(*(one.last_write for one in counted)),
    )
