"""The search against brute force on random small graphs: cycles, several jobs, masks, influence on rows."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import split_column_key
from lineage.store.values import Direction, StoredEdge
from lineage.traversal import Answer, TraversalOptions, impact, root_cause
from lineage.traversal.target import Target
from tests.traversal.fake_store import FakeStore, edge, key
from tests.traversal.naive import Found, by_simple_paths, by_walks, links

TABLES = {"a": ["1", "2"], "b": ["1", "2"], "c": ["1"], "d": ["1", "2"]}
COLUMNS = [f"{table}#{column}" for table, columns in TABLES.items() for column in columns]
FAR = 20

pairs = st.one_of(
    st.tuples(st.sampled_from(COLUMNS), st.just("->"), st.sampled_from(COLUMNS)),
    st.tuples(st.sampled_from(COLUMNS), st.just("~>"), st.sampled_from([*COLUMNS, *TABLES])),
    st.tuples(st.sampled_from([*TABLES]), st.just("~>"), st.sampled_from([*COLUMNS, *TABLES])).filter(
        lambda pair: pair[2].partition("#")[0] != pair[0]
    ),
)
edges = st.builds(
    lambda pair, job, masking: edge(" ".join(pair), job=job, masking=masking),
    pairs,
    st.sampled_from(["one", "two"]),
    st.booleans(),
)
graphs = st.lists(edges, max_size=14, unique_by=lambda each: (each.source, each.target, each.kind, each.job))
directions = st.sampled_from(Direction)


def _ask(store: FakeStore, start: str, direction: Direction, options: TraversalOptions) -> Answer:
    target = Target(key(start), start, key(start.partition("#")[0]), start.partition("#")[2])
    return (impact if direction is Direction.DOWNSTREAM else root_cause)(store, target, options)


def _said(answer: Answer) -> dict[str, Found]:
    return {each.key: Found(each.hops, each.references, each.influence, each.masked) for each in answer.columns}


def _without_references(found: dict[str, Found]) -> dict[str, tuple[int, int, bool, bool]]:
    return {
        end: (each.hops, each.references, EdgeKind.CONTRIBUTES in each.influence, each.masked)
        for end, each in found.items()
    }


@settings(max_examples=400, deadline=None)
@given(
    graph=graphs,
    start=st.sampled_from(COLUMNS),
    direction=directions,
    max_hops=st.sampled_from([1, 2, 3, FAR]),
    max_references=st.sampled_from([None, 0, 1, 2]),
)
def test_every_column_is_found_as_brute_force_finds_it(
    graph: list[StoredEdge], start: str, direction: Direction, max_hops: int, max_references: int | None
) -> None:
    store = FakeStore(TABLES, graph)
    options = TraversalOptions(max_hops=max_hops, max_references=max_references)
    allowed = FAR if max_references is None else max_references
    naive = links(graph, [key(column) for column in COLUMNS], direction)

    said = _said(_ask(store, start, direction, options))

    assert said == by_walks(naive, key(start), max_hops, allowed)
    # A walk may come by a column twice, and a reference in such a loop is an influence; all else is the same.
    simple = by_simple_paths(naive, key(start), max_hops, allowed)
    assert _without_references(said) == _without_references(simple)
    assert all(each.influence <= said[end].influence for end, each in simple.items())


@settings(max_examples=200, deadline=None)
@given(graph=graphs, start=st.sampled_from(COLUMNS), direction=directions)
def test_routes_are_paths_of_the_graph(graph: list[StoredEdge], start: str, direction: Direction) -> None:
    answer = _ask(FakeStore(TABLES, graph), start, direction, TraversalOptions())

    stated = {(each.source, each.target, each.kind, each.job) for each in graph}
    for reached in answer.columns:
        for route in filter(None, (reached.route, reached.contribution)):
            first, last = (key(start), reached.key) if direction is Direction.DOWNSTREAM else (reached.key, key(start))
            assert {(step.source, step.target, step.kind, step.job) for step in route.steps} <= stated
            assert route.steps[0].source == first
            arrivals = [step.target for step in route.steps]
            departures = [*(step.source for step in route.steps[1:]), last]
            for arrival, departure in zip(arrivals, departures, strict=True):
                assert arrival in (departure, split_column_key(departure)[0])
        if reached.contribution:
            assert reached.contribution.references == 0
            assert reached.contribution.hops >= reached.hops


@settings(max_examples=100, deadline=None)
@given(graph=graphs, start=st.sampled_from(COLUMNS), direction=directions, seed=st.randoms())
def test_the_order_in_which_a_store_answers_does_not_matter(
    graph: list[StoredEdge], start: str, direction: Direction, seed: Any
) -> None:
    shuffled = list(graph)
    seed.shuffle(shuffled)

    one = _ask(FakeStore(TABLES, graph), start, direction, TraversalOptions())
    other = _ask(FakeStore(TABLES, shuffled), start, direction, TraversalOptions())

    assert one == other


@settings(max_examples=100, deadline=None)
@given(graph=graphs, table=st.sampled_from(sorted(TABLES)))
def test_the_impact_of_a_table_is_that_of_its_columns_and_rows_together(graph: list[StoredEdge], table: str) -> None:
    store = FakeStore(TABLES, graph)

    whole = impact(store, Target(key(table), table, key(table)))

    of_rows = by_walks(links(graph, [key(column) for column in COLUMNS], Direction.DOWNSTREAM), key(table), FAR, FAR)
    hops = [(end, found.hops) for end, found in of_rows.items()]
    for column in TABLES[table]:
        answer = _ask(store, f"{table}#{column}", Direction.DOWNSTREAM, TraversalOptions())
        hops += [(each.key, each.hops) for each in answer.columns]
    nearest: dict[str, int] = {}
    for end, count in hops:
        if split_column_key(end)[0] != key(table):
            nearest[end] = min(count, nearest.get(end, count))
    assert {each.key: each.hops for each in whole.columns} == nearest
