"""`lineage serve` as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.events.event_builders import event
from tests.neo4j_fixture import Neo4jAddress
from tests.service.graph import fill
from tests.store.conftest import emptied

LINEAGE = str(Path(sys.executable).with_name("lineage"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with open_store(tmp_path / "store.db") as store:
        fill(store)
    return tmp_path / "store.db"


@contextlib.contextmanager
def served(
    *arguments: str,
    environment: dict[str, str] | None = None,
    seconds: float = 120,
    under: Sequence[str] = (),
    command: str = LINEAGE,
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Yield the address and the process of a service, which has some time to start, and is ended with the block.

    `under` is a command that becomes the service, such as `prlimit`; `command` the `lineage` of another environment.
    """
    process = subprocess.Popen(
        [*under, command, "serve", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, **(environment or {})},
    )
    assert process.stderr is not None
    stderr, address = "", None
    ends = time.monotonic() + seconds
    while address is None and time.monotonic() < ends and process.poll() is None:
        if select.select([process.stderr], [], [], 1)[0]:
            stderr += process.stderr.read(10_000).decode()
            found = re.search(r"running on (http://[\d.]+:\d+) ", stderr)
            address = found.group(1) if found else None
    try:
        assert address is not None, stderr
        yield address, process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)


def data(address: str, query: str) -> dict[str, object]:
    answer = httpx.post(f"{address}/graphql", json={"query": query}, timeout=30).json()
    assert "errors" not in answer, answer
    reply: dict[str, object] = answer["data"]
    return reply


def test_it_answers_and_ends_when_it_is_told(path: Path) -> None:
    with served("--store", str(path)) as (address, process):
        assert data(address, '{ impact(column: "users.email") { totalCount } }') == {"impact": {"totalCount": 4}}
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0


def test_it_ends_soon_in_the_middle_of_a_batch(path: Path) -> None:
    builders = [{"run": n, "at": 3, "inputs": ["pg.orders"], "outputs": {f"pg.t{n}": {}}} for n in range(3_000)]
    body = json.dumps([event(each) for each in builders]).encode()
    with served("--store", str(path)) as (address, process):
        host, port = address.removeprefix("http://").split(":")
        head = f"POST /api/v1/lineage/batch HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(2)
            process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            assert process.wait(timeout=30) == 0
            assert time.monotonic() - began < 15  # 5 s for requests, 2 s for the store, and the machine is busy
    with open_store(path) as store:
        assert store.runs(1)


def test_what_is_under_way_is_answered_before_it_ends(path: Path) -> None:
    with served("--store", str(path)) as (address, process):
        host, port = address.removeprefix("http://").split(":")
        body = json.dumps({"query": "{ service { version } }"}).encode()
        head = f"POST /graphql HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(head.encode() + body[:5])
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(body[5:])
            assert b"200 OK" in connection.recv(10_000)
        assert process.wait(timeout=30) == 0


def test_logs_for_programs_name_requests_and_hold_no_literals(path: Path) -> None:
    with served("--store", str(path), "--log-format", "json") as (address, process):
        query = """{
          extract(sql: "select * from users where email = 'ana@example.org'", dialect: "postgres") { operation }
          job(key: "hunter2") { key } no }"""
        httpx.post(f"{address}/graphql", json={"query": query}, headers={"x-request-id": "abc"})
        httpx.get(f"{address}/hunter2?a=ana@example.org")
        process.terminate()
        stderr = process.communicate(timeout=30)[1].decode()
    lines = [json.loads(line) for line in stderr.splitlines()]
    assert "abc" in {line["request_id"] for line in lines if line.get("route") == "/graphql"}
    assert any(line.get("status") == 404 and line["route"] == "other" for line in lines)
    assert "ana@example.org" not in stderr
    assert "hunter2" not in stderr


