"""Documents that cost much to read are refused early, and reading one keeps nobody else waiting."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lineage.store import GraphStore, open_store
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.limits import documents
from lineage_graphql.settings import Settings
from tests.service.graph import fill
from tests.service.running import Service, running

MANY = range(200)
COSTLY = {
    "one field": "{" + "service { version } " * 1_240 + "}",
    "one field with arguments": "{" + 'table(name: "a") { key name } ' * 380 + "}",
    "one leaf": "{" + "__typename " * 4_900 + "}",
    "inline fragments": "{" + "... on Query { service { version } } " * 500 + "}",
    "spread fragments": "{"
    + " ".join(f"...f{n}" for n in MANY)
    + "}"
    + " ".join(f"fragment f{n} on Query {{ service {{ version }} }}" for n in MANY),
    "a fragment in a repeated field": "{" + 'table(name: "a") { ...F } ' * 400 + "} fragment F on Table { key name }",
    "many operations": " ".join(f"query q{n} {{ ...F }}" for n in range(500))
    + "fragment F on Query {"
    + "service { version } " * 400
    + "}",
    "fragments at many page sizes": "{"
    + " ".join(f"a{n}: jobs(first: {n + 1}) {{ ...J }}" for n in range(29))
    + "} fragment J on JobConnection { nodes {"
    + "__typename " * 2_000
    + "} }",
    "unknown fields": "{" + " ".join(f"nothing{n}" for n in range(4_900)) + "}",
}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("documents") / "store.db") as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def local(small_store: GraphStore) -> Iterator[Service]:
    with running(small_store) as service:
        yield service


@pytest.mark.parametrize("name", COSTLY)
def test_what_costs_much_to_read_is_refused(local: Service, name: str) -> None:
    began = time.monotonic()
    answer = local.ask(COSTLY[name])
    assert time.monotonic() - began < 5  # most of these took 2 to 8 seconds
    errors = {error["extensions"]["code"]: error["extensions"] for error in answer["errors"]}
    [(code, extensions)] = errors.items()
    if name == "unknown fields":
        assert code == "BAD_REQUEST"
    else:
        assert code == "LIMIT_EXCEEDED"
        assert extensions["limit"] in ("comparisons", "selections", "cost", "aliases")
        assert extensions["hint"]


def test_values_of_variables_are_counted(local: Service) -> None:
    query = 'query ($tags: [String!]) { search(text: "a", tags: $tags) { totalCount } }'
    assert local.ask(query, tags=["a"] * 4_000)["data"]
    refusal = local.refusal(query, tags=["a"] * 5_001)
    assert (refusal["code"], refusal["limit"]) == ("LIMIT_EXCEEDED", "variables")
    nested = local.refusal(query, tags=[{"a": ["b"] * 3_000}, ["c"] * 3_000])
    assert nested["limit"] == "variables"


def test_ordinary_documents_are_answered(local: Service) -> None:
    fields = " ".join(f't{n}: table(name: "users") {{ ...T }}' for n in range(25))
    local.data("{" + fields + "} fragment T on Table { key name columns(first: 5) { nodes { name ...C } } }"
               " fragment C on Column { key name table { ...N } } fragment N on Table { key name }")  # fmt: skip


def test_unknown_callers_are_refused_before_anything_is_read(
    small_store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    monkeypatch.setattr(documents, "_read", lambda *given: read.append(given))
    tokens = TokenFile(tmp_path / "tokens.json")
    tokens.create("reader", [Role.READER])
    with running(small_store, Settings(tokens=tokens.path)) as service:
        sent = {"content-type": "application/json"}
        for body in (b"{", b"[" * 30_000, json.dumps({"query": COSTLY["one field"]}).encode()):
            answer = service.http.post("/graphql", content=body, headers=sent).json()
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAUTHENTICATED"]
        # The answer does not wait for the body.
        address = urlsplit(service.url)
        with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
            head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
            assert b" 200 " in connection.recv(10_000)
    assert read == []


def test_reading_a_document_keeps_nobody_waiting(local: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, goes_on = threading.Event(), threading.Event()
    original = documents._validate

    def slow(*given: object) -> None:
        reads.set()
        assert goes_on.wait(20)
        original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(documents, "_validate", slow)
    asked = threading.Thread(target=local.ask, args=["{ service { schemaVersion version __typename } }"])
    asked.start()
    assert reads.wait(20)
    assert local.http.get("/healthz").status_code == 200  # while the document is being validated
    goes_on.set()
    asked.join(20)


def test_others_are_answered_soon_while_costly_documents_are_read(local: Service) -> None:
    done = threading.Event()

    def attack() -> None:
        for name in (*COSTLY, *COSTLY):
            local.ask(COSTLY[name])
        done.set()

    attacker = threading.Thread(target=attack)
    attacker.start()
    waits = []
    while not done.is_set():
        began = time.monotonic()
        assert local.http.get("/healthz").status_code == 200
        waits.append(time.monotonic() - began)
        time.sleep(0.02)
    attacker.join()
    waits.sort()
    assert waits[len(waits) // 2] < 0.5  # while a document was read on the loop, every other request waited for it
