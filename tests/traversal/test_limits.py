from lineage.traversal import TraversalOptions
from tests.traversal.fake_store import FakeStore, edge
from tests.traversal.queries import brief, downstream, upstream

CHAIN = [edge(f"t{n}#x -> t{n + 1}#x") for n in range(4)]


def test_a_hop_limit_says_that_more_lies_beyond() -> None:
    answer = downstream(FakeStore.of(CHAIN), "t0#x", TraversalOptions(max_hops=2))

    assert brief(answer) == {"t1#x": (1, "C"), "t2#x": (2, "C")}
    assert answer.truncated == "max_hops=2: more lies beyond"


def test_a_hop_limit_that_cuts_nothing_says_nothing() -> None:
    assert downstream(FakeStore.of(CHAIN), "t0#x", TraversalOptions(max_hops=4)).truncated is None


def test_a_hop_limit_that_hides_an_unmasked_path_is_named() -> None:
    masked = [edge("a#x -> c#x", masking=True), edge("a#x -> b#x"), edge("b#x -> c#x")]
    answer = downstream(FakeStore.of(masked), "a#x", TraversalOptions(max_hops=1))
    assert answer.truncated == "max_hops=1: more lies beyond"


def test_a_limit_of_references_says_how_much_it_left_out() -> None:
    store = FakeStore.of(
        [edge("a#x ~> b#x"), edge("b#x ~> c"), edge("d#x -> c#x"), edge("d#y -> c#y"), edge("a#x -> d#x")]
    )
    assert brief(downstream(store, "a#x", TraversalOptions(max_references=1))) == {
        "d#x": (1, "C"),
        "b#x": (1, "R"),
        "c#x": (2, "C"),
    }
    answer = downstream(store, "a#x", TraversalOptions(max_references=1))
    assert answer.truncated == "max_references=1: at least 1 more columns lie beyond"
    assert downstream(store, "a#x", TraversalOptions(max_references=2)).truncated is None


def test_a_longer_path_with_fewer_references_goes_on_where_a_shorter_one_must_stop() -> None:
    store = FakeStore.of(
        [
            *(edge("a#x ~> b#x"), edge("b#x ~> m#x")),
            *(edge("a#x -> c#x"), edge("c#x -> d#x"), edge("d#x ~> m#x")),
            *(edge("m#x ~> n#x"), edge("n#x -> o#x")),
        ]
    )
    found = brief(downstream(store, "a#x", TraversalOptions(max_references=2)))
    assert found["m#x"] == (2, "R")
    assert found["n#x"] == (4, "R")
    assert found["o#x"] == (5, "R")


def test_a_limit_per_hop_keeps_the_first_by_rank_and_counts_the_rest() -> None:
    store = FakeStore.of(
        [edge("a#x ~> b#a"), edge("a#x -> b#c"), edge("a#x -> b#b"), edge("b#c -> c#x"), edge("b#b -> b#a")]
    )
    answer = downstream(store, "a#x", TraversalOptions(limit_per_hop=2))

    assert brief(answer) == {"b#b": (1, "C"), "b#c": (1, "C"), "c#x": (2, "C")}
    assert answer.truncated == "limit_per_hop=2: at least 1 more columns were found and not followed"


def test_a_limit_in_total_stops_the_search() -> None:
    answer = upstream(FakeStore.of(CHAIN), "t4#x", TraversalOptions(limit_total=2))

    assert brief(answer) == {"t3#x": (1, "C"), "t2#x": (2, "C")}
    assert answer.truncated == "limit_total=2: at least 1 more columns were found and not followed"


def test_a_limit_that_is_just_met_cuts_nothing() -> None:
    assert downstream(FakeStore.of(CHAIN), "t0#x", TraversalOptions(limit_total=4)).truncated is None
