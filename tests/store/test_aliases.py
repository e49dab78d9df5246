"""A dataset with several names, such as a path and a catalog's table, is one, whenever the alias becomes known."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineage.model.batch import LineageBatch
from lineage.store import GraphStore, open_store
from lineage.traversal import Target, impact
from lineage_ingest.openlineage import EventIngest
from tests.events.event_builders import edges, event
from tests.events.random_events import comparable
from tests.store.batch_builders import batch, history, live, query, table, view
from tests.store.random_batches import random_batch

PATH = "s3://lake/wh/tab"
TABLE = "hive://m:9083/db.tab"
LINK = {"symlinks": {"identifiers": [{"namespace": "hive://m:9083", "name": "db.tab", "type": "TABLE"}]}}

Json = dict[str, Any]


def column_lineage(into: str, source: str, field: str) -> Json:
    namespace, _, name = source.rpartition(" ")
    of = {"namespace": namespace or "postgres://db:5432", "name": name if namespace else f"db.public.{name}"}
    ways = [{"type": "DIRECT", "subtype": "IDENTITY"}]
    return {"columnLineage": {"fields": {into: {"inputFields": [{**of, "field": field, "transformations": ways}]}}}}


WRITES = {"run": 1, "at": 1, "job": "spark/load", "inputs": ["pg.src"]} | {
    "outputs": {"s3://lake wh/tab": {**LINK, "schema": ["Id"], **column_lineage("Id", "src", "id")}}
}
READS_TABLE = {"run": 2, "at": 2, "job": "hive/report", "inputs": ["hive://m:9083 db.tab"]} | {
    "outputs": {"pg.report": column_lineage("id", "hive://m:9083 db.tab", "id")}
}
READS_PATH = {"run": 3, "at": 3, "job": "flink/copy", "inputs": ["s3://lake wh/tab"]} | {
    "outputs": {"pg.copy": column_lineage("id", "s3://lake wh/tab", "Id")}
}
WRITES_PATH = {"run": 4, "at": 4, "job": "other/load", "inputs": ["pg.more"]} | {
    "outputs": {"s3://lake wh/tab": column_lineage("Id", "more", "id")}
}
ALL = (WRITES, READS_TABLE, READS_PATH, WRITES_PATH)


def graph(new_batch: Any, path: Path) -> tuple[list[Any], list[Any]]:
    with open_store(path) as store:
        for one in new_batch:
            EventIngest(store).take([event(one)])
        return comparable(store.dump())


def test_a_chain_goes_through_whichever_name(store: GraphStore) -> None:
    EventIngest(store).take([event(one) for one in ALL])
    assert edges(store) == [
        f"{TABLE} ~> copy ROWS",
        f"{TABLE} ~> report ROWS",
        f"{TABLE}.id -> copy.id IDENTITY",
        f"{TABLE}.id -> report.id IDENTITY",
        f"more ~> {TABLE} ROWS",
        f"more.id -> {TABLE}.id IDENTITY",
        f"src ~> {TABLE} ROWS",
        f"src.id -> {TABLE}.id IDENTITY",
    ]
    for name in ("db.tab", TABLE, PATH, "wh/tab", "s3://lake/WH/tab"):
        assert [one.key for one in store.find_datasets(name)] == [TABLE], name
    assert [str(one.kind) for one in store.datasets([TABLE])] == ["table"]
    source = "postgres://db:5432/db.public.src"
    reached = impact(store, Target(f"{source}#id", "db.public.src.id", source, "id")).columns
    assert {one.key.rpartition(".")[2] for one in reached} == {"tab#id", "report#id", "copy#id"}


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(ALL)))))
def test_whenever_a_name_becomes_known_the_graph_is_the_same(order: tuple[int, ...], tmp_path: Path) -> None:
    found = graph([ALL[number] for number in order], tmp_path / "one.db")
    assert found == graph(ALL, tmp_path / "other.db")


def test_a_job_that_tells_the_name_later_replaces_what_it_said(store: GraphStore) -> None:
    first = {"run": 1, "at": 1, "outputs": {"s3://lake wh/tab": column_lineage("id", "old", "id")}}
    then = {"run": 2, "at": 2, "outputs": {"s3://lake wh/tab": {**LINK, **column_lineage("id", "new", "id")}}}
    EventIngest(store).take([event(first)])
    EventIngest(store).take([event(then)])
    assert edges(store) == [f"new.id -> {TABLE}.id IDENTITY"]
    assert len(store.jobs()) == 1


def test_a_third_name_may_be_the_better_one(store: GraphStore) -> None:
    EventIngest(store).take([event(WRITES)])
    other = [{"namespace": "postgres://db:5432", "name": "db.public.tab", "type": "TABLE"}]
    linked = {"s3://lake wh/tab": {"symlinks": {"identifiers": other}}}
    EventIngest(store).take([event({"run": 5, "at": 5, "job": "x/y", "outputs": linked}), event(READS_TABLE)])
    assert edges(store) == [
        "src ~> tab ROWS",
        "src.id -> tab.id IDENTITY",
        "tab ~> report ROWS",
        "tab.id -> report.id IDENTITY",
    ]
    assert sorted(store.datasets()[-1].aliases) == [TABLE, PATH]


def aliased(*new_batch: Any, pairs: Any = (("pg/a", "pg/aa"),)) -> LineageBatch:
    return replace(batch(*new_batch), aliases=tuple(pairs))


def test_the_newer_of_two_schemas_counts(store: GraphStore) -> None:
    store.apply(batch(table("aa", "x", "y", at=1), query("q", "b.x -> aa.y", at=1)))
    store.apply(batch(table("a", "x", "z", at=3), query("r", "a.x -> c.x", at=3)))
    store.apply(aliased())
    assert [one.path for one in store.columns(["pg/a"])] == ["x", "z"]
    assert history(store) == ["a.x -> c.x 3..", "b.x -> a.y 1..3"]
    assert [one.key for one in store.datasets()] == ["pg/a", "pg/b", "pg/c"]


def test_what_was_read_and_written_by_both_names_is_no_circle(store: GraphStore) -> None:
    store.apply(batch(view("a", "aa.x -> a.x", "b.x -> a.x", at=1)))
    store.apply(aliased())
    assert "b.x -> a.x" in live(store)
    assert [line for line in live(store) if line.startswith("a ")] == []


def test_random_batches_with_an_alias_told_first_or_last_find_one_dataset(tmp_path: Path) -> None:
    for seed in range(4):
        chance = random.Random(seed)
        batches = [random_batch(chance, at_most=6) for _ in range(5)]
        pairs = (("pg/one", "pg/three"),)
        with open_store(tmp_path / f"{seed}a.db") as first, open_store(tmp_path / f"{seed}b.db") as last:
            first.apply(aliased(view("v", "w.x -> v.x", at=1), pairs=pairs))
            last.apply(batch(view("v", "w.x -> v.x", at=1)))
            for one in batches:
                first.apply(one)
                last.apply(one)
            last.apply(aliased(pairs=pairs))
            for store in (first, last):
                assert "pg/three" not in {one.key for one in store.datasets()}
                store.apply(batches[-1])
                assert "pg/three" not in {one.key for one in store.datasets()}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_search_finds_a_dataset_by_each_of_its_names(store: GraphStore, order: tuple[int, ...]) -> None:
    events = [event(WRITES), event(READS_TABLE)]
    EventIngest(store).take([events[number] for number in order])
    for text in ("wh/tab", "WH/TAB", PATH, "s3://lake", "db.tab", "tab"):
        hits = store.search(text, types=["Table"])
        assert [hit.key for hit in hits] == [TABLE], text
        assert store.count_search(text, types=["Table"]) == 1, text
    # A match of the full name precedes a match of a part.
    more = {"s3://lake wh/tab_old": {**column_lineage("Id", "src", "id")}}
    EventIngest(store).take([event({"run": 9, "at": 1, "job": "x/z", "outputs": more})])
    assert [hit.key for hit in store.search("wh/tab", types=["Table"])] == [TABLE, "s3://lake/wh/tab_old"]
    assert [hit.key for hit in store.search("wh/tab", types=["Table"], limit=1)] == [TABLE]
    assert store.search("wh/tab", types=["Table"], tags=["none"]) == []


@pytest.mark.parametrize(
    "typed",
    ["/wh/tab", "s3a://lake/wh/tab", "s3://lake//wh/tab/", "s3://lake/wh/tab", "wh/tab", "hive://M:9083/db.tab"],
)
def test_a_path_is_found_however_it_is_written(store: GraphStore, typed: str) -> None:
    EventIngest(store).take([event(WRITES)])
    assert [one.key for one in store.find_datasets(typed)] == [TABLE]


@pytest.mark.parametrize("typed", ["/data/in.csv", "file:/data/in.csv", "file:///data/in.csv", "in.csv"])
def test_a_file_is_found_however_it_is_written(store: GraphStore, typed: str) -> None:
    EventIngest(store).take([event({"run": 1, "job": "x/y", "inputs": ["file /data/in.csv"], "outputs": ["pg.out"]})])
    assert [one.key for one in store.find_datasets(typed)] == ["file//data/in.csv"]
