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
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.apply(applied_together(query("q", "a.x -> r.x", at=1)))
        store.apply(applied_together(changes=[rename("a", "a_old", 2)]))
        store.apply(applied_together(table("a", "x", "y", at=3)))
    for command, note in (("impact", "what read it then"), ("root-cause", "where it came from then")):
        for asked, found in (("a.x", "a_old.x"), ("a", "a_old"), ("a.y", "a_old")):
            done = lineage(command, asked, "--store", path)
            assert "until 2024-01-02 00:00 UTC, a_old had this name\n" in done.err
            assert f"{note}: lineage {command} {found}\n" in done.err
    done = lineage("path", "a.x", "r.x", "--store", path)
    assert "until 2024-01-02 00:00 UTC, a_old had the name of a.x\n" in done.err
    with open_store(path) as store:
        store.apply(applied_together(changes=[drop("a_old", 4)]))
    assert "had this name" not in lineage("impact", "a", "--store", path).err
    assert "had this name" not in lineage("impact", "r", "--store", path).err


def test_before_the_rename_the_note_has_the_time_that_is_asked(tmp_path: Path) -> None:
    """Even if the table of that time is dropped by now."""
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.apply(applied_together(query("q", "a.x -> r.x", at=1)))
        store.apply(applied_together(changes=[rename("a", "a_old", 2)]))
        store.apply(applied_together(table("a", "x", at=3)))
        store.apply(applied_together(changes=[drop("a_old", 4)]))
    done = lineage("impact", "a.x", "--as-of", "2024-01-01", "--store", path)
    assert "the graph has nothing about a before 2024-01-03 00:00 UTC" in done.err
    assert "until 2024-01-02 00:00 UTC, a_old had this name\n" in done.err
    asked = "lineage impact a_old.x --as-of 2024-01-01T00:00:00+00:00"
    assert f"{asked}\n" in done.err
    assert "r.x" in lineage(*asked.split()[1:], "--store", path).out
    assert "had this name" not in lineage("impact", "a.x", "--as-of", "2024-01-05", "--store", path).err


def test_of_many_tables_that_had_a_name_the_latest_are_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_store(path) as store:
        for number in range(1, 7):
            store.apply(applied_together(table("a", "x", at=2 * number)))
            store.apply(applied_together(changes=[rename("a", f"a_{number}", 2 * number + 1)]))
        store.apply(applied_together(table("a", "x", at=20)))
    said = lineage("impact", "a.x", "--store", path).err
    assert [line.split()[4] for line in said.splitlines() if "had this name" in line] == ["a_6", "a_5", "a_4"]
    assert "… and 3 tables had it before\n" in said
    said = lineage("impact", "a.x", "--as-of", "2024-01-04", "--store", path).err
    assert [line.split()[4] for line in said.splitlines() if "had this name" in line] == ["a_2", "a_1"]


def test_a_column_that_only_the_table_before_has_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.apply(applied_together(query("q", "a.gone -> r.x", at=1)))
        store.apply(applied_together(changes=[rename("a", "a_old", 2)]))
        store.apply(applied_together(table("a", "x", at=3)))
        with running(store) as service:
            refusal = service.refusal('{ impact(column: "a.gone") { totalCount } }')
    said = "a has no column 'gone'; a_old, which had this name until 2024-01-02 00:00 UTC, has one"
    assert (refusal["code"], refusal["message"], refusal["suggestions"]) == ("NOT_FOUND", said, ["a_old.gone"])
    done = lineage("impact", "a.gone", "--store", path)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert "did you mean `a_old.gone`?" in done.err


HELD = """query ($as_of: DateTime) {
  impact(columns: ["a.x", "r.x"], asOf: $as_of) { formerHolders { startKey key name until node { __typename } } }
  rootCause(table: "a") { formerHolders { key } }
  tables(first: 5) { nodes { name formerHolders { name startKey until } } }
}"""


def test_the_service_names_the_table_that_had_the_name_before(store: GraphStore) -> None:
    store.apply(applied_together(query("q", "a.x -> r.x", at=1)))
    store.apply(applied_together(changes=[rename("a", "a_old", 2)]))
    store.apply(applied_together(table("a", "x", "y", at=3)))
    until = day(2).isoformat()
    held = {"startKey": "pg/a#x", "key": "pg/a_old#x", "name": "a_old.x", "until": until}
    whole = {"name": "a_old", "startKey": "pg/a", "until": until}
    with running(store) as service:
        for as_of in (None, day(1).isoformat()):
            found = service.data(HELD, as_of=as_of)
            assert found["impact"] == {"formerHolders": [{**held, "node": {"__typename": "Column"}}]}
        assert found["rootCause"] == {"formerHolders": [{"key": "pg/a_old"}]}
        tables = {one["name"]: one["formerHolders"] for one in found["tables"]["nodes"]}
        assert tables == {"a": [whole], "a_old": [], "r": []}


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
    with open_store(tmp_path / "s.db") as store:
        for number in order:
            store.apply(parts[number])
        assert names(store) == {"c": [("a", 2), ("b", 4)]}
