"""Many requests at once: those beyond a bound are refused, readiness does not wait, what is given up on ends."""

from __future__ import annotations

import collections
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from lineage.store import GraphStore, open_store
from lineage.store.errors import StoreTimeoutError
from lineage.store.page_requests import PageRequest
from lineage.store.time_limit import TimeLimit, interruptible, seconds_left, time_limit
from lineage_graphql.settings import Limits, Settings
from tests.service.graph import fill
from tests.service.running import Service, running

SLOW = "{ runs { edges { cursor } } }"


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("overload") / "store.db") as store:
        fill(store)
        yield store


class _Busy:
    """A store whose pages of runs take until they are let go on, or are interrupted. No query takes just so long."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self.go_on, self.interrupted = threading.Event(), threading.Event()
        self.begun = threading.Semaphore(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def page_of_runs(self, page: PageRequest) -> Any:
        self.begun.release()
        with interruptible(self.interrupted.set):
            while not self.go_on.wait(0.02):
                seconds_left()
        return self._store.page_of_runs(page)


def asked(service: Service) -> httpx.Response:
    return httpx.post(f"{service.url}/graphql", json={"query": SLOW}, timeout=30)


def test_requests_beyond_a_bound_are_refused_at_once(small_store: GraphStore) -> None:
    busy = _Busy(small_store)
    with (
        running(busy, Settings(threads=2, limits=Limits(waiting=2, seconds=60))) as service,
        ThreadPoolExecutor(4) as clients,
    ):
        answers = [clients.submit(asked, service) for _ in range(4)]
        for _ in range(2):
            assert busy.begun.acquire(timeout=20)
        time.sleep(2)  # the other two have arrived
        for path, body in (("/graphql", {"query": SLOW}), ("/api/v1/store/runs", {"limit": 1})):
            began = time.monotonic()
            refused = service.http.post(path, json=body)
            assert time.monotonic() - began < 10
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert "too many requests" in refused.text
        for path in ("/healthz", "/readyz", "/metrics"):
            assert service.http.get(path).status_code == 200
        event = {"eventTime": "yesterday"}
        assert service.http.post("/api/v1/lineage", json=event).status_code == 400
        busy.go_on.set()
        assert [answer.result(20).status_code for answer in answers] == [200] * 4


def test_a_command_waits_for_a_busy_service(small_store: GraphStore) -> None:
    busy = _Busy(small_store)
    settings = Settings(threads=1, limits=Limits(waiting=1, seconds=60))
    with running(busy, settings) as service, ThreadPoolExecutor(2) as clients, open_store(service.url) as remote:
        answers = [clients.submit(asked, service) for _ in range(2)]
        assert busy.begun.acquire(timeout=20)
        time.sleep(2)  # the other one has arrived
        threading.Timer(1.5, busy.go_on.set).start()
        assert remote.runs(1) == small_store.runs(1)
        assert [answer.result(20).status_code for answer in answers] == [200] * 2


def test_what_would_be_answered_too_late_is_not_begun(small_store: GraphStore) -> None:
    busy = _Busy(small_store)
    with running(busy, Settings(threads=1, limits=Limits(seconds=2))) as service, ThreadPoolExecutor(2) as clients:
        first = clients.submit(asked, service)
        assert busy.begun.acquire(timeout=20)
        assert asked(service).status_code == 503  # after half of the time limit
        assert first.result(20).json()["errors"][0]["extensions"]["code"] == "TIMEOUT"
        assert not busy.begun.acquire(timeout=0.1)
        assert busy.interrupted.wait(5)


@pytest.mark.parametrize("path", ["/graphql", "/api/v1/store/page_of_runs"])
def test_what_a_client_gives_up_on_is_interrupted(small_store: GraphStore, path: str) -> None:
    busy = _Busy(small_store)
    body = json.dumps({"query": SLOW} if path == "/graphql" else {"page": {}}).encode()
    with running(busy, Settings(limits=Limits(seconds=60))) as service:
        address = urlsplit(service.url)
        with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert busy.begun.acquire(timeout=20)
            assert not busy.interrupted.wait(0.2)
        assert busy.interrupted.wait(5)


def test_readiness_does_not_wait_behind_requests(small_store: GraphStore) -> None:
    busy = _Busy(small_store)
    with running(busy, Settings(threads=1)) as service, ThreadPoolExecutor(1) as clients:
        answer = clients.submit(asked, service)
        assert busy.begun.acquire(timeout=20)
        assert service.http.get("/readyz").status_code == 200
        busy.go_on.set()
        assert answer.result(20).status_code == 200


def test_a_query_of_the_embedded_store_is_interrupted(small_store: GraphStore) -> None:
    limit = TimeLimit(60)
    threading.Timer(0.3, limit.end).start()
    with time_limit(limit), pytest.raises(StoreTimeoutError):
        collections.deque(iter(small_store.dump, None), maxlen=0)
    assert small_store.runs(1)  # without effect on what follows
    with time_limit(limit), pytest.raises(StoreTimeoutError):
        small_store.runs(1)
