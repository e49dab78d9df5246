"""Usage of datasets and columns, by day and by user."""

from __future__ import annotations

from datetime import date, datetime

import strawberry

from lineage.model.usage import UserCounts
from lineage.store.values import StoredUsage
from lineage.traversal import total_usage
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, doc_field

__all__ = ["Usage", "UserQueries", "top_users", "usage_of"]

_TOP_USERS = 10


@strawberry.type(description="A user and the number of their queries.")
class UserQueries:
    """A user and the number of their queries."""

    user: str = doc_field("User name as in the log.")
    queries: Long = doc_field("Number of queries.")


@strawberry.type(description="Usage on one day (UTC).")
class UsageDay:
    """Usage on one day (UTC)."""

    day: date = doc_field("Day.")
    reads: Long = doc_field("Number of queries that read it.")
    writes: Long = doc_field("Number of queries that wrote it.")
    distinct_users: Long = doc_field("Number of distinct users.")

    @classmethod
    def of(cls, stored: StoredUsage) -> UsageDay:
        """Return the GraphQL object of a day."""
        return cls(
            day=stored.day,
            reads=Long(stored.reads),
            writes=Long(stored.writes),
            distinct_users=Long(stored.users.distinct),
        )


@strawberry.type(description="Usage over a range of days.")
class Usage:
    """Usage over a range of days."""

    reads: Long = doc_field("Number of queries that read it.")
    writes: Long = doc_field("Number of queries that wrote it.")
    distinct_users: Long = doc_field("Number of distinct users.")
    top_users: list[UserQueries] = doc_field(
        "Up to ten users with the most queries; `user 1`, … without the role steward."
    )
    first_day: date | None = doc_field("First day with usage.")
    last_day: date | None = doc_field("Last day with usage.")
    last_read: datetime | None = doc_field("Time of the last read.")
    last_write: datetime | None = doc_field("Time of the last write.")
    days: list[UsageDay] = doc_field("Days with usage, earliest first.")


def top_users(info: LineageInfo, users: UserCounts) -> list[UserQueries]:
    """Return the users with the most queries, by name if the caller may see names."""
    by_name = Role.STEWARD in info.context.require(Role.READER).roles
    return [
        UserQueries(user=user if by_name else f"user {number}", queries=Long(queries))
        for number, (user, queries) in enumerate(users.named[:_TOP_USERS], start=1)
    ]


async def usage_of(info: LineageInfo, key: str, since: date | None, until: date | None) -> Usage:
    """Return the usage of a dataset or column from one day to another.

    Raises:
        RefusedError: the first day is after the last.
    """
    if since and until and since > until:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"from ({since}) is after to ({until})")
    days = await info.context.loaders.usage(key, since, until)
    total = total_usage(days)
    return Usage(
        reads=Long(total.reads),
        writes=Long(total.writes),
        distinct_users=Long(total.users.distinct),
        top_users=top_users(info, total.users),
        first_day=total.first_day,
        last_day=total.last_day,
        last_read=total.last_read,
        last_write=total.last_write,
        days=[UsageDay.of(day) for day in days],
    )
