"""Kafka as a source, as a sink, and as the destination of the listener's events, by a real broker."""

from __future__ import annotations

import json

import pytest

from lineage_ingest.openlineage.validation.event_validation import check
from tests.kafka_fixture import KafkaBroker
from tests.spark_plan.conftest import SparkProcess
from tests.spark_plan.lineage_text import edges_of

pytestmark = pytest.mark.xdist_group("spark_plan")


def test_topics_are_read_and_written(spark: SparkProcess, kafka: KafkaBroker) -> None:
    code = f"""
servers = {{"kafka.bootstrap.servers": {kafka.address!r}, "startingOffsets": "earliest"}}
rows = spark.table("orders").selectExpr("cast(order_id as string) as key", "tags as value")
rows.write.format("kafka").options(**servers, topic="first").save()
write(spark.read.format("kafka").options(**servers, subscribe="first").load().selectExpr("upper(value) as v", "topic"))
def run(writer, name):
    writer.option("checkpointLocation", B + "/c" + name).trigger(availableNow=True).start().awaitTermination(60)
stream = spark.readStream.format("kafka").options(**servers, subscribe="first").load()
run(stream.select("key", "value").writeStream.format("kafka").options(**servers, topic="second"), "1")
run(stream.selectExpr("cast(value as string) as v").writeStream.format("parquet").option("path", B + "/files"), "2")
"""
    executions = spark.lineage("kafka", code)
    sent, read, passed, stored = [one for execution in executions for one in execution.writes]
    namespace = f"kafka://{kafka.address}"
    assert [(one.target.namespace, one.target.name) for one in (sent, passed)] == [
        (namespace, "first"),
        (namespace, "second"),
    ]
    assert edges_of(sent) == [
        "orders ~> * [ROWS]",
        "orders.order_id -> key [TRANSFORMATION]",
        "orders.tags -> value [IDENTITY]",
    ]
    assert [(one.namespace, one.name) for one in read.inputs] == [(namespace, "first")]
    assert edges_of(read) == [
        "first ~> * [ROWS]",
        "first.topic -> topic [IDENTITY]",
        "first.value -> v [TRANSFORMATION]",
    ]
    assert edges_of(passed) == [
        "first ~> * [ROWS]",
        "first.key -> key [IDENTITY]",
        "first.value -> value [IDENTITY]",
    ]
    assert stored.target.name.endswith("/files")
    assert edges_of(stored) == ["first ~> * [ROWS]", "first.value -> v [TRANSFORMATION]"]
    assert [found.message for one in (sent, read, passed, stored) for found in one.diagnostics] == []


def test_events_arrive_in_a_topic(spark: SparkProcess, kafka: KafkaBroker) -> None:
    code = f"""
from lineage_ingest.spark_plan import lineage_of
with lineage_of(spark, "kafka://{kafka.address}/lineage", job="to_kafka") as lineage:
    write(spark.table("customers").select("name"))
    write(spark.table("orders").select("tags"), "second")
servers = {{"kafka.bootstrap.servers": {kafka.address!r}, "startingOffsets": "earliest"}}
rows = spark.read.format("kafka").options(**servers, subscribe="lineage").load().orderBy("partition", "offset")
listed = rows.selectExpr("cast(key as string) as k", "cast(value as string) as v").collect()
result = [lineage.counts(), [[row.k, row.v] for row in listed]]
"""
    ran = spark.run("to_kafka", code)
    assert ran.error is None, ran.error
    counts, messages = ran.result
    assert (counts["delivered"], counts["refused"], counts["spilled"]) == (6, 0, 0)
    events = [json.loads(text) for _, text in messages]
    assert [key for key, _ in messages] == [event["run"]["runId"] for event in events]  # of a run in order
    assert all(check(event).problems == () for event in events)
    ended = {event["outputs"][0]["name"].rpartition("/")[2] for event in events if event["outputs"]}
    assert (len(events), ended) == (6, {"out", "second"})
