"""Semantic models, metrics and saved queries of a real project: column lineage down to what people query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import GraphStore, open_store
from lineage.traversal import impact, resolve
from lineage_ingest import ingest_dbt
from tests.dbt.conftest import run_dbt
from tests.dbt.manifests import consumer, manifest, model, source, where, write

SPINE = "select cast(range as date) as date_day from range(date '2018-01-01', date '2018-12-31', interval 1 day)"
LAYER = """
models:
  - name: spine
    time_spine: {standard_granularity_column: date_day}
    columns: [{name: date_day, granularity: day}]
semantic_models:
  - name: orders
    model: ref('orders')
    defaults: {agg_time_dimension: ordered_at}
    entities: [{name: order, type: primary, expr: order_id}, {name: customer, type: foreign, expr: customer_id}]
    dimensions:
      - {name: ordered_at, type: time, expr: order_date, type_params: {time_granularity: day}}
      - {name: is_large, type: categorical, expr: case when amount > 100 then status end}
    measures:
      - {name: revenue_dollars, agg: sum, expr: amount / 100}
      - {name: order_count, agg: count, expr: order_id}
metrics:
  - {name: revenue, label: R, type: simple, type_params: {measure: revenue_dollars}}
  - {name: order_number, label: N, type: simple, type_params: {measure: order_count}}
  - {name: average_order, label: A, type: ratio, type_params: {numerator: revenue, denominator: order_number}}
saved_queries:
  - name: weekly
    query_params: {metrics: [average_order], group_by: [Dimension('order__is_large')]}
exposures:
  - name: board
    type: dashboard
    owner: {name: Ana}
    depends_on: [ref('customers')]
