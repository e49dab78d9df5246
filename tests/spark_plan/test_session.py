"""`enable` in a job: it never raises, every write is told once, limits degrade to tables, no literal leaves the job.

What README.md and docs/spark.md show is run here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.spark_plan.conftest import SparkProcess

pytestmark = pytest.mark.xdist_group("spark_plan")

_EVENTS = """
import json
from lineage_ingest.spark_plan import enable, disable, lineage_of
def told(path):
    return [json.loads(line) for line in open(path)]
"""


def test_a_write_enters_a_store(spark: SparkProcess, tmp_path: Path) -> None:
    code = f"""{_EVENTS}
with lineage_of(spark, {str(tmp_path / "graph.db")!r}, job="nightly") as lineage:
    write(spark.sql("select id, md5(name) as hidden from customers where country = 'a secret'"))
    columns = "order_id long, customer_id long, amount double, tags string"
    write(spark.table("orders").mapInArrow(lambda batches: batches, columns), "opaque")
result = lineage.counts()
"""
    ran = spark.run("store", code)
    assert ran.error is None, ran.error
    assert (ran.result["writes"], ran.result["delivered"], ran.result["lost"]) == (2, 6, 0)
    with open_store(tmp_path / "graph.db", read_only=True) as store:
        jobs = {job.writes[0].rpartition("/")[2]: job for job in store.jobs(store.job_keys())}
        edges = {
            (source.rpartition("/")[2], target.rpartition("/")[2], properties["masking"])
            for kind, source, target, properties in store.dump().relationships
            if kind == "CONTRIBUTES"
        }
        assert ("customers#id", "out#id", False) in edges
        assert ("customers#name", "out#hidden", True) in edges
        assert str(jobs["out"].completeness) == "full"
        assert str(jobs["opaque"].completeness) == "partial"
        assert jobs["out"].key.startswith("event:spark/nightly>")
        runs = [run for run in store.runs(10) if run.counts]
        assert {run.source for run in runs} == {"spark/nightly"}
        assert sum(run.counts["accepted"] for run in runs) == 6
        [found] = store.diagnostics()
        assert str(found.diagnostic.code) == "OPAQUE_FUNCTION"
        assert "a secret" not in str(store.dump())


def test_what_a_command_runs_inside_is_not_told_again(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
lineage = enable(spark, B + "/e.ndjson")
spark.sql("create table once using parquet as select id, name from customers where name <> 'a secret'")
spark.table("customers").select("id").write.mode("overwrite").saveAsTable("again")
spark.sql("insert overwrite directory '" + B + "/directory' using parquet select id from customers")
df = spark.readStream.schema(spark.table("orders").schema).parquet(SEED + "/orders").select("order_id")
def both(batch, number):
    batch.write.mode("append").parquet(B + "/a")
    batch.write.mode("append").saveAsTable("streamed")
    batch.write.mode("append").json(B + "/b")
writer = df.writeStream.foreachBatch(both).option("checkpointLocation", B + "/c")
stream = writer.trigger(availableNow=True).start()
stream.awaitTermination(60)
disable(spark)
result = told(B + "/e.ndjson")
"""
    ran = spark.run("once", code)
    assert ran.error is None, ran.error
    ends = [one for one in ran.result if one["outputs"] and one["eventType"] != "RUNNING"]
    names = sorted(one["outputs"][0]["name"].rpartition("/")[2] for one in ends)
    assert names == ["a", "again", "b", "directory", "once", "streamed"]
    created = next(one for one in ends if one["outputs"][0]["name"].endswith("once"))
    [link] = created["outputs"][0]["facets"]["symlinks"]["identifiers"]
    assert link["name"] == "default.once"
    assert "a secret" not in json.dumps(ran.result)


