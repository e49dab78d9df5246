"""The search by sets of numbers says what the plain one says that is its specification, paths and all."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.store.values import Direction, StoredEdge
from lineage.traversal import TraversalOptions, impact, root_cause, shortest_paths
from tests.traversal.fake_store import FakeStore
from tests.traversal.graphs import COLUMNS, TABLES, graphs, options
from tests.traversal.queries import target
from tests.traversal.referee import paths_by_specification, reached_by_specification

STARTS = st.sampled_from([*COLUMNS, *COLUMNS, *TABLES])


@settings(max_examples=1500, deadline=None)
@given(graph=graphs(ended=True), start=STARTS, direction=st.sampled_from(Direction), bounds=options())
def test_columns_paths_and_limits(
    graph: list[StoredEdge], start: str, direction: Direction, bounds: TraversalOptions
) -> None:
    store = FakeStore(TABLES, graph)
    answer = (impact if direction is Direction.DOWNSTREAM else root_cause)(store, target(start), bounds)
    columns, cuts = reached_by_specification(store, target(start), direction, bounds)

    assert answer.columns == columns
    assert answer.cuts == tuple(cuts)
    assert (answer.total, sum(answer.by_hop.values())) == (len(columns), len(columns))
    assert answer.is_lower_bound == any(cut.startswith("limit") for cut in cuts)
    assert sum(dataset.columns for dataset in answer.datasets) == len(columns)


@settings(max_examples=500, deadline=None)
@given(graph=graphs(ended=True), starts=st.lists(STARTS, min_size=1, max_size=4), direction=st.sampled_from(Direction))
def test_several_starts_reach_what_any_of_them_reaches(
    graph: list[StoredEdge], starts: list[str], direction: Direction
) -> None:
    store = FakeStore(TABLES, graph)
    ask = impact if direction is Direction.DOWNSTREAM else root_cause
    targets = [target(start) for start in starts]
    own = {one.key for one in targets}
    expected: dict[str, int] = {}
    for one in targets:
        for column in ask(store, one).columns:
            inside = column.key in own or column.dataset in own
            if not inside:
                expected[column.key] = min(column.hops, expected.get(column.key, column.hops))
    answer = ask(store, targets)
    assert {column.key: column.hops for column in answer.columns} == expected
    assert ask(store, targets[::-1]).columns == answer.columns


@settings(max_examples=300, deadline=None)
@given(graph=graphs(), start=STARTS, first=st.integers(0, 8), count=st.integers(0, 8))
def test_a_page_is_a_part_of_the_whole(graph: list[StoredEdge], start: str, first: int, count: int) -> None:
    store = FakeStore(TABLES, graph)
    page = impact(store, target(start)).page(first, count)
    assert page == impact(store, target(start)).columns[first : first + count]


@settings(max_examples=500, deadline=None)
@given(graph=graphs(ended=True), start=STARTS, end=STARTS, bounds=options())
def test_shortest_paths(graph: list[StoredEdge], start: str, end: str, bounds: TraversalOptions) -> None:
    store = FakeStore(TABLES, graph)
    found = shortest_paths(store, target(start), target(end), limit=4, options=bounds)
    assert found == paths_by_specification(store, target(start), target(end), limit=4, options=bounds)
