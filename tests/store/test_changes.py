"""DROP, RENAME and SWAP apply at their own time, whether ingested once or twice, early or late."""

from __future__ import annotations

from lineage.store import GraphStore
from lineage.store.values import Direction
from tests.store.batch_builders import (
    batch,
    day,
    drop,
    history,
    job,
    key,
    live,
    query,
    rename,
    swap,
    table,
    table_history,
    view,
)


def test_drop_marks_the_dataset_and_ends_its_edges_both_ways(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=1), view("c", "b.x -> c.x", "b.y ~> c", at=1)))
    store.apply(batch(drop("b", at=4)))
    assert history(store) == ["a.x -> b.x 1..4", "b.x -> c.x 1..4", "b.y ~> c 1..4"]
    assert table_history(store) == ["a => b 1..4", "b => c 1..4"]
    [dropped] = store.datasets([key("b")])
    assert dropped.dropped_at == day(4)
    assert [one.dropped_at for one in store.datasets([key("a"), key("c")])] == [None, None]


def test_drop_leaves_what_was_stated_later(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=1)))
    store.apply(batch(view("b", "a.x -> b.x", at=6)))
    store.apply(batch(drop("b", at=4)))
    assert history(store) == ["a.x -> b.x 1..4", "a.x -> b.x 6.."]
    assert store.datasets([key("b")])[0].dropped_at is None


def test_a_late_statement_of_a_dropped_dataset_ends_with_the_drop(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=3)))
    store.apply(batch(drop("b", at=4)))
    store.apply(batch(view("c", "b.x -> c.x", at=2)))
    assert history(store) == ["a.x -> b.x 3..4", "b.x -> c.x 2..4"]


def test_a_drop_is_known_before_the_dataset_is(store: GraphStore) -> None:
    store.apply(batch(drop("b", at=4)))
    store.apply(batch(view("b", "a.x -> b.x", at=2)))
    assert history(store) == ["a.x -> b.x 2..4"]


def test_what_only_adds_ends_with_a_drop_too(store: GraphStore) -> None:
    store.apply(batch(query("early", "a.x -> b.x", at=1, until=2), query("late", "a.y -> b.y", at=1, until=5)))
    store.apply(batch(drop("b", at=4)))
    assert history(store) == ["a.x -> b.x 1..4", "a.y -> b.y 1.."]
    store.apply(batch(query("early", "a.x -> b.x", at=1, until=3), run="again"))
    assert history(store) == ["a.x -> b.x 1..4", "a.y -> b.y 1.."]


def test_a_dataset_that_is_made_again_is_not_dropped(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=1), view("c", "b.x -> c.x", at=1)))
    store.apply(batch(drop("b", at=4)))
    store.apply(batch(view("b", "a.y -> b.x", at=6)))
    assert store.datasets([key("b")])[0].dropped_at is None
    # Earlier derived tables keep their lineage: a copy still has the rows, and a view reads the new table.
    assert history(store) == ["a.x -> b.x 1..4", "a.y -> b.x 6..", "b.x -> c.x 1.."]
    store.apply(batch(view("c", "b.x -> c.x", at=7)))
    assert live(store) == ["a.y -> b.x", "b.x -> c.x"]


def test_a_later_schema_makes_a_dropped_dataset_live(store: GraphStore) -> None:
    store.apply(batch(table("a", "x", at=1)))
    store.apply(batch(drop("a", at=2)))
    assert store.datasets([key("a")])[0].dropped_at == day(2)
    store.apply(batch(table("a", "x", at=3)))
    assert store.datasets([key("a")])[0].dropped_at is None


def test_drop_and_create_in_one_batch_is_a_replacement(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", "a.y -> b.y", at=1), view("c", "b.x -> c.x", at=1)))
    store.apply(batch(drop("b", at=4), view("b", "a.x -> b.x", at=4)))
    assert history(store) == ["a.x -> b.x 1..", "a.y -> b.y 1..4", "b.x -> c.x 1.."]
    assert store.datasets([key("b")])[0].dropped_at is None


def test_the_same_drop_twice_is_as_once(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=1)))
    new_batch = batch(drop("b", at=4))
    store.apply(new_batch)
    store.apply(batch(view("b", "a.x -> b.x", at=6)))
    once = store.dump()
    store.apply(new_batch)
    assert store.dump() == once


