"""Query counts by user, bounded so that their size does not grow with the number of users."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from operator import itemgetter

from lineage.frozen import frozen

__all__ = ["MAX_NAMED_USERS", "UserCounts", "latest"]

MAX_NAMED_USERS = 1_000
"""Maximum number of users listed by name; the others are only counted."""


@frozen(order=True)
class UserCounts:
    """Queries by user: the most frequent users by name, in descending order, and the number of the others.

    Queries whose user is unknown are in neither.
    """

    named: tuple[tuple[str, int], ...] = ()
    others: int = 0
    other_queries: int = 0

    @classmethod
    def of(cls, users: Iterable[tuple[str, int]], most: int = MAX_NAMED_USERS) -> UserCounts:
        """Return the counts from pairs of user and number of queries; a user may occur several times.

        >>> UserCounts.of([("bo", 1), ("ana", 2), ("bo", 3), ("cy", 1)], most=2)
        UserCounts(named=(('bo', 4), ('ana', 2)), others=1, other_queries=1)
        """
        return cls(_most_first(users)).bounded(most)

    @classmethod
    def joined(cls, counts: Iterable[UserCounts]) -> UserCounts:
        """Return the sum of several counts, independent of their order, with every user that any of them lists.

        Unlisted users of several counts may be the same, so `distinct` is a lower bound.

        >>> UserCounts.joined([UserCounts((("ana", 2),), 3, 3), UserCounts((("bo", 1),), 1, 1)])
        UserCounts(named=(('ana', 2), ('bo', 1)), others=2, other_queries=4)
        """
        known = tuple(counts)
        named = _most_first(pair for count in known for pair in count.named)
        least = max((count.distinct for count in known), default=0)
        return cls(named, max(0, least - len(named)), sum(count.other_queries for count in known))

    def bounded(self, most: int = MAX_NAMED_USERS) -> UserCounts:
        """Return the counts with at most `most` users by name."""
        rest = self.named[most:]
        if not rest:
            return self
        more = sum(number for _, number in rest)
        return UserCounts(self.named[:most], self.others + len(rest), self.other_queries + more)

    @property
    def distinct(self) -> int:
        """Number of users; a lower bound if `others` come from several counts."""
        return len(self.named) + self.others


def _most_first(pairs: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    listed = tuple(pairs)
    if len(listed) < 2:
        return listed
    queries: dict[str, int] = {}
    for user, number in listed:
        queries[user] = queries.get(user, 0) + number
    by_name = sorted(queries.items())
    return tuple(sorted(by_name, key=itemgetter(1), reverse=True))  # among equals the order by name stays


def latest(*times: datetime | None) -> datetime | None:
    """Return the latest of the times that are not None; None if there is none."""
    return max((time for time in times if time is not None), default=None)
