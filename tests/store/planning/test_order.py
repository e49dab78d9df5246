"""Times decide, the order in which batches come does not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.model.batch import LineageBatch
from tests.store.batch_builders import batch, day, drop, job, key, query, table, view
from tests.store.planning.memory import MemoryGraph

LINES = ["a.x -> v.x", "a.x -> v.x MASKING", "a.y -> v.x", "b.x ~> v", "v.x -> v.y"]


def summary_of(graph: Sequence[LineageBatch]) -> list[str]:
    memory = MemoryGraph()
    for one in graph:
        memory.apply(one)
    return memory.history()


@st.composite
def observations(draw: Any) -> list[LineageBatch]:
    """Draw observations of a view at different times, none with the same content more than twice."""
    days = draw(st.lists(st.integers(1, 28), unique=True, min_size=1, max_size=8))
    drawn: list[LineageBatch] = []
    contents: list[frozenset[str]] = []
    for at in days:
        lines = draw(st.frozensets(st.sampled_from(LINES), max_size=4))
        if {"a.x -> v.x", "a.x -> v.x MASKING"} <= lines:
            lines -= {"a.x -> v.x"}
        if contents.count(lines) < 2:
            contents.append(lines)
            drawn.append(batch(view("v", *sorted(lines), at=at)))
    return drawn


@settings(max_examples=300, deadline=None)
@given(observations(), st.randoms(use_true_random=False))
def test_observations_in_any_order_leave_the_history_of_their_times(drawn: list[LineageBatch], chance: Any) -> None:
    in_time = sorted(drawn, key=lambda one: one.run.at)
    shuffled = drawn.copy()
    chance.shuffle(shuffled)
    assert summary_of(shuffled) == summary_of(in_time)


@st.composite
def events(draw: Any) -> list[LineageBatch]:
    """Draw observations of several jobs, states of a file, and drops."""
    days = draw(st.lists(st.integers(1, 28), unique=True, min_size=1, max_size=8))
    drawn: list[LineageBatch] = []
    for index, at in enumerate(days):
        output = draw(st.sampled_from(["v", "w"]))
        # A column of its own makes each content a different one.
        lines = [
            f"a.c{index} -> {output}.x",
            *draw(st.sampled_from([[], [f"v.x ~> {output}"], [f"b.c{index} -> w.y"]])),
        ]
        what = draw(st.sampled_from(["file", "file", "empty file", "drop", "query", "view"]))
        if what == "drop":
            drawn.append(batch(drop(draw(st.sampled_from(["a", "b", "v"])), at)))
        elif what == "query":
            drawn.append(batch(query(f"q{index}", *lines, at=at)))
        elif what == "view":
            drawn.append(batch(view(output, *lines, at=at)))
        elif what == "empty file":
            drawn.append(batch(at=at, files=["f.sql"], run=f"{index}"))
        else:
            drawn.append(batch(job(f"file:{output}", *lines, at=at, source="f.sql"), at=at, files=["f.sql"]))
    return drawn


@settings(max_examples=500, deadline=None)
@given(events(), st.randoms(use_true_random=False))
def test_events_in_any_order_leave_the_history_of_their_times(drawn: list[LineageBatch], chance: Any) -> None:
    in_time = sorted(drawn, key=lambda one: one.run.at)
    shuffled = drawn.copy()
    chance.shuffle(shuffled)
    assert summary_of(shuffled) == summary_of(in_time)


@pytest.mark.parametrize(
    ("read", "live"),
    [
        pytest.param((4,), True, id="after"),
        pytest.param((2,), False, id="before"),
        pytest.param((2, 4), True, id="both"),
    ],
)
def test_a_column_that_a_schema_drops_is_there_if_it_is_used_after_it(read: tuple[int, ...], live: bool) -> None:
    """It is then known by use, as if no schema had ever had it."""
    reads = [batch(view("v", "t.b -> v.b", at=at)) for at in read]
    batches = [batch(table("t", "a", "b", at=1)), *reads, batch(table("t", "a", at=3))]
    for ordered in permutations(batches):
        memory = MemoryGraph()
        for one in ordered:
            memory.apply(one)
        column = memory.state.columns[key("t.b")]
        assert (column.dropped_at, column.inferred, column.ordinal) == (None if live else day(3), live, None)
        edge = next(found for pair, found in memory.state.histories.items() if pair.source == column.key)
        assert edge[-1].live == live
