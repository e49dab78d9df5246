"""One Spark for all tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.listener.executions import CHECKPOINTS
from lineage_ingest.spark_plan.plan_lineage import PlanLineage, read_lineage, read_loop
from lineage_ingest.spark_plan.session_variables import SessionVariables
from lineage_ingest.spark_plan.tables.datasets import Catalogs
from tests.kafka_fixture import CONNECTOR, kafka
from tests.maven_jars import fetched

__all__ = ["SparkProcess", "kafka", "lineages", "running_spark"]

SQLITE = ("org.xerial:sqlite-jdbc:3.50.3.0",)
LAKEHOUSE = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "io.delta:delta-spark_4.1_2.13:4.4.0",
    "io.delta:delta-storage:4.4.0",
)


class Ran(NamedTuple):
    """What a request's code did: an error, if it raised one, the listener's frames, and its `result`."""

    error: str | None
    frames: list[dict[str, Any]]
    result: Any


@dataclass
class SparkProcess:
    """A process with a Spark session."""

    process: subprocess.Popen[str]
    folder: Path
    confs: dict[str, str]

    def run(self, name: str, code: str) -> Ran:
        """Run code there; `B` is a folder for what it writes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"name": name, "code": code}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "Spark's process ended"
        return Ran(**json.loads(line))

    @property
    def catalogs(self) -> Catalogs:
        return Catalogs({**self.confs, "spark.sql.warehouse.dir": str(self.folder / "warehouse")})

    def lineage(self, name: str, code: str) -> list[PlanLineage]:
        """Run code there; return the lineage of its executions, in the order in which they ended."""
        ran = self.run(name, code)
        assert ran.error is None, ran.error
        return lineages(ran.frames, self.catalogs)


def lineages(frames: list[dict[str, Any]], catalogs: Catalogs) -> list[PlanLineage]:
    """Return the lineage of each frame with a plan."""
    known, variables = KnownFrames(), SessionVariables()
    found = []
    for frame in frames:  # what a batch writes ends before the batch does
        if "nodes" in frame and frame.get("stream") is not None:
            read_lineage(frame["nodes"], catalogs, known, keep=True)
    for frame in frames:
        known.has_collected |= "collected" in frame
        if "output" in frame:
            read_loop(frame["nodes"], frame["output"], catalogs, known, variables)
        elif "nodes" in frame:
            cut = frame.get("stream") is not None or frame.get("function") in CHECKPOINTS
            found.append(
                read_lineage(
                    frame["nodes"],
                    catalogs,
                    known,
                    variables=variables,
                    sql=frame.get("sql"),
                    reduced=frame.get("reduced"),
                    keep=cut,
                )
            )
    return found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """The PySpark of the lock file."""
    jars = (*fetched("sqlite-jdbc", SQLITE).glob("*.jar"), *fetched("kafka-connector", CONNECTOR).glob("*.jar"))
    with running_spark(tmp_path_factory.mktemp("spark_plan"), jars) as running:
        yield running


@pytest.fixture(scope="session")
def spark_4_1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """PySpark 4.1 with the newest Iceberg and Delta, which run on no later one. `make test` installs it."""
    folder = tmp_path_factory.mktemp("spark_4_1")
    confs = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "iceberg"),
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.databricks.delta.stats.collect": "false",
        "spark.databricks.delta.writeChecksumFile.enabled": "false",
    }
    with running_spark(
        folder, tuple(fetched("lakehouse", LAKEHOUSE).glob("*.jar")), confs, pyspark_folder("4.1")
    ) as running:
        yield running


@pytest.fixture(scope="session")
def spark_4_0(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """The oldest PySpark that is supported."""
    folder = tmp_path_factory.mktemp("spark_4_0")
    with running_spark(folder, (), None, pyspark_folder("4.0")) as running:
        yield running


def pyspark_folder(version: str) -> Path:
    """Return the folder into which `make test` installs an older PySpark."""
    folder = Path(__file__).parents[2] / f".spark-{version}"
    if not (folder / ".installed").exists():
        pytest.fail(f"PySpark {version} is not installed: run make {folder.name}/.installed", pytrace=False)
    return folder


@contextmanager
def running_spark(
    folder: Path, jars: tuple[Path, ...], confs: dict[str, str] | None = None, installed: Path | None = None
) -> Iterator[SparkProcess]:
    """Run a process with a Spark session; `installed` is where its PySpark is, if it is not that of the lock file."""
    with (folder / "stderr").open("w") as errors, subprocess.Popen(
        [sys.executable, "-m", "tests.spark_plan.spark_process", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        env={
            **os.environ, "PYSPARK_PYTHON": sys.executable, **({"PYTHONPATH": str(installed)} if installed else {}),
            "TEST_SPARK_JARS": ",".join(map(str, jars)), "TEST_SPARK_CONFS": json.dumps(confs or {}),
        },
        cwd=Path(__file__).parents[2],
    ) as process:  # fmt: skip
        running = SparkProcess(process, folder, confs or {})
        assert process.stdout is not None
        if not process.stdout.readline():
            pytest.fail(f"Spark does not start:\n{(folder / 'stderr').read_text()[-2_000:]}", pytrace=False)
        yield running
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
