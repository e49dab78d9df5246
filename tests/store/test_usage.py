"""Usage counts: of datasets and columns by day, of jobs in total. Stored per source batch, read as sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from itertools import permutations

import pytest

from lineage.model.batch import LineageBatch, UsageRecord
from lineage.model.usage import MAX_NAMED_USERS, UserCounts
from lineage.store import GraphStore
from lineage.store.values import StoredJob, StoredUsage
from tests.store.batch_builders import batch, day, job, key, query, rename, swap, table

MONDAY, TUESDAY, WEDNESDAY = date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3)
Users = Iterable[tuple[str, int]]


def used(run: str, *records: UsageRecord) -> LineageBatch:
    return replace(batch(at=9, run=run), usage=records)


def ran(run: str, times: int, duration_us: int, users: Users, name: str = "q") -> LineageBatch:
    new_record = query(name, at=1, until=times, reads=["a"])
    counted = replace(new_record.job, observations=times, duration_us=duration_us, users=tuple(users))
    return batch(replace(new_record, job=counted), run=run)


def reads(name: str, on: date, number: int, users: Users = (), last: datetime | None = None) -> UsageRecord:
    return UsageRecord(key(name), on, number, 0, tuple(users), last)


def the_job(store: GraphStore) -> StoredJob:
    [found] = store.jobs(users=True)
    return found


def test_use_comes_back_as_it_was_counted(store: GraphStore) -> None:
    users = (("bo", 1), ("ana", 6))
    store.apply(
        used(
            "one",
            UsageRecord(key("a"), MONDAY, 5, 2, users, day(1.5), day(1.25)),
            UsageRecord(key("a"), TUESDAY, 1),
            UsageRecord(key("a.x"), MONDAY, 5, 0, users[:1], day(1.5)),
        )
    )
    assert store.usage(key("a")) == [
        StoredUsage(key("a"), MONDAY, 5, 2, UserCounts((("ana", 6), ("bo", 1))), day(1.5), day(1.25)),
        StoredUsage(key("a"), TUESDAY, 1, 0),
    ]
    assert store.usage(key("a.x")) == [StoredUsage(key("a.x"), MONDAY, 5, 0, UserCounts((("bo", 1),)), day(1.5))]
    assert store.usage(key("b")) == store.usage(key("a.y")) == []


def test_days_can_be_chosen(store: GraphStore) -> None:
    store.apply(used("one", *(reads(name, on, 1) for name in ("a", "a.x") for on in (MONDAY, TUESDAY, WEDNESDAY))))

    def days(**span: date) -> list[date]:
        found = [one.day for one in store.usage(key("a"), **span)]
        assert found == [one.day for one in store.usage(key("a.x"), **span)]
        return found

    assert days(since=TUESDAY) == [TUESDAY, WEDNESDAY]
    assert days(until=TUESDAY) == [MONDAY, TUESDAY]
    assert days(since=TUESDAY, until=TUESDAY) == [TUESDAY]
    assert days(since=date(2024, 2, 1)) == []


def test_batches_of_one_day_add_up_in_any_order(store: GraphStore) -> None:
    new_records = [
        used("one", reads("a", MONDAY, 5, [("ana", 4), ("bo", 1)], day(1.1))),
        used("two", reads("a", MONDAY, 7, [("bo", 7)], day(1.9))),
        used("three", reads("a", MONDAY, 1), UsageRecord(key("a"), MONDAY, writes=1, last_write=day(1.5))),
        ran("four", 3, 300, [("ana", 2), ("bo", 1)]),
        ran("five", 2, 100, [("bo", 2)]),
    ]
    for one in new_records:
        store.apply(one)
    once = store.dump()
    for one in reversed(new_records):
        store.apply(one)
    assert store.dump() == once
    assert store.usage(key("a")) == [
        StoredUsage(key("a"), MONDAY, 13, 1, UserCounts((("bo", 8), ("ana", 4))), day(1.9), day(1.5))
    ]
    found = the_job(store)
    assert (found.observations, found.duration_us, found.mean_duration_us) == (5, 400, 80)
    assert found.users == UserCounts((("bo", 3), ("ana", 2)))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_batches_does_not_matter(store: GraphStore, order: tuple[int, ...]) -> None:
    new_records = [
        used("one", reads("a", MONDAY, 5, [("ana", 5)], day(1.9)), reads("a", TUESDAY, 1)),
        used("two", reads("a", MONDAY, 7, [("bo", 7)], day(1.1))),
        ran("three", 2, 9, [("ana", 2)]),
    ]
    for place in order:
        store.apply(new_records[place])
    assert [(one.reads, one.users.distinct, one.last_read) for one in store.usage(key("a"))] == [
        (12, 2, day(1.9)),
        (1, 0, None),
    ]
    assert the_job(store).users == UserCounts((("ana", 2),))


def test_a_batch_that_comes_again_overwrites_its_counts(store: GraphStore) -> None:
    store.apply(used("other", reads("a", MONDAY, 1, [("cy", 1)])))
    store.apply(used("one", reads("a", MONDAY, 5, [("ana", 5)], day(1.9))))
    store.apply(used("one", reads("a", MONDAY, 3, [("bo", 3)], day(1.2))))
    [found] = store.usage(key("a"))
    assert (found.reads, found.users.named, found.last_read) == (4, (("bo", 3), ("cy", 1)), day(1.2))
    store.apply(ran("one", 5, 500, [("ana", 5)]))
    store.apply(ran("one", 3, 200, [("bo", 3)]))
    again = the_job(store)
    assert (again.observations, again.duration_us, again.users) == (3, 200, UserCounts((("bo", 3),)))


def test_users_of_jobs_are_counted_where_they_are_asked_for(store: GraphStore) -> None:
    store.apply(ran("one", 2, 10, [("ana", 2)]))
    store.apply(batch(job("etl", "a.x -> v.x", at=1), run="two"))
    plain = {one.key: one for one in store.jobs()}
    assert {one.users for one in plain.values()} == {None}
    assert (plain["query:q"].observations, plain["query:q"].duration_us) == (2, 10)
    etl, _ = store.jobs(users=True)
    assert (etl.duration_us, etl.mean_duration_us, etl.users) == (0, None, UserCounts())


def test_of_many_users_the_most_are_named(store: GraphStore) -> None:
    users = [(f"user {number:04}", 1 + number % 2) for number in range(MAX_NAMED_USERS + 200)]
    store.apply(used("one", reads("a", MONDAY, 2000, users)))
    store.apply(ran("two", 2000, 0, users))
    [found] = store.usage(key("a"))
    assert found.users == the_job(store).users
    assert (found.users.distinct, len(found.users.named)) == (len(users), MAX_NAMED_USERS)
    assert (found.users.others, found.users.other_queries) == (200, 200)
    assert found.users.named[0] == ("user 0001", 2)
    assert found.users.named[-1][1] == 1
    store.apply(used("three", reads("a", MONDAY, 1, [("user 0001", 1)])))
    [found] = store.usage(key("a"))
    assert (found.users.distinct, found.users.named[0]) == (len(users), ("user 0001", 3))


def test_use_goes_along_with_a_dataset_that_is_renamed(store: GraphStore) -> None:
    record = UsageRecord(key("a"), MONDAY, 2, 1, (("ana", 3),), day(1.5), day(1.6))
    store.apply(used("one", record, replace(record, of=key("a.x"))))
    store.apply(batch(rename("a", "b", at=10)))
    assert store.usage(key("a")) == store.usage(key("a.x")) == []
    for name in ("b", "b.x"):
        [found] = store.usage(key(name))
        assert found == StoredUsage(key(name), MONDAY, 2, 1, UserCounts((("ana", 3),)), day(1.5), day(1.6))


@pytest.mark.parametrize("renamed_first", [False, True])
def test_use_under_two_names_of_one_dataset_is_added_up(store: GraphStore, renamed_first: bool) -> None:
    under_both = used(
        "one",
        reads("a", MONDAY, 2, [("ana", 2)], day(1.5)),
        reads("b", MONDAY, 3, [("ana", 1), ("bo", 2)], day(1.2)),
        reads("a.x", MONDAY, 2),
        reads("b.x", MONDAY, 3),
    )
    moved = batch(rename("a", "b", at=10), run="two")
    for one in [moved, under_both] if renamed_first else [under_both, moved]:
        store.apply(one)
    for _ in range(2):
        [found] = store.usage(key("b"))
        assert (found.reads, found.users.named, found.last_read) == (5, (("ana", 3), ("bo", 2)), day(1.5))
        assert [one.reads for one in store.usage(key("b.x"))] == [5]
        store.apply(under_both)


def test_use_changes_places_with_a_swap(store: GraphStore) -> None:
    store.apply(used("one", reads("a", MONDAY, 2, [("ana", 2)]), reads("b", MONDAY, 3, [("bo", 3)])))
    store.apply(batch(swap("a", "b", at=10)))
    assert [one.users.named for name in "ab" for one in store.usage(key(name))] == [(("bo", 3),), (("ana", 2),)]


def test_a_column_that_was_used_is_kept_when_a_schema_has_it_no_more(store: GraphStore) -> None:
    store.apply(replace(batch(table("a", "x", "y", at=1)), usage=(reads("a.x", MONDAY, 2, [("ana", 2)]),)))
    store.apply(batch(table("a", "y", at=5)))
    assert {(one.path, one.dropped_at) for one in store.columns([key("a")], dropped=True)} == {
        ("x", day(5)),
        ("y", None),
    }
    assert [one.users.named for one in store.usage(key("a.x"))] == [(("ana", 2),)]


def test_users_are_written_as_two_lists(store: GraphStore) -> None:
    store.apply(used("one", reads("a", MONDAY, 3, [("bo", 1), ("ana", 2)])))
    store.apply(ran("two", 1, 7, [("çà 'q'\n", 1)]))
    [node] = [properties for label, _, properties in store.dump().nodes if label == "Usage"]
    assert (node["users"], node["user_queries"], node["other_users"]) == (["ana", "bo"], [2, 1], 0)
    [seen] = [one for name, _, _, one in store.dump().relationships if name == "OBSERVED"]
    assert (seen["users"], seen["user_queries"], seen["duration_us"]) == (["çà 'q'\n"], [1], 7)
