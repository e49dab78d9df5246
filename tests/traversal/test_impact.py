from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from lineage.model.influence.transformations import EdgeKind, StepEffect, Subtype
from lineage.traversal import TraversalOptions
from tests.traversal.fake_store import FakeStore, edge
from tests.traversal.queries import brief, downstream, upstream


def test_the_first_example_of_the_lineagex_paper() -> None:
    webinfo = [
        *(edge(f"web#{column} -> webinfo#w{column}", job="webinfo") for column in ("date", "page", "reg")),
        edge("customers#cid -> webinfo#wcid", job="webinfo"),
        *(edge(f"{column} ~> webinfo", Subtype.JOIN, job="webinfo") for column in ("customers#cid", "web#cid")),
        edge("web#date ~> webinfo", Subtype.FILTER, job="webinfo"),
    ]
    webact = [
        flow
        for name in ("cid", "date", "page", "reg")
        for flow in (
            edge(f"webinfo#w{name} -> webact#w{name}", job="webact"),
            edge(f"web#{name} -> webact#w{name}", job="webact"),
            edge(f"webinfo#w{name} ~> webact", Subtype.SET_OPERATION, job="webact"),
            edge(f"web#{name} ~> webact", Subtype.SET_OPERATION, job="webact"),
        )
    ]
    info = [
        *(edge(f"customers#{name} -> info#{name}", job="info") for name in ("name", "age")),
        edge("orders#oid -> info#oid", job="info"),
        *(edge(f"webact#w{name} -> info#w{name}", job="info") for name in ("cid", "date", "page", "reg")),
        *(edge(f"{name} ~> info", Subtype.JOIN, job="info") for name in ("customers#cid", "orders#cid", "webact#wcid")),
    ]
    store = FakeStore.of([*webinfo, *webact, *info])

    answer = downstream(store, "web#page")

    assert brief(answer) == {
        "webinfo#wpage": (1, "C"),
        "webact#wpage": (1, "CR"),
        **{f"webact#{name}": (1, "R") for name in ("wcid", "wdate", "wreg")},
        "info#wpage": (2, "CR"),
        **{f"info#{name}": (2, "R") for name in ("name", "age", "oid", "wcid", "wdate", "wreg")},
    }
    assert answer.possibly_affected == ()
    assert answer.truncated is None
    assert answer.by_hop == {1: 5, 2: 7}
    assert answer.tables == ("info", "webact", "webinfo")
    assert brief(upstream(store, "webact#wpage"))["web#page"] == (1, "CR")


def test_a_join_that_is_nearer_does_not_hide_how_the_value_flows() -> None:
    flows = [edge("a#x -> b#x"), edge("b#x -> c#y", Subtype.TRANSFORMATION)]
    store = FakeStore.of([*flows, edge("a#x ~> c", Subtype.JOIN)])
    how = {each.key: each.how for each in downstream(store, "a#x").columns}

    assert how == {"ns/b#x": (Subtype.IDENTITY,), "ns/c#y": (Subtype.TRANSFORMATION, Subtype.JOIN)}


def test_who_decides_a_tables_rows_decides_those_of_what_reads_it() -> None:
    """`f` filters by o.b; `v` counts the rows of `f`, and `w` has a sub-query over it in one of its columns."""
    rows = [edge("o#b ~> f", Subtype.FILTER), edge("f ~> v", Subtype.ROWS), edge("f ~> w#c", Subtype.ROWS)]
    store = FakeStore.of([*rows, edge("o#id -> f#id"), edge("o#x -> w#x"), edge("o#x -> v#n", Subtype.AGGREGATION)])

    assert brief(downstream(store, "o#b")) == {"f#id": (1, "R"), "v#n": (2, "R"), "w#c": (2, "R")}
    assert brief(downstream(store, "o#id")) == {"f#id": (1, "C")}
    assert brief(downstream(store, "f")) == {"v#n": (1, "R"), "w#c": (1, "R")}
    assert brief(upstream(store, "w#c")) == {"o#b": (2, "R")}
    assert brief(upstream(store, "w#x")) == {"o#x": (1, "C")}
    steps = {each.key: each.path for each in downstream(store, "o#b").columns}["ns/w#c"]
    assert [(step.source, step.target) for step in steps] == [("ns/o#b", "ns/f"), ("ns/f", "ns/w#c")]


