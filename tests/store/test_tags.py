"""Tags of columns: each is a fact of its own, which is added and removed alone, and outlives its column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lineage.store import GraphStore, open_store
from lineage.store.values import StoredTag, TagName
from tests.store.batch_builders import batch, day, drop, job, key, table

EMAIL = StoredTag(key("a.x"), "email", "manual", day(2), "ana", "seen in the form", 0.9)


def test_two_stewards_do_not_undo_each_other(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", at=1)))
    assert store.change_tags([EMAIL]) == (1, 0)
    gdpr = StoredTag(key("a.x"), "gdpr", "manual", day(3), "bo")
    assert store.change_tags([gdpr]) == (1, 0)
    assert store.tags([key("a.x")]) == [EMAIL, gdpr]
    assert store.change_tags(removed=[gdpr.identity]) == (0, 1)
    assert store.tags() == [EMAIL]
    assert store.change_tags(removed=[gdpr.identity]) == (0, 0)


def test_what_is_said_again_keeps_its_author_and_time(store: GraphStore) -> None:
    store.change_tags([EMAIL])
    assert store.change_tags([replace(EMAIL, at=day(5), stated_by="bo")]) == (0, 0)
    assert store.tags() == [EMAIL]
    denied = replace(EMAIL, at=day(6), stated_by="bo", denied=True, why="a test address")
    assert store.change_tags([denied]) == (1, 0)
    assert store.tags() == [denied]


def test_a_tag_is_independent_of_its_column(store: GraphStore) -> None:
    store.change_tags([EMAIL])
    store.apply(batch(table("a", "x", "y", at=1)))
    store.describe(key("a.x"), tags=["core"])
    assert [one.key for one in store.tagged_columns()] == [key("a.x")]
    store.describe(key("a.x"), tags=[])
    assert store.tagged_columns() == []
    store.apply(batch(table("a", "y", at=3)))
    store.apply(batch(drop("a", at=4)))
    assert store.tags([key("a.x"), key("a.y")]) == [EMAIL]


def test_search_finds_tags_that_are_not_denied(store: GraphStore) -> None:
    store.apply(batch(job("one", "a.x -> b.x", "a.y -> b.y", at=1)))
    store.change_tags([EMAIL, replace(EMAIL, column=key("b.x"), denied=True)])
    store.describe(key("a.x"), tags=["core"])
    assert [hit.key for hit in store.search("x", tags=["email", "core"])] == [key("a.x")]
    assert [hit.key for hit in store.search("", tags=["email"])] == [key("a.x")]
    assert (store.count_search("x", tags=["email"]), store.count_search("", tags=["email"])) == (1, 1)


def test_tags_are_part_of_an_exported_graph(store: GraphStore, tmp_path: Path) -> None:
    store.apply(batch(job("one", "a.x -> b.x", at=1)))
    store.change_tags([EMAIL])
    lines: list[str] = []
    store.export_graph(lines.append, lambda *_: None)  # type: ignore[attr-defined]
    with open_store(tmp_path / "copy.db") as copy:
        copy.import_graph(lines, lambda *_: None)  # type: ignore[attr-defined]
        assert copy.tags() == [EMAIL]
    assert EMAIL.identity == TagName(key("a.x"), "email", "manual")
