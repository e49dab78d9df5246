"""Tables of Iceberg and Delta on Spark 4.1: what is a write, of which dataset, and what is none."""

from __future__ import annotations

import pytest

from lineage_ingest.spark_plan.plan_lineage import WriteLineage
from tests.spark_plan.conftest import SparkProcess
from tests.spark_plan.lineage_text import edges_of

pytestmark = pytest.mark.xdist_group("spark_4_1")
FORMATS = {"iceberg": "ice.lake", "delta": "lake"}

_TABLES = """
spark.sql("create database if not exists {c}")
spark.sql("create table {c}.a (id bigint, name string, country string) using {f}")
"""


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(spark: SparkProcess, kind: str, name: str, code: str) -> list[WriteLineage]:
    catalog = f"{FORMATS[kind]}_{name}"
    ran = spark.lineage(f"{kind}_{name}", (_TABLES + code).format(c=catalog, f=kind))
    return [write for execution in ran for write in execution.writes]


def test_what_describes_or_alters_a_table_writes_nothing(spark_4_1: SparkProcess, kind: str) -> None:
    code = """
spark.sql("alter table {c}.a add column extra string")
spark.sql("alter table {c}.a set tblproperties ('x' = 'y')")
spark.sql("describe table {c}.a").collect()
spark.sql("show columns in {c}.a").collect()
spark.sql("refresh table {c}.a")
spark.sql("comment on table {c}.a is 'x'")
spark.sql("truncate table {c}.a")
spark.sql("cache table {c}.a")
spark.sql("uncache table {c}.a")
"""
    assert run(spark_4_1, kind, "altered", code) == []


def test_frames_are_written_and_merged(spark_4_1: SparkProcess, kind: str) -> None:
    code = """
frame = spark.table("customers")
frame.writeTo("{c}.a").append()
frame.where("id = 1").writeTo("{c}.a").overwrite(F.expr("true"))
frame.where("id = 1").writeTo("{c}.a").overwrite(F.col("id") == 1)
frame.writeTo("{c}.a").overwritePartitions()
frame.select("id", "name").writeTo("{c}.b").using("{f}").createOrReplace()
source = frame.alias("s")
merged = source.mergeInto("{c}.a", F.expr("{c}.a.id = s.id")).whenMatched().update({{"name": F.expr("s.country")}})
merged.whenNotMatched().insertAll().whenNotMatchedBySource().delete().merge()
source.mergeInto("{c}.a", F.expr("{c}.a.id = s.id")).whenNotMatched().insertAll().merge()
"""
    writes = run(spark_4_1, kind, "frames", code)
    found = [(one.operation, one.appends, one.target.name.rpartition("/")[2].rpartition(".")[2]) for one in writes]
    # The part of a table that an overwrite leaves is there as before.
    assert found[:4] == [("INSERT", True, "a"), ("INSERT", False, "a"), ("INSERT", True, "a"), ("INSERT", True, "a")]
    created, merged, inserted = [one for one in writes[4:] if one.operation != "INSERT"]
    assert (created.operation, created.creates) == ("CREATE_TABLE_AS", True)
    assert [one.operation for one in (merged, inserted)] == ["MERGE", "MERGE"]
    values = ["customers.country -> country [IDENTITY]", "customers.id -> id [IDENTITY]"]
    matched = ["a.id ~> * [MERGE_MATCH]", "customers ~> * [ROWS]", "customers.id ~> * [MERGE_MATCH]"]
    assert edges_of(inserted) == sorted([*values, "customers.name -> name [IDENTITY]", *matched])
    updated = ["customers.country -> name [IDENTITY]", "customers.name -> name [IDENTITY]", "customers ~> name [ROWS]"]
    conditions = ["a.id ~> name [MERGE_MATCH]", "customers.id ~> name [MERGE_MATCH]"]
    assert edges_of(merged) == sorted([*values, *updated, *conditions, *matched])
    assert all(one.diagnostics == () for one in writes)


def test_streams_from_and_into_tables(spark_4_1: SparkProcess, kind: str) -> None:
    code = """
spark.table("customers").writeTo("{c}.a").append()
spark.sql("create table {c}.b (id bigint) using {f}")
writer = spark.readStream.table("{c}.a").select("id").writeStream.format("{f}").option("checkpointLocation", B + "/c")
writer.trigger(availableNow=True).toTable("{c}.b").awaitTermination(60)
"""
    write = run(spark_4_1, kind, "streams", code)[-1]
    assert write.target.name.endswith("/b")
    assert edges_of(write) == ["a ~> * [ROWS]", "a.id -> id [IDENTITY]"]
    assert write.diagnostics == ()


def test_deltas_clones_and_tables_by_path(spark_4_1: SparkProcess) -> None:
    code = """
spark.sql("create table {c}.cloned shallow clone {c}.a")
spark.table("orders").select("amount").write.format("delta").save(B + "/p")
spark.sql("update delta.`" + B + "/p` set amount = amount + 1")
spark.sql("insert into delta.`" + B + "/p` select amount from orders")
"""
    cloned, *others = run(spark_4_1, "delta", "clones", code)
    assert (cloned.operation, cloned.target.symlinks[0][1]) == ("CREATE_TABLE_CLONE", "lake_clones.cloned")
    assert edges_of(cloned) == [
        "a ~> * [ROWS]",
        *(f"a.{name} -> {name} [IDENTITY]" for name in ("country", "id", "name")),
    ]
    assert [one.operation for one in others] == ["INSERT", "UPDATE", "INSERT"]
    assert {(one.target.name.rpartition("/")[2], one.target.symlinks) for one in others} == {("p", ())}


def test_icebergs_metadata_is_a_dataset_of_its_own(spark_4_1: SparkProcess) -> None:
    [write] = run(spark_4_1, "iceberg", "metadata", 'write(spark.sql("select snapshot_id from {c}.a.snapshots"))')
    assert [one.name for one in write.inputs] == ["lake_metadata.a.snapshots"]


def test_a_created_table_is_named_as_the_writes_to_it(spark_4_1: SparkProcess) -> None:
    code = """
import json
from lineage_ingest.spark_plan import lineage_of
with lineage_of(spark, B + "/e.ndjson") as lineage:
    spark.sql("create table ice.named.x using iceberg as select id from customers")
    spark.sql("insert into ice.named.x select order_id from orders")
    spark.sql("drop table ice.named.x")
ended = [one for one in map(json.loads, open(B + "/e.ndjson")) if one["outputs"]]
result = [[one["outputs"][0]["namespace"], one["outputs"][0]["name"]] for one in ended]
"""
    spark_4_1.run("named", 'spark.sql("create database if not exists ice.named")')
    ran = spark_4_1.run("named", code)
    assert ran.error is None, ran.error
    created, inserted, dropped = ran.result
    assert created == inserted == ["file", f"{spark_4_1.folder}/iceberg/named/x"]
    assert dropped == [f"file:{spark_4_1.folder}/iceberg", "named.x"]  # the symlink of both
