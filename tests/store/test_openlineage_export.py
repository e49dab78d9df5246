"""The export as OpenLineage events is valid and ordered, and ingesting it yields the same graph."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lineage.catalog import Catalog
from lineage.export.openlineage import openlineage_events
from lineage.model.batch import ColumnRecord, DatasetRecord
from lineage.model.statement import DatasetKind
from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage_ingest.openlineage import EventIngest
from lineage_ingest.openlineage.validation.event_validation import check
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.batch_builders import batch, day, drop, job, query, rename, table, view

DEMO = Path(__file__).parents[2] / "ingest" / "lineage_ingest" / "demo" / "mimic_iv"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[GraphStore]:
    with open_store(tmp_path / "second.db") as opened:
        yield opened


def facts(store: GraphStore) -> dict[str, list[Any]]:
    """Return the part that must be equal: live datasets, columns and edges, without job names, which change."""
    dump = store.dump()
    gone = {key for label, key, facts_of_graph in dump.nodes if "dropped_at" in facts_of_graph}
    live = [one for one in dump.nodes if one[1] not in gone and one[2].get("dataset") not in gone]
    names = ("namespace", "name", "kind", "dialect", "schema_known")
    of_columns = ("data_type", "ordinal", "inferred", "parent")
    ways = ("subtypes", "masking", "partly_masking", "limited", "ambiguous")
    return {
        "datasets": sorted(
            (key, *(str(facts_of_graph.get(n)) for n in names))
            for label, key, facts_of_graph in live
            if label == "Table"
        ),
        "columns": sorted(
            (key, *(str(facts_of_graph.get(n)) for n in of_columns))
            for label, key, facts_of_graph in live
            if label == "Column"
        ),
        "edges": sorted(
            (name, source, target, *(str(facts_of_graph.get(n)) for n in ways))
            for name, source, target, facts_of_graph in dump.relationships
            if name in ("CONTRIBUTES", "REFERENCES", "FEEDS")
        ),
    }


def valid(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event that is valid by the schemas, as an object and as JSON."""
    checked = check(json.loads(json.dumps(event)))
    assert checked.problems == ()
    return event


def taken_again(store: GraphStore, into: GraphStore) -> list[dict[str, Any]]:
    events = [valid(one) for one in openlineage_events(store)]
    assert all(one.accepted and not one.warnings for one in EventIngest(into).take(events))
    return events


def make(store: GraphStore) -> None:
    nested = DatasetRecord(
        "kafka://k:9092",
        "clicks",
        DatasetKind.TOPIC,
        columns=(ColumnRecord("who", "record", 0), ColumnRecord("who.mail", "string", 0), ColumnRecord("at", None, 1)),
        schema_known=True,
        at=day(1),
        aliases=("hive://ms:9083/raw.clicks",),
    )
    store.apply(
        batch(
            table("t", "a", "b", at=1),
            table("Odd Name.x", "Mixed Case", "a#b", at=1, kind=DatasetKind.VIEW),
            nested,
            view("v", "t.a -> v.x", "t.b ~> v.x CONDITIONAL", "t.b ~> v FILTER JOIN", "t.a ~> v SORT LIMITED", at=2),
            job(
                "file.sql",
                "t.a -> w.y MASKING TRANSFORMATION",
                "t.a ~> w DISTINCT",
                "v.x -> w.z IDENTITY AGGREGATION:MASKING",
                "v.x ~> w FILTER JOIN:MASKING",
                at=3,
            ),
            query("q1", "t.a -> w.y AMBIGUOUS", "v.x ~> w SET_OPERATION MERGE_MATCH", at=4),
            query("q2", "w.y -> u.nested.deep", at=5),
            job("only reads", at=5, reads=["t", "unknown"]),
            view("gone", "t.a -> gone.x", at=5),
            view("old", "t.a -> old.x", at=5),
            drop("gone", at=6),
            rename("old", "new", at=6),
        )
    )


def test_what_goes_out_comes_in_again(store: GraphStore, empty: GraphStore) -> None:
    make(store)
    taken_again(store, empty)
    assert facts(empty) == facts(store)
    assert [one.aliases for one in empty.find_datasets("clicks")] == [("hive://ms:9083/raw.clicks",)]
    assert [one.key for one in empty.find_datasets("gone")] == []


def test_the_order_is_always_the_same(store: GraphStore, empty: GraphStore) -> None:
    make(store)
    once = [json.dumps(one) for one in openlineage_events(store)]
    assert [json.dumps(one) for one in openlineage_events(store)] == once
    make(empty)
    assert [json.dumps(one) for one in openlineage_events(empty)] == once


def test_the_demo_goes_out_and_comes_in_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "demo.db") as demo, open_store(tmp_path / "again.db") as again:
        catalog = Catalog.from_ddl(DEMO / "create.sql", "postgres")
        options = options_for("postgres", namespace="postgres://mimic:5432", default_schema="mimiciv_derived")
        ingest_sql_files([DEMO / "concepts"], demo, options, catalog, observed_at=datetime(2026, 1, 1, tzinfo=UTC))
        events = taken_again(demo, again)
        facts_of_graph = facts(demo)
        assert len(facts_of_graph["edges"]) > 2_000
        assert facts(again) == facts_of_graph
        assert [one.sql for one in again.jobs() if one.writes] == [one.sql for one in demo.jobs() if one.writes]
        kinds = [one["schemaURL"].rpartition("/")[2] for one in events]
        assert kinds == sorted(kinds, reverse=True)
        assert kinds.count("JobEvent") == len(demo.jobs())


def test_one_namespace(store: GraphStore) -> None:
    make(store)
    events = list(openlineage_events(store, namespace="kafka://k:9092"))
    assert [one["dataset"]["name"] for one in events] == ["clicks"]
    assert not any("clicks" in json.dumps(one) for one in openlineage_events(store, namespace="pg"))


def test_the_lineage_of_a_day(store: GraphStore) -> None:
    store.apply(batch(view("v", "t.old -> v.x", at=1)))
    store.apply(batch(view("v", "t.new -> v.x", at=5)))
    store.apply(batch(drop("v", at=9)))

    def said(**options: Any) -> list[str]:
        jobs = [valid(one) for one in openlineage_events(store, **options) if "job" in one]
        facets = [out["facets"]["columnLineage"]["fields"] for one in jobs for out in one["outputs"]]
        return [source["field"] for fields in facets for column in fields.values() for source in column["inputFields"]]

    assert said(as_of=day(3)) == ["old"]
    assert said(as_of=day(6)) == ["new"]
    assert said(as_of=day(0.5)) == []
    assert said() == []


def test_an_empty_graph_says_nothing(store: GraphStore) -> None:
    assert list(openlineage_events(store)) == []
