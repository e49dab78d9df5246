from lineage.model.statement import Completeness
from lineage.traversal import Answer, TraversalOptions
from tests.traversal.fake_store import FakeStore, edge
from tests.traversal.queries import brief, downstream, upstream

# orders feeds mart by a view whose columns are known, and model by a program that is only known to read it.
STORE = FakeStore(
    {"orders": ["amount", "note"], "mart": ["total"], "model": ["score"], "board": [], "log": []},
    [edge("orders#amount -> mart#total", job="view")],
    [("orders", "mart", "view"), ("mart", "board", "show"), ("orders", "model", "python"), ("model", "log", "write")],
    {"python": Completeness.TABLES},
)


def _possibly(answer: Answer) -> dict[str, tuple[int, str, str]]:
    return {each.table: (each.hops, each.neighbour.removeprefix("ns/"), each.job) for each in answer.possibly_affected}


def test_datasets_that_only_feeds_lead_to_are_kept_apart() -> None:
    answer = downstream(STORE, "orders#amount")

    assert brief(answer) == {"mart#total": (1, "C")}
    assert _possibly(answer) == {
        "model": (1, "orders", "python"),
        "board": (2, "mart", "show"),
        "log": (2, "model", "write"),
    }


def test_a_fully_resolved_job_that_does_not_use_the_column_is_not_affected() -> None:
    assert _possibly(downstream(STORE, "orders#note")) == {
        "model": (1, "orders", "python"),
        "log": (2, "model", "write"),
    }


def test_a_partly_resolved_job_may_use_the_column() -> None:
    store = FakeStore(STORE.tables, STORE.stated, STORE.fed, {"view": Completeness.PARTIAL})
    assert _possibly(downstream(store, "orders#note"))["mart"] == (1, "orders", "view")


def test_a_job_without_edges_between_the_two_counts_rows() -> None:
    store = FakeStore({"orders": ["id"], "counts": ["n"]}, fed=[("orders", "counts", "count")])
    assert _possibly(downstream(store, "orders#id")) == {"counts": (1, "orders", "count")}


def test_a_table_feeds_all_that_it_feeds() -> None:
    store = FakeStore.of([edge("a#x -> b#x", job="one"), edge("b#y -> c#y", job="two")])
    answer = downstream(store, "a")
    assert brief(answer) == {"b#x": (1, "C")}
    assert answer.possibly_affected == ()

    answer = downstream(store, "b")
    assert brief(answer) == {"c#y": (1, "C")}


def test_where_rows_are_influenced_every_reader_may_be_affected() -> None:
    edges = [edge("a#x ~> b", job="one"), edge("c#y -> b#y", job="one"), edge("b#z -> d#z", job="two")]
    store = FakeStore(
        {"a": ["x"], "b": ["y"], "c": ["y"], "d": ["z"]},
        edges,
        [("a", "b", "one"), ("b", "d", "two")],
    )
    assert brief(downstream(store, "a#x")) == {"b#y": (1, "R")}
    assert _possibly(downstream(store, "a#x")) == {"d": (2, "b", "two")}


def test_upstream_feeds_lead_to_possible_sources() -> None:
    assert _possibly(upstream(STORE, "mart#total")) == {}
    assert _possibly(upstream(STORE, "log")) == {"model": (1, "log", "write"), "orders": (2, "model", "python")}
    assert _possibly(upstream(STORE, "model#score")) == {"orders": (1, "model", "python")}


def test_a_hop_limit_cuts_feeds_too_and_says_so() -> None:
    answer = downstream(STORE, "orders#note", TraversalOptions(max_hops=1))
    assert _possibly(answer) == {"model": (1, "orders", "python")}
    assert answer.truncated == "max_hops=1: more datasets may be affected beyond"


def test_a_total_limit_cuts_feeds_too_and_says_so() -> None:
    answer = downstream(STORE, "orders#note", TraversalOptions(limit_total=1))
    assert _possibly(answer) == {"model": (1, "orders", "python")}
    assert answer.truncated == "limit_total=1: more datasets may be affected"


def test_feeds_that_go_round_end() -> None:
    store = FakeStore({"a": ["x"], "b": []}, fed=[("a", "b", "there"), ("b", "a", "back"), ("b", "b", "itself")])
    assert _possibly(downstream(store, "a#x")) == {"b": (1, "a", "there")}
