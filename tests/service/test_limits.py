"""What asks for too much is refused, with the limit and the value; what takes too long is ended."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lineage.store import GraphStore, open_store
from lineage.store.page_requests import PageRequest
from lineage_graphql.settings import Limits, Settings
from tests.service.graph import fill
from tests.service.running import Service, running


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("limits") / "store.db") as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def limited(small_store: GraphStore) -> Iterator[Service]:
    limits = Limits(depth=8, aliases=5, tokens=300, cost=1_000, page=100, hops=20, body_bytes=5_000, body_seconds=1)
    with running(small_store, Settings(limits=limits)) as service:
        yield service


def nested(levels: int) -> str:
    inner = "name"
    for _ in range(levels):
        inner = f"columns(first: 1) {{ edges {{ node {{ table {{ {inner} }} }} }} }}"
    return f'{{ table(name: "users") {{ {inner} }} }}'


_SPREAD = """
query { table(name: "users") { ...f0 } }
fragment f0 on Table { a: columns(first: 50) { edges { node { table { ...f1 } } } } }
fragment f1 on Table { columns(first: 50) { edges { node { table { ...f2 } } } } }
fragment f2 on Table { columns(first: 50) { edges { node { name } } } }
"""

REFUSED = [
    ("depth", nested(3), {}),
    ("aliases", "{ " + " ".join(f"a{n}: service {{ version }}" for n in range(6)) + " }", {}),
    ("tokens", "{ " + "service { version } " * 90 + "}", {}),
    ("cost", "{ jobs(first: 100) { edges { node { edges(first: 100) { edges { node { kind } } } } } } }", {}),
    (
        "cost",
        "query ($n: Int) { jobs(first: $n) { edges { node { edges(first: $n) { edges { cursor } } } } } }",
        {"n": 90},
    ),
    ("depth", _SPREAD, {}),
    ("page", "{ jobs(first: 101) { edges { cursor } } }", {}),
    ("hops", '{ impact(column: "users.id", maxHops: 21) { totalCount } }', {}),
    ("limit", '{ paths(from: "users.id", to: "contacts.n", limit: 21, maxHops: 1) { hops } }', {}),
    ("page", "{ jobs(last: 101) { edges { cursor } } }", {}),
    ("cost", "{ jobs(last: 100) { nodes { edges(last: 100) { nodes { kind } } } } }", {}),
    (
        "cost",
        "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Job { edges { nodes { kind } } } } }",
        {"ids": ["x"] * 90},
    ),
    ("page", "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ["x"] * 101}),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "query", "variables"), REFUSED)
def test_what_is_beyond_a_limit_is_refused(limited: Service, limit: str, query: str, variables: dict[str, Any]) -> None:
    refusal = limited.refusal(query, **variables)
    assert (refusal["code"], refusal["limit"]) == ("LIMIT_EXCEEDED", limit)
    # What `--limit` sets has its name.
    assert limit in {*Limits.model_fields, "limit"}
    assert refusal["value"] > refusal["allowed"] > 0
    assert refusal["hint"]


def test_what_is_within_limits_is_answered(limited: Service) -> None:
    limited.data(nested(1))
    limited.data("{ jobs(first: 50) { edges { node { key } } } }")
    limited.data('{ impact(column: "users.id", maxHops: 20) { totalCount } }')


def test_a_bomb_of_fragments_is_measured_at_once(limited: Service) -> None:
    """Each fragment spreads the next one twice: 2 to the power of 40 fields."""
    spreads = [f"fragment f{n} on Table {{ ...f{n + 1} ...f{n + 1} }}" for n in range(20)]
    text = f'{{ table(name: "users") {{ ...f0 }} }} {" ".join(spreads)} fragment f20 on Table {{ name }}'
    began = time.monotonic()
    limited.data(text)
    assert time.monotonic() - began < 5


def test_introspection_has_limits_too(limited: Service) -> None:
    inner = "name"
    for _ in range(4):
        inner = f"fields {{ type {{ {inner} }} }}"
    answer = limited.ask(f"{{ __schema {{ types {{ {inner} }} }} }}")
    assert answer["data"] is None
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"LIMIT_EXCEEDED"}


BAD = [
    ("{ jobs(first: 0) { edges { cursor } } }", "BAD_ARGUMENT"),
    ('{ jobs(after: "nonsense") { edges { cursor } } }', "BAD_ARGUMENT"),
    ('{ jobs(after: "WzFd") { edges { cursor } } }', "BAD_ARGUMENT"),
    ('{ impact(column: "users.id", maxHops: 0) { totalCount } }', "BAD_ARGUMENT"),
    ('{ impact(column: "users.id", kinds: []) { totalCount } }', "BAD_ARGUMENT"),
    ("{ impact { totalCount } }", "BAD_ARGUMENT"),
    ('{ impact(column: "users.id", table: "users") { totalCount } }', "BAD_ARGUMENT"),
    ('{ lineageDiff(asOfA: "2024-01-02T00:00:00", asOfB: "2024-01-01T00:00:00") { began } }', "BAD_ARGUMENT"),
    ("{ nothing }", "BAD_REQUEST"),
    ("{ service { version }", "BAD_REQUEST"),
    ("query ($n: Int!) { jobs(first: $n) { edges { cursor } } }", "BAD_REQUEST"),
    ('{ job(key: 1.5) { key } }', "BAD_REQUEST"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "code"), BAD)
def test_what_is_wrong_is_said(limited: Service, query: str, code: str) -> None:
    assert limited.refusal(query)["code"] == code


def test_a_body_that_is_too_large(limited: Service) -> None:
    large = json.dumps({"query": "{ service { version } }" + " " * 6_000})
    assert limited.http.post("/graphql", content=large, headers={"content-type": "application/json"}).status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 1_000

    streamed = limited.http.post("/graphql", content=pieces(), headers={"content-type": "application/json"})
    assert streamed.status_code == 413


def test_a_slow_client_is_let_go(limited: Service) -> None:
    host, port = limited.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        assert b"408" in connection.recv(1_000).splitlines()[0]
    limited.data("{ service { version } }")


def test_other_bodies_are_no_queries(limited: Service) -> None:
    # A page of another site can send these without asking first.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = limited.http.post("/graphql", content=b'{"query": "{__typename}"}', headers={"content-type": kind})
        assert answer.status_code >= 400
    assert limited.http.get("/graphql", params={"query": "{__typename}"}).status_code >= 400


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe", gzip.compress(b'{"query": "{__typename}"}', mtime=0), b'{"query": "\xff"}', b"[" * 30_000, b"{"],
)
def test_a_body_that_is_no_json_is_the_callers_mistake(limited: Service, body: bytes) -> None:
    answer = limited.http.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 413), answer.text


def test_a_name_of_another_site_is_not_answered(limited: Service) -> None:
    answer = limited.http.post("/graphql", json={"query": "{__typename}"}, headers={"host": "evil.example:80"})
    assert answer.status_code == 400
    assert answer.headers["x-request-id"]
    for name in ("localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:8000"):
        assert limited.http.post("/graphql", json={"query": "{__typename}"}, headers={"host": name}).status_code == 200


class _Slow:
    """A store that takes its time. That a database hangs cannot be had otherwise within it."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self.go_on = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def runs(self, limit: int = 20) -> Any:
        self.go_on.wait(20)
        return self._store.runs(limit)

    def page_of_runs(self, page: PageRequest) -> Any:
        self.go_on.wait(20)
        return self._store.page_of_runs(page)


