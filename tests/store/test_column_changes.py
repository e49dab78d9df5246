"""RENAME COLUMN and DROP COLUMN: a renamed column keeps its lineage, whenever the change is ingested."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from itertools import permutations
from pathlib import Path

import pytest

from lineage.model.batch import LineageBatch, UsageRecord
from lineage.store import GraphStore, open_store
from lineage.store.planning.chunking import chunks as parts
from lineage.store.values import Direction
from lineage.traversal.lookup import resolve_column
from tests.store.batch_builders import (
    batch,
    day,
    drop_column,
    history,
    key,
    live,
    query,
    rename,
    rename_column,
    table,
    view,
)
from tests.store.random_batches import random_batch


def test_the_column_moves_and_what_reads_it_goes_on(store: GraphStore) -> None:
    store.apply(batch(table("t", "a", "b", at=1), view("t", "o.x -> t.a", at=1), view("v", "t.a -> v.a", at=2)))
    store.apply(batch(rename_column("t", "a", "a2", at=5)))
    assert history(store) == ["o.x -> t.a2 1..", "t.a2 -> v.a 2.."]
    columns = {column.path: column for column in store.columns([key("t")], dropped=True)}
    assert set(columns) == {"a2", "b"}
    assert (columns["a2"].aliases, columns["a2"].data_type, columns["a2"].ordinal) == (("a",), "int", 0)
    assert key("t.a2") in [hit.key for hit in store.search("a", types=["Column"])]
    for name in ("t.a", "t.a2"):
        assert resolve_column(store, name).key == key("t.a2")
    assert [hop.edge.target for hop in store.expand([key("t.a2")], Direction.DOWNSTREAM, as_of=day(3))] == [key("v.a")]


def test_statements_from_before_mean_the_renamed_column_and_later_ones_a_new_column(store: GraphStore) -> None:
    store.apply(batch(rename_column("t", "a", "a2", at=5)))
    store.apply(batch(query("late", "o.x -> t.a", at=2)))
    store.apply(batch(query("new", "o.y -> t.a", at=7)))
    assert history(store) == ["o.x -> t.a2 2..", "o.y -> t.a 7.."]
    assert resolve_column(store, "t.a").key == key("t.a")


def test_a_rename_that_is_told_late_leaves_what_was_stated_since(store: GraphStore) -> None:
    store.apply(batch(view("v", "t.a -> v.x", at=1)))
    store.apply(batch(view("w", "t.a -> w.x", at=7)))
    store.apply(batch(view("v", "t.a -> v.x", at=8)))
    store.apply(batch(rename_column("t", "a", "a2", at=5)))
    assert history(store) == ["t.a -> v.x 8..", "t.a -> w.x 7..", "t.a2 -> v.x 1..8"]


def test_fields_of_the_column_move_along(store: GraphStore) -> None:
    store.apply(batch(view("v", "t.a.city -> v.x", "t.ab -> v.y", at=1)))
    store.apply(batch(rename_column("t", "a", "place", at=5)))
    assert live(store) == ["t.ab -> v.y", "t.place.city -> v.x"]
    [field] = store.columns_by_key([key("t.place.city")])
    assert (field.parent, field.aliases) == (key("t.place"), ("a.city",))
    store.apply(batch(rename_column("t", "place.city", "place.town", at=6)))
    assert live(store) == ["t.ab -> v.y", "t.place.town -> v.x"]


def test_two_columns_change_places_by_three_renames(store: GraphStore) -> None:
    store.apply(batch(view("v", "t.a -> v.x", "t.b -> v.y", at=1)))
    new_batch = batch(
        rename_column("t", "a", "z", at=5), rename_column("t", "b", "a", at=6), rename_column("t", "z", "b", at=7)
    )
    store.apply(new_batch)
    assert live(store) == ["t.a -> v.y", "t.b -> v.x"]
    once = store.dump()
    store.apply(new_batch)
    assert store.dump() == once
    store.apply(batch(view("w", "t.a -> w.x", at=2)))
    assert "t.b -> w.x 2.." in history(store)


def test_a_column_renamed_and_back_is_itself(store: GraphStore) -> None:
    store.apply(batch(view("v", "t.a -> v.x", at=1)))
    store.apply(batch(rename_column("t", "a", "b", at=5), rename_column("t", "b", "a", at=6)))
    assert history(store) == ["t.a -> v.x 1.."]
    [column] = store.columns([key("t")])
    assert (column.path, column.aliases) == ("a", ("b",))


def test_the_table_and_the_column_are_renamed(store: GraphStore) -> None:
    store.apply(batch(view("t", "o.x -> t.a", at=1)))
    store.apply(batch(rename("t", "u", at=3), rename_column("u", "a", "b", at=4), rename("u", "w", at=5)))
    assert live(store) == ["o.x -> w.b"]
    store.apply(
        batch(query("q", "t.a -> r.x", at=2), query("p", "u.a -> r.y", at=3.5), query("o", "u.b -> r.z", at=4.5))
    )
    assert live(store) == ["o.x -> w.b", "w.b -> r.x", "w.b -> r.y", "w.b -> r.z"]


def test_counts_of_use_move_along(store: GraphStore) -> None:
    used = (UsageRecord(key("t.a"), date(2024, 1, 2), 3, 1),)
    store.apply(replace(batch(view("v", "t.a -> v.x", at=1)), usage=used))
    store.apply(batch(rename_column("t", "a", "b", at=5)))
    assert [one.reads for one in store.usage(key("t.b"))] == [3]
    assert store.usage(key("t.a")) == []


def test_the_order_of_ingests_leaves_one_lineage(store: GraphStore) -> None:
    for number, order in enumerate(permutations(range(4))):
        t, v = f"t{number}", f"v{number}"
        batches = [
            batch(view(v, f"{t}.a -> {v}.x", at=1), run=f"{number} one"),
            batch(rename_column(t, "a", "b", at=3), run=f"{number} two"),
            batch(view(v, f"{t}.b -> {v}.x", at=5), run=f"{number} three"),
            batch(query(f"q{number}", f"{t}.a -> {v}.y", at=7), run=f"{number} four"),
        ]
        for index in order:
            store.apply(batches[index])
        mine = [line for line in history(store) if line.startswith(f"{t}.")]
        assert mine == [f"{t}.a -> {v}.y 7..", f"{t}.b -> {v}.x 1.."], order


def test_a_schema_from_before_a_rename_names_the_renamed_column(store: GraphStore) -> None:
    store.apply(batch(table("t", "a2", "b", at=6)))
    store.apply(batch(rename_column("t", "a", "a2", at=5)))
    store.apply(batch(table("t", "a", "b", at=1)))
    assert [column.path for column in store.columns([key("t")], dropped=True)] == ["a2", "b"]


def test_a_dropped_column_ends_and_may_come_again(store: GraphStore) -> None:
    store.apply(batch(table("t", "a", "b", at=1), view("t", "o.x -> t.a", at=1), view("v", "t.a -> v.a", at=2)))
    store.apply(batch(drop_column("t", "a", at=5)))
    assert history(store) == ["o.x -> t.a 1..5", "t.a -> v.a 2..5"]
    assert [column.path for column in store.columns([key("t")])] == ["b"]
    store.apply(batch(query("late", "t.a -> w.a", at=3), query("new", "o.y -> t.a", at=7)))
    assert history(store)[1:] == ["o.y -> t.a 7..", "t.a -> v.a 2..5", "t.a -> w.a 3..5"]
    store.apply(batch(rename_column("t", "a", "c", at=8)))
    assert live(store) == ["o.y -> t.c"]


def random_column_batch(chance: random.Random) -> LineageBatch:
    """Return a random batch that also renames and drops columns."""
    new_batch = random_batch(chance)
    changes = []
    for _ in range(chance.randrange(3)):
        name, at = chance.choice(["one", "two"]), chance.randrange(30)
        one, other = chance.sample(["c0", "c1", "c2", "c3"], 2)
        changes.append(rename_column(name, one, other, at) if chance.random() < 0.8 else drop_column(name, one, at))
    return replace(new_batch, changes=(*new_batch.changes, *changes))


def test_a_batch_with_changed_columns_applied_twice_is_as_once(store: GraphStore) -> None:
    chance = random.Random(5)
    for _ in range(30):
        new_batch = random_column_batch(chance)
        store.apply(new_batch)
        once = store.dump()
        store.apply(new_batch)
        assert store.dump() == once, new_batch


def test_a_batch_with_changed_columns_in_parts_is_as_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "EDGES_IN_A_PART", 3)
    monkeypatch.setattr(parts, "COLUMNS_IN_A_PART", 3)
    chance = random.Random(9)
    with open_store(tmp_path / "one.db") as whole, open_store(tmp_path / "other.db") as in_parts:
        for _ in range(25):
            new_batch = random_column_batch(chance)
            whole.apply(new_batch)
            for same_round in in_parts.parts(new_batch):
                chance.shuffle(same_round)
                for part in same_round:
                    in_parts.apply(part)
            assert whole.dump() == in_parts.dump(), new_batch
