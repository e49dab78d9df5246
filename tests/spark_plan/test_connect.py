"""Spark Connect: a client in another process writes; the OpenLineage agent, or our listener, on the server tells it.

Both ways are those of docs/spark.md.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
import pytest

from lineage.neo4j_server.ports import free_port
from lineage.store import GraphStore, open_store
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.settings import Settings
from lineage_ingest.spark_plan import __main__ as program
from tests.events.test_agents import AGENT
from tests.java_options import SPARK
from tests.maven_jars import fetched
from tests.service.running import running

pytestmark = pytest.mark.xdist_group("spark_connect")

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
EDGES = {
    ("in#id", "totals#most", "AGGREGATION"),
    ("in#part", "totals#part", "IDENTITY"),
    ("in#part", "totals", "GROUP_BY"),
}
PIPELINE = {
    "spark-pipeline.yml": "name: shop\nstorage: file://{folder}/storage\nlibraries:\n  - glob: {include: flows/**}\n",
    "flows/views.sql": """
        CREATE MATERIALIZED VIEW mostly AS SELECT part, max(most) AS top FROM totals WHERE part > 0 GROUP BY part;
        CREATE TEMPORARY VIEW halves AS SELECT most / 2 AS half FROM totals;
        CREATE MATERIALIZED VIEW of_view AS SELECT half FROM halves;
        CREATE STREAMING TABLE copied AS SELECT most FROM STREAM totals;""",
    "flows/flow.py": """
from pyspark import pipelines
from pyspark.sql import SparkSession

pipelines.create_streaming_table("sink")


@pipelines.append_flow(target="sink")
def flow():
    return SparkSession.active().readStream.table("totals").selectExpr("part + 1 as next")
""",
}
EDGES_OF_PIPELINE = {
    ("totals#most", "mostly#top", "AGGREGATION"),
    ("totals#part", "mostly#part", "IDENTITY"),
    ("totals#part", "mostly", "FILTER"),
    ("totals#part", "mostly", "GROUP_BY"),
    ("totals#most", "of_view#half", "TRANSFORMATION"),
    ("totals#most", "copied#most", "IDENTITY"),
    ("totals#part", "sink#next", "TRANSFORMATION"),
}


@contextmanager
def connect_server(folder: Path, conf: Mapping[str, str], *program: str) -> Iterator[int]:
    """Run a Connect server by spark-submit; yield its port. It is stopped at the end of the block."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(SPARK),
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        **conf,
    }
    options = [part for name, text in settings.items() for part in ("--conf", f"{name}={text}")]
    log = folder / "server.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [str(SPARK_SUBMIT), "--master", "local[1]", "--driver-memory", "700m", *options, *program],
            stdout=output,
            stderr=output,
            cwd=folder,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            start_new_session=True,
        ) as process,
    ):
        try:
            until = time.monotonic() + 120
            while not _answers(port):
                assert process.poll() is None, log.read_text()[-4_000:]
                assert time.monotonic() < until, log.read_text()[-4_000:]
                time.sleep(0.2)
            yield port
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)
            _wait_for_group(process.pid)  # the listener's Python delivers after the JVM has ended
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _wait_for_group(group: int) -> None:
    until = time.monotonic() + 30
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.1)


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def write_as_client(port: int, folder: Path) -> None:
    """Write a file and a table of its totals, from a process without a JVM."""
    code = f"""
from pyspark.sql import SparkSession, functions as f

spark = SparkSession.builder.remote("sc://127.0.0.1:{port}").getOrCreate()
assert type(spark).__module__ == "pyspark.sql.connect.session"
spark.range(10).selectExpr("id", "id % 3 AS part").write.parquet({str(folder / "in")!r})
rows = spark.read.parquet({str(folder / "in")!r})
rows.groupBy("part").agg(f.max("id").alias("most")).write.saveAsTable("totals")
spark.stop()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]


def run_pipeline(port: int, folder: Path) -> None:
    """Run a declarative pipeline over the totals."""
    for name, text in PIPELINE.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("{folder}", str(folder)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyspark.pipelines.cli", "run", "--spec", str(folder / "spark-pipeline.yml")],
        env={**os.environ, "SPARK_REMOTE": f"sc://127.0.0.1:{port}"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]


def edges_of(store: GraphStore) -> set[tuple[str, str, str]]:
    return {
        (source.rpartition("/")[2], target.rpartition("/")[2].rpartition(".")[2], subtype)
        for kind, source, target, properties in store.dump().relationships
        if kind in ("CONTRIBUTES", "REFERENCES") and "#" in source
        for subtype in properties["subtypes"]
    }


def test_the_agent_and_our_listener_on_a_server(tmp_path: Path) -> None:
    """One tells our service, the other writes a store."""
    jars = ",".join(map(str, sorted(fetched("openlineage-spark", AGENT).glob("*.jar"))))
    tokens = TokenFile(tmp_path / "tokens.json")
    token, _ = tokens.create("spark", [Role.INGESTER])
    with open_store(tmp_path / "store.db") as store, running(store, Settings(tokens=tokens.path)) as service:
        page = PAGE.read_text(encoding="utf-8")
        conf = dict(re.findall(r"--conf (\S+?)=(\S+)", page[page.index("start-connect-server.sh \\") :]))
        conf |= {
            "spark.jars": jars,
            "spark.openlineage.transport.url": service.url,
            "spark.openlineage.transport.auth.apiKey": token,
            "spark.lineage.target": str(tmp_path / "graph.db"),
            "spark.lineage.job": "shared",
        }
        assert AGENT[0] in page
        with connect_server(tmp_path, conf, str(Path(program.__file__)), "--connect-server") as port:
            write_as_client(port, tmp_path)
            run_pipeline(port, tmp_path)
        assert {edge for edge in edges_of(store) if edge[1].startswith("totals")} == EDGES
    with open_store(tmp_path / "graph.db", read_only=True) as store:
        assert edges_of(store) == EDGES | EDGES_OF_PIPELINE
        assert {str(job.completeness) for job in store.jobs(store.job_keys()) if job.writes} == {"full"}
