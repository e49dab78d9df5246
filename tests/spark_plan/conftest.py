"""One Spark for all tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lineage_ingest.spark_plan.datasets import Catalogs
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.plan_lineage import PlanLineage, read_lineage
from tests.maven_jars import fetched

SQLITE = ("org.xerial:sqlite-jdbc:3.50.3.0",)


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
        return Catalogs({"spark.sql.warehouse.dir": str(self.folder / "warehouse")})

    def lineage(self, name: str, code: str) -> list[PlanLineage]:
        """Run code there; return the lineage of its executions, in the order in which they ended."""
        ran = self.run(name, code)
        assert ran.error is None, ran.error
        return lineages(ran.frames, self.catalogs)


def lineages(frames: list[dict[str, Any]], catalogs: Catalogs) -> list[PlanLineage]:
    """Return the lineage of each frame with a plan."""
    known = KnownFrames()
    found = []
    for frame in frames:
        if "nodes" in frame:
            cut = frame.get("stream") is not None or str(frame.get("function")).lower().endswith("checkpoint")
            found.append(read_lineage(frame["nodes"], catalogs, known, reduced=frame.get("reduced"), keep=cut))
    return found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    folder = tmp_path_factory.mktemp("spark_plan")
    jars = ",".join(map(str, fetched("sqlite-jdbc", SQLITE).glob("*.jar")))
    with (folder / "stderr").open("w") as errors, subprocess.Popen(
        [sys.executable, "-m", "tests.spark_plan.spark_process", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "TEST_SPARK_JARS": jars},
        cwd=Path(__file__).parents[2],
    ) as process:  # fmt: skip
        running = SparkProcess(process, folder)
        assert process.stdout is not None
        if not process.stdout.readline():
            pytest.fail(f"Spark does not start:\n{(folder / 'stderr').read_text()[-2_000:]}", pytrace=False)
        yield running
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
