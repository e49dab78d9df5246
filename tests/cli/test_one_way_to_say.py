"""What one command prints, others accept and say in the same way."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lineage.model.statement import DatasetKind
from lineage.store import open_store
from tests.cli.running import lineage
from tests.store.batch_builders import batch, table

SQL = (
    "create view mart.r as select c.id as cid, sum(o.amount) as total from shop.orders o "
    "join shop.cust c on c.id = o.cid group by c.id; create view mart.w as select x from shop.w"
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store, file = tmp_path / "graph.db", tmp_path / "r.sql"
    file.write_text(SQL)
    assert ", 5 edges (5 new)" in lineage("ingest", "sql", file, "-d", "postgres", "-s", store).out
    return store


def test_a_shortened_key_of_a_job_is_accepted(store: Path) -> None:
    done = lineage("jobs", "r.sql@postgres>postgres/mart.r", "-s", store, "--json")
    assert [job["writes"] for job in done.json] == [["mart.r"]]
    assert lineage("jobs", "file:…/mart.w", "-s", store, "--json").json[0]["writes"] == ["mart.w"]
    assert lineage("diagnostics", "--job", "mart.w", "-s", store).code == 0
    done = lineage("jobs", "file:…", "-s", store)
    assert done.code == 2
    assert "means 2 jobs: file:" in done.err


def test_a_difference_counts_edges_as_an_ingest(store: Path) -> None:
    done = lineage("diff", "--as-of", "2020-01-01", "-s", store)
    assert "edges: 5 came; row edges: 3 came" in " ".join(done.out.split())


def test_a_path_and_a_root_cause_name_the_same_influences(store: Path) -> None:
    assert "REFERENCES [JOIN GROUP_BY]" in lineage("path", "shop.cust.id", "mart.r.total", "-s", store).out
    found = lineage("root-cause", "mart.r.total", "-s", store, "--json").json["columns"]
    assert {one["column"]: one["how"] for one in found}["id"] == ["JOIN", "GROUP_BY"]


def test_columns_of_a_definition_are_not_those_of_queries(store: Path, tmp_path: Path) -> None:
    assert "its schema is not known" in lineage("columns", "shop.cust", "-s", store).out
    other = tmp_path / "other.db"
    with open_store(other) as opened:
        opened.apply(batch(replace(table("described", "id", at=1), schema_known=False)))
    assert lineage("columns", "described", "-s", other).out.startswith("described: 1 column; it may have more\n")


def test_a_table_is_meant_rather_than_a_consumer_of_its_name(tmp_path: Path) -> None:
    store = tmp_path / "graph.db"
    consumer = replace(table("p.customers", "spend", at=1, kind=DatasetKind.EXPOSURE), namespace="dbt")
    with open_store(store) as opened:
        opened.apply(batch(table("wh.customers", "spend", at=1), consumer))
    assert lineage("root-cause", "customers.spend", "-s", store).out == "no source of wh.customers.spend is known\n"
    assert lineage("columns", "customers", "-s", store).out.startswith("wh.customers: ")
    assert lineage("columns", "p.customers", "-s", store).out.startswith("p.customers: ")


def test_the_seconds_of_a_summary_are_those_of_the_clock(tmp_path: Path) -> None:
    file = tmp_path / "v.sql"
    file.write_text("create view v as select a from t")
    command = (
        sys.executable,
        "-c",
        "from lineage.cli.main import run; run()",
        "ingest",
        "sql",
        str(file),
        "-s",
        str(tmp_path / "graph.db"),
    )
    began = time.perf_counter()
    out = subprocess.run([*command, "-f", "json"], check=True, capture_output=True, text=True).stdout
    assert json.loads(out)["seconds"] > (time.perf_counter() - began) / 2
