"""A Spark job whose service is killed in the middle: `python -m tests.spark_plan.outage --seconds 60`.

The job writes one table after another and sends its lineage to `lineage serve`. The service gets a SIGKILL after the
first writes, and is back after the given time, during which the job writes on. Prints what did not arrive, or not once.
"""

from __future__ import annotations

import argparse
import json
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import SparkSession

from lineage.neo4j_server.ports import free_port
from lineage.store import open_store
from lineage_ingest import spark_plan
from tests.cli.test_serve_command import served


class Outage(NamedTuple):
    """What the job wrote, and what of it arrived."""

    writes: int
    while_away: int
    """How many writes ended between the kill and the new start."""
    stored: dict[str, list[str]]
    """The columns with an edge from the column that they were read from, by the folder that was written."""
    counts: dict[str, int]
    """The listener's counts at the end of the job."""

    def problems(self) -> list[str]:
        """Return what did not arrive, or not once; empty if all is well. A write is two events, and so is the job."""
        missing = [f"out_{n}" for n in range(self.writes) if self.stored.get(f"out_{n}") != ["a", "b"]]
        found = [f"not in the store: {', '.join(missing)}"] if missing else []
        if self.counts["delivered"] != 2 * self.writes + 4:  # the seed is a write, too
            found.append(f"{self.counts['delivered']} events delivered, expected {2 * self.writes + 4}")
        found += [f"{name}: {self.counts[name]}" for name in ("lost", "refused", "failed") if self.counts[name]]
        return found


def outage(folder: Path, seconds: float, *, least: int = 3) -> Outage:
    """Run the job. At least that many writes are before the outage, as many during it, and as many after it.

    Raises:
        RuntimeError: the job failed.
    """
    store, port = folder / "graph.db", str(free_port())
    log = folder / "job.log"
    with ExitStack() as ends:
        job = ends.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "tests.spark_plan.outage", "job", f"http://127.0.0.1:{port}", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=ends.enter_context(log.open("w")),
                text=True,
            )
        )
        ends.callback(job.kill)
        assert job.stdout is not None
        assert job.stdin is not None
        lines, end = job.stdout, job.stdin

        def writes_until(reached: Callable[[int], bool]) -> int:
            done = 0
            while not reached(done):
                if not lines.readline():
                    raise RuntimeError(log.read_text()[-3000:])
                done += 1
            return done

        with served("--store", str(store), "--port", port) as (_, service):
            writes_until(lambda done: done >= least)
            service.send_signal(signal.SIGKILL)
            service.wait(timeout=30)
        back = time.monotonic() + seconds
        away = writes_until(lambda done: done >= least and time.monotonic() >= back)
        with served("--store", str(store), "--port", port):
            writes_until(lambda done: done >= least)
            end.write("end\n")
            end.close()
            rest = lines.read().splitlines()
            if job.wait(timeout=120):
                raise RuntimeError(log.read_text()[-3000:])
    figures = json.loads(rest[-1])
    return Outage(figures["writes"], away, _stored(store), figures["counts"])


def _stored(store: Path) -> dict[str, list[str]]:
    """Return the columns into which there is an edge, by folder."""
    found: dict[str, list[str]] = {}
    with open_store(store) as opened:
        for kind, _, end, _ in opened.dump().relationships:
            if kind == "CONTRIBUTES":
                name, _, column = str(end).rpartition("/")[2].partition("#")
                found.setdefault(name, []).append(column)
    return {name: sorted(columns) for name, columns in found.items()}


def _job(address: str, folder: Path) -> int:
    """Write until a line comes in; print a line after each write, and the figures at the end."""
    builder = SparkSession.builder.master("local[1]").appName("outage")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.lineage.spool": str(folder / "spool"),
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    seed = str(folder / "seed")
    with spark_plan.lineage_of(spark, address, job="outage") as lineage:
        spark.range(10).selectExpr("id as a", "id * 2 as b").write.parquet(seed)
        writes = 0
        while not select.select([sys.stdin], [], [], 0.05)[0]:
            spark.read.parquet(seed).write.parquet(str(folder / f"out_{writes}"))
            writes += 1
            print(writes, flush=True)
    assert lineage is not None
    print(json.dumps({"writes": writes, "counts": lineage.counts()}), flush=True)
    spark.stop()
    return 0


def main(arguments: list[str]) -> int:
    """Run the job, or the outage around it."""
    if arguments[:1] == ["job"]:
        return _job(arguments[1], Path(arguments[2]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60, help="how long the service is away")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineage-outage-") as folder:
        found = outage(Path(folder), given.seconds)
    print(f"{found.writes} writes, {found.while_away} of them while the service was away for {given.seconds:g} s")
    print(f"listener: {found.counts}")
    problems = found.problems()
    print("\n".join(problems) or "each write is in the graph, and each event was delivered once")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
