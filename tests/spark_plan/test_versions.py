"""The listener on older PySparks than the lock file's, and what it says where it cannot run."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from lineage_ingest.spark_plan import enable
from tests.spark_plan.conftest import SparkProcess
from tests.spark_plan.test_cases import CASES, check_case

# With the tests that need PySpark 4.1: they share its process.
pytestmark = pytest.mark.xdist_group("spark_4_1")

SOME = (
    "code: Python, pandas and Arrow functions: all arguments contribute", "code: cogroup", "code: a checkpointed frame",
    "frames: windows", "frames: pivot and unpivot", "frames: scalar sub-queries, EXISTS and IN, correlated",
    "frames: rollup, and the bit that tells its sets apart", "nested: lambdas",
)  # fmt: skip
_ENABLED = """
import json
from lineage_ingest.spark_plan import lineage_of
with lineage_of(spark, B + "/e.ndjson") as lineage:
    spark.sql("create table {table} using parquet as select id, upper(name) as name from customers")
    stream = spark.readStream.schema(spark.table("orders").schema).parquet(SEED + "/orders").select("order_id")
    query = stream.writeStream.format("parquet").option("checkpointLocation", B + "/c").option("path", B + "/s")
    query.trigger(availableNow=True).start().awaitTermination(60)
ended = [one for one in map(json.loads, open(B + "/e.ndjson")) if one["outputs"]]
result = [lineage.counts(), [[one["eventType"], one["outputs"][0]["name"].rpartition("/")[2]] for one in ended]]
"""


@pytest.fixture(params=["4.0", "4.1"])
def older(request: pytest.FixtureRequest) -> SparkProcess:
    found: SparkProcess = request.getfixturevalue(f"spark_{request.param.replace('.', '_')}")
    return found


def test_older_versions(older: SparkProcess) -> None:
    listed = {case.name: case for case in CASES}
    for name in SOME:
        check_case(older, listed[name])
    ran = older.run("enabled", _ENABLED.format(table="made"))
    assert ran.error is None, ran.error
    counts, ended = ran.result
    assert (counts["writes"], counts["lost"], counts["unknown"], counts["refused"]) == (2, 0, 0, 0)
    assert ended == [["COMPLETE", "made"], ["RUNNING", "s"], ["COMPLETE", "s"]]


class _ConnectSession:
    __module__ = "pyspark.sql.connect.session"
    version = "4.1.0"


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (SimpleNamespace(version="3.5.9"), "Spark 3.5.9 is too old"),
        (_ConnectSession(), "run the OpenLineage agent on the server"),
    ],
)
def test_where_it_cannot_run_it_says_so_once(session: Any, said: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="lineage.spark_plan"):
        assert enable(session, "events.ndjson") is None
    [record] = caplog.records
    assert said in record.getMessage()
