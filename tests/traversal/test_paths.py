import pytest

from lineage.model.influence.transformations import EdgeKind
from lineage.traversal import Route, TraversalOptions, shortest_paths
from tests.traversal.fake_store import FakeStore, edge
from tests.traversal.queries import target


def _text(routes: tuple[Route, ...]) -> list[list[str]]:
    return [
        [
            f"{step.source} {'->' if step.kind is EdgeKind.CONTRIBUTES else '~>'} {step.target}".replace("ns/", "")
            for step in route.steps
        ]
        for route in routes
    ]


def _paths(store: FakeStore, start: str, end: str, *, limit: int = 5, max_hops: int = 20) -> list[list[str]]:
    options = TraversalOptions(max_hops=max_hops)
    return _text(shortest_paths(store, target(start), target(end), limit=limit, options=options))


DIAMOND = FakeStore.of(
    [
        *(edge("a#x -> b#x"), edge("a#x -> c#x"), edge("a#x ~> d")),
        *(edge("b#x -> e#x"), edge("c#x -> e#x"), edge("d#x -> e#x")),
        edge("e#x -> f#x"),
    ]
)


def test_all_shortest_paths_come_with_the_fewest_references_first() -> None:
    assert _paths(DIAMOND, "a#x", "e#x") == [
        ["a#x -> b#x", "b#x -> e#x"],
        ["a#x -> c#x", "c#x -> e#x"],
        ["a#x ~> d", "d#x -> e#x"],
    ]
    assert _paths(DIAMOND, "a#x", "e#x", limit=1) == [["a#x -> b#x", "b#x -> e#x"]]


def test_only_the_shortest_are_given() -> None:
    store = FakeStore.of([edge("a#x -> b#x"), edge("b#x -> c#x"), edge("a#x ~> c#x")])
    assert _paths(store, "a#x", "c#x") == [["a#x ~> c#x"]]


def test_no_path_is_no_path() -> None:
    assert _paths(DIAMOND, "f#x", "a#x") == []
    assert _paths(DIAMOND, "a#x", "a#x") == []
    assert _paths(DIAMOND, "a#x", "f#x", max_hops=2) == []
    assert len(_paths(DIAMOND, "a#x", "f#x", max_hops=3)) == 3


def test_a_table_begins_and_ends_at_any_of_its_columns() -> None:
    store = FakeStore.of([edge("a#x -> b#x"), edge("a#y -> b#y"), edge("b#y -> c#y"), edge("b#x ~> c")])
    assert _paths(store, "a", "b") == [["a#x -> b#x"], ["a#y -> b#y"]]
    assert _paths(store, "a", "c") == [["a#y -> b#y", "b#y -> c#y"], ["a#x -> b#x", "b#x ~> c"]]
    assert _paths(store, "a", "c#y") == [["a#y -> b#y", "b#y -> c#y"], ["a#x -> b#x", "b#x ~> c"]]


def test_a_path_may_end_at_a_field_or_a_parent_of_the_column() -> None:
    store = FakeStore.of([edge("a#x -> b#s.f"), edge("b#s -> c#x")])
    assert _paths(store, "a#x", "b#s") == [["a#x -> b#s.f"]]
    assert _paths(store, "b#s.g", "c#x") == [["b#s -> c#x"]]
    assert _paths(store, "a#x", "b#s.f") == [["a#x -> b#s.f"]]
    assert _paths(store, "a#x", "b#s.g") == []


def test_the_number_of_paths_does_not_matter() -> None:
    wide, deep = 5, 16
    store = FakeStore.of(
        edge(f"t{n}#c{one} -> t{n + 1}#c{other}") for n in range(deep) for one in range(wide) for other in range(wide)
    )
    found = _paths(store, "t0#c0", f"t{deep}#c0", limit=7)
    assert len(found) == 7
    assert all(len(path) == deep for path in found)


CYCLE = [edge("a#x -> b#x"), edge("b#x -> c#x"), edge("c#x -> a#x"), edge("c#x ~> a"), edge("b#x -> f#x")]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("a#x", "a#x", [["a#x -> b#x", "b#x -> c#x", "c#x -> a#x"], ["a#x -> b#x", "b#x -> c#x", "c#x ~> a"]]),
        ("c#x", "c#x", [["c#x -> a#x", "a#x -> b#x", "b#x -> c#x"], ["c#x ~> a", "a#x -> b#x", "b#x -> c#x"]]),
        ("b", "b#x", [["b#x -> c#x", "c#x -> a#x", "a#x -> b#x"], ["b#x -> c#x", "c#x ~> a", "a#x -> b#x"]]),
        ("b#x", "b", [["b#x -> c#x", "c#x -> a#x", "a#x -> b#x"], ["b#x -> c#x", "c#x ~> a", "a#x -> b#x"]]),
        ("f#x", "f#x", []),
        ("f", "f", []),
    ],
)
def test_what_a_cycle_leads_back_to_is_reached_again(start: str, end: str, expected: list[list[str]]) -> None:
    assert _paths(FakeStore.of(CYCLE), start, end) == expected
    assert _paths(FakeStore.of(CYCLE), start, end, max_hops=2) == []


def test_a_column_that_is_updated_by_itself_leads_to_itself() -> None:
    store = FakeStore.of([edge("a#x -> a#x"), edge("a#x ~> a"), edge("a#x -> b#x"), edge("b#x -> a#x")])
    assert _paths(store, "a#x", "a#x") == [["a#x -> a#x"]]
    assert _paths(store, "a", "a") == [["a#x -> a#x"], ["a#x ~> a"]]
    store = FakeStore.of([edge("a#x ~> a"), edge("a#x -> a#y")])
    assert _paths(store, "a#x", "a#x") == []  # as in impact: the rows that a column decides are not the column
    assert _paths(store, "a", "a#y") == [["a#x -> a#y"], ["a#x ~> a"]]
