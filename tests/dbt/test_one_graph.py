"""dbt's manifest, the log of the same run, and OpenLineage events: one graph, in whatever order they are ingested."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from lineage.model.batch import JobKind
from lineage.store import GraphStore, open_store
from lineage.store.page_requests import JobFilter
from lineage.traversal import impact, resolve
from lineage_ingest import DbtOptions, LogOptions, ingest_dbt, ingest_log, ingest_openlineage
from tests.dbt.conftest import EVENTS
from tests.dbt.test_jaffle_shop import CUSTOMERS, MAIN, ORDERS, edges_into

WAREHOUSE = "duckdb://jaffle_shop.duckdb"  # as dbt's agent calls it
MODELS = ("customers", "orders", "stg_customers", "stg_orders", "stg_payments")
SEEDS = ("raw_customers", "raw_orders", "raw_payments")


def logged_statements(project: Path) -> list[dict[str, Any]]:
    """Return the statements that dbt sent to the database, with their times and connections."""
    rows = []
    for line in (project / "logs" / "dbt.log").read_text(encoding="utf-8").splitlines():
        event = json.loads(line) if line.startswith("{") else {"info": {"name": ""}}
        if event["info"]["name"] == "SQLQuery":
            rows.append(
                {"sql": event["data"]["sql"], "ts": event["info"]["ts"], "connection": event["data"]["conn_name"]}
            )
    return rows


def spark_write() -> dict[str, Any]:
    """Return the event of a Spark job that reads the model over JDBC, in the form of Spark's agent."""
    field = {"namespace": WAREHOUSE, "name": f"{MAIN}.customers", "field": "customer_lifetime_value"}
    how = [{"type": "DIRECT", "subtype": "AGGREGATION", "description": "", "masking": False}]
    producer = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
    facet = {
        "_producer": producer,
        "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
    }
    fields = {"total": {"inputFields": [{**field, "transformations": how}]}}
    output = {"namespace": "s3://lake", "name": "marts/clv", "facets": {"columnLineage": {**facet, "fields": fields}}}
    return {
        "eventType": "COMPLETE", "eventTime": "2026-12-01T00:00:00Z", "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0190f1e5-0000-7000-8000-000000000001"},
        "job": {"namespace": "spark", "name": "clv.save"},
        "inputs": [{"namespace": WAREHOUSE, "name": f"{MAIN}.customers"}],
        "outputs": [output],
    }  # fmt: skip


@pytest.mark.parametrize("order", list(permutations(("dbt", "log", "events"))), ids="-".join)
def test_one_graph(built: Path, tmp_path: Path, order: tuple[str, ...]) -> None:
    log, events = tmp_path / "log.jsonl", tmp_path / "events.ndjson"
    log.write_text("\n".join(map(json.dumps, logged_statements(built))), encoding="utf-8")
    told = (built / EVENTS).read_text(encoding="utf-8").rstrip()
    events.write_text(f"{told}\n{json.dumps(spark_write())}\n", encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        for source in order:
            if source == "dbt":
                ingest_dbt(built / "target", store=store, options=DbtOptions(namespace=WAREHOUSE))
            elif source == "events":
                ingest_openlineage(events, store=store)
            else:
                mapping = {"query_text": "sql", "started_at": "ts", "session": "connection"}
                options = LogOptions(dialect="duckdb", namespace=WAREHOUSE, mapping=mapping,
                                     default_database="jaffle_shop", default_schema="main")  # fmt: skip
                ingest_log(log, source="generic", store=store, options=options)
        check(store)


def check(store: GraphStore) -> None:
    live = {one.key for one in store.datasets() if one.dropped_at is None and one.namespace == WAREHOUSE}
    assert {key for key in live if MAIN in key} == {f"{WAREHOUSE}/{MAIN}.{name}" for name in (*MODELS, *SEEDS)}
    for model in MODELS:
        key = f"{WAREHOUSE}/{MAIN}.{model}"
        jobs = store.jobs(store.job_keys_of([key], JobFilter())[key])
        writers = [job for job in jobs if key in job.writes and job.reads]  # a RENAME reads nothing
        kinds = sorted(job.kind for job in writers)
        assert kinds == [JobKind.DBT, JobKind.EVENT], [job.key for job in writers]
    assert edges_into(store, "customers") >= set(CUSTOMERS.strip().splitlines())
    assert edges_into(store, "orders") >= set(ORDERS.strip().splitlines())
    answer = impact(store, resolve(store, f"{MAIN}.raw_payments.amount"))
    assert ("marts/clv", "total") in {(one.table.rpartition("s3://lake/")[2], one.column) for one in answer.columns}
