"""Manual annotations: descriptions, tags, and the retirement of edges."""

from __future__ import annotations

from lineage.model.influence.transformations import EdgeKind
from lineage.store import GraphStore
from lineage.store.values import NodeAnnotation
from tests.store.batch_builders import batch, day, history, job, key, rename, table


def test_descriptions_and_tags_stay_through_ingests(store: GraphStore) -> None:
    new_batch = batch(job("one", "a.x -> b.x", at=1), table("a", "x"))
    store.apply(new_batch)
    assert store.describe(key("a"), description="all of it", tags=["core", "core"])
    assert store.describe(key("a.x"), tags=["pii"])
    assert store.describe(key("a.x"), description="who")
    assert not store.describe(key("none"), description="?")
    store.apply(new_batch)
    store.apply(batch(job("one", "a.x -> b.x", "a.y -> b.y", at=2)))
    [dataset] = store.datasets([key("a")])
    [column] = store.columns_by_key([key("a.x")])
    assert (dataset.description, dataset.tags) == ("all of it", ("core",))
    assert (column.description, column.tags) == ("who", ("pii",))
    store.describe(key("a.x"), description="", tags=[])
    [column] = store.columns_by_key([key("a.x")])
    assert (column.description, column.tags) == (None, ())


def test_many_are_annotated_at_once(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", "a.y -> b.y", at=1)))
    store.describe(key("a"), description="kept", tags=["old"])
    found = store.describe_all(
        [
            NodeAnnotation(key("a"), tags=("new", "new")),
            NodeAnnotation(key("b"), "a table"),
            NodeAnnotation(key("a.x"), "a column", ("pii",)),
            NodeAnnotation(key("none"), "?"),
            NodeAnnotation(key("none.x"), "?"),
        ]
    )
    assert found == 3
    described = {one.key: (one.description, one.tags) for one in store.datasets([key("a"), key("b")])}
    assert described == {key("a"): ("kept", ("new",)), key("b"): ("a table", ())}
    [column, other] = store.columns_by_key([key("a.x"), key("a.y")])
    assert (column.description, column.tags, other.tags) == ("a column", ("pii",), ())
    assert store.describe_all([]) == 0


def test_descriptions_go_along_with_a_renamed_table(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", at=1)))
    store.describe(key("b"), tags=["core"])
    store.describe(key("b.x"), description="who")
    store.apply(batch(rename("b", "c", at=3)))
    assert store.datasets([key("c")])[0].tags == ("core",)
    assert store.columns_by_key([key("c.x")])[0].description == "who"


def test_a_described_column_is_not_forgotten_with_its_schema(store: GraphStore) -> None:
    store.apply(batch(table("a", "x", "y", at=1)))
    store.describe(key("a.y"), description="kept")
    store.apply(batch(table("a", "x", at=2)))
    [column] = store.columns_by_key([key("a.y")])
    assert (column.description, column.dropped_at) == ("kept", day(2))


def test_search_by_tag(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", "a.y -> b.y", at=1)))
    store.describe(key("a.x"), tags=["pii", "core"])
    store.describe(key("b.x"), tags=["pii"])
    store.describe(key("b"), tags=["pii"])
    assert {hit.key for hit in store.search("x")} == {key("a.x"), key("b.x")}
    assert {hit.key for hit in store.search("x", tags=["pii", "core"])} == {key("a.x")}
    assert {hit.key for hit in store.search("", tags=["pii"])} == {key("a.x"), key("b.x"), key("b")}
    assert store.search("y", tags=["pii"]) == []


def test_a_retired_edge_ends_and_begins_anew_when_it_is_stated_again(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", at=1), job("two", "a.x -> b.x", "a.x ~> b", at=1)))
    assert store.retire_edges(key("a.x"), key("b.x"), EdgeKind.CONTRIBUTES, job="one", at=day(3)) == 1
    assert history(store) == ["a.x -> b.x 1..", "a.x -> b.x 1..3", "a.x ~> b 1.."]
    assert store.retire_edges(key("a.x"), key("b"), EdgeKind.REFERENCES, at=day(3)) == 1
    assert store.retire_edges(key("a.x"), key("b"), EdgeKind.REFERENCES, at=day(3)) == 0
    store.apply(batch(job("one", "a.x -> b.x", at=5)))
    assert history(store) == ["a.x -> b.x 1..", "a.x -> b.x 1..3", "a.x -> b.x 5..", "a.x ~> b 1..3"]
