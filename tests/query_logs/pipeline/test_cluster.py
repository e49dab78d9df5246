"""A standalone Spark cluster: our modules are shipped to its workers, one is killed; jobs on it tell lineage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.streaming.running import OPTIONS, PIECES, graph, lines
from tests.spark_cluster import SparkCluster, cluster

__all__ = ["cluster"]

pytestmark = pytest.mark.xdist_group("spark_cluster")

TEMPLATES = 150


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log with sessions, temporary tables, what does not parse, and many templates."""
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    listed = [line for piece in range(len(PIECES)) for line in lines(piece)]
    known = json.loads(listed[0])
    for number in range(TEMPLATES):
        text = f"INSERT INTO mart.t{number} SELECT a{number}, upper(b) AS b FROM shop.s{number % 7} WHERE c = 'secret'"
        listed.append(json.dumps({**known, "sql": text, "session": f"x{number}"}))
    path.write_text("".join(f"{line}\n" for line in listed))
    return path


@contextmanager
def ingesting(log: Path, store: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run `lineage ingest log` in a process of its own."""
    code = "from lineage.cli.main import run; run()"
    command = (
        sys.executable,
        "-c",
        code,
        "ingest",
        "log",
        log,
        "--source",
        "generic",
        *OPTIONS,
        "-s",
        store,
        *arguments,
    )
    with subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def on_cluster(cluster: SparkCluster, **conf: object) -> list[str]:
    settings = {**cluster.conf, **{name.replace("_", "."): value for name, value in conf.items()}}
    pairs = [part for name, value in settings.items() for part in ("--spark-conf", f"{name}={value}")]
    return ["--engine", "spark", "--master", cluster.master, *pairs]


def test_a_job_on_the_cluster_tells_its_writes(cluster: SparkCluster, tmp_path: Path) -> None:
    job = f"""
from pyspark.sql import SparkSession, functions as f
from lineage_ingest import spark_plan

spark = SparkSession.builder.master({cluster.master!r})
for name, value in {dict(cluster.conf)!r}.items():
    spark = spark.config(name, value)
spark = spark.config("spark.sql.warehouse.dir", {str(tmp_path / "warehouse")!r}).getOrCreate()
rows = spark.range(100).selectExpr("id", "id % 3 AS part", "cast(id AS string) AS name")
rows.write.parquet({str(tmp_path / "in")!r})
spark_plan.enable(spark, {str(tmp_path / "graph.db")!r}, job="nightly")
shout = f.udf(lambda text: text + "!")
rows = spark.read.parquet({str(tmp_path / "in")!r})
loud = rows.select("part", shout("name").alias("loud")).groupBy("part").agg(f.max("loud").alias("loudest"))
loud.write.parquet({str(tmp_path / "out")!r})
spark_plan.disable(spark)
spark.stop()
"""
    environment = {**os.environ, "PYSPARK_PYTHON": str(cluster.python)}
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    with open_store(tmp_path / "graph.db", read_only=True) as store:
        found = {
            f"{source.rpartition('/')[2]} {kind} {target.rpartition('/')[2]} {','.join(properties['subtypes'])}"
            for kind, source, target, properties in store.dump().relationships
            if kind in ("CONTRIBUTES", "REFERENCES")
        }
    assert found == {
        "in#name CONTRIBUTES out#loudest AGGREGATION",
        "in#part CONTRIBUTES out#part IDENTITY",
        "in#part REFERENCES out GROUP_BY",
        "in REFERENCES out ROWS",
    }


def test_workers_that_lack_packages_are_named(cluster: SparkCluster, log: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    with ingesting(log, tmp_path / "graph.db", *on_cluster(cluster, spark_pyspark_python=python)) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert "lacks pandas, pyarrow, sqlglot; a worker's Python needs the packages of" in " ".join(err.split())
    assert not (tmp_path / "graph.db").exists() or not graph(tmp_path / "graph.db")


def test_a_worker_that_is_killed_changes_nothing(cluster: SparkCluster, log: Path, tmp_path: Path) -> None:
    with ingesting(log, tmp_path / "here.db", "--engine", "local") as process:
        assert "rows" in process.communicate(timeout=300)[0]
    with ingesting(log, tmp_path / "cluster.db", *on_cluster(cluster)) as process:
        until = time.monotonic() + 200
        while not cluster.stores_rows(0) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()
        assert cluster.stores_rows(0)
        cluster.kill_worker(0)
        out, err = process.communicate(timeout=300)
    assert process.returncode in (0, 1), err  # one statement does not parse
    assert f"{TEMPLATES + sum(map(len, PIECES))} rows" in out
    assert graph(tmp_path / "cluster.db") == graph(tmp_path / "here.db")