def test_a_target_that_cannot_work_is_refused(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
targets = ["ftp://host/x", "s3://bucket/graph", "kafka://broker", "http://", B + "/no/folder/graph.db", SEED]
result = []
for target in targets:
    try:
        enable(spark, target)
    except ValueError as error:
        result.append(str(error))
"""
    ran = spark.run("targets", code)
    assert ran.error is None, ran.error
    assert len(ran.result) == 6
    assert all("kafka://HOST:PORT/TOPIC" in ran.result[index] for index in (0, 1, 2, 4, 5))


def test_what_a_second_enable_asks_for_in_vain_is_logged(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
import logging
logged = []
handler = logging.Handler()
handler.emit = lambda record: logged.append(record.getMessage())
logging.getLogger("lineage.spark_plan").addHandler(handler)
first = enable(spark, B + "/e.ndjson")
found = [enable(spark, B + "/./e.ndjson"), enable(spark)]
same = list(logged)
enable(spark, "http://me:secret@h/other")
enable(spark, B + "/e.ndjson", job="other")
disable(spark)
logging.getLogger("lineage.spark_plan").removeHandler(handler)
result = [[one is first for one in found], same, logged]
"""
    ran = spark.run("second", code)
    assert ran.error is None, ran.error
    found, same, logged = ran.result
    assert (found, same) == ([True, True], [])
    assert len(logged) == 2
    assert "not to http://h/other: disable it first" in logged[0]
    assert "/other: disable it first" in logged[1]


def test_a_stream_that_is_stopped_in_a_batch_has_not_failed(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
import time
lineage = enable(spark, B + "/e.ndjson")
slow = F.udf(lambda value: (time.sleep(20), value)[1], "long")
df = spark.readStream.schema(spark.table("orders").schema).parquet(SEED + "/orders").select(slow("order_id").alias("o"))
def save(batch, number):
    batch.write.mode("append").parquet(B + "/a")
for writer in (df.writeStream.foreachBatch(save), df.writeStream.format("parquet").option("path", B + "/b")):
    stream = writer.option("checkpointLocation", B + "/c" + str(id(writer))).start()
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.05)
    stream.stop()
disable(spark)
result = [lineage.counts()["failed"], [one["eventType"] for one in told(B + "/e.ndjson")]]
"""
    ran = spark.run("stopped", code)
    assert ran.error is None, ran.error
    assert ran.result == [0, ["START", "COMPLETE"]]


def test_two_of_it_twice_and_again_after_its_end(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
first, second = enable(spark, B + "/e.ndjson"), enable(spark, B + "/other.ndjson")
same = first is second
disable(spark); disable(spark)
write(spark.range(1), "unseen")
again = enable(spark, B + "/again.ndjson")
write(spark.table("customers"), "seen")
disable(spark)
result = [same, *(sum(bool(e["outputs"]) for e in told(B + one)) for one in ("/e.ndjson", "/again.ndjson"))]
"""
    ran = spark.run("twice", code)
    assert ran.error is None, ran.error
    assert ran.result == [True, 0, 1]


def test_it_never_raises(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
spark.conf.set("spark.lineage.enabled", "false")
off = enable(spark, B + "/off.ndjson")
spark.conf.unset("spark.lineage.enabled")
no_target = enable(spark)
not_spark = enable(None, B + "/x.ndjson")
disable(None)
lineage = enable(spark, "/proc/cannot/be/written.ndjson")
write(spark.table("customers"))
lineage.close()
spilled, rows = lineage.counts()["spilled"], spark.read.parquet(B + "/out").count()
result = [off, no_target, not_spark, spilled > 0, rows]
"""
    ran = spark.run("raises", code)
    assert ran.error is None, ran.error
    assert ran.result == [None, None, None, True, 2]


def test_a_large_plan_is_reduced_to_tables(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
spark.conf.set("spark.lineage.maxPlanCharacters", "4000")
lineage = enable(spark, B + "/e.ndjson")
wide = spark.table("orders").select("*", *[(F.col("amount") + i).alias("c%d" % i) for i in range(300)])
write(wide)
disable(spark)
spark.conf.unset("spark.lineage.maxPlanCharacters")
result = [told(B + "/e.ndjson"), lineage.counts()]
"""
    ran = spark.run("large", code)
    assert ran.error is None, ran.error
    events, counts = ran.result
    assert counts["reduced"] == 1
    [end] = [one for one in events if one["outputs"]]
    assert "columnLineage" not in end["outputs"][0]["facets"]
    assert end["inputs"][0]["name"].endswith("/orders")
    facet = end["run"]["facets"]["lineageGraph_plan"]
    assert (facet["completeness"], facet["diagnostics"][0]["code"]) == ("tables", "RESULT_TOO_LARGE")


def test_a_write_that_fails_and_changes(spark: SparkProcess) -> None:
    code = f"""{_EVENTS}
lineage = enable(spark, B + "/e.ndjson")
spark.sql("create table fails (a int) using parquet")
try:
    write(spark.sql("select raise_error('a secret') as x from customers"))
except Exception:
    pass
spark.sql("create table goes using parquet as select id from customers")
spark.sql("alter table goes rename to gone")
spark.sql("drop table gone")
disable(spark)
result = told(B + "/e.ndjson")
"""
    ran = spark.run("fails", code)
    assert ran.error is None, ran.error
    [failed] = [one for one in ran.result if one["eventType"] == "FAIL"]
    assert failed["outputs"] == []
    assert "a secret" not in json.dumps(ran.result)
    states = [
        one["outputs"][0]["facets"].get("lifecycleStateChange", {}).get("lifecycleStateChange")
        for one in ran.result
        if one["outputs"]
    ]
    assert states == ["CREATE", "RENAME", "DROP"]


def test_a_job_runs_unchanged(tmp_path: Path) -> None:
    """`python -m lineage_ingest.spark_plan job.py`, with no word of lineage in the job."""
    job = tmp_path / "job.py"
    job.write_text(
        "import sys\n"
        "from pyspark.sql import SparkSession\n"
        "builder = SparkSession.builder.master('local[1]').appName('unchanged')\n"
        "spark = builder.config('spark.ui.enabled', 'false').getOrCreate()\n"
        "spark.range(3).write.parquet(sys.argv[1] + '/a')\n"
        "spark.read.parquet(sys.argv[1] + '/a').selectExpr('id * 2 as twice').write.parquet(sys.argv[1] + '/b')\n"
        "spark.stop()\n"
    )
    target = tmp_path / "events.ndjson"
    done = subprocess.run(
        [sys.executable, "-m", "lineage_ingest.spark_plan", str(job), str(tmp_path)],
        capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "LINEAGE_SPARK_TARGET": str(target), "PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    events = [json.loads(line) for line in target.read_text().splitlines()]
    fields = {
        name
        for one in events
        for output in one["outputs"]
        for name in output["facets"].get("columnLineage", {"fields": ()})["fields"]
    }
    assert fields == {"id", "twice"}
    assert [one["eventType"] for one in (events[0], events[-1])] == ["START", "COMPLETE"]
    assert {one["job"]["name"].partition(".")[0] for one in events} == {"unchanged"}
