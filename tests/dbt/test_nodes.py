"""Nodes of every kind: materialisations, snapshots, Python models, seeds, sources, and what consumes models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.traversal import impact, resolve
from lineage_ingest import DbtOptions, ingest_dbt, ingest_openlineage
from lineage_ingest.dbt.project_summary import DbtSummary
from tests.dbt.manifests import manifest, model, relation, source, write
from tests.dbt.test_again import MART, RAW, STAGED, lines
from tests.dbt.test_broken_artifacts import edges, found, ingest


@pytest.mark.parametrize(
    ("materialized", "kind"),
    [
        ("table", "table"),
        ("view", "view"),
        ("incremental", "table"),
        ("materialized_view", "view"),
        ("dynamic_table", "table"),
    ],
)
def test_materialisations(tmp_path: Path, materialized: str, kind: str) -> None:
    config = {"materialized": materialized}
    ingest(tmp_path, manifest(RAW, {**STAGED, "config": config}))
    with open_store(tmp_path / "store.db") as store:
        [table] = store.find_datasets("wh.main.stg")
        [job] = [job for job in store.jobs() if "model.shop.stg" in job.key]
    assert (table.kind, job.operation) == (kind, f"DBT_{materialized.upper()}")
    assert edges(tmp_path, "stg") == {"orders.id -> id", "orders.amount -> amount"}


def test_an_incremental_model_that_reads_itself(tmp_path: Path) -> None:
    sql = f'select id, amount from "wh"."raw"."orders" where id > (select max(id) from {relation("stg")})'
    summary = ingest(
        tmp_path, manifest(RAW, {**STAGED, "compiled_code": sql, "config": {"materialized": "incremental"}})
    )
    assert found(summary) == set()
    assert edges(tmp_path, "stg") == {"orders.id -> id", "orders.amount -> amount"}


def test_an_ephemeral_model_is_composed_away(tmp_path: Path) -> None:
    inner = model("inner", 'select id, amount as a from "wh"."raw"."orders"', "source.shop.raw.orders",
                  config={"materialized": "ephemeral"}, relation_name=None)  # fmt: skip
    compiled = (
        'with __dbt__cte__inner as (select id, amount as a from "wh"."raw"."orders") select a from __dbt__cte__inner'
    )
    outer = model("outer", compiled, "inner")
    ingest(tmp_path, manifest(RAW, inner, outer))
    assert edges(tmp_path, "outer") == {"orders.amount -> a"}
    with open_store(tmp_path / "store.db") as store:
        assert {one.name for one in store.datasets()} == {"wh.raw.orders", "wh.main.outer"}


def test_a_snapshot_has_the_columns_that_dbt_adds(tmp_path: Path) -> None:
    config = {"materialized": "snapshot", "strategy": "timestamp", "updated_at": "note", "unique_key": "id"}
    snapshot = {**model("snap", 'select * from "wh"."raw"."orders"', "source.shop.raw.orders", config=config),
                "resource_type": "snapshot", "unique_id": "snapshot.shop.snap"}  # fmt: skip
    assert found(ingest(tmp_path, manifest(RAW, snapshot))) == set()
    assert edges(tmp_path, "snap") == {
        "orders.id -> id", "orders.amount -> amount", "orders.note -> note",
        "orders.id -> dbt_scd_id", "orders.note -> dbt_scd_id", "orders.note -> dbt_updated_at",
        "orders.note -> dbt_valid_from", "orders.note -> dbt_valid_to",
    }  # fmt: skip


def test_a_snapshot_that_records_deleted_rows(tmp_path: Path) -> None:
    config = {"materialized": "snapshot", "strategy": "check", "updated_at": "note", "unique_key": "id",
              "hard_deletes": "new_record", "snapshot_meta_column_names": {"dbt_is_deleted": "is_gone"}}  # fmt: skip
    snapshot = {**model("snap", 'select id, note from "wh"."raw"."orders"', "source.shop.raw.orders", config=config),
                "resource_type": "snapshot", "unique_id": "snapshot.shop.snap"}  # fmt: skip
    reader = model("reader", f"select is_gone, dbt_updated_at from {relation('snap')}", "snapshot.shop.snap")
    assert found(ingest(tmp_path, manifest(RAW, snapshot, reader))) == set()
    assert edges(tmp_path, "reader") == {"snap.is_gone -> is_gone", "snap.dbt_updated_at -> dbt_updated_at"}
    assert "orders.note -> dbt_updated_at" in edges(tmp_path, "snap")


SCORE = {"score": {"name": "score", "data_type": "float"}}
PYTHON = model("scores", "def model(dbt, session): ...", "stg", language="python", compiled_code="def model(): ...",
               original_file_path="models/scores.py", columns=SCORE)  # fmt: skip
TOLD = """{"eventType": "COMPLETE", "eventTime": "2026-03-01T07:00:00Z", "producer": "https://github.com/x",
"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
"run": {"runId": "0190f1e5-0000-7000-8000-000000000002"}, "job": {"namespace": "spark", "name": "scores"},
"inputs": [{"namespace": "postgres", "name": "wh.main.stg"}],
"outputs": [{"namespace": "postgres", "name": "wh.main.scores", "facets": {"columnLineage": {
"_producer": "https://github.com/x",
"_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
"fields": {"score": {"inputFields":
[{"namespace": "postgres", "name": "wh.main.stg", "field": "amount",
"transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION"}]}]}}}}}]}"""


def test_a_python_model_is_known_by_its_tables(tmp_path: Path) -> None:
    after = model("after", f"select score from {relation('scores')}", "scores")
    assert found(ingest(tmp_path, manifest(RAW, STAGED, PYTHON, after))) == {("error", "PYTHON_MODEL")}
    assert edges(tmp_path, "after") == {"scores.score -> score"}
    with open_store(tmp_path / "store.db") as store:
        answer = impact(store, resolve(store, "wh.raw.orders.amount"))
        assert {one.dataset for one in answer.possibly_affected} >= {"postgres/wh.main.scores"}


@pytest.mark.parametrize("call", ["session.sql('select * from raw.hidden')", "spark.read.table('raw.hidden')", ""])
def test_a_python_model_that_reads_what_dbt_does_not_list(tmp_path: Path, call: str) -> None:
    code = f"def model(dbt, session):\n    return dbt.ref('stg').join({call})"
    [one] = ingest(tmp_path, manifest(RAW, STAGED, {**PYTHON, "raw_code": code})).diagnostics
    assert ("it reads by SQL or names, too" in one.diagnostic.message) == bool(call)


def test_events_of_a_python_model_add_its_columns(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, PYTHON))
    (tmp_path / "told.ndjson").write_text(TOLD.replace("\n", " "), encoding="utf-8")
    ingest_openlineage(tmp_path / "told.ndjson", store=tmp_path / "store.db")
    assert found(ingest(tmp_path, manifest(RAW, STAGED, PYTHON, at="2026-03-02T06:00:00Z"))) == set()
    assert edges(tmp_path, "scores") == {"stg.amount -> score"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_of_a_seed_is_its_schema(tmp_path: Path, delimiter: str) -> None:
    (tmp_path / "seeds").mkdir()
    text = "\ufeffid,Label\n1,a\n".replace(",", delimiter)
    (tmp_path / "seeds" / "codes.csv").write_text(text, encoding="utf-8")
    seed = {**model("codes", "", config={"delimiter": delimiter}), "resource_type": "seed",
            "unique_id": "seed.shop.codes", "original_file_path": "seeds/codes.csv", "compiled_code": None}  # fmt: skip
    star = model("star", f"select * from {relation('codes')}", "seed.shop.codes")
    assert found(ingest(tmp_path, manifest(seed, star))) == set()
    assert edges(tmp_path, "star") == {"codes.id -> id", "codes.Label -> Label"}


def test_a_source_of_unknown_columns_leaves_a_star_until_they_are_known(tmp_path: Path) -> None:
    star = model("star", 'select * from "wh"."raw"."orders"', "source.shop.raw.orders")
    target = write(tmp_path / "target", manifest(RAW, star), catalog=False)
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert found(summary) == {("warning", "UNRESOLVED_STAR")}
    ingest(tmp_path, manifest(RAW, star, at="2026-03-02T06:00:00Z"))
    assert edges(tmp_path, "star") == {"orders.id -> id", "orders.amount -> amount", "orders.note -> note"}


def consumers() -> dict[str, Any]:
    """Return an exposure, a semantic model, a metric and a saved query over the models."""

    def one(kind: str, name: str, *needs: str) -> dict[str, Any]:
        key = f"{kind}.shop.{name}"
        return {key: {"unique_id": key, "name": name, "resource_type": kind, "original_file_path": "models/x.yml",
                      "depends_on": {"nodes": list(needs), "macros": []}}}  # fmt: skip

    return {
        "exposures": one("exposure", "weekly", "model.shop.mart"),
        "semantic_models": one("semantic_model", "orders", "model.shop.stg"),
        "metrics": one("metric", "revenue", "semantic_model.shop.orders"),
        "saved_queries": one("saved_query", "export", "metric.shop.revenue"),
    }


def test_consumers_are_downstream(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART, **consumers()))
    with open_store(tmp_path / "store.db") as store:
        kinds = {one.key: str(one.kind) for one in store.datasets() if one.namespace == "dbt"}
        assert kinds == dict.fromkeys(
            ("dbt/exposure.shop.weekly", "dbt/semantic_model.shop.orders", "dbt/metric.shop.revenue",
             "dbt/saved_query.shop.export"), "exposure")  # fmt: skip
        answer = impact(store, resolve(store, "wh.raw.orders.amount"))
        assert {one.dataset for one in answer.possibly_affected} == set(kinds)
    without = manifest(RAW, STAGED, MART, at="2026-03-02T06:00:00Z")
    assert sorted(ingest(tmp_path, without).gone) == sorted(key.partition("/")[2] for key in kinds)


def test_names_are_those_of_the_warehouse(tmp_path: Path) -> None:
    cased = model("Mixed", 'select id from "wh"."raw"."orders"', relation_name='"wh"."Main"."Mixed Case"')
    bare = model("bare", 'select id from "wh"."raw"."orders"', relation_name="wh.MAIN.Bare")
    ingest(tmp_path, manifest(RAW, cased, bare))
    with open_store(tmp_path / "store.db") as store:
        assert {one.key for one in store.datasets()} >= {'postgres/wh.Main."Mixed Case"', "postgres/wh.main.bare"}


@pytest.mark.parametrize(
    ("adapter", "name", "key"),
    [
        ("bigquery", "`acme-prod`.`mart`.`Orders`", "bigquery/acme-prod.mart.Orders"),
        ("bigquery", "`acme-prod.mart.Orders`", "bigquery/acme-prod.mart.Orders"),
        ("snowflake", "ANALYTICS.mart.orders", "snowflake/ANALYTICS.MART.ORDERS"),
        ("snowflake", 'ANALYTICS."mart".orders', "snowflake/ANALYTICS.mart.ORDERS"),
        ("databricks", "`main`.`mart`.`Orders`", "databricks/main.mart.orders"),
        ("spark", "mart.orders", "spark/mart.orders"),
        ("sqlserver", '"wh"."dbo"."Orders"', "tsql/wh.dbo.orders"),
        ("redshift", '"wh"."mart"."orders"', "redshift/wh.mart.orders"),
    ],
)
def test_names_of_other_warehouses(tmp_path: Path, adapter: str, name: str, key: str) -> None:
    database = None if adapter == "spark" else "wh"
    data = manifest(model("orders", "select 1 as id", relation_name=name, database=database))
    data["metadata"]["adapter_type"] = adapter
    ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "store.db")
    with open_store(tmp_path / "store.db") as store:
        assert [one.key for one in store.datasets()] == [key]


def summary_of(tmp_path: Path, data: dict[str, Any], **options: Any) -> DbtSummary:
    return ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "s.db", options=DbtOptions(**options))


def test_a_source_is_the_dataset_that_another_ingest_knows(tmp_path: Path) -> None:
    ddl = tmp_path / "raw.sql"
    ddl.write_text("create table raw.clicks (id int, page text)", encoding="utf-8")
    star = model("star", 'select * from "wh"."raw"."clicks"', "source.shop.raw.clicks")
    data = manifest(source("clicks", {}), star)
    summary = summary_of(tmp_path, data, catalog=ddl)
    assert found(summary) == set()
    with open_store(tmp_path / "s.db") as store:
        assert lines(store, "star") == {"clicks.id -> id", "clicks.page -> page"}
