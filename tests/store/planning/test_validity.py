"""Interval arithmetic against a naive model: for each day, what was said of the pair."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lineage.model.influence.transformations import Subtype
from lineage.store.planning.observations import UNOBSERVED, Timeline
from lineage.store.planning.validity import History, Meaning, Period, extend, holds_at, join, retire_at, set_window
from tests.store.batch_builders import day

PLAIN, MASKED = Meaning(), Meaning(masking=True)
END = 31
DAYS = range(1, END)
BEYOND = 40

windows = st.lists(
    st.tuples(
        st.integers(1, 29),
        st.one_of(st.none(), st.integers(2, 30)),
        st.sampled_from([None, PLAIN, MASKED]),
    ).filter(lambda drawn: drawn[1] is None or drawn[0] < drawn[1]),
    max_size=10,
)


def meanings_by_day(history: History) -> dict[int, Meaning]:
    """Return what held on each day, and far in the future."""
    return {
        number: period.meaning
        for number in (*DAYS, BEYOND)
        for period in history
        if holds_at(period.start, period.end, day(number))
    }


def check_shape(history: History) -> None:
    for first, second in pairwise(history):
        assert first.end is not None
        assert first.end <= second.start
        assert first.end < second.start or first.meaning != second.meaning
    for period in history:
        assert period.start <= period.last_seen


@given(windows)
def test_windows_say_what_held_in_them_and_nothing_else(
    drawn: list[tuple[int, int | None, Meaning | None]],
) -> None:
    history: History = ()
    model: dict[int, Meaning] = {}
    timeline = Timeline()
    for index, (start, end, meaning) in enumerate(drawn):
        timeline = timeline.observe(day(start), f"{index}")
        stop = None if end is None else day(end)
        stated = None if meaning is None else Period(day(start), stop, day(start), meaning)
        history = set_window(history, (day(start), stop), stated, timeline)
        for number in (*DAYS, BEYOND):
            if number >= start and (end is None or number < end):
                model.pop(number, None)
                if meaning is not None:
                    model[number] = meaning
        check_shape(history)
        assert meanings_by_day(history) == model


@given(windows)
def test_extending_takes_nothing_away(drawn: list[tuple[int, int | None, Meaning | None]]) -> None:
    history: History = ()
    days: set[int] = set()
    for start, end, _ in drawn:
        stop = None if end is None else day(end)
        history = extend(history, Period(day(start), stop, day(start)))
        days |= {number for number in (*DAYS, BEYOND) if number >= start and (end is None or number < end)}
        check_shape(history)
    assert set(meanings_by_day(history)) == days
    assert set(meanings_by_day(join(history, history))) == days


def test_the_meaning_seen_last_is_the_whole_periods() -> None:
    known = (Period(day(1), None, day(5), PLAIN),)
    assert extend(known, Period(day(3), None, day(4), MASKED)) == known
    [newer] = extend(known, Period(day(3), None, day(6), MASKED))
    assert (newer.start, newer.last_seen, newer.meaning) == (day(1), day(6), MASKED)


def test_an_end_lasts_until_the_unit_was_observed_again() -> None:
    timeline = Timeline().observe(day(1), "a").observe(day(6), "a")
    history = (Period(day(1), None, day(6)),)
    assert [(one.start, one.end, one.last_seen) for one in retire_at(history, day(4), timeline)] == [
        (day(1), day(4), day(1)),
        (day(6), None, day(6)),
    ]
    assert retire_at(history, day(6), timeline) == history
    assert retire_at(history, day(1), timeline) == history


def test_what_only_adds_ends_unless_it_was_seen_since() -> None:
    history = (Period(day(1), None, day(6)),)
    assert retire_at(history, day(4), UNOBSERVED) == history
    assert retire_at(history, day(7), UNOBSERVED)[0].end == day(7)


def test_a_period_holds_at_its_first_moment_and_not_at_its_end() -> None:
    assert holds_at(day(1), day(1), day(1))
    assert holds_at(day(1), day(2), day(2) - timedelta(microseconds=1))
    assert not holds_at(day(1), day(2), day(2))
    assert holds_at(day(1), None, day(30))
    assert not holds_at(day(2), None, day(1))


def test_what_held_at_the_same_times_counts_together() -> None:
    one = Meaning((Subtype.TRANSFORMATION,), masking=True)
    other = Meaning((Subtype.IDENTITY,), limited=True)
    [joined] = join((Period(day(1), day(3), day(2), one),), (Period(day(1), day(3), day(2), other),))
    both = (Subtype.IDENTITY, Subtype.TRANSFORMATION)
    assert joined.meaning == Meaning(both, masking=False, limited=True, partly_masking=(Subtype.TRANSFORMATION,))


def test_the_text_of_a_meaning_is_that_of_earlier_versions() -> None:
    """Stores keep hashes of it: another text would make each job look changed."""
    said = "Meaning(subtypes=(<Subtype.JOIN: 'JOIN'>,), masking=True, limited=False, ambiguous=False)"
    assert str(Meaning((Subtype.JOIN,), masking=True)) == said
    both = (Subtype.IDENTITY, Subtype.AGGREGATION)
    assert len({str(Meaning(both, partly_masking=partly)) for partly in ((), both[:1], both[1:])}) == 3


def test_what_goes_on_beyond_a_window_was_seen_until_its_end() -> None:
    known: History = (Period(day(1), None, day(1), PLAIN),)
    stated = Period(day(2), day(5), day(2), PLAIN)
    assert set_window(known, (day(2), day(5)), stated, Timeline()) == (Period(day(1), None, day(5), PLAIN),)
