"""Use over a span of days."""

from __future__ import annotations

from datetime import UTC, date, datetime

from lineage.model.usage import UserCounts
from lineage.store.values import StoredUsage
from lineage.traversal import total_usage


def at(number: int, hour: int) -> datetime:
    return datetime(2024, 1, number, hour, tzinfo=UTC)


DAYS = [
    StoredUsage("a", date(2024, 1, 1), 5, 1, UserCounts((("ana", 4), ("bo", 2))), at(1, 9), at(1, 8)),
    StoredUsage("a", date(2024, 1, 3), 2, 0, UserCounts((("bo", 2),)), at(3, 7)),
    StoredUsage("a", date(2024, 1, 9), 1, 0),
]


def test_all_days_together() -> None:
    total = total_usage(DAYS)
    assert (total.reads, total.writes, total.days) == (8, 1, 3)
    assert (total.first_day, total.last_day) == (date(2024, 1, 1), date(2024, 1, 9))
    assert total.users == UserCounts((("ana", 4), ("bo", 4)))
    assert (total.last_read, total.last_write) == (at(3, 7), at(1, 8))


def test_a_span_has_its_first_and_its_last_day() -> None:
    total = total_usage(DAYS, since=date(2024, 1, 3), until=date(2024, 1, 9))
    assert (total.reads, total.days, total.users.distinct) == (3, 2, 1)
    assert total_usage(DAYS, until=date(2024, 1, 2)).reads == 5
    assert total_usage(DAYS, since=date(2024, 1, 10)).last_day is None


def test_as_plain_values() -> None:
    as_dict = total_usage(DAYS).to_dict(top=1)
    assert (as_dict["distinct_users"], as_dict["top_users"]) == (2, [{"user": "ana", "queries": 4}])
    assert total_usage([]).to_dict()["last_read"] is None
