"""How much a dataset or a column is used, and by whom."""

from __future__ import annotations

from datetime import date, datetime

import strawberry

from lineage.model.usage import UserCounts
from lineage.store.values import StoredUsage
from lineage.traversal import total_usage
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, described

__all__ = ["Usage", "UserQueries", "top_users", "usage_of"]

_TOP_USERS = 10


@strawberry.type(description="A user, and how many queries of theirs there were.")
class UserQueries:
    """A user, and how many queries of theirs there were."""

    user: str = described("The user's name, as the log has it.")
    queries: Long = described("How many queries.")


@strawberry.type(description="Use on one day (UTC).")
class UsageDay:
    """Use on one day (UTC)."""

    day: date = described("The day.")
    reads: Long = described("Queries that read it.")
    writes: Long = described("Queries that wrote it.")
    distinct_users: Long = described("How many users there were.")

    @classmethod
    def of(cls, stored: StoredUsage) -> UsageDay:
        """Return a day as the schema has it."""
        return cls(
            day=stored.day,
            reads=Long(stored.reads),
            writes=Long(stored.writes),
            distinct_users=Long(stored.users.distinct),
        )


@strawberry.type(description="Use over a span of days.")
class Usage:
    """Use over a span of days."""

    reads: Long = described("Queries that read it.")
    writes: Long = described("Queries that wrote it.")
    distinct_users: Long = described("How many users there were.")
    top_users: list[UserQueries] = described("Those with the most queries, at most ten.")
    first_day: date | None = described("The first day with any use.")
    last_day: date | None = described("The last day with any use.")
    last_read: datetime | None = described("When it was last read.")
    last_write: datetime | None = described("When it was last written.")
    days: list[UsageDay] = described("Each day with any use, the earliest first.")


def top_users(users: UserCounts) -> list[UserQueries]:
    """Return the users with the most queries."""
    return [UserQueries(user=user, queries=Long(queries)) for user, queries in users.named[:_TOP_USERS]]


async def usage_of(info: LineageInfo, key: str, since: date | None, until: date | None) -> Usage:
    """Return the use of a dataset or column from one day to another.

    Raises:
        RefusedError: the days are the wrong way round.
    """
    if since and until and since > until:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"from ({since}) is after to ({until})")
    days = await info.context.loaders.usage(key, since, until)
    total = total_usage(days)
    return Usage(
        reads=Long(total.reads),
        writes=Long(total.writes),
        distinct_users=Long(total.users.distinct),
        top_users=top_users(total.users),
        first_day=total.first_day,
        last_day=total.last_day,
        last_read=total.last_read,
        last_write=total.last_write,
        days=[UsageDay.of(day) for day in days],
    )
