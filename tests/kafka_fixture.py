"""A real Kafka for the tests: one broker on this machine, and Spark's connector to it. Maven fetches both, once."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

from lineage.neo4j_server.ports import free_port
from lineage_ingest.query_log.streaming.kafka_packages import BROKER, CONNECTOR_DEPENDENCIES, connector_package
from tests.java_options import SHORT_LIVED, SMALL_HEAP
from tests.maven_jars import fetched

# Each by itself: what they would bring is Spark's own, and not all of their published versions are complete.
CONNECTOR = (connector_package(version("pyspark")), *CONNECTOR_DEPENDENCIES)
_START = 60


class KafkaBroker(NamedTuple):
    """Where a broker answers, and the jars that talk to it."""

    address: str
    jars: Path
    connector: tuple[Path, ...]

    def send(self, topic: str, messages: Iterable[str]) -> None:
        """Send messages, each of one line, in order; the topic is made by its first one."""
        command = ("kafka.tools.ConsoleProducer", "--bootstrap-server", self.address, "--topic", topic, "--sync")
        _java(self.jars, command, stdin="".join(f"{message}\n" for message in messages))


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaBroker]:
    """A running broker for the whole session."""
    packages = {"broker": (BROKER,), "connector": CONNECTOR}
    jars = {name: fetched(f"kafka-{name}", artifacts) for name, artifacts in packages.items()}
    with running_broker(jars["broker"]) as address:
        yield KafkaBroker(address, jars["broker"], tuple(sorted(jars["connector"].glob("*.jar"))))


@contextmanager
def running_broker(jars: Path) -> Iterator[str]:
    """Run a broker that is its own controller; it is gone after the block, and after a crash of this process."""
    home = Path(tempfile.mkdtemp(prefix="lineage-kafka-"))
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(home / "data"),
        "num.partitions": "2",
        "offsets.topic.replication.factor": "1",
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "500",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }
    properties = home / "server.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    tool = ("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(properties))
    _java(jars, tool)
    # The shell reads a pipe that only we hold: it ends when we let go of it or die, and takes the broker along.
    script = (
        "home=$1; java=$2; jars=$3; properties=$4; shift 4; "
        '"$java" "$@" -Xmx384m -cp "$jars" kafka.Kafka "$properties" >"$home/log" 2>&1 & '
        'cat >/dev/null; kill -KILL $!; rm -rf "$home"'
    )
    arguments = (str(home), _java_path(), f"{jars}/*", str(properties), *SHORT_LIVED, SMALL_HEAP)
    with subprocess.Popen(
        ("/bin/sh", "-c", script, "sh", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        _await(port, home / "log")
        yield f"127.0.0.1:{port}"


def _await(port: int, log: Path) -> None:
    until = time.monotonic() + _START
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    pytest.fail(f"Kafka does not start:\n{log.read_text()[-2_000:] if log.exists() else ''}", pytrace=False)


def _java_path() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def _java(jars: Path, command: tuple[str, ...], stdin: str = "") -> None:
    done = subprocess.run(
        (_java_path(), *SHORT_LIVED, SMALL_HEAP, "-cp", f"{jars}/*", *command),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=_START,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
