"""Delivery: retried, on disk while the destination is away, there after a restart, and never lost without a word."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest.spark_plan.listener import delivery as delivery_module
from lineage_ingest.spark_plan.listener.delivery import Delivery
from lineage_ingest.spark_plan.listener.destinations import EventFile, HttpEndpoint, StoreDestination, UnavailableError
from tests.events.event_builders import event

Json = dict[str, Any]


def events(count: int, first: int = 0) -> list[Json]:
    return [{"eventType": "COMPLETE", "run": {"runId": str(number)}} for number in range(first, first + count)]


class Endpoint:
    """An HTTP endpoint that can go away, answer with a status, or refuse single events."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.status = 201
        self.refused: set[str] = set()
        self.headers: list[str | None] = []
        self.port = 0
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                if endpoint._server is None:  # a connection that was kept
                    self.close_connection = True
                    return
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                run = body["run"]["runId"]
                status = 400 if run in endpoint.refused else endpoint.status
                if status == 201:
                    endpoint.taken.append(run)
                endpoint.headers.append(self.headers["Authorization"])
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    found = Endpoint()
    found.start()
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_module, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(delivery_module, "_LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(delivery_module, "_IDLE_SECONDS", 0.05)


def until(condition: Any, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


def test_an_endpoint_takes_all_events_in_order(endpoint: Endpoint, tmp_path: Path) -> None:
    delivery = Delivery(HttpEndpoint(endpoint.url, "secret"), tmp_path)
    delivery.put(events(250))
    delivery.close(10)
    assert endpoint.taken == [str(number) for number in range(250)]
    assert set(endpoint.headers) == {"Bearer secret"}
    assert delivery.counts.to_dict() == {"delivered": 250, "refused": 0, "spilled": 0, "retries": 0}


def test_an_endpoint_that_goes_away_and_comes_back(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    delivery = Delivery(HttpEndpoint(endpoint.url, None), tmp_path)
    delivery.put(events(5))
    until(lambda: len(endpoint.taken) == 5)
    endpoint.stop()
    for first in range(5, 305, 10):
        delivery.put(events(10, first))
    until(lambda: delivery.counts.spilled == 300)
    assert len(list(tmp_path.glob("*/*.ndjson*"))) >= 1
    endpoint.start()
    until(lambda: len(endpoint.taken) == 305)
    delivery.put(events(1, 305))
    delivery.close(10)
    assert sorted(map(int, endpoint.taken)) == list(range(306))
    assert list(tmp_path.glob("*/*.ndjson*")) == []
    away = [one for one in caplog.records if "until it answers" in one.message]
    assert len(away) == 1


def test_what_is_left_is_delivered_after_a_restart(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.status = 503
    delivery = Delivery(HttpEndpoint(endpoint.url, None), tmp_path)
    delivery.put(events(7))
    delivery.close(0.3)
    assert endpoint.taken == []
    assert "the next job with this destination delivers it" in caplog.text
    endpoint.status = 201
    other = Delivery(EventFile(tmp_path / "other.ndjson"), tmp_path)  # another destination has another spool
    other.put(events(1, 100))
    other.close(5)
    again = Delivery(HttpEndpoint(endpoint.url, None), tmp_path)
    again.put(events(1, 7))
    again.close(10)
    assert sorted(map(int, endpoint.taken)) == list(range(8))


def test_a_restart_delivers_without_a_new_event(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.status = 500
    first = Delivery(HttpEndpoint(endpoint.url, None), tmp_path)
    first.put(events(3))
    first.close(0.2)
    endpoint.status = 201
    again = Delivery(HttpEndpoint(endpoint.url, None), tmp_path)
    until(lambda: len(endpoint.taken) == 3)
    again.close(5)


def test_a_refused_event_is_counted_and_the_rest_delivered(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.refused = {"1", "3"}
    delivery = Delivery(HttpEndpoint(endpoint.url, None), tmp_path)
    delivery.put(events(5))
    delivery.close(10)
    assert endpoint.taken == ["0", "2", "4"]
    assert (delivery.counts.delivered, delivery.counts.refused) == (3, 2)
    assert sum("refused" in one.message for one in caplog.records) == 2


def test_a_full_queue_goes_to_disk(tmp_path: Path) -> None:
    gate, sent = threading.Event(), list[Json]()

    class Slow:
        name = "slow"

        def send(self, batch: Sequence[Json]) -> None:
            gate.wait(10)
            sent.extend(batch)

        def rest(self) -> None: ...

        def close(self) -> None: ...

    delivery = Delivery(Slow(), tmp_path, capacity=10)
    for number in range(100):
        delivery.put(events(1, number))
    assert delivery.counts.spilled >= 80
    gate.set()
    delivery.close(10)
    assert sorted(int(one["run"]["runId"]) for one in sent) == list(range(100))


def test_what_waits_behind_a_destination_that_hangs_goes_to_disk_at_the_end(tmp_path: Path) -> None:
    gate = threading.Event()

    class Hanging:
        name = "hanging"

        def send(self, batch: Sequence[Json]) -> None:
            gate.wait(30)

        def rest(self) -> None: ...

        def close(self) -> None: ...

    delivery = Delivery(Hanging(), tmp_path)
    delivery.put(events(1))
    until(lambda: not delivery._queue)
    delivery.put(events(3, first=1))
    delivery.close(0.1)
    kept = "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file())
    gate.set()
    assert [f'"runId": "{number}"' in kept or f'"runId":"{number}"' in kept for number in (1, 2, 3)] == [True] * 3


def test_no_disk_and_no_destination_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Away:
        name = "away"

        def send(self, batch: Sequence[Json]) -> None:
            raise UnavailableError("away")

        def rest(self) -> None: ...

        def close(self) -> None: ...

    blocked = tmp_path / "file"
    blocked.write_text("")
    with caplog.at_level(logging.ERROR):
        delivery = Delivery(Away(), blocked)
        delivery.put(events(4))
        delivery.close(0.5)
    assert delivery.counts.refused == 4
    assert "4 events are lost" in caplog.text


def test_a_locked_store_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    sent = event({"run": 1, "inputs": ["file /in"], "outputs": ["file /out"]})
    delivery = Delivery(StoreDestination(str(path)), tmp_path / "spool")
    with open_store(path):
        pass
    delivery.put([sent])
    until(lambda: delivery.counts.delivered == 1)

    def names() -> set[str]:
        with open_store(path, read_only=True) as store:
            return {one.name for one in store.datasets()}

    time.sleep(0.3)  # it rests, and others can read the store
    assert names() == {"/in", "/out"}
    delivery.close(5)
