"""A PySpark job for the benchmark of the listeners: `python -m tests.benchmarks._spark_job WAY WORKLOAD FOLDER`.

WAY is `none`, `ours` or `agent`. Prints one line of JSON: seconds, processor seconds of Python and JVM, memory.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  its usual name

from lineage_ingest import spark_plan

_WARM_UP = 10
_LONG_ROWS = 130_000_000
"""Rows of one write of the long job: less than three seconds on one core."""


def main(way: str, workload: str, folder: Path) -> int:
    """Run a workload and print its figures."""
    events = folder / f"{way}.ndjson"
    spark = _session(way, folder, events, heap="1g")
    jvm = _jvm_process(spark)
    out = str(folder / "out")
    with spark_plan.lineage_of(spark, str(events), job="benchmark") if way == "ours" else nullcontext() as lineage:
        for _ in range(_WARM_UP):
            _tiny(spark).write.mode("overwrite").parquet(out)
        begun, busy = time.perf_counter(), _busy(jvm)
        figures = _WORKLOADS[workload](spark, out)
        seconds = time.perf_counter() - begun
    figures |= {"seconds": round(seconds, 2), "cpu_seconds": round(_busy(jvm) - busy, 2)}
    if lineage is not None:
        figures["counts"] = lineage.counts()
    spark.stop()
    figures["largest_event"] = max((len(line) for line in _lines(events)), default=0)
    print(json.dumps(figures, default=str))
    return 0


def _session(way: str, folder: Path, events: Path, heap: str) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").appName("benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": heap,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.lineage.spool": str(folder / "spool"),
    }
    if way == "agent":
        settings |= {
            "spark.jars": os.environ["AGENT_JARS"],
            "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
            "spark.openlineage.namespace": "benchmark",
            "spark.openlineage.transport.type": "file",
            "spark.openlineage.transport.location": str(events),
        }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _jvm_process(spark: SparkSession) -> int:
    jvm: Any = spark._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())


def _busy(jvm: int) -> float:
    """Return the processor seconds that this process and the JVM have used."""
    fields = Path(f"/proc/{jvm}/stat").read_text().rpartition(")")[2].split()
    own = resource.getrusage(resource.RUSAGE_SELF)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + own.ru_utime + own.ru_stime


def _lines(events: Path) -> list[str]:
    return events.read_text(encoding="utf-8").splitlines() if events.exists() else []


def _tiny(spark: SparkSession) -> DataFrame:
    return spark.range(10).selectExpr("id", "id * 2 as double", "cast(id as string) as text")


def _tiny_writes(count: int) -> Callable[[SparkSession, str], dict[str, Any]]:
    def run(spark: SparkSession, out: str) -> dict[str, Any]:
        memory: dict[str, list[int]] = {}
        for number in range(1, count + 1):
            _tiny(spark).write.mode("overwrite").parquet(out)
            if count >= 1000 and number % (count // 5) == 0:
                memory[str(number)] = _memory(spark)
        return {"memory_mb": memory} if memory else {}

    return run


def _memory(spark: SparkSession) -> list[int]:
    """Return the megabytes of Python's process, of the JVM's heap after a collection, and of the JVM's process."""
    jvm: Any = spark._jvm
    jvm.System.gc()
    runtime = jvm.Runtime.getRuntime()
    heap = runtime.totalMemory() - runtime.freeMemory()
    pid = _jvm_process(spark)
    return [_resident(os.getpid()), heap >> 20, _resident(pid)]


def _resident(pid: int) -> int:
    line = next(one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) >> 10


def _long(spark: SparkSession, out: str) -> dict[str, Any]:
    for number in range(20):
        frame = spark.range(_LONG_ROWS).selectExpr(f"(id * {number + 3}) % 97 as k", "hash(id, id + 1) as h")
        frame.groupBy("k").agg(F.sum("h").alias("s"), F.max("h").alias("m")).write.mode("overwrite").parquet(out)
    return {}


def _large_plan(spark: SparkSession, out: str) -> dict[str, Any]:
    """Write a frame whose plan is 49 MB of JSON: 1,000 columns, changed 150 times."""
    frame = spark.range(1).selectExpr("id", *(f"id + {n} as c{n}" for n in range(1000)))
    for number in range(150):
        frame = frame.withColumn(f"c{number}", F.col(f"c{number}") + F.col(f"c{number + 1}"))
    frame.write.mode("overwrite").parquet(out)
    return {"memory_mb": _memory(spark)}


def _distinct(spark: SparkSession, out: str) -> dict[str, Any]:
    spark.range(3).selectExpr(*(f"id + {n} as c{n}" for n in range(50))).write.mode("overwrite").parquet(f"{out}-wide")
    spark.read.parquet(f"{out}-wide").distinct().write.mode("overwrite").parquet(out)
    return {}


_WORKLOADS: dict[str, Callable[[SparkSession, str], dict[str, Any]]] = {
    "tiny": _tiny_writes(50),
    "many": _tiny_writes(2000),
    "long": _long,
    "large": _large_plan,
    "distinct": _distinct,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