def test_rename_moves_everything_and_leaves_an_alias(store: GraphStore) -> None:
    store.apply(batch(table("b", "x", "y", at=1), view("b", "a.x -> b.x", "b.x -> b.y", "a.z ~> b", at=1)))
    store.apply(batch(view("c", "b.x -> c.x", at=1), query("q", "a.x -> b.y", at=1)))
    store.apply(batch(view("b", "a.x -> b.x", "b.x -> b.y", at=2)))
    store.apply(batch(rename("b", "new", at=5)))
    assert history(store) == [
        "a.x -> new.x 1..",
        "a.x -> new.y 1..",
        "a.z ~> new 1..2",
        "new.x -> c.x 1..",
        "new.x -> new.y 1..",
    ]
    assert table_history(store) == ["a => new 1..", "a => new 1..", "new => c 1.."]
    assert store.datasets([key("b")]) == []
    [moved] = store.datasets([key("new")])
    assert (moved.name, moved.namespace, moved.aliases) == ("new", "pg", ("b",))
    assert [(one.key, one.data_type) for one in store.columns([key("new")])] == [
        (key("new.x"), "int"),
        (key("new.y"), "int"),
    ]
    assert [one.key for one in store.find_datasets("b")] == [key("new")]
    assert [one.key for one in store.jobs()] == ["definition:pg/c", "definition:pg/new", "query:q"]
    assert store.jobs(["definition:pg/new"])[0].writes == (key("new"),)
    assert store.jobs(["definition:pg/c"])[0].reads == (key("new"),)


def test_a_renamed_definition_goes_on_as_one(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", "a.y -> b.y", at=1)))
    store.apply(batch(rename("b", "new", at=5)))
    store.apply(batch(view("new", "a.x -> new.x", at=7)))
    assert history(store) == ["a.x -> new.x 1..", "a.y -> new.y 1..7"]


def test_a_late_statement_under_the_old_name_is_of_the_renamed(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=4)))
    store.apply(batch(rename("b", "new", at=5)))
    store.apply(batch(view("b", "a.old -> b.x", at=2), view("c", "b.x -> c.x", at=3)))
    assert history(store) == ["a.old -> new.x 2..4", "a.x -> new.x 4..", "new.x -> c.x 3.."]


def test_the_old_name_may_be_taken_by_another(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=1)))
    store.apply(batch(rename("b", "old", at=5)))
    store.apply(batch(view("b", "z.x -> b.x", at=6)))
    assert history(store) == ["a.x -> old.x 1..", "z.x -> b.x 6.."]
    assert [one.key for one in store.find_datasets("b")] == [key("b")]


def test_the_same_rename_twice_is_as_once(store: GraphStore) -> None:
    new_batch = batch(view("b", "a.x -> b.x", at=1), rename("b", "new", at=5))
    store.apply(new_batch)
    once = store.dump()
    assert history(store) == ["a.x -> new.x 1.."]
    store.apply(new_batch)
    assert store.dump() == once
    store.apply(batch(view("b", "z.x -> b.x", at=6)))
    store.apply(new_batch)
    assert history(store) == ["a.x -> new.x 1..", "z.x -> b.x 6.."]


def test_renames_in_a_row_are_followed(store: GraphStore) -> None:
    store.apply(batch(view("one", "a.x -> one.x", at=1)))
    store.apply(batch(rename("one", "two", at=2), rename("two", "three", at=3)))
    store.apply(batch(view("c", "one.x -> c.x", at=1.5)))
    assert history(store) == ["a.x -> three.x 1..", "three.x -> c.x 1.5.."]
    assert store.datasets([key("three")])[0].aliases == ("one", "two")


def test_a_rename_that_is_told_late_takes_part_in_what_is_known(store: GraphStore) -> None:
    store.apply(batch(view("one", "a.x -> one.x", at=1), view("two", "b.x -> two.x", at=3)))
    store.apply(batch(rename("two", "three", at=5)))
    store.apply(batch(rename("one", "two", at=2)))
    assert history(store) == ["a.x -> three.x 1..3", "b.x -> three.x 3.."]


def test_a_rename_and_a_definition_that_follows_it(store: GraphStore) -> None:
    """The same in order."""
    store.apply(batch(view("one", "a.x -> one.x", at=1)))
    store.apply(batch(rename("one", "two", at=2)))
    store.apply(batch(view("two", "b.x -> two.x", at=3)))
    store.apply(batch(rename("two", "three", at=5)))
    assert history(store) == ["a.x -> three.x 1..3", "b.x -> three.x 3.."]


def test_a_drop_that_is_told_before_the_rename_that_it_follows(store: GraphStore) -> None:
    store.apply(batch(view("one", "a.x -> one.x", at=1)))
    store.apply(batch(drop("two", at=3)))
    store.apply(batch(rename("one", "two", at=2)))
    assert history(store) == ["a.x -> two.x 1..3"]