def test_several_workers_on_neo4j(neo4j_uri: Neo4jAddress) -> None:
    with emptied(neo4j_uri)() as store:
        fill(store)
    login = {"LINEAGE_NEO4J_USER": neo4j_uri.user, "LINEAGE_NEO4J_PASSWORD": neo4j_uri.password}
    with served("--store", neo4j_uri.uri, "--workers", "2", environment=login) as (address, _):
        for _ in range(100):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{address}/readyz").status_code == 200:
                    break
            time.sleep(0.2)
        failed = []

        def ask() -> None:
            for _ in range(10):
                try:
                    assert data(address, '{ impact(column: "users.email") { totalCount } }')
                except (AssertionError, httpx.HTTPError) as error:
                    failed.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failed == []
        metrics = httpx.get(f"{address}/metrics").text
        counted = re.search(r'lineage_requests_total\{route="/graphql",status="200"\} (\d+)', metrics)
        assert counted is not None
        assert int(counted.group(1)) == 40


def test_several_workers_on_a_file_answer_alike_beside_events(path: Path) -> None:
    with served("--store", str(path), "--workers", "2") as (address, _):
        for _ in range(100):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{address}/readyz").status_code == 200:
                    break
            time.sleep(0.2)
        for number in range(20):
            sent = event({"run": number + 1, "job": f"etl/copy{number}", "outputs": [f"pg.copy{number}"]})
            assert httpx.post(f"{address}/api/v1/lineage", json=sent, timeout=30).status_code < 300
            # Each connection may be another worker's: what one has stored the other one knows.
            counts = {str(data(address, "{ tables { totalCount } }")) for _ in range(4)}
            assert len(counts) == 1


def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    for arguments, expected in (
        (("--host", "0.0.0.0"), "without authentication"),
        (("--limit", "page"), "NAME=NUMBER"),
        (("--limit", "pages=300"), "limits are"),
        (("--oidc-issuer", "https://id.example"), "--oidc-audience"),
        (("--trusted-documents", str(tmp_path)), "there are no documents"),
    ):
        done = lineage("serve", *arguments)
        assert done.code == 2, done.err
        assert expected in " ".join(done.err.replace("│", " ").split()), done.err


def test_a_port_in_use_is_said_before_the_store_is_opened(path: Path, tmp_path: Path) -> None:
    with served("--store", str(path)) as (address, _):
        port = address.rpartition(":")[2]
        done = lineage("serve", "--store", tmp_path / "other.db", "--port", port)
    assert done.code == 3
    assert done.err.splitlines() == [
        f"error: 127.0.0.1:{port} is in use by another program",
        "stop the other program, or choose a port with --port (0 selects a free one)",
    ]
    assert not (tmp_path / "other.db").exists()


def test_tokens_by_command(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    token = lineage("token", "create", "tests", "--role", "reader", "--expires", "1h", "--tokens", file).out.strip()
    with served("--store", str(path), "--tokens", str(file)) as (address, _):
        query = {"query": "{ service { version } }"}
        assert "errors" in httpx.post(f"{address}/graphql", json=query).json()
        answer = httpx.post(f"{address}/graphql", json=query, headers={"Authorization": f"Bearer {token}"}).json()
        assert "errors" not in answer
    [row] = lineage("token", "list", "--format", "json", "--tokens", file).json
    assert (row["name"], row["roles"], row["valid"]) == ("tests", "reader", True)
    assert lineage("token", "revoke", row["id"], "--tokens", file).code == 0
    assert lineage("token", "revoke", row["id"], "--tokens", file).code == 2
    assert lineage("token", "create", "x", "--role", "king", "--tokens", file).code == 2
    assert lineage("token", "create", "x", "--role", "reader", "--expires", "soon", "--tokens", file).code == 2


@pytest.mark.parametrize("command", ["serve", "mcp", "demo", "token", "ingest"])
def test_commands_of_other_packages_are_commands_like_ours(command: str) -> None:
    done = lineage(command, "--help")
    assert done.code == 0
    assert "--install-completion" not in done.out
    assert ("COMMAND [ARGS]" in done.out) == (command in ("token", "ingest"))


def test_a_file_of_tokens_that_is_not_there_is_said(path: Path, tmp_path: Path) -> None:
    missing = tmp_path / "tokens.json"
    process = subprocess.Popen(
        [LINEAGE, "serve", "--port", "0", "--store", str(path)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LINEAGE_TOKENS": str(missing)},
    )
    assert process.stderr is not None
    stderr = [process.stderr.readline() for _ in range(2)]
    process.terminate()
    process.communicate()
    assert stderr[0] == f"authentication is on: callers need a token from {missing}\n"
    assert stderr[1].startswith(f"{missing} does not exist, so every request is refused: make a token with")
