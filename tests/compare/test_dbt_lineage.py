"""dbt's own column lineage against ours of the same project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lineage_ingest import ingest_dbt
from lineage_ingest.compare.verdicts import Comparison
from lineage_ingest.compare_api import compare_lineage
from tests.compare.exports import Said, dbt
from tests.dbt.manifests import model, relation, source

AT = "2026-03-01T06:00:00Z"
NODES: list[dict[str, Any]] = [
    source("orders", {"id": "int", "day": "date", "amount": "int", "status": "text"}),
    model("stg", 'select id, day, amount, status from "wh"."raw"."orders"', "source.shop.raw.orders"),
    model(
        "eph",
        f"select day, amount from {relation('stg')} where status = 'ok'",
        "stg",
        config={"materialized": "ephemeral"},
    ),
    model(
        "daily",
        f"with __dbt__cte__eph as (select day, amount from {relation('stg')} where status = 'ok') "
        "select day, sum(amount) as total from __dbt__cte__eph group by day",
        "eph",
    ),
]
SAID = [
    Said("source.shop.raw.orders.day", "model.shop.stg.day"),
    Said("source.shop.raw.orders.amount", "model.shop.stg.amount"),
    Said("source.shop.raw.orders.id", "model.shop.stg.id"),
    Said("source.shop.raw.orders.status", "model.shop.stg.status"),
    Said("model.shop.stg.day", "model.shop.eph.day"),
    Said("model.shop.stg.amount", "model.shop.eph.amount"),
    Said("model.shop.stg.status", "model.shop.eph.day", influence=True),
    Said("model.shop.eph.day", "model.shop.daily.day"),
    Said("model.shop.eph.amount", "model.shop.daily.total"),
    Said("model.shop.eph.day", "model.shop.daily.total", influence=True),
]


def _compare(folder: Path, said: list[Said]) -> Comparison:
    target = dbt(folder / "target", NODES, said, AT)
    ingest_dbt(target, store=folder / "s.db")
    return compare_lineage("dbt", target, store=folder / "s.db")


def _lines(found: Comparison) -> list[str]:
    return sorted(
        f"{edge.verdict}: {found.names[edge.target]} <- {found.names[edge.source]}"
        + (f" ({edge.reason})" if edge.reason else "")
        for edge in found.edges
    )


def test_ephemeral_models_and_scans(tmp_path: Path) -> None:
    found = _compare(tmp_path, SAID)
    assert not found.has_errors
    assert not found.differences, _lines(found)
    assert "through: wh.main.daily.total <- wh.main.stg.amount" in _lines(found)
    assert "through: wh.main.daily.day <- wh.main.stg.status" in _lines(found)
    assert found.counts["agree"] == 4


def test_differences(tmp_path: Path) -> None:
    said = [one for one in SAID if one.source != "source.shop.raw.orders.status"]
    said[3] = Said("model.shop.stg.id", "model.shop.eph.day")
    found = _compare(tmp_path, said)
    assert "only ours: wh.main.stg.status <- wh.raw.orders.status (column not stated)" in _lines(found)
    assert "only theirs: wh.main.daily.day <- wh.main.stg.id (unknown table between)" in _lines(found)


@pytest.mark.parametrize("given", ["", "info_schema/v1", "info_schema/v1/dbt.column_lineage.parquet"])
def test_ways_to_name_it(tmp_path: Path, given: str) -> None:
    _compare(tmp_path, SAID)
    found = compare_lineage("dbt", tmp_path / "target" / given, store=tmp_path / "s.db")
    assert found.counts["agree"] == 4


def test_a_lineage_file_of_another_run(tmp_path: Path) -> None:
    found = _compare(tmp_path, [*SAID, Said("model.shop.gone.x", "model.shop.stg.id"),
                                Said("test.shop.t.x", "model.shop.stg.id"), Said("", "model.shop.stg.id")])  # fmt: skip
    assert [one.reason for one in found.unread] == [
        "manifest.json has no node model.shop.gone",
        "a node or a column is missing",
    ]
    assert found.notices == ["nodes that are no tables (tests, analyses, functions)"]
    assert not found.differences


def test_a_lineage_file_without_rows_says_so(tmp_path: Path) -> None:
    _compare(tmp_path, SAID)
    file = tmp_path / "target/info_schema/v1/dbt.column_lineage.parquet"
    pq.write_table(pq.read_table(file).slice(0, 0), file)
    found = compare_lineage("dbt", tmp_path / "target", store=tmp_path / "s.db")
    assert found.notices == ["the export states no edge"]


def test_the_same_folder_twice(tmp_path: Path) -> None:
    once = _compare(tmp_path, SAID)
    twice = compare_lineage("dbt", [tmp_path / "target"] * 2, store=tmp_path / "s.db")
    assert _lines(twice) == _lines(once)
