"""Columns of tables as dbt and DuckDB lay them out: by a contract, with repeated names, of files, of VALUES."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.dbt.manifests import manifest, model, relation, source
from tests.dbt.test_broken_artifacts import edges, found, ingest

RAW = source("orders", {"id": "int", "amount": "int", "note": "text"})
NEEDS = "source.shop.raw.orders"


@pytest.mark.parametrize(("kind", "first"), [("table", "note"), ("incremental", "note"), ("view", "id")])
def test_an_enforced_contract_orders_the_columns_of_a_table(tmp_path: Path, kind: str, first: str) -> None:
    listed = {name: {"name": name, "data_type": "text"} for name in ("note", "id")}
    config = {"materialized": kind, "contract": {"enforced": True}}
    made = model("made", 'select id, note from "wh"."raw"."orders"', NEEDS, config=config, columns=listed)
    reader = model("reader", f"select x from {relation('made')} as t(x, y)", "made")
    assert found(ingest(tmp_path, manifest(RAW, made, reader))) == set()
    assert edges(tmp_path, "reader") == {f"made.{first} -> x"}


def test_repeated_names_and_values(tmp_path: Path) -> None:
    data = manifest(
        RAW,
        model("twice", 'select id, id, amount as id from "wh"."raw"."orders"', NEEDS),
        model("listed", "values (1, 2)"),
    )
    data["metadata"]["adapter_type"] = "duckdb"
    ingest(tmp_path, data)
    with open_store(tmp_path / "store.db") as store:
        [twice, listed] = ("duckdb/wh.main.twice", "duckdb/wh.main.listed")
        pairs = {(edge.source.partition("#")[2], edge.target.partition("#")[2]) for edge in store.edges_into([twice])}
        assert pairs >= {("id", "id"), ("id", "id_1"), ("amount", "id_2")}
        assert ("amount", "id") not in pairs
        assert [one.spelled_name for one in store.columns([listed])] == ["col0", "col1"]


@pytest.mark.parametrize("relation_name", ["'data/orders.csv'", "read_csv('data/orders.csv', header = true)"])
def test_a_source_that_is_a_file(tmp_path: Path, relation_name: str) -> None:
    """dbt-duckdb's `external_location`: the table is the file that SQL reads."""
    file = {**RAW, "relation_name": relation_name}
    data = manifest(file, model("stg", f"select id from {relation_name}", NEEDS))
    data["metadata"]["adapter_type"] = "duckdb"
    assert found(ingest(tmp_path, data)) == set()
    with open_store(tmp_path / "store.db") as store:
        assert {one.key for one in store.datasets()} == {"file/data/orders.csv", "duckdb/wh.main.stg"}
