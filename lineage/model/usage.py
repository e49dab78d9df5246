"""Who used something, and how often: counts by user, bounded so that no count grows with the number of users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

__all__ = ["MAX_NAMED_USERS", "UserCounts", "latest"]

MAX_NAMED_USERS = 1_000
"""How many users one count names; what is beyond is kept as numbers."""


@dataclass(frozen=True, slots=True, order=True)
class UserCounts:
    """Queries by user: the users with the most by name, those first, and the others as numbers.

    Queries whose user is not known are in neither.
    """

    named: tuple[tuple[str, int], ...] = ()
    others: int = 0
    other_queries: int = 0

    @classmethod
    def of(cls, users: Iterable[tuple[str, int]], most: int = MAX_NAMED_USERS) -> UserCounts:
        """Return the counts of pairs of user and queries, of which one user may have several.

        >>> UserCounts.of([("bo", 1), ("ana", 2), ("bo", 3), ("cy", 1)], most=2)
        UserCounts(named=(('bo', 4), ('ana', 2)), others=1, other_queries=1)
        """
        return cls(_most_first(users)).bounded(most)

    @classmethod
    def joined(cls, counts: Iterable[UserCounts]) -> UserCounts:
        """Return several counts as one, in whatever order they come, with all users that any of them names.

        Which of the users that are not named are the same is not known: `distinct` is then the least that fits.

        >>> UserCounts.joined([UserCounts((("ana", 2),), 3, 3), UserCounts((("bo", 1),), 1, 1)])
        UserCounts(named=(('ana', 2), ('bo', 1)), others=2, other_queries=4)
        """
        known = tuple(counts)
        named = _most_first(pair for count in known for pair in count.named)
        least = max((count.distinct for count in known), default=0)
        return cls(named, max(0, least - len(named)), sum(count.other_queries for count in known))

    def bounded(self, most: int = MAX_NAMED_USERS) -> UserCounts:
        """Return the counts with no more than so many users named."""
        rest = self.named[most:]
        if not rest:
            return self
        more = sum(number for _, number in rest)
        return UserCounts(self.named[:most], self.others + len(rest), self.other_queries + more)

    @property
    def distinct(self) -> int:
        """How many users there are; where `others` come from several counts, at least so many."""
        return len(self.named) + self.others


def _most_first(pairs: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    queries: Counter[str] = Counter()
    for user, number in pairs:
        queries[user] += number
    return tuple(sorted(queries.items(), key=lambda pair: (-pair[1], pair[0])))


def latest(*times: datetime | None) -> datetime | None:
    """Return the latest of the times that are known."""
    return max((time for time in times if time is not None), default=None)
