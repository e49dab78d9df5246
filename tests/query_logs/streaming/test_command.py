"""`lineage follow log`: what is refused before anything begins, and what the help says."""

from __future__ import annotations

import socket
from importlib.metadata import version
from pathlib import Path

import pytest

from lineage.neo4j_server.ports import free_port
from lineage_ingest.query_log.pipeline.engines.opening import SparkOptions
from lineage_ingest.query_log.sources import source_named
from lineage_ingest.query_log.streaming.brokers import wait_for_brokers
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint
from lineage_ingest.query_log.streaming.kafka_packages import connector_package
from lineage_ingest.query_log.streaming.stream_errors import explain_failure
from lineage_ingest.query_log.streaming.stream_input import Kafka, StreamInput
from tests.cli.running import Finished, lineage

TRINO = ("--source", "trino")


def log(store: Path, *arguments: object) -> Finished:
    return lineage("follow", "log", *arguments, "-s", store / "graph.db")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give folders that files land in, or --kafka and --topic"),
        (("nowhere",), "nowhere is not a folder"),
        ((__file__,), "is not a folder: only folders can be followed"),
        (("folder", "--kafka", "host:9092", "--topic", "t"), "folders that files land in, or --kafka"),
        (("--kafka", "host:9092"), "--kafka and --topic go together"),
        (("--topic", "t"), "--kafka and --topic go together"),
        (("--kafka", "h:1", "--topic", "t", "--kafka-option", "x"), "expected NAME=VALUE"),
    ],
)
def test_wrong_use(arguments: tuple[object, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    done = log(tmp_path, *arguments, *TRINO)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "graph.db").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("folder", "--at-once", 3), "it is an option of lineage follow log"),
        (("folder", "--checkpoint", "there"), "it is an option of lineage follow log"),
        (("folder", "--follow", "--engine", "local"), "only files and Kafka topics can be followed, on Spark"),
        (("--once", "--jdbc-url", "jdbc:x"), "only files and Kafka topics can be followed, on Spark"),
        (("--follow", "--topic", "t"), "--kafka and --topic go together"),
        (("--follow", "nowhere"), "nowhere is not a folder"),
    ],
)
def test_wrong_use_of_the_deprecated_options(
    arguments: tuple[object, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    done = lineage("ingest", "log", *arguments, *TRINO, "-s", tmp_path / "graph.db")
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "graph.db").exists()


def test_the_deprecated_options_work_and_name_the_command(tmp_path: Path) -> None:
    done = lineage("ingest", "log", tmp_path, "--follow", "--explain", *TRINO)
    assert done.code == 0
    assert "lineage ingest log --follow is deprecated: use lineage follow log" in done.err
    assert f"new data of {tmp_path}; the stages below for each micro-batch" in " ".join(done.out.split())


def test_a_kafka_that_is_down_is_said_soon_and_ends_in_time(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    done = log(tmp_path, "--kafka", address, "--topic", "t", "--kafka-wait", 1, *TRINO)
    assert done.code == 3
    assert done.err.splitlines()[0].startswith(f"Kafka does not answer at {address} (Connection refused); trying until")
    assert f"error: Kafka does not answer at {address} since 1 s: Connection refused" in done.err
    assert not (tmp_path / "graph.db").exists()
    done = log(tmp_path, "--kafka", "broker", "--topic", "t", *TRINO)
    assert (done.code, "'broker' is not a broker: expected HOST:PORT" in " ".join(done.err.split())) == (2, True), done


def test_one_broker_of_several_is_enough() -> None:
    shown: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"127.0.0.1:{server.getsockname()[1]}"
        wait_for_brokers(f"127.0.0.1:{free_port()}, PLAINTEXT://{there}", 30, shown.append)
    assert shown == []


def test_a_checkpoint_that_is_in_use(tmp_path: Path) -> None:
    store, folder = str(tmp_path / "graph.db"), tmp_path / "files"
    folder.mkdir()
    with Checkpoint.open(tmp_path / "there", store, "trino", [str(folder)]):
        done = log(tmp_path, folder, "--checkpoint", tmp_path / "there", *TRINO)
    assert done.code == 2
    assert "another process follows this stream" in " ".join(done.err.replace("│", " ").split())


def test_the_plan(tmp_path: Path) -> None:
    done = log(tmp_path, tmp_path, "--explain", *TRINO)
    assert done.code == 0
    assert f"new data of {tmp_path}; the stages below for each micro-batch" in " ".join(done.out.split())
    assert "Spark, local[*]" in done.out


def test_the_help_has_examples() -> None:
    shown = " ".join(lineage("follow", "log", "--help").out.replace("│", " ").split())
    assert "lineage follow log landing/ --source trino" in shown
    assert "--kafka broker:9092 --topic queries --every 10" in shown


def test_the_connector_is_fetched_unless_it_is_named() -> None:
    given = StreamInput(source_named("trino"), (), Kafka("host:9092", "queries"))
    package = given.spark_options(SparkOptions()).conf["spark.jars.packages"]
    assert package == connector_package(version("pyspark"))
    for named in ({"spark.jars": "a.jar"}, {"spark.jars.packages": "x:y:1"}):
        conf = given.spark_options(SparkOptions(conf=named)).conf
        assert {name: value for name, value in conf.items() if "jars" in name} == named
    assert "spark.jars.packages" not in StreamInput(given.source, ("folder",)).spark_options(SparkOptions()).conf


@pytest.mark.parametrize(
    ("spoken", "said", "unreachable"),
    [
        (
            "Some data may have been lost because they are not available in Kafka any more; either the data was aged "
            "out by Kafka or the topic may have been deleted before all the data in the topic was processed. If you "
            "don't want your streaming query to fail on such cases, set the source option failOnDataLoss to false.",
            "messages were deleted from the topic before they were read",
            False,
        ),
        (
            "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: x SQLSTATE: XXKST\n\tat a.b(C.java)\n"
            "Caused by: org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.",
            "Kafka does not answer: Timed out waiting for a node assignment.",
            True,
        ),
        ("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafka.", "Kafka connector is missing", False),
        ("[STREAM_FAILED] Query [id = 1] terminated with exception: Disk is full", "ended: Disk is full", False),
    ],
)
def test_why_a_stream_ended(spoken: str, said: str, unreachable: bool) -> None:
    failed = explain_failure(spoken)
    assert said in str(failed)
    assert failed.unreachable is unreachable
