"""The managed server for real: started by `lineage neo4j`, asked over Bolt and HTTP, stopped, started again."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from typer.testing import CliRunner

from lineage.cli.commands.neo4j import app
from lineage.neo4j_server import (
    ServerSettings,
    ServerStartError,
    managed_server,
    start_server,
    stop_server,
)
from lineage.neo4j_server.ports import free_port
from lineage.neo4j_server.process import is_running
from tests.neo4j_fixture import short_lived_java

# One process runs these: they share a server of their own.
pytestmark = pytest.mark.xdist_group("neo4j-server")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("neo4j") / "a home"
    with short_lived_java():
        yield folder
    stop_server(folder, timeout=0)  # nothing of it is read again


def _lineage_neo4j(*arguments: str, code: int = 0) -> str:
    answer = CliRunner().invoke(app, list(arguments))
    assert answer.exit_code == code, answer.output
    return answer.stdout


def _query(facts: dict[str, Any], cypher: str) -> list[list[Any]]:
    login = json.loads(Path(facts["password_file"]).read_text())
    with neo4j.GraphDatabase.driver(facts["bolt"], auth=(login["user"], login["password"])) as driver:
        return [list(record.values()) for record in driver.execute_query(cypher).records]


def test_start_query_browse_stop_and_start_again(home: Path) -> None:
    arguments = ("--home", str(home))
    ports = ("--bolt-port", str(free_port()), "--http-port", str(free_port()))

    facts = json.loads(_lineage_neo4j("start", *arguments, *ports, "--format", "json"))
    assert _query(facts, "CREATE (t:Test {name: 'kept'}) RETURN t.name") == [["kept"]]

    connection = http.client.HTTPConnection(facts["browser"].split("/")[2], timeout=10)
    connection.request("GET", "/browser/")
    page = connection.getresponse()
    assert page.status == 200
    assert b"Neo4j Browser" in page.read()
    connection.close()

    status = json.loads(_lineage_neo4j("status", *arguments, "--format", "json"))
    assert status["responding"]
    assert status["bolt"] == facts["bolt"]
    assert status["memory_bytes"] > 100e6
    assert 0 < status["store_bytes"] < 50e6

    assert json.loads(_lineage_neo4j("start", *arguments, "--format", "json"))["pid"] == facts["pid"]
    found = managed_server(home)
    assert found is not None
    assert found.bolt_uri == facts["bolt"]

    assert _lineage_neo4j("stop", *arguments) == "Neo4j is stopped\n"
    assert not is_running(facts["pid"], (f"--home-dir={home}",))
    _lineage_neo4j("status", *arguments, code=3)

    again = json.loads(_lineage_neo4j("start", *arguments, "--format", "json"))
    assert again["bolt"] == facts["bolt"], "a port once chosen is kept"
    assert _query(again, "MATCH (t:Test) RETURN t.name") == [["kept"]]


def test_no_one_gets_in_without_the_password(home: Path) -> None:
    server = start_server(home=home)
    with (
        neo4j.GraphDatabase.driver(server.bolt_uri, auth=None) as driver,
        pytest.raises(neo4j.exceptions.ClientError),
    ):
        driver.verify_connectivity()


def test_a_password_that_was_changed_is_said(home: Path) -> None:
    server = start_server(home=home)
    file = home / "credentials.json"
    text = file.read_text()
    file.write_text(json.dumps({"user": "neo4j", "password": "another"}))
    try:
        with pytest.raises(ServerStartError, match="refuses the password"):
            start_server(home=home)
    finally:
        file.write_text(text)
    assert managed_server(home) == server


def test_settings_reach_the_server(home: Path) -> None:
    server = start_server(ServerSettings(), home)
    with neo4j.GraphDatabase.driver(server.bolt_uri, auth=(server.user, server.password)) as driver:
        records = driver.execute_query(
            "SHOW SETTINGS 'server.memory.pagecache.size', 'dbms.usage_report.enabled', "
            "'client.allow_telemetry' YIELD name, value"
        ).records
    assert {record["name"]: record["value"] for record in records} == {
        "server.memory.pagecache.size": "256.00MiB",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
    }


CRASHING = """
import os, signal, sys, tempfile
from tests.neo4j_fixture import local_neo4j
tempfile.mkdtemp = lambda prefix: sys.argv[1]
with local_neo4j() as address:
    print(address.uri, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_test_run_that_is_killed_leaves_no_server(home: Path) -> None:
    """The last test here: it takes the server of the others."""
    server = start_server(home=home)
    killed = subprocess.run(
        [sys.executable, "-c", CRASHING, home],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        timeout=180,
        check=False,
    )
    assert killed.stdout == f"{server.bolt_uri}\n"
    for _ in range(100):
        if not home.exists():
            break
        time.sleep(0.1)
    assert not home.exists(), "the watcher removes the folder when the server is gone"
    assert not is_running(server.pid, (f"--home-dir={home}",))
