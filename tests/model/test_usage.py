"""Counts by user can be brought together in any order and any grouping."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lineage.model.usage import UserCounts

PAIRS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 9)))
COUNTS = st.builds(UserCounts.of, PAIRS, st.integers(1, 4))


@given(PAIRS, st.integers(1, 20))
def test_no_query_and_no_user_is_lost(pairs: list[tuple[str, int]], most: int) -> None:
    counts = UserCounts.of(pairs, most)
    queries: Counter[str] = Counter()
    for user, number in pairs:
        queries[user] += number
    assert counts.distinct == len(queries)
    assert sum(number for _, number in counts.named) + counts.other_queries == queries.total()
    assert [number for _, number in counts.named] == sorted(queries.values(), reverse=True)[:most]
    assert all(queries[user] == number for user, number in counts.named)


@given(st.lists(COUNTS, max_size=5), st.data())
def test_order_and_grouping_do_not_matter(counts: list[UserCounts], data: st.DataObject) -> None:
    together = UserCounts.joined(counts)
    shuffled = data.draw(st.permutations(counts))
    place = data.draw(st.integers(0, len(counts)))
    assert UserCounts.joined(shuffled) == together
    grouped = (UserCounts.joined(shuffled[:place]), UserCounts.joined(shuffled[place:]))
    assert UserCounts.joined(grouped) == together


@given(st.lists(PAIRS, max_size=5))
def test_several_counts_have_at_least_the_users_of_each_and_at_most_those_of_all(
    lists: list[list[tuple[str, int]]],
) -> None:
    joined = UserCounts.joined(UserCounts.of(pairs, 3) for pairs in lists)
    users = [{user for user, _ in pairs} for pairs in lists]
    assert max(map(len, users), default=0) <= joined.distinct <= len(set().union(*users))