def test_what_takes_too_long_is_ended(small_store: GraphStore) -> None:
    slow = _Slow(small_store)
    with running(slow, Settings(limits=Limits(seconds=0.3))) as service:
        refusal = service.refusal("{ runs { edges { cursor } } }")
        assert (refusal["code"], refusal["allowed"]) == ("TIMEOUT", 0.3)
        service.data("{ service { version } }")
        assert service.http.get("/readyz").status_code == 503
        slow.go_on.set()
        assert service.http.get("/readyz").status_code == 200


def test_only_trusted_documents_are_answered(small_store: GraphStore, tmp_path: Path) -> None:
    trusted = "{ service { version } }"
    file = tmp_path / "documents.json"
    file.write_text(json.dumps({"version": trusted}))
    with running(small_store, Settings(trusted_documents=file)) as service:
        assert service.data(trusted)["service"]["version"]
        for name in ("version", hashlib.sha256(trusted.encode()).hexdigest()):
            body = {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": name}}}
            assert "data" in service.http.post("/graphql", json=body).json()
        assert service.refusal("{ service { version schemaVersion } }")["code"] == "UNTRUSTED_DOCUMENT"
        assert service.http.get("/graphql", headers={"accept": "text/html"}).status_code == 404


def test_the_ide_is_there_on_loopback(limited: Service) -> None:
    answer = limited.http.get("/graphql", headers={"accept": "text/html"})
    assert answer.status_code == 200
    assert "graphiql" in answer.text.lower()


def test_the_bare_address_is_the_explorer(limited: Service) -> None:
    answer = limited.http.get("/", headers={"accept": "text/html"})
    assert answer.status_code == 200
    assert "explorer/explorer.js" in answer.text
    whole, packed = (
        limited.http.get("/explorer/explorer.js", headers={"accept-encoding": encoding})
        for encoding in ("identity", "gzip, br")
    )
    assert (whole.headers.get("content-encoding"), packed.headers["content-encoding"]) == (None, "gzip")
    assert packed.content == whole.content
    assert int(packed.headers["content-length"]) < len(whole.content) / 2


def test_faults_tell_callers_nothing(small_store: GraphStore, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(_Slow):
        def page_of_runs(self, page: PageRequest) -> Any:
            raise RuntimeError("password=hunter2")

    with running(Broken(small_store)) as service:
        refusal = service.refusal("{ runs { edges { cursor } } }")
    assert refusal["code"] == "INTERNAL"
    assert "hunter2" not in json.dumps(refusal)
    assert refusal["request_id"] in caplog.text
    assert "hunter2" in caplog.text


def test_requests_can_be_told_apart(limited: Service) -> None:
    given = limited.http.get("/healthz", headers={"x-request-id": "abc-1"})
    assert given.headers["x-request-id"] == "abc-1"
    bad = limited.http.get("/healthz", headers={"x-request-id": "a b\tc"})
    assert len(bad.headers["x-request-id"]) == 32


def test_metrics(limited: Service) -> None:
    limited.data('{ impact(column: "users.id", maxHops: 3) { totalCount } }')
    limited.http.get("/no/such/path")
    text = limited.http.get("/metrics").text
    assert 'lineage_requests_total{route="/graphql",status="200"}' in text
    assert 'lineage_requests_total{route="other",status="404"}' in text
    assert 'lineage_traversal_reached_count{direction="downstream"}' in text
    assert "lineage_query_cost_count" in text
    assert "lineage_store_up 1.0" in text
    assert re.search(r'^lineage_last_ingest_timestamp_seconds\{kind="\w+",source=".*"\} [\d.e+]+$', text, re.MULTILINE)
    assert isinstance(limited.http, httpx.Client)


def test_the_traversals_of_a_request_share_what_they_may_reach(small_store: GraphStore) -> None:
    asked = 'impact(column: "users.email") { totalCount totalCountIsLowerBound truncated }'
    with running(small_store, Settings(limits=Limits(reached=5))) as service:
        answer = service.ask(f"{{ one: {asked} two: {asked} three: {asked} }}")
    assert answer["data"] is None or answer["data"].get("three") is None
    with running(small_store, Settings(limits=Limits(reached=5))) as service:
        answer = service.ask(f"{{ one: {asked} two: {asked} }}")["data"]
    assert answer["one"] == {"totalCount": 4, "totalCountIsLowerBound": False, "truncated": None}
    assert (answer["two"]["totalCount"], answer["two"]["totalCountIsLowerBound"]) == (1, True)
    assert answer["two"]["truncated"].startswith("limit_total=1: at least ")
