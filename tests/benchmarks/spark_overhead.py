"""What listening costs a Spark job: without a listener, with ours, and with the OpenLineage agent, in turns.

Jobs run in processes of their own. Added seconds are those over the job without a listener, of the same round; both
listeners write their events to a file. Maven fetches the agent.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.maven_jars import fetched

ON_REQUEST = True
_AGENT = ("io.openlineage:openlineage-spark_2.13:1.53.0",)
_ROUNDS = 3
_LONG_ROUNDS = 3


def run() -> dict[str, Any]:
    """Return the figures of all workloads."""
    return {**_tiny(), **_long(), **_many(), **_large(), **_distinct()}


def _tiny() -> dict[str, Any]:
    """Return the added time of 50 tiny writes: seconds, and processor seconds of Python and JVM together."""
    rounds = [{way: _job(way, "tiny") for way in ("none", "ours", "agent")} for _ in range(_ROUNDS)]
    found: dict[str, Any] = {}
    for figure in ("seconds", "cpu_seconds"):
        added = {
            way: round(statistics.median(one[way][figure] - one["none"][figure] for one in rounds), 2)
            for way in ("ours", "agent")
        }
        found[f"tiny_{figure}"] = round(statistics.median(one["none"][figure] for one in rounds), 2)
        found |= {f"tiny_{figure}_added_by_{way}": value for way, value in added.items()}
        found[f"tiny_{figure}_ours_to_agent"] = round(added["ours"] / added["agent"], 2) if added["agent"] else None
    return found


def _long() -> dict[str, Any]:
    """Return the ratio of a job of a minute with 20 writes, with our listener and without."""
    rounds = [{way: _job(way, "long") for way in ("none", "ours")} for _ in range(_LONG_ROUNDS)]
    return {
        "long_seconds": round(statistics.median(one["none"]["seconds"] for one in rounds), 1),
        "long_ratio": round(statistics.median(one["ours"]["seconds"] / one["none"]["seconds"] for one in rounds), 3),
        "long_cpu_ratio": round(
            statistics.median(one["ours"]["cpu_seconds"] / one["none"]["cpu_seconds"] for one in rounds), 3
        ),
    }


def _many() -> dict[str, Any]:
    """Return the memory after each 400 of 2,000 writes, in MB: Python, heap after a collection, the JVM's process."""
    return {"many_memory_mb": _job("ours", "many")["memory_mb"]}


def _large() -> dict[str, Any]:
    """Return what a plan of 49 MB does to a driver with a heap of 1 GB."""
    jobs = {way: _job(way, "large") for way in ("none", "ours")}
    figures = {f"large_{name}_{way}": jobs[way][name] for way in jobs for name in ("seconds", "memory_mb")}
    return {**figures, "large_counts": jobs["ours"]["counts"]}


def _distinct() -> dict[str, Any]:
    """Return the bytes of the largest event of a DISTINCT over 50 columns."""
    return {f"distinct_event_bytes_{way}": _job(way, "distinct")["largest_event"] for way in ("ours", "agent")}


def _job(way: str, workload: str) -> dict[str, Any]:
    jars = ",".join(map(str, sorted(fetched("openlineage-spark", _AGENT).glob("*.jar"))))
    with tempfile.TemporaryDirectory(prefix="lineage-spark-") as folder:
        command = [sys.executable, "-m", "tests.benchmarks._spark_job", way, workload, folder]
        done = subprocess.run(
            command,
            env={**os.environ, "AGENT_JARS": jars, "PYSPARK_PYTHON": sys.executable},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"the job failed ({way}, {workload}):\n{done.stderr[-3000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
