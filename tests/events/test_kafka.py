"""`lineage ingest openlineage --kafka`: real messages, processes that are killed, groups that are shared."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from lineage.neo4j_server.ports import free_port
from lineage.store import open_store
from lineage_ingest.openlineage import EventIngest
from tests.cli.running import Finished, lineage
from tests.events.event_builders import event
from tests.kafka_fixture import KafkaBroker

SHORT_SESSION = ("--kafka-option", "session.timeout.ms=1000", "--kafka-option", "heartbeat.interval.ms=200")
BAD = (b"{", b"", None, b"[]", b'"text"', b'{"run": {}}', b"\xff\xfe\xff", b"[" * 2_000)


def send(broker: str, topic: str, values: Iterable[bytes | None], partition: int | None = None) -> None:
    """Send messages to two partitions by turns, or to one of them."""
    producer = Producer({"bootstrap.servers": broker, "allow.auto.create.topics": True})
    for number, value in enumerate(values):
        producer.produce(topic, value, partition=number % 2 if partition is None else partition)
        producer.poll(0)
    assert producer.flush(60) == 0


def texts(events: Iterable[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(one).encode() for one in events]


def runs(count: int, jobs: int = 40, first: int = 1) -> list[dict[str, Any]]:
    """Return START and COMPLETE of runs, out of order, some of them twice; at most fifteen of a job, as remembered."""
    found = []
    for number in range(first, first + count):
        job = number % jobs
        about = {"run": number, "at": 3 + number / 1_440, "job": f"etl/load{job}", "inputs": [f"pg.a{job}"]}
        kind = "AGGREGATION" if number % 3 else "TRANSFORMATION"
        lineage_of = {"a": [f"pg.a{job} a DIRECT/IDENTITY"], "b": [f"pg.a{job} b DIRECT/{kind}"]}
        outputs = {f"pg.t{job}": {"schema": ["a", "b"], "columnLineage": {"fields": lineage_of}}}
        found += [event({**about, "type": "START"}), event({**about, "type": "COMPLETE", "outputs": outputs})]
    found += found[::7]
    random.Random(count).shuffle(found)
    return found


@pytest.fixture
def topic() -> str:
    return f"events-{uuid.uuid4().hex[:8]}"


def once(kafka: KafkaBroker, topic: str, store: Path, *arguments: object) -> Finished:
    """Read the topic to its end."""
    return lineage(
        "ingest", "openlineage", "--kafka", kafka.address, "--topic", topic, "--once", "-s", store, *arguments
    )


@contextmanager
def reading(kafka: KafkaBroker, topic: str, store: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run the command in a process of its own, until the block ends."""
    code = "from lineage.cli.main import run; run()"
    command = (sys.executable, "-c", code, "ingest", "openlineage", "--kafka", kafka.address, "--topic", topic)
    environment = {**os.environ, "COLUMNS": ""}
    with subprocess.Popen(
        [*command, "-s", str(store), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def graph(store: Path) -> list[str]:
    """Return what the store holds, but which of equal observations came together."""
    with open_store(store) as opened:
        dump = opened.dump()
    for *_, properties in dump.relationships:
        properties.pop("observations", None)
    for *_, properties in dump.nodes:
        properties.pop("observed_at", None)
    return sorted(map(repr, (*dump.nodes, *dump.relationships)))


def graph_of_files(tmp_path: Path, messages: Iterable[bytes | None]) -> list[str]:
    """Return what a store holds after the valid events were ingested at once."""
    valid = []
    for message in messages:
        try:
            valid.append(json.loads(message or b""))
        except (ValueError, RecursionError):
            continue
    with open_store(tmp_path / "whole.db") as store:
        EventIngest(store).take(valid)
    return graph(tmp_path / "whole.db")


def test_a_topic_is_read_to_its_end_and_only_once(tmp_path: Path, kafka: KafkaBroker, topic: str) -> None:
    messages = texts(runs(40))
    send(kafka.address, topic, messages)
    store = tmp_path / "graph.db"
    done = once(kafka, topic, store)
    assert done.code == 0, done.err
    assert f"{len(messages)} events: {len(messages)} taken" in done.out
    assert f"reading topic {topic} at {kafka.address} as group lineage, until its end" in done.err
    assert graph(store) == graph_of_files(tmp_path, messages)
    again = once(kafka, topic, store)
    assert (again.code, "0 events: 0 taken" in again.out) == (0, True), again
    more = texts(runs(3, first=500))
    send(kafka.address, topic, more)
    done = once(kafka, topic, store, "-f", "json")
    assert done.json["accepted"] == len(more)


def test_bad_messages_are_reported_by_their_place_and_stop_nothing(
    tmp_path: Path, kafka: KafkaBroker, topic: str
) -> None:
    good = texts(runs(10))
    mixed = [one for pair in zip(good, BAD, strict=False) for one in pair]
    send(kafka.address, topic, [*mixed, *good[len(BAD) :]], 0)
    store = tmp_path / "graph.db"
    done = once(kafka, topic, store)
    assert done.code == 1
    assert f"{len(good)} taken, {len(BAD)} refused" in done.out
    said = " ".join(done.err.split())
    assert f"{topic}/0/1: error: not JSON: Expecting property name" in said
    assert f"{topic}/0/5: error: the message is empty" in said
    assert f"{topic}/0/7: error: /: an event is an object, not an array" in said
    assert f"{topic}/0/15: error: nested too deeply" in said
    with open_store(store) as opened:
        kept = {one.source: one.diagnostic for one in opened.diagnostics()}
    assert str(kept[f"kafka://{topic}/0/1"].code) == "INVALID_EVENT"
    assert len(kept) == len(BAD)
    assert lineage("diagnostics", "--code", "INVALID_EVENT", "-s", store, columns=200).out.count("kafka://") == len(BAD)
    assert once(kafka, topic, store).code == 0  # they were passed over for good


def test_processes_that_are_killed_lose_and_double_nothing(tmp_path: Path, kafka: KafkaBroker, topic: str) -> None:
    messages = texts(runs(400))
    send(kafka.address, topic, messages)
    store, pick = tmp_path / "graph.db", random.Random(5)
    for writes in (1, 2, 3, 4):  # the first ones make the store
        with reading(kafka, topic, store, "--at-once", 30, *SHORT_SESSION) as process:
            wait_for_writes(store, writes)
            time.sleep(pick.uniform(0, 0.3))
            assert process.poll() is None
            process.kill()
    done = once(kafka, topic, store, "-f", "json")
    assert done.code == 0, done.err
    assert 0 < done.json["accepted"] < len(messages)  # some were stored by those that were killed
    assert graph(store) == graph_of_files(tmp_path, messages)


def wait_for_writes(store: Path, writes: int) -> None:
    """Wait until the log of a store has been written so many times, at most a minute."""
    until, before = time.monotonic() + 60, last_write(store)
    while writes and time.monotonic() < until:
        time.sleep(0.01)
        now = last_write(store)
        writes -= now > before
        before = now


def last_write(store: Path) -> int:
    """Return when the log of a store was last written: with every transaction."""
    log = store.with_name(f"{store.name}-wal")
    return log.stat().st_mtime_ns if log.exists() else 0


def test_sigterm_ends_it_after_the_batch_and_the_next_one_resumes(
    tmp_path: Path, kafka: KafkaBroker, topic: str
) -> None:
    first, second = texts(runs(150)), texts(runs(20, first=900))
    send(kafka.address, topic, first)
    store = tmp_path / "graph.db"
    with reading(kafka, topic, store, "-f", "json", "--at-once", 50) as process:
        assert process.stderr is not None
        assert "reading topic" in process.stderr.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "stopping after the current batch" in err
    taken = json.loads(out)["accepted"]
    assert taken % 50 == 0 or taken == len(first)
    send(kafka.address, topic, second)
    assert once(kafka, topic, store, "-f", "json").json["accepted"] == len(first) + len(second) - taken
    assert graph(store) == graph_of_files(tmp_path, [*first, *second])


def test_events_that_arrive_while_it_runs_are_stored_soon(tmp_path: Path, kafka: KafkaBroker, topic: str) -> None:
    send(kafka.address, topic, texts(runs(1)))
    with reading(kafka, topic, tmp_path / "graph.db", "-f", "json") as process:
        assert process.stderr is not None
        assert "reading topic" in process.stderr.readline()
        time.sleep(2)
        send(kafka.address, topic, texts(runs(5, first=2)))
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert json.loads(out)["accepted"] == len(runs(1)) + len(runs(5)), err


def test_a_new_store_is_not_left_without_what_the_group_has_read(
    tmp_path: Path, kafka: KafkaBroker, topic: str
) -> None:
    messages = texts(runs(10))
    send(kafka.address, topic, messages)
    assert once(kafka, topic, tmp_path / "one.db").code == 0
    done = once(kafka, topic, tmp_path / "two.db")
    assert "this store has read up to 0: what is between is read again" in " ".join(done.err.split())
    assert graph(tmp_path / "two.db") == graph(tmp_path / "one.db")


def test_the_members_of_a_group_share_the_partitions(tmp_path: Path, kafka: KafkaBroker, topic: str) -> None:
    """As do processes that write to one Neo4j; here each has a store, so that what it read is known."""
    messages = texts(runs(4))
    send(kafka.address, topic, messages)
    with (
        reading(kafka, topic, tmp_path / "one.db", "-f", "json", *SHORT_SESSION) as one,
        reading(kafka, topic, tmp_path / "two.db", "-f", "json", *SHORT_SESSION) as two,
    ):
        for process in (one, two):
            assert process.stderr is not None
            assert "reading topic" in process.stderr.readline()
        time.sleep(5)
        send(kafka.address, topic, texts(runs(50, first=100)))
        time.sleep(3)
        counts = []
        for process in (one, two):
            process.send_signal(signal.SIGTERM)
            counts.append(json.loads(process.communicate(timeout=30)[0])["accepted"])
    assert min(counts) > 0
    assert sum(counts) >= len(messages) + len(runs(50))


def test_a_topic_that_is_missing_and_a_kafka_that_is_down(tmp_path: Path, kafka: KafkaBroker, topic: str) -> None:
    send(kafka.address, topic, texts(runs(1)))
    done = once(kafka, f"{topic}x", tmp_path / "graph.db", "--kafka-wait", 0)
    assert done.code == 2
    assert f"there is no topic {topic}x" in " ".join(done.err.replace("│", " ").split())
    assert f"did you mean {topic}" in " ".join(done.err.replace("│", " ").split())
    address = f"127.0.0.1:{free_port()}"
    arguments = ("--kafka", address, "--topic", "t", "--kafka-wait", 1, "-s", tmp_path / "graph.db")
    done = lineage("ingest", "openlineage", *arguments)
    assert done.code == 3
    assert f"error: Kafka does not answer at {address}" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give files of events, or --kafka and --topic"),
        (("a.json", "--kafka", "h:1", "--topic", "t"), "give files of events, or --kafka and --topic"),
        (("--kafka", "h:1"), "--kafka and --topic go together"),
        (("a.json", "--once"), "required by the other options of Kafka"),
        (
            ("--kafka", "h:1", "--topic", "t", "--kafka-option", "no.such=1"),
            'No such configuration property: "no.such"',
        ),
    ],
)
def test_wrong_use(arguments: tuple[object, ...], said: str, tmp_path: Path) -> None:
    done = lineage("ingest", "openlineage", *arguments, "-s", tmp_path / "graph.db")
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())