def test_a_short_masked_path_does_not_hide_a_longer_unmasked_one() -> None:
    store = FakeStore.of([edge("a#x -> c#x", masking=True), edge("a#x -> b#x"), edge("b#x -> c#x"), edge("c#x -> d#x")])
    by_key = {each.key: each for each in downstream(store, "a#x").columns}

    assert (by_key["ns/c#x"].hops, by_key["ns/c#x"].masked) == (1, False)
    assert (by_key["ns/d#x"].hops, by_key["ns/d#x"].masked) == (2, False)
    assert by_key["ns/d#x"].transformation.masking, "the shortest path is shown, and it masks"
    contribution = by_key["ns/d#x"].contribution
    assert contribution is not None
    assert (contribution.hops, contribution.transformation.masking) == (3, False)


def test_a_column_whose_every_path_masks_is_masked() -> None:
    store = FakeStore.of(
        [edge("a#x -> b#x", masking=True), edge("b#x -> c#x"), edge("a#x -> d#x"), edge("d#x -> c#x", masking=True)]
    )
    assert {each.key: each.masked for each in downstream(store, "a#x").columns} == {
        "ns/b#x": True,
        "ns/c#x": True,
        "ns/d#x": False,
    }


def test_an_influence_alone_is_not_called_masked() -> None:
    store = FakeStore.of([edge("a#x ~> b#x", masking=True)])
    (reached,) = downstream(store, "a#x").columns
    assert (reached.masked, reached.contribution) == (False, None)


def test_a_short_reference_does_not_hide_a_longer_contribution() -> None:
    store = FakeStore.of([edge("a#x ~> c", Subtype.JOIN), edge("a#x -> b#x"), edge("b#x -> c#y")])
    reached = {each.key: each for each in downstream(store, "a#x").columns}["ns/c#y"]

    assert (reached.hops, reached.references) == (1, 1)
    assert reached.influence == frozenset(EdgeKind)
    assert reached.transformation == StepEffect(Subtype.JOIN)
    assert reached.contribution is not None
    assert reached.contribution.hops == 2


def test_a_pair_is_unmasked_if_one_of_its_jobs_does_not_mask() -> None:
    store = FakeStore.of(
        [
            edge("a#x -> b#x", Subtype.TRANSFORMATION, job="hashes", masking=True),
            edge("a#x -> b#x", job="shows"),
            edge("a#x -> b#y", job="one", masking=True),
            edge("a#x -> b#y", job="two", masking=True),
        ]
    )
    by_key = {each.key: each for each in downstream(store, "a#x").columns}

    assert not by_key["ns/b#x"].masked
    assert by_key["ns/b#x"].path[0].job == "shows"
    assert by_key["ns/b#y"].masked
    assert downstream(store, "a#x").by_hop == {1: 2}


def test_steps_compose_along_the_path() -> None:
    store = FakeStore.of(
        [
            edge("a#x -> b#x", Subtype.AGGREGATION),
            edge("b#x -> c#x", Subtype.TRANSFORMATION, masking=True),
            edge("c#x ~> d#x", Subtype.WINDOW, Subtype.CONDITIONAL),
            edge("d#x -> e#x"),
        ]
    )
    assert {each.key: each.transformation for each in downstream(store, "a#x").columns} == {
        "ns/b#x": StepEffect(Subtype.AGGREGATION),
        "ns/c#x": StepEffect(Subtype.AGGREGATION, masking=True),
        "ns/d#x": StepEffect(Subtype.CONDITIONAL, masking=True),
        "ns/e#x": StepEffect(Subtype.CONDITIONAL, masking=True),
    }


def test_an_influence_on_rows_reaches_all_columns_and_back() -> None:
    store = FakeStore.of([edge("a#x ~> b"), edge("c#y -> b#y"), edge("c#z -> b#z"), edge("b#y -> d#y")])

    assert brief(downstream(store, "a#x")) == {"b#y": (1, "R"), "b#z": (1, "R"), "d#y": (2, "R")}
    assert brief(upstream(store, "d#y")) == {"b#y": (1, "C"), "a#x": (2, "R"), "c#y": (2, "C")}
    (step,) = downstream(store, "a#x").columns[0].path
    assert step.target == "ns/b"


