"""The event buffer keeps texts until the run that they belong to ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage.store import GraphStore, open_store
from lineage.store.graph.writing.event_buffer import PIECE
from lineage.store.values import BufferedText
from tests.store.batch_builders import batch, view
from tests.store.conftest import Opener

NOW = datetime(2026, 1, 10, tzinfo=UTC)


def text(owner: str, name: str, content: str = "…", *, finished: bool = False, days: int = 0) -> BufferedText:
    return BufferedText(f"{owner}~{name}", owner, content, finished, NOW - timedelta(days=days))


def test_texts_are_held_across_processes(open_again: Opener) -> None:
    texts = [text("a", "1"), text("a", "2", "ünïcode \N{SNOWMAN}"), text("b", "1")]
    with open_again() as store:
        store.buffer_texts(texts)
        store.buffer_texts(texts)
    with open_again() as store:
        assert store.buffered_texts(["a"]) == texts[:2]
        assert store.buffered_texts(["a", "b", "none"]) == texts
        assert store.buffered_texts([]) == []


def test_a_long_text_and_a_shorter_one_in_its_place(store: GraphStore) -> None:
    long = text("a", "1", "\N{SNOWMAN}" * (3 * PIECE + 1))
    store.buffer_texts([long, text("a", "2")])
    assert store.buffered_texts(["a"])[0] == long
    store.buffer_texts([text("a", "1", "short", finished=True)])
    assert store.buffered_texts(["a"]) == [text("a", "1", "short", finished=True), text("a", "2")]


def test_texts_are_held_along_with_a_batch(store: GraphStore) -> None:
    store.buffer_texts([text("a", "1"), text("b", "1")])
    for _ in range(2):
        _, keys = store.apply_and_buffer(
            batch(view("v", "t.a -> v.x", at=1)), [text("a", "2"), text("c", "1")], ["a~1"]
        )
        assert keys == ["a~2", "c~1"]
        assert [one.key for one in store.buffered_texts(["a", "b", "c"])] == ["a~2", "b~1", "c~1"]
        assert [one.name for one in store.datasets()] == ["t", "v"]


def test_letting_go(store: GraphStore) -> None:
    store.buffer_texts([text("a", "1"), text("a", "2"), text("b", "1")])
    store.buffer_texts([text("a", "3")], release=["a~1", "b~1", "none~1"])
    assert [one.key for one in store.buffered_texts(["a", "b"])] == ["a~2", "a~3"]


def test_old_ones_go(store: GraphStore) -> None:
    store.buffer_texts([text("a", "1", days=1), text("b", "1", days=1, finished=True), text("c", "1", days=9)])
    assert store.drop_buffered_texts(NOW - timedelta(days=5), NOW - timedelta(hours=1)) == 2
    assert [one.owner for one in store.buffered_texts(["a", "b", "c"])] == ["a"]
    assert store.drop_buffered_texts(NOW - timedelta(days=5), NOW - timedelta(hours=1)) == 0


def test_they_are_no_part_of_a_dump(store: GraphStore) -> None:
    before = store.dump()
    store.buffer_texts([text("a", "1")])
    assert store.dump() == before


def test_keys(store: GraphStore, tmp_path: Path) -> None:
    assert (store.job_keys(), store.dataset_keys()) == ([], [])
    with open_store(tmp_path / "other.db") as other:
        assert other.job_keys() == []
