"""Agents that speak OpenLineage, as they are published, pointed at a running service: Spark's and dbt's."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from lineage.model.influence.transformations import EdgeKind
from lineage.store import open_store
from lineage.traversal import TraversalOptions, impact, resolve, root_cause
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.settings import Settings
from tests.maven_jars import fetched
from tests.service.running import running

AGENT = ("io.openlineage:openlineage-spark_2.13:1.53.0",)
ROOT = Path(__file__).parents[2]
JOB = Path(__file__).with_name("openlineage_spark_job.py")


def told_by(events: list[dict[str, Any]]) -> set[tuple[str, str, str, bool]]:
    """Return the edges that these events state: source, target (last parts of paths), subtype, whether to rows."""
    edges = set()
    for event in events:
        for output in event["outputs"] if event["eventType"] == "COMPLETE" else ():
            facet = output.get("facets", {}).get("columnLineage", {"fields": {}})
            into = [(name, one) for name, field in facet["fields"].items() for one in field["inputFields"]]
            for name, one in [*into, *((None, one) for one in facet.get("dataset", ()))]:
                for way in one["transformations"]:
                    target = last(output["name"]) + (f".{name}" if name else "")
                    edges.add((f"{last(one['name'])}.{one['field']}", target, way["subtype"], name is None))
    return edges


def last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def test_sparks_agent(tmp_path: Path) -> None:
    jars = ",".join(map(str, sorted(fetched("openlineage-spark", AGENT).glob("*.jar"))))
    tokens = TokenFile(tmp_path / "tokens.json")
    token, _ = tokens.create("spark", [Role.INGESTER])
    sent = tmp_path / "events.ndjson"
    with open_store(tmp_path / "store.db") as store:
        with running(store, Settings(tokens=tokens.path)) as service:
            transport = "spark.openlineage.transport"
            settings = {
                "spark.jars": jars,
                "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
                "spark.openlineage.namespace": "tests",
                "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
                f"{transport}.type": "composite",
                f"{transport}.continueOnFailure": "false",
                f"{transport}.transports.service.type": "http",
                f"{transport}.transports.service.url": service.url,
                f"{transport}.transports.service.endpoint": "/api/v1/lineage",
                f"{transport}.transports.service.auth.type": "api_key",
                f"{transport}.transports.service.auth.apiKey": token,
                f"{transport}.transports.file.type": "file",
                f"{transport}.transports.file.location": str(sent),
                "spark.ui.enabled": "false",
                "spark.app.name": "totals",
                "spark.sql.shuffle.partitions": "1",
            }
            options = [part for name, text in settings.items() for part in ("--conf", f"{name}={text}")]
            arguments = shlex.join(["--master", "local[1]", *options, "pyspark-shell"])
            done = subprocess.run(
                [sys.executable, str(JOB), str(tmp_path)],
                capture_output=True, text=True, timeout=240, check=False,
                env={**os.environ, "PYSPARK_SUBMIT_ARGS": arguments, "PYSPARK_PYTHON": sys.executable},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[-4_000:]
        events = [json.loads(line) for line in sent.read_text().splitlines()]
        stated = told_by(events)
        names = {one.key: last(one.name) for one in store.datasets()}
        dump = store.dump()
        held: set[tuple[str, str, str, bool]] = set()
        rows = {
            (names[source], names[target])
            for _, source, target, one in dump.relationships
            if "ROWS" in one.get("subtypes", ())
        }
        assert rows == {(one, "totals") for one in ("customers", "orders")}
        for kind, source, target, properties in dump.relationships:
            if kind in ("CONTRIBUTES", "REFERENCES") and "#" in source:
                for subtype in properties["subtypes"]:
                    dataset, _, column = source.rpartition("#")
                    onto, _, into = target.rpartition("#") if "#" in target else (target, "", "")
                    held.add(
                        (f"{names[dataset]}.{column}", names[onto] + (f".{into}" if into else ""), subtype, not into)
                    )
        assert held == stated
        assert {edge for edge in held if edge[0] == "orders.amount"} == {
            ("orders.amount", "totals.total", "AGGREGATION", False),
            ("orders.amount", "totals", "FILTER", True),
        }
        assert ("customers.country", "totals.where_from", "CONDITIONAL", False) in held
        assert ("customers.id", "totals", "JOIN", True) in held
        answer = impact(store, resolve(store, "orders.amount"))
        assert {last(one.table) for one in answer.columns} == {"totals"}


def test_dbts_agent(tmp_path: Path) -> None:
    """dbt runs a project on DuckDB and tells of it; its events have SQL, and those columns that people described."""
    project = tmp_path / "jaffle_shop"
    shutil.copytree(ROOT / "tests" / "data" / "jaffle_shop", project)
    dbt = ROOT / ".venv-dbt" / "bin" / "dbt-ol"
    assert dbt.exists(), "make test installs dbt"
    with open_store(tmp_path / "store.db") as store:
        with running(store) as service:
            done = subprocess.run(
                [dbt, "build", "--profiles-dir", "."],
                capture_output=True, text=True, timeout=240, check=False, cwd=project,
                env={**os.environ, "OPENLINEAGE_URL": service.url, "PATH": f"{dbt.parent}:{os.environ['PATH']}",
                     "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            )  # fmt: skip
            assert done.returncode == 0, done.stdout[-4_000:]

        def sources(name: str) -> set[tuple[str, str]]:
            reached = root_cause(store, resolve(store, name), TraversalOptions(kinds=frozenset({EdgeKind.CONTRIBUTES})))
            return {(one.table.rpartition(".")[2], one.column) for one in reached.columns}

        for model in ("customers", "orders", "stg_customers", "stg_orders", "stg_payments"):
            [dataset] = store.find_datasets(model)
            assert dataset.schema_known, model
        assert sources("customers.customer_lifetime_value") == {("stg_payments", "amount"), ("raw_payments", "amount")}
        assert sources("customers.first_order") == {("stg_orders", "order_date"), ("raw_orders", "order_date")}
        assert sources("orders.credit_card_amount") == {("stg_payments", "amount"), ("raw_payments", "amount")}
        assert sources("customers.first_name") == {("stg_customers", "first_name"), ("raw_customers", "first_name")}
        [customers] = store.find_datasets("customers")
        names = [column.path for column in store.columns([customers.key])]
        assert names[-1] == "customer_lifetime_value"
        assert len(names) == 7