def test_a_column_is_not_reached_from_itself_through_the_rows_of_its_dataset() -> None:
    rows = [edge("b#x ~> b"), edge("b#y -> c#y")]
    store = FakeStore.of([edge("a#x -> b#x"), *rows])
    assert brief(downstream(store, "a#x")) == {"b#x": (1, "C"), "b#y": (2, "R"), "c#y": (3, "R")}

    store = FakeStore.of([edge("a#x -> b#x"), edge("a#x -> b#y"), edge("b#y ~> b"), *rows])
    assert brief(downstream(store, "a#x")) == {"b#x": (1, "CR"), "b#y": (1, "CR"), "c#y": (2, "CR")}


def test_upstream_two_columns_of_a_dataset_bring_each_other_in_through_its_rows() -> None:
    store = FakeStore.of([edge("b#x -> a#x"), edge("b#y -> a#x"), edge("b#x ~> b"), edge("b#y ~> b")])
    assert brief(upstream(store, "a#x")) == {"b#x": (1, "CR"), "b#y": (1, "CR")}


def test_fields_and_parents_belong_to_a_column_and_siblings_do_not() -> None:
    store = FakeStore.of(
        [
            edge("users#address -> whole#address"),
            edge("users#address.city -> cities#name"),
            edge("users#address.zip -> zips#code"),
        ]
    )
    assert brief(downstream(store, "users#address.city")) == {"whole#address": (1, "C"), "cities#name": (1, "C")}
    assert brief(downstream(store, "users#address")) == {
        "whole#address": (1, "C"),
        "cities#name": (1, "C"),
        "zips#code": (1, "C"),
    }


def test_upstream_a_field_comes_from_what_its_parent_comes_from() -> None:
    store = FakeStore.of([edge("raw#city -> users#address.city"), edge("raw#all -> users#address")])
    assert brief(upstream(store, "users#address.city")) == {"raw#city": (1, "C"), "raw#all": (1, "C")}
    assert brief(upstream(store, "users#address.zip")) == {"raw#all": (1, "C")}


def test_cycles_end() -> None:
    store = FakeStore.of(
        [edge("a#x -> a#x"), edge("a#x -> b#x"), edge("b#x -> a#x"), edge("b#x -> c#x"), edge("c#x ~> b")]
    )
    assert brief(downstream(store, "a#x")) == {"b#x": (1, "CR"), "c#x": (2, "CR")}
    assert brief(upstream(store, "a#x")) == {"b#x": (1, "CR"), "c#x": (2, "R")}


def test_the_work_grows_with_the_edges_not_with_the_paths() -> None:
    wide, deep = 6, 18
    store = FakeStore.of(
        edge(f"t{layer}#c{one} {arrow} t{layer + 1}#c{other}", masking=(one + other) % 2 == 0)
        for layer in range(deep)
        for one in range(wide)
        for other in range(wide)
        for arrow in ("->", "~>")
    )
    answer = downstream(store, "t0#c0")

    assert len(answer.columns) == wide * deep
    assert store.calls == deep + 1
    assert answer.columns[-1].hops == deep


def test_kinds_restrict_the_edges() -> None:
    store = FakeStore.of([edge("a#x -> b#x"), edge("a#x ~> c#x"), edge("b#x ~> d#x")])
    options = TraversalOptions(kinds=frozenset({EdgeKind.CONTRIBUTES}))
    assert brief(downstream(store, "a#x", options)) == {"b#x": (1, "C")}


def test_as_of_asks_the_graph_as_it_was() -> None:
    then, between, later = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 2, 3))
    store = FakeStore.of([edge("a#x -> b#x", since=then, until=later), edge("a#x -> c#x", since=later)])

    assert brief(downstream(store, "a#x")) == {"c#x": (1, "C")}
    assert brief(downstream(store, "a#x", TraversalOptions(as_of=between))) == {"b#x": (1, "C")}


def test_rows_as_of_then_are_of_the_columns_of_then() -> None:
    before, after = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 7, 1, tzinfo=UTC)
    store = FakeStore({"a": ["x"], "b": ["kept", "gone"]}, [edge("a#x ~> b", since=before)], dropped={"b#gone"})

    assert brief(downstream(store, "a#x")) == {"b#kept": (1, "R")}
    assert brief(downstream(store, "a#x", TraversalOptions(as_of=before))) == {"b#gone": (1, "R"), "b#kept": (1, "R")}
    assert brief(downstream(store, "a#x", TraversalOptions(as_of=after))) == {"b#kept": (1, "R")}