def test_rename_onto_a_dropped_dataset_joins_it(store: GraphStore) -> None:
    store.apply(batch(table("t", "x", "gone", at=1), view("t", "a.x -> t.x", "a.gone -> t.gone", at=1)))
    store.apply(batch(table("t_new", "x", at=2), view("t_new", "b.x -> t_new.x", at=2)))
    store.apply(batch(drop("t", at=3), rename("t_new", "t", at=4)))
    assert history(store) == ["a.gone -> t.gone 1..4", "a.x -> t.x 1..4", "b.x -> t.x 2.."]
    store.apply(batch(view("t", "b.x -> t.x", at=5)))
    assert history(store) == ["a.gone -> t.gone 1..4", "a.x -> t.x 1..4", "b.x -> t.x 2.."]
    [joined] = store.datasets([key("t")])
    assert (joined.dropped_at, joined.aliases) == (None, ("t_new",))
    assert [one.path for one in store.columns([key("t")])] == ["x"]
    assert [one.path for one in store.columns([key("t")], dropped=True)] == ["x", "gone"]


def test_rename_of_an_unknown_dataset_is_an_alias_of_the_known(store: GraphStore) -> None:
    store.apply(batch(view("b", "a.x -> b.x", at=1)))
    store.apply(batch(rename("nobody", "b", at=2), rename("no", "one", at=2)))
    assert store.datasets([key("b")])[0].aliases == ("nobody",)
    assert [one.key for one in store.datasets()] == [key("a"), key("b")]


def test_putting_a_table_aside_to_replace_it_is_a_replacement(store: GraphStore) -> None:
    store.apply(batch(job("etl", "a.x -> t.x", at=1), view("c", "t.x -> c.x", at=1)))
    store.apply(
        batch(
            job("etl", "a.y -> t_new.x", at=3),
            rename("t", "t_old", at=4),
            rename("t_new", "t", at=4.25),
            drop("t_old", at=4.5),
        )
    )
    assert live(store) == ["a.y -> t.x", "t.x -> c.x"]
    assert store.datasets([key("t")])[0].dropped_at is None
    assert store.datasets([key("t_old"), key("t_new")]) == []


def test_swap_exchanges_two(store: GraphStore) -> None:
    store.apply(batch(table("one", "x", at=1), view("one", "a.x -> one.x", at=1), view("c", "one.x -> c.x", at=1)))
    store.apply(batch(table("two", "x", "y", at=1), view("two", "b.x -> two.x", "b.y ~> two", at=1)))
    store.apply(batch(swap("one", "two", at=3)))
    assert live(store) == ["a.x -> two.x", "b.x -> one.x", "b.y ~> one", "two.x -> c.x"]
    assert [one.path for one in store.columns([key("one")])] == ["x", "y"]
    assert [one.aliases for one in store.datasets([key("one"), key("two")])] == [(), ()]


def test_the_same_swap_twice_is_as_once(store: GraphStore) -> None:
    new_batch = batch(view("one", "a.x -> one.x", at=1), view("two", "b.x -> two.x", at=1), swap("one", "two", at=3))
    store.apply(new_batch)
    once = store.dump()
    store.apply(new_batch)
    assert store.dump() == once
    assert live(store) == ["a.x -> two.x", "b.x -> one.x"]


def test_a_late_statement_before_a_swap_is_of_the_other(store: GraphStore) -> None:
    store.apply(batch(view("one", "a.x -> one.x", at=1), view("two", "b.x -> two.x", at=1)))
    store.apply(batch(swap("one", "two", at=3)))
    store.apply(batch(view("c", "one.x -> c.x", at=2), view("d", "one.x -> d.x", at=4)))
    assert live(store) == ["a.x -> two.x", "b.x -> one.x", "one.x -> d.x", "two.x -> c.x"]


def test_temporary_tables_and_plain_queries_leave_no_edges(store: GraphStore) -> None:
    store.apply(batch(query("select", reads=["a"], at=1)))
    assert history(store) == []
    [stored] = store.jobs()
    assert (stored.reads, stored.writes) == ((key("a"),), ())
    assert store.feeds([key("a")], Direction.DOWNSTREAM) == []


def test_a_move_that_is_told_late_leaves_alone_what_took_the_name_since(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=6), view("w", "b.x -> w.x", at=6)))
    before = history(store)
    store.apply(batch(rename("v", "old", at=4)))
    store.apply(batch(swap("v", "w", at=5)))
    assert history(store) == before
    store.apply(batch(view("v", "a.y -> v.y", at=2)))
    assert history(store) == sorted([*before, "a.y -> old.y 2.."])
