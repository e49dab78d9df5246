"""Differences between two times are the same on both stores, with renamed and dropped tables and columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.model.batch import ColumnRecord, DatasetChange
from lineage.model.statement import ChangeKind
from lineage.store import GraphStore
from lineage.traversal import Difference, difference, resolve_table
from tests.store.batch_builders import batch, day, key, query, table, view


def differs(found: Difference) -> dict[str, set[str]]:
    """Return the differences, each as a short text."""
    nodes = {
        what: {f"{one.sort} {f'{one.earlier} -> ' if one.earlier else ''}{one.name}" for one in nodes}
        for what, nodes in (("datasets", found.datasets), ("columns", found.columns))
    }
    edges = {f"{one.sort} {one.edge.source[3:]} -> {one.edge.target[3:]}" for one in found.edges}
    return {**nodes, "edges": edges}


def between(store: GraphStore, first: float, second: float, name: str | None = None) -> dict[str, set[str]]:
    target = resolve_table(store, name) if name else None
    return differs(difference(store, day(first), day(second), target))


@pytest.fixture
def history(store: GraphStore) -> GraphStore:
    """A view created on day 1, with another column from day 3, and dropped on day 5."""
    store.apply(batch(table("a", "x", "y", at=1), table("v", "x", at=1), view("v", "a.x -> v.x", at=1)))
    store.apply(batch(table("v", "x", "y", at=3), view("v", "a.x -> v.x", "a.y -> v.y", at=3)))
    store.apply(batch(DatasetChange(ChangeKind.DROP, key("v"), day(5))))
    return store


def test_what_came_and_went(history: GraphStore) -> None:
    assert between(history, 0, 2) == {
        "datasets": {"came a", "came v"},
        "columns": {"came a.x", "came a.y", "came v.x"},
        "edges": {"came a#x -> v#x"},
    }
    assert between(history, 2, 4) == {"datasets": set(), "columns": {"came v.y"}, "edges": {"came a#y -> v#y"}}
    assert between(history, 4, 6) == {
        "datasets": {"went v"},
        "columns": {"went v.x", "went v.y"},
        "edges": {"went a#x -> v#x", "went a#y -> v#y"},
    }
    assert between(history, 3, 3) == between(history, 6, 9) == {"datasets": set(), "columns": set(), "edges": set()}


def test_a_table_alone(history: GraphStore) -> None:
    assert between(history, 2, 6, "a") == {"datasets": set(), "columns": set(), "edges": set()}
    assert between(history, 2, 6, "v")["datasets"] == {"went v"}


def test_a_dropped_table_that_is_made_again(history: GraphStore) -> None:
    history.apply(batch(table("v", "x", at=8), view("v", "a.x -> v.x", at=8)))
    assert between(history, 6, 9)["datasets"] == {"came v"}
    assert between(history, 4, 6)["datasets"] == {"went v"}
    assert between(history, 4, 9)["datasets"] == set()


def test_a_renamed_column_is_neither_new_nor_gone(history: GraphStore) -> None:
    history.apply(batch(DatasetChange(ChangeKind.RENAME_COLUMN, key("a"), day(4), "z", "x")))
    assert between(history, 3.5, 4.5) == {"datasets": set(), "columns": {"renamed x -> a.z"}, "edges": set()}
    assert between(history, 1.5, 3.5)["columns"] == {"came v.y"}


def test_a_renamed_table_is_neither_new_nor_gone(history: GraphStore) -> None:
    history.apply(batch(DatasetChange(ChangeKind.RENAME, key("a"), day(4), key("b"))))
    assert between(history, 3.5, 4.5) == {"datasets": {"renamed a -> b"}, "columns": set(), "edges": set()}


def test_a_column_of_a_table_that_is_renamed_later(history: GraphStore) -> None:
    history.apply(batch(DatasetChange(ChangeKind.RENAME_COLUMN, key("a"), day(4), "z", "x")))
    history.apply(batch(DatasetChange(ChangeKind.RENAME, key("a"), day(4.5), key("b"))))
    assert between(history, 3.5, 4.2) == {"datasets": set(), "columns": {"renamed x -> b.z"}, "edges": set()}
    assert between(history, 4.2, 4.7) == {"datasets": {"renamed a -> b"}, "columns": set(), "edges": set()}
    assert between(history, 3.5, 4.7)["columns"] == {"renamed x -> b.z"}


def test_an_edge_that_means_something_else(store: GraphStore) -> None:
    store.apply(batch(view("v", "a.x -> v.x", at=1)))
    store.apply(batch(view("v", "a.x -> v.x MASKING", at=3)))
    assert between(store, 2, 4)["edges"] == {"changed a#x -> v#x"}
    store.apply(batch(view("v", "a.x -> v.x IDENTITY AGGREGATION", at=5)))
    store.apply(batch(view("v", "a.x -> v.x IDENTITY AGGREGATION:MASKING", at=7)))
    assert between(store, 6, 8)["edges"] == {"changed a#x -> v#x"}
    [edge] = [one.to_dict() for one in difference(store, day(6), day(8)).edges]
    assert [edge[side]["masked_subtypes"] for side in ("before", "after")] == [[], ["AGGREGATION"]]


def test_an_edge_that_ended_and_was_stated_again_is_no_difference(store: GraphStore) -> None:
    store.apply(batch(query("q", "a.x -> v.x", at=1)))
    store.prune(day(2), at=day(3))
    store.apply(batch(query("q", "a.x -> v.x", at=5)))
    assert between(store, 2, 6)["edges"] == set()
    assert between(store, 4, 6)["edges"] == {"came a#x -> v#x"}


def test_a_file_that_makes_a_table_and_renames_its_column(store: GraphStore) -> None:
    store.apply(batch(table("a", "x", at=1), view("v", "a.x -> v.x", at=1)))
    later = replace(table("a", at=3), columns=(ColumnRecord("z", "int", 0, aliases=("x",)),))
    store.apply(batch(later, view("v", "a.z -> v.x", at=3)))
    assert between(store, 2, 4) == {"datasets": set(), "columns": {"renamed x -> a.z"}, "edges": set()}


def test_the_first_time_is_the_earlier_one(store: GraphStore) -> None:
    with pytest.raises(ValueError, match="is after"):
        difference(store, day(2), day(1))


def test_the_number_of_edges_is_bounded(history: GraphStore) -> None:
    assert difference(history, day(2), day(6), limit=1).truncated