def test_root_cause_marks_the_roots() -> None:
    store = FakeStore.of(
        [
            *(edge("raw#x -> stage#x"), edge("stage#x -> mart#x"), edge("raw#key ~> stage")),
            *(edge("loop#x -> loop#x"), edge("loop#x -> stage#x")),
        ]
    )
    roots = {each.key: each.root for each in upstream(store, "mart#x").columns}
    assert roots == {"ns/stage#x": False, "ns/raw#x": True, "ns/raw#key": True, "ns/loop#x": True}

    only_references = TraversalOptions(kinds=frozenset({EdgeKind.REFERENCES}))
    assert [each.root for each in upstream(store, "stage#x", only_references).columns] == [True]
    assert [each.root for each in upstream(store, "mart#x", TraversalOptions(max_hops=1)).columns] == [False]


def test_a_table_is_its_columns_together() -> None:
    store = FakeStore.of(
        [edge("a#x -> b#x"), edge("a#y ~> c"), edge("d#z -> c#z"), edge("a#x -> a#y"), edge("b#x ~> a")]
    )

    assert brief(downstream(store, "a")) == {"b#x": (1, "C"), "c#z": (1, "R")}
    assert brief(upstream(store, "a")) == {"b#x": (1, "R")}
    assert brief(upstream(store, "c")) == {"a#y": (1, "R"), "d#z": (1, "C"), "a#x": (2, "R"), "b#x": (2, "R")}


def test_a_table_without_columns_has_the_sources_of_its_rows() -> None:
    store = FakeStore.of([edge("a#x ~> b")])
    assert brief(upstream(store, "b")) == {"a#x": (1, "R")}


def test_columns_are_ranked_by_hops_then_references_then_key() -> None:
    store = FakeStore.of([edge("a#x ~> b#a"), edge("a#x -> b#z"), edge("a#x -> b#y"), edge("b#y -> a#w")])
    assert list(brief(downstream(store, "a#x"))) == ["b#y", "b#z", "b#a", "a#w"]


def test_the_answer_as_json_values() -> None:
    store = FakeStore.of([edge("a#x -> b#x", job="view")])
    step = {
        "source": "ns/a#x",
        "target": "ns/b#x",
        "kind": "CONTRIBUTES",
        "subtypes": ["IDENTITY"],
        "masking": False,
        "masked_subtypes": [],
        "job": "view",
        "spans": [],
    }
    route = {"hops": 1, "references": 0, "transformation": "IDENTITY", "masking": False, "steps": [step]}
    assert downstream(store, "a#x").to_dict() == {
        "start": "a.x",
        "direction": "downstream",
        "columns": [
            {
                "key": "ns/b#x",
                "dataset": "ns/b",
                "table": "b",
                "column": "x",
                "hops": 1,
                "references": 0,
                "influence": ["CONTRIBUTES"],
                "transformation": "IDENTITY",
                "how": ["IDENTITY"],
                "masked": False,
                "root": False,
                "path": [step],
                "contribution": route,
            }
        ],
        "possibly_affected": [],
        "by_hop": {"1": 1},
        "truncated": None,
    }


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: TraversalOptions(max_hops=0), "max_hops is 0; it must be at least 1"),
        (lambda: TraversalOptions(max_references=-1), "max_references is -1; it must be at least 0"),
        (lambda: TraversalOptions(limit_per_hop=0), "limit_per_hop is 0; it must be at least 1"),
        (lambda: TraversalOptions(limit_total=0), "limit_total is 0; it must be at least 1"),
    ],
)
def test_bounds_that_leave_nothing_are_refused(made: Callable[[], TraversalOptions], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made()


def test_no_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="kinds is empty"):
        TraversalOptions(kinds=frozenset())


def test_what_leads_to_the_column_is_shown_before_what_leads_to_its_rows() -> None:
    store = FakeStore.of([edge("a#x ~> b#y"), edge("a#x ~> b"), edge("a#y ~> b"), edge("a#y ~> c#z")])
    (reached,) = downstream(store, "a#x").columns
    assert [step.target for step in reached.path] == ["ns/b#y"]
