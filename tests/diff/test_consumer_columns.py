"""An edit of a model reaches the metrics and saved queries that read what changes, and no others."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import diff_revisions
from tests.dbt.manifests import consumer, manifest, model, source, where, write

RAW = source("orders", {"id": "int", "amount": "int", "status": "text", "note": "text", "day": "date"})
COLUMNS = {"id": "id", "amount": "amount", "status": "status", "note": "note", "day": "day"}
ORDERS = "semantic_model.shop.orders"
DIMENSION = "{{{{ Dimension('{}') }}}} = 'x'"


def element(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


def metric(name: str, *needs: str, kind: str = "simple", **fields: Any) -> dict[str, Any]:
    return consumer("metric", name, *needs, type=kind, **fields)


def simple(name: str, measure: str, **fields: Any) -> dict[str, Any]:
    return metric(name, ORDERS, type_params={"measure": {"name": measure}}, **fields)


def project() -> dict[str, Any]:
    orders = consumer(
        "semantic_model", "orders", "model.shop.orders", model="ref('orders')", primary_entity=None,
        node_relation={"relation_name": '"wh"."main"."orders"'}, defaults={"agg_time_dimension": "ordered"},
        entities=[element("order", type="primary", expr="id")],
        dimensions=[element("state", type="categorical", expr="status"), element("ordered", type="time", expr="day"),
                    element("remark", type="categorical", expr="note")],
        measures=[element("revenue", agg="sum", expr="amount"), element("orders", agg="count", expr="id")],
    )  # fmt: skip
    names = [element("revenue"), element("orders")]
    metrics = [
        simple("revenue", "revenue"),
        simple("orders", "orders"),
        simple("open_orders", "orders", filter=where(DIMENSION.format("order__state"))),
        simple("unknown", "orders", filter=where(DIMENSION.format("order__nothing"))),
        metric("average", "metric.shop.revenue", "metric.shop.orders", kind="derived", type_params={"metrics": names}),
    ]
    weekly = consumer(
        "saved_query", "remarks", "metric.shop.orders",
        query_params={"metrics": ["orders"], "group_by": ["Dimension('order__remark')"]},
    )  # fmt: skip
    board = consumer("exposure", "board", "metric.shop.orders")
    return manifest(
        RAW,
        orders_of(COLUMNS),
        semantic_models={ORDERS: orders},
        metrics={one["unique_id"]: one for one in metrics},
        saved_queries={weekly["unique_id"]: weekly},
        exposures={board["unique_id"]: board},
    )


def orders_of(columns: dict[str, str], rest: str = "") -> dict[str, Any]:
    listed = ", ".join(f"{value} as {name}" for name, value in columns.items())
    return model("orders", f'select {listed} from "wh"."raw"."orders"{rest}', RAW["unique_id"])


def reached(folder: Path, head: dict[str, Any]) -> set[str]:
    found = diff_revisions(write(folder / "base", project()), write(folder / "head", head))
    return {one.name for one in found.consumers if one.kind != "semantic_model"}


ALL = {"revenue", "orders", "open_orders", "unknown", "average", "remarks", "board"}


@pytest.mark.parametrize(
    ("column", "names"),
    [
        ("amount", {"revenue", "average", "unknown"}),
        ("status", {"open_orders", "unknown"}),
        ("note", {"remarks", "unknown"}),
        ("day", ALL),  # the time by which the measures are aggregated
        ("id", ALL - {"revenue"}),
    ],
)
def test_the_column_that_changes_decides(tmp_path: Path, column: str, names: set[str]) -> None:
    """What a filter names and is not found may be any column."""
    data = project()
    data["nodes"]["model.shop.orders"] = orders_of({**COLUMNS, column: f"nullif({column}, null)"})
    assert reached(tmp_path, data) == names


def test_another_row_set_reaches_all(tmp_path: Path) -> None:
    data = project()
    data["nodes"]["model.shop.orders"] = orders_of(COLUMNS, " where status = 'open'")
    assert reached(tmp_path, data) == ALL


def test_a_column_that_nothing_reads(tmp_path: Path) -> None:
    data = project()
    data["nodes"]["model.shop.orders"] = orders_of({**COLUMNS, "more": "status"})
    assert reached(tmp_path, data) == set()


@pytest.mark.parametrize(
    ("section", "number", "fields", "names"),
    [
        ("measures", 0, {"agg": "max"}, {"revenue", "average", "unknown"}),
        ("measures", 0, {"agg_params": {"percentile": 0.9}}, {"revenue", "average", "unknown"}),
        ("dimensions", 0, {"expr": "lower(status)"}, {"open_orders", "unknown"}),
        ("dimensions", 1, {"type_params": {"time_granularity": "day"}}, ALL),
        ("defaults", None, {"agg_time_dimension": "other"}, ALL),
    ],
)
def test_an_edit_of_the_semantic_model(
    tmp_path: Path, section: str, number: int | None, fields: dict[str, Any], names: set[str]
) -> None:
    data = copy.deepcopy(project())
    edited = data["semantic_models"][ORDERS][section]
    (edited if number is None else edited[number]).update(fields)
    assert reached(tmp_path, data) == names
