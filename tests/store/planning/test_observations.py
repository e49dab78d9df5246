"""Observations of a unit: runs of equal ones keep their ends, whatever order they come in."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lineage.store.planning.observations import ABSENT, KEPT, Timeline
from tests.store.batch_builders import day

CONTENTS = st.dictionaries(st.integers(1, 28), st.sampled_from(["a", "b", ABSENT]), min_size=1)


def observed(contents: dict[int, str], order: list[int]) -> Timeline:
    line = Timeline()
    for number in order:
        line = line.observe(day(number), contents[number])
    return line


@given(CONTENTS)
def test_in_order_of_time_nothing_is_lost_but_the_inside_of_runs(contents: dict[int, str]) -> None:
    days = sorted(contents)
    line = observed(contents, days)
    for number in days:
        assert line.content_at(day(number)) == contents[number]
    kept = [content for _, content in line.points[:-KEPT]]
    assert not any(first == second == third for first, second, third in zip(kept, kept[1:], kept[2:], strict=False))


@given(CONTENTS, st.randoms(use_true_random=False))
def test_the_newest_observation_is_kept_in_any_order(contents: dict[int, str], chance: Random) -> None:
    order = list(contents)
    chance.shuffle(order)
    line = observed(contents, order)
    newest = max(contents)
    assert line.points[-1] == (day(newest), contents[newest])
    assert line.present == (contents[newest] != ABSENT)


@given(CONTENTS, st.randoms(use_true_random=False))
def test_a_timeline_survives_being_stored(contents: dict[int, str], chance: Random) -> None:
    """With all times of its job, or only some of those: then the texts have the others."""
    line = observed(contents, sorted(contents))
    times = [day(number) for number in sorted(contents)[-KEPT:]]
    assert Timeline.from_texts(line.to_texts(times), times) == line
    if line.present:
        some = [at for at in times if at == times[-1] or chance.random() < 0.5]
        assert Timeline.from_texts(line.to_texts(some), some) == line
        assert Timeline.from_texts(line.to_texts(()), ()) == line


def test_a_job_that_was_seen_without_the_output_is_not_taken_for_one_that_wrote_it() -> None:
    """Its times are those of two jobs that were merged: the texts go on until after the other's."""
    line = Timeline().observe(day(1), "a").observe(day(2), "a").observe(day(4), "a").observe(day(5), "a")
    times = [day(number) for number in (1, 2, 3, 4, 5)]
    assert len(line.to_texts(times)) == 3
    assert Timeline.from_texts(line.to_texts(times), times) == line


def test_an_observation_of_the_same_moment_is_replaced() -> None:
    line = Timeline().observe(day(1), "a").observe(day(1), "b")
    assert line.points == ((day(1), "b"),)


def test_another_look_at_the_same_content_changes_no_text() -> None:
    line = Timeline().observe(day(1), "a").observe(day(2), "b")
    assert line.observe(day(5), "b").to_texts([day(2), day(5)]) == line.to_texts([day(2)])
    assert line.observe(day(5), "b").next_after(day(2)) == day(5)


def test_neighbours_of_a_moment() -> None:
    line = Timeline().observe(day(2), "a").observe(day(4), "b")
    assert (line.last_before(day(2)), line.last_before(day(4)), line.last_before(day(9))) == (None, day(2), day(4))
    assert (line.next_after(day(1)), line.next_after(day(2)), line.next_after(day(4))) == (day(2), day(4), None)
    assert (line.first_from(day(2)), line.first_from(day(3)), line.first_from(day(5))) == (day(2), day(4), None)


def test_a_tie_decides_between_observations_of_one_moment() -> None:
    for order in (["1", "2", "3"], ["3", "1", "2"], ["2", "3", "1"]):
        line = Timeline()
        for tie in order:
            line = line.observe(day(1), f"said{tie}", tie)
        assert line.content_at(day(1)) == "said3"
        assert line.outranks(day(1), "2")
        assert not line.outranks(day(1), "3")
        assert not line.outranks(day(2), "1")
        stored = Timeline.from_texts(line.to_texts([day(1)]), [day(1)])
        assert stored == line
        # Without a tie the last counts, as before; the same again takes no tie away.
        assert line.observe(day(1), "said3") == line
        assert line.observe(day(1), "other").content_at(day(1)) == "other"
        assert line.observe(day(1), "better", "3").content_at(day(1)) == "better"


def test_ties_do_not_part_a_run_of_equal_observations() -> None:
    line = Timeline()
    for number in range(1, 29):
        line = line.observe(day(number), "a", f"{number % 5}")
    assert len(line.points) == 16
    times = [day(number) for number in range(14, 29)]
    assert Timeline.from_texts(line.to_texts(times), times) == line
    assert line.present
