"""Saved queries that are exported: the tables have the columns of their result, as MetricFlow names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.traversal import impact, resolve
from lineage_ingest import ingest_dbt
from tests.dbt.manifests import consumer, manifest, model, source, where, write

ORDERS = source("orders", {"id": "int", "amount": "int", "day": "date", "kind": "text"})
SEMANTIC = consumer(
    "semantic_model", "orders", "model.shop.stg", node_relation={"relation_name": '"wh"."main"."stg"'},
    defaults={"agg_time_dimension": "day"},
    entities=[{"name": "order", "type": "primary", "expr": "id"}],
    dimensions=[{"name": "kind", "type": "categorical"},
                {"name": "day", "type": "time", "type_params": {"time_granularity": "day"}}],
    measures=[{"name": "revenue", "agg": "sum", "expr": "amount"}],
)  # fmt: skip
KEY = SEMANTIC["unique_id"]
REVENUE = consumer("metric", "revenue", KEY, type="simple", type_params={"measure": {"name": "revenue"}})
WEEKLY = consumer(
    "saved_query", "weekly", "metric.shop.revenue",
    query_params={"metrics": ["revenue"], "group_by": ["TimeDimension('metric_time', 'week')"],
                  "where": where("{{ Dimension('order__kind') }} = 'a'")},
    exports=[{"name": "out", "config": {"export_as": "table", "schema_name": "exports", "alias": "weekly_out",
                                        "database": "wh"}},
             {"name": "seen", "config": {"export_as": "view", "schema_name": "main", "alias": "seen",
                                         "database": "wh"}}],
)  # fmt: skip


def project(day: int = 1, adapter: str = "postgres", **fields: Any) -> dict[str, Any]:
    """Return a project with a saved query that is exported; `fields` of the query differ."""
    named = '"wh"."main"."stg"' if adapter == "postgres" else "wh.main.stg"
    sql = 'select id, amount, day, kind from "wh"."raw"."orders"'
    stg = model("stg", sql, ORDERS["unique_id"], relation_name=named)
    found = manifest(
        ORDERS, stg, at=f"2026-03-{day:02d}T06:00:00Z", metrics={REVENUE["unique_id"]: REVENUE},
        semantic_models={KEY: {**SEMANTIC, "node_relation": {"relation_name": named}}},
        saved_queries={WEEKLY["unique_id"]: {**WEEKLY, **fields}},
    )  # fmt: skip
    found["metadata"]["adapter_type"] = adapter
    return found


def into(store_path: Path, table: str) -> set[str]:
    """Return the edges into a table."""
    with open_store(store_path) as store:
        return {
            f"{one.source.rpartition('.')[2]} -> {one.target.partition('#')[2] or '*'} [{one.subtypes[0]}]"
            for one in store.edges_into([table])
        }


WRITTEN = {
    "weekly#revenue -> revenue [IDENTITY]",
    "weekly#metric_time__week -> metric_time__week [IDENTITY]",
    "weekly -> * [ROWS]",
}


def test_an_export_is_a_table_downstream(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for day in (1, 2):
        summary = ingest_dbt(write(tmp_path / "target", project(day)), store=path)
        assert summary.batch.run.counts["models"] == 1
        assert into(path, "postgres/wh.exports.weekly_out") == WRITTEN
        assert into(path, "postgres/wh.main.seen") == WRITTEN
    assert summary.applied.edges_created == 0
    with open_store(path) as store:
        kinds = {one.name: str(one.kind) for one in store.datasets() if one.name.endswith(("weekly_out", "seen"))}
        assert kinds == {"wh.exports.weekly_out": "table", "wh.main.seen": "view"}
        reached = {
            column: {one.column for one in impact(store, resolve(store, f"wh.raw.orders.{column}")).columns
                     if one.table == "wh.exports.weekly_out"}
            for column in ("amount", "day", "kind", "id")
        }  # fmt: skip
    every = {"metric_time__week", "revenue"}
    assert reached == {"amount": {"revenue"}, "day": every, "kind": every, "id": set()}


def test_an_export_that_is_gone_or_written_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ingest_dbt(write(tmp_path / "target", project()), store=path)
    moved = [{"name": "out", "config": {**WEEKLY["exports"][0]["config"], "alias": "elsewhere"}}]
    ingest_dbt(write(tmp_path / "target", project(2, exports=moved)), store=path)
    assert into(path, "postgres/wh.exports.elsewhere") == WRITTEN
    assert into(path, "postgres/wh.exports.weekly_out") == set()
    assert into(path, "postgres/wh.main.seen") == set()


def test_names_that_are_not_quoted_are_folded(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ingest_dbt(write(tmp_path / "target", project(adapter="snowflake")), store=path)
    assert into(path, "snowflake/WH.EXPORTS.WEEKLY_OUT") == {
        "weekly#revenue -> REVENUE [IDENTITY]",
        "weekly#metric_time__week -> METRIC_TIME__WEEK [IDENTITY]",
        "weekly -> * [ROWS]",
    }


def test_the_columns_of_an_export_are_not_known_if_one_is_not_found(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    query = {**WEEKLY["query_params"], "group_by": ["Dimension('order__unheard_of')"]}
    ingest_dbt(write(tmp_path / "target", project(query_params=query)), store=path)
    with open_store(path) as store:
        [dataset] = [one for one in store.datasets() if one.name == "wh.exports.weekly_out"]
        [job] = [one for one in store.jobs() if "weekly.out" in one.key]
    assert (dataset.schema_known, str(job.completeness)) == (False, "partial")


R = {"name": "revenue"}


@pytest.mark.parametrize(
    ("kind", "params", "expected"),
    [
        ("simple", {"measure": R}, "IDENTITY"),
        ("simple", {"measure": {**R, "fill_nulls_with": 0}}, "TRANSFORMATION"),
        ("ratio", {"numerator": R, "denominator": R}, "TRANSFORMATION"),
        ("derived", {"expr": "revenue", "metrics": [R]}, "IDENTITY"),
        ("derived", {"expr": "a - b", "metrics": [{**R, "alias": "a"}, {**R, "alias": "b"}]}, "TRANSFORMATION"),
        ("derived", {"expr": "revenue * 2", "metrics": [R]}, "TRANSFORMATION"),
        ("cumulative", {"measure": R, "cumulative_type_params": {"grain_to_date": "month"}}, "AGGREGATION"),
        (
            "conversion",
            {"conversion_type_params": {"base_measure": R, "conversion_measure": R, "entity": "order"}},
            "TRANSFORMATION",
        ),
    ],
)
def test_how_a_metric_is_made_of_one_input(tmp_path: Path, kind: str, params: dict[str, Any], expected: str) -> None:
    needs = REVENUE["unique_id"] if kind in ("ratio", "derived") else KEY
    metric = consumer("metric", "m", needs, type=kind, type_params=params)
    data = project()
    data["metrics"][metric["unique_id"]] = metric
    ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "store.db")
    found = into(tmp_path / "store.db", "dbt/metric.shop.m")
    joined = {"orders#order -> * [JOIN]"} if kind == "conversion" else set()
    assert found == {f"{'revenue' if needs != KEY else 'orders'}#revenue -> m [{expected}]"} | joined


def test_a_metric_that_aggregates_itself(tmp_path: Path) -> None:
    """Later versions of dbt have no measures: a metric states what it aggregates of which semantic model."""
    own = {"semantic_model": "orders", "agg": "max", "expr": "amount"}
    metric = consumer("metric", "largest", KEY, type="simple", type_params={"metric_aggregation_params": own})
    data = project()
    data["metrics"][metric["unique_id"]] = metric
    ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "store.db")
    with open_store(tmp_path / "store.db") as store:
        [job] = [one for one in store.jobs() if "metric.shop.largest" in one.key]
        reached = impact(store, resolve(store, "wh.raw.orders.amount")).columns
    assert str(job.completeness) == "full"
    assert ("metric.shop.largest", "largest") in {(one.table, one.column) for one in reached}
    assert into(tmp_path / "store.db", "dbt/metric.shop.largest") == {"orders#largest -> largest [IDENTITY]"}