"""


def edges(store: GraphStore, name: str) -> set[str]:
    """Return the edges between columns into a consumer."""
    found = store.edges_into([f"dbt/{name}"])
    pairs = {(one.source, one.target, one.subtypes) for one in found if "#" in one.target and "#" in one.source}
    return {f"{a.rpartition('.')[2].replace('#', '.')} -> {b.partition('#')[2]} [{c[0]}]" for a, b, c in pairs}


def test_columns_reach_metrics(project: Path, tmp_path: Path) -> None:
    (project / "models" / "spine.sql").write_text(SPINE, encoding="utf-8")
    (project / "models" / "layer.yml").write_text(LAYER, encoding="utf-8")
    run_dbt(project, "compile")
    for _ in range(2):  # the second time, nothing is resolved
        summary = ingest_dbt(project / "target", store=tmp_path / "store.db")
        # The example describes a column that `customers` does not have.
        assert {str(one.diagnostic.code) for one in summary.diagnostics} == {"UNKNOWN_COLUMN"}
        assert (summary.batch.run.counts["models"], summary.batch.run.counts["consumers"]) == (6, 6)
    assert summary.unchanged == 7
    with open_store(tmp_path / "store.db") as store:
        assert edges(store, "semantic_model.jaffle_shop.orders") == {
            "orders.order_id -> order [IDENTITY]",
            "orders.customer_id -> customer [IDENTITY]",
            "orders.order_date -> ordered_at [IDENTITY]",
            "orders.amount -> is_large [CONDITIONAL]",
            "orders.status -> is_large [TRANSFORMATION]",
            "orders.amount -> revenue_dollars [AGGREGATION]",
            "orders.order_id -> order_count [AGGREGATION]",
        }
        assert edges(store, "metric.jaffle_shop.average_order") == {
            "revenue.revenue -> average_order [TRANSFORMATION]",
            "order_number.order_number -> average_order [TRANSFORMATION]",
        }
        answer = impact(store, resolve(store, "main.raw_payments.amount"))
        reached = {(one.table, one.column) for one in answer.columns}
        assert {("saved_query.jaffle_shop.weekly", one) for one in ("average_order", "order__is_large")} <= reached
        assert ("metric.jaffle_shop.revenue", "revenue") in reached
        assert {one.dataset for one in answer.possibly_affected} == {"dbt/exposure.jaffle_shop.board"}
        tables = {one.key: str(one.kind) for one in store.datasets() if one.namespace == "dbt"}
        assert set(tables.values()) == {"exposure"}
        assert len(tables) == 6


SEMANTIC = consumer(
    "semantic_model", "orders", "model.shop.stg", node_relation={"relation_name": "wh.main.stg"},
    measures=[{"name": "revenue", "agg": "sum", "expr": "amount"}, {"name": "visits", "agg": "count", "expr": "id"}],
)  # fmt: skip
KEY = SEMANTIC["unique_id"]
FILTER = {"where_filters": [{"where_sql_template": "{{ Dimension('order__kind') }} = 'a'"}]}
OTHER = {"numerator": {"name": "base", "filter": FILTER}, "denominator": {"name": "base"}}
CONVERSION = {"base_measure": {"name": "visits"}, "conversion_measure": {"name": "revenue"}, "entity": "order"}


@pytest.mark.parametrize(
    ("kind", "params", "completeness", "expected"),
    [
        ("simple", {"measure": {"name": "revenue"}}, "full", {"revenue"}),
        ("simple", {"measure": {"name": "revenue", "filter": FILTER}}, "partial", {"revenue"}),
        ("ratio", {"numerator": {"name": "base"}, "denominator": {"name": "base"}}, "full", {"base"}),
        ("ratio", OTHER, "partial", {"base"}),
        ("derived", {"expr": "a - b", "metrics": [{"name": "base", "alias": "a"},
         {"name": "base", "alias": "b", "offset_window": {"count": 1, "granularity": "month"}}]}, "partial", {"base"}),
        ("derived", {"expr": "base", "metrics": [{"name": "base", "offset_to_grain": "month"}]}, "partial", {"base"}),
        ("conversion", {"conversion_type_params": CONVERSION}, "partial", {"visits", "revenue"}),
        ("cumulative", {"cumulative_type_params": {"metric": {"name": "base"}}}, "partial", {"base"}),
        ("simple", {}, "tables", set()),
    ],
)  # fmt: skip
@pytest.mark.parametrize("adapter", ["postgres", "snowflake"])
def test_a_metric_is_full_if_all_of_its_inputs_are_taken(
    tmp_path: Path, kind: str, params: dict[str, Any], completeness: str, expected: set[str], adapter: str
) -> None:
    base = consumer("metric", "base", KEY, type="simple", type_params={"measure": {"name": "revenue"}})
    metric = consumer("metric", "m", KEY, base["unique_id"], type=kind, type_params=params)
    stg = model(
        "stg", 'select id, amount from "wh"."raw"."orders"', "source.shop.raw.orders", relation_name="wh.main.stg"
    )
    data = manifest(
        source("orders", {"id": "int", "amount": "int"}), stg, semantic_models={KEY: SEMANTIC},
        metrics={one["unique_id"]: one for one in (base, metric)},
    )  # fmt: skip
    data["metadata"]["adapter_type"] = adapter
    ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "store.db")
    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if "metric.shop.m@" in job.key]
        assert str(job.completeness) == completeness
        into = [one for one in store.edges_into(["dbt/metric.shop.m"]) if "#" in one.source]
        assert {one.source.partition("#")[2].lower() for one in into} == expected
        known = {one.key for one in store.columns(sorted({one.source.partition("#")[0] for one in into}))}
        assert {one.source for one in into} <= known


WITH_DIMENSIONS = consumer(
    "semantic_model", "orders", "model.shop.stg", node_relation={"relation_name": "wh.main.stg"},
    defaults={"agg_time_dimension": "day"},
    entities=[{"name": "order", "type": "primary", "expr": "id"}, {"name": "buyer", "type": "foreign", "expr": "b"}],
    dimensions=[{"name": "kind", "type": "categorical"},
                {"name": "day", "type": "time", "type_params": {"time_granularity": "week"}}],
    measures=[
        {"name": "revenue", "agg": "sum", "expr": "amount"},
        {"name": "balance", "agg": "sum", "expr": "amount", "non_additive_dimension":
            {"name": "day", "window_choice": "max", "window_groupings": ["buyer"]}},
        {"name": "opening", "agg": "sum", "expr": "amount", "non_additive_dimension": {"name": "day"}},
    ],
)  # fmt: skip
BUYERS = consumer(
    "semantic_model", "buyers", "model.shop.stg", node_relation={"relation_name": "wh.main.stg"},
    primary_entity="buyer", dimensions=[{"name": "country", "type": "categorical", "expr": "note"}],
)  # fmt: skip


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ({"filter": where("{{ Dimension('order__kind') }} = 'a'")}, {"orders.kind -> m [FILTER]"}),
        ({"filter": where("{{ TimeDimension('order__day', 'month') }} > 1 and {{ Entity('buyer') }} = 3")},
         {"orders.day -> m [FILTER]", "orders.buyer -> m [FILTER]"}),
        ({"filter": where("{{ Dimension('order__buyer__country') }} = 'x'")},
         {"buyers.country -> m [FILTER]", "orders.buyer -> * [JOIN]"}),
        ({"filter": where("{{ Metric('base', group_by=['buyer']) }} > 2")}, {"base.base -> m [FILTER]"}),
        ({"type_params": {"measure": {"name": "revenue", "filter": where("{{ Dimension('order__kind') }} = 'a'")}}},
         {"orders.kind -> m [FILTER]"}),
        ({"query_params": {"metrics": [], "group_by": ["Dimension('buyer__country')"]}},
         {"buyers.country -> buyer__country [IDENTITY]", "buyers.country -> * [GROUP_BY]", "orders.buyer -> * [JOIN]"}),
        ({"query_params": {"metrics": [], "group_by": ["TimeDimension('metric_time', 'day')"]}},
         {"orders.day -> metric_time__day [TRANSFORMATION]", "orders.day -> * [GROUP_BY]"}),
        ({"query_params": {"metrics": [], "group_by": ["Dimension('order__kind')", "Dimension('order__day')",
                           "Dimension('metric_time').grain('month')", "Entity('order')"], "limit": 3,
                           "order_by": ["Metric('base').descending(True)"]}},
         {"orders.day -> order__day__week [TRANSFORMATION]", "orders.day -> metric_time__month [TRANSFORMATION]",
          "orders.day -> * [GROUP_BY]", "orders.order -> order [IDENTITY]", "orders.order -> * [GROUP_BY]",
          "orders.kind -> order__kind [IDENTITY]", "orders.kind -> * [GROUP_BY]", "base.base -> * [SORT]"}),
        ({"query_params": {"metrics": [], "where": where("{{ Dimension('order__kind') }} = 'a'")}},
         {"orders.kind -> * [FILTER]"}),
    ],
)  # fmt: skip
def test_dimensions_that_are_used(tmp_path: Path, used: dict[str, Any], expected: set[str]) -> None:
    kind = "saved_query" if "query_params" in used else "metric"
    base = consumer("metric", "base", KEY, type="simple", type_params={"measure": {"name": "revenue"}})
    taken = {"type": "simple", "type_params": {"measure": {"name": "revenue"}}, **used}
    one = consumer(kind, "m", KEY, **taken)
    text = 'select id, amount, note, kind, day, b from "wh"."raw"."orders"'
    stg = model("stg", text, "source.shop.raw.orders", relation_name="wh.main.stg")
    columns = dict.fromkeys(("id", "amount", "note", "kind", "day", "b"), "int")
    data = manifest(
        source("orders", columns), stg,
        semantic_models={each["unique_id"]: each for each in (WITH_DIMENSIONS, BUYERS)},
        metrics={each["unique_id"]: each for each in (base, one) if each["resource_type"] == "metric"},
        saved_queries={one["unique_id"]: one} if kind == "saved_query" else {},
    )  # fmt: skip
    target = write(tmp_path / "target", data)
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert summary.batch.run.counts["edges"] == summary.applied.edges_created
    with open_store(tmp_path / "store.db") as store:
        into = store.edges_into([f"dbt/{kind}.shop.m"])
        found = {f"{e.source.rpartition('.')[2].replace('#', '.')} -> {e.target.partition('#')[2] or '*'} "
                 f"[{e.subtypes[0]}]" for e in into}  # fmt: skip
        assert found - {"orders.revenue -> m [IDENTITY]"} == expected
        known = {each.key for each in store.columns([e.source.partition("#")[0] for e in into])}
        assert {e.source for e in into} <= known
        answer = impact(store, resolve(store, "wh.raw.orders.b"))
        assert ("dbt/semantic_model.shop.orders", "balance") in {(f"dbt/{c.table}", c.column) for c in answer.columns}
        assert edges(store, "semantic_model.shop.orders") >= {
            "stg.amount -> balance [AGGREGATION]", "stg.day -> balance [CONDITIONAL]",
            "stg.b -> balance [CONDITIONAL]", "stg.day -> opening [CONDITIONAL]",
        }  # fmt: skip
    data["metadata"]["generated_at"] = "2026-03-02T06:00:00Z"
    data["semantic_models"].pop(BUYERS["unique_id"])  # what is used may go without the consumer's change
    ingest_dbt(write(target, data), store=tmp_path / "store.db")
    with open_store(tmp_path / "store.db") as store:
        into = store.edges_into([f"dbt/{kind}.shop.m"])
        assert not [e for e in into if "buyers" in e.source]
