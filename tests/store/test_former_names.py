"""Former names of a renamed dataset, separate from its current names."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.export.openlineage import openlineage_events
from lineage.model.batch import LineageBatch
from lineage.store import GraphStore, open_store
from tests.cli.running import lineage
from tests.service.running import running
from tests.store.batch_builders import batch, day, drop, query, rename, swap, table

QUERY = "{ tables(first: 20) { nodes { name aliases formerNames { name until } } } }"


def applied_together(*parts: Any, changes: Any = (), aliases: Any = ()) -> LineageBatch:
    return replace(batch(*parts), changes=tuple(changes), aliases=tuple(aliases))


def names(store: GraphStore) -> dict[str, list[tuple[str, int]]]:
    keys = store.dataset_keys()
    found = store.former_names(keys)
    assert list(found) == keys
    return {key.partition("/")[2]: [(one.name, one.until.day) for one in found[key]] for key in keys if found[key]}


def test_each_earlier_name_until_it_was_changed(store: GraphStore) -> None:
    store.apply(applied_together(table("a", "x", at=1), query("q", "s.x -> a.x", at=1)))
    store.apply(applied_together(changes=[rename("a", "b", 2), rename("b", "c", 4)]))
    assert names(store) == {"c": [("a", 2), ("b", 4)]}
    assert store.former_names(["pg/nothing"]) == {"pg/nothing": []}


def test_a_name_that_another_table_takes(store: GraphStore) -> None:
    store.apply(applied_together(table("a", "x", at=1)))
    store.apply(applied_together(changes=[rename("a", "a_old", 2)]))
    store.apply(applied_together(table("a", "y", at=3)))
    assert names(store) == {"a_old": [("a", 2)]}
    store.apply(applied_together(changes=[rename("a", "b", 5)]))
    assert names(store) == {"a_old": [("a", 2)], "b": [("a", 5)]}


def test_the_table_that_had_a_name_before_is_found(store: GraphStore) -> None:
    store.apply(applied_together(table("a", "x", at=1)))
    store.apply(applied_together(changes=[rename("a", "b", 2)]))
    store.apply(applied_together(table("a", "y", at=3), table("n", "z", at=3)))
    store.apply(applied_together(changes=[swap("a", "n", 4)]))
    held = store.name_holders(["pg/a", "pg/b", "pg/n", "pg/nothing"])
    assert {key.partition("/")[2]: [(one.key, one.until) for one in found] for key, found in held.items()} == {
        "a": [("pg/b", day(2)), ("pg/n", day(4))],
        "b": [],
        "n": [("pg/a", day(4))],
        "nothing": [],
    }


def test_impact_names_the_table_that_had_the_name_before(tmp_path: Path) -> None:
    """A column of that name, or the table; a table that is dropped since is left out."""
    path = tmp_path / "s.lbug"
    with open_store(path) as store:
        store.apply(applied_together(query("q", "a.x -> r.x", at=1)))
        store.apply(applied_together(changes=[rename("a", "a_old", 2)]))
        store.apply(applied_together(table("a", "x", "y", at=3)))
    for asked, found in (("a.x", "a_old.x"), ("a", "a_old"), ("a.y", "a_old")):
        done = lineage("impact", asked, "--store", path)
        assert "until 2024-01-02 00:00 UTC, a_old had this name\n" in done.err
        assert f"lineage impact {found}\n" in done.err
    with open_store(path) as store:
        store.apply(applied_together(changes=[drop("a_old", 4)]))
    assert "had this name" not in lineage("impact", "a", "--store", path).err
    assert "had this name" not in lineage("impact", "r", "--store", path).err


def test_there_and_back_is_no_earlier_name_of_its_own(store: GraphStore) -> None:
    store.apply(applied_together(table("a", "x", at=1)))
    store.apply(applied_together(changes=[rename("a", "b", 2), rename("b", "a", 3)]))
    assert names(store) == {"a": [("b", 3)]}


def test_a_swap_takes_the_earlier_names_along(store: GraphStore) -> None:
    store.apply(applied_together(table("a", "x", at=1), table("n", "x", at=1)))
    store.apply(applied_together(changes=[rename("a", "b", 2), swap("b", "n", 3)]))
    assert names(store) == {"n": [("a", 2)]}


def test_names_that_mean_it_now_are_apart_and_only_they_are_exported(store: GraphStore) -> None:
    store.apply(applied_together(table("a", "x", at=1), query("q", "s.x -> path.x", at=1)))
    store.apply(applied_together(changes=[rename("a", "b", 2)]))
    store.apply(applied_together(aliases=[("pg/path", "pg/b")]))
    with running(store) as service:
        tables = {one["name"]: one for one in service.data(QUERY)["tables"]["nodes"]}
    assert tables == {
        "b": {"name": "b", "aliases": ["pg/path"], "formerNames": [{"name": "a", "until": day(2).isoformat()}]},
        "s": {"name": "s", "aliases": [], "formerNames": []},
    }
    linked = [
        one["dataset"]["facets"]["symlinks"]["identifiers"]
        for one in openlineage_events(store)
        if "symlinks" in one.get("dataset", {}).get("facets", {})
    ]
    linked += [
        output["facets"]["symlinks"]["identifiers"]
        for one in openlineage_events(store)
        for output in one.get("outputs", ())
        if "symlinks" in output["facets"]
    ]
    assert linked
    assert all(one == [{"namespace": "pg", "name": "path", "type": "TABLE"}] for one in linked)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_in_whatever_order_it_is_applied_together(order: tuple[int, ...], tmp_path: Path) -> None:
    parts = (
        applied_together(table("a", "x", at=1)),
        applied_together(changes=[rename("a", "b", 2)]),
        applied_together(changes=[rename("b", "c", 4), drop("d", 5)]),
        applied_together(query("q", "c.x -> d.x", at=6)),
    )
    with open_store(tmp_path / "s.lbug") as store:
        for number in order:
            store.apply(parts[number])
        assert names(store) == {"c": [("a", 2), ("b", 4)]}
