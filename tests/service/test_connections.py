"""Connections that send the head of a request slowly, or without end, are closed."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lineage.store import open_store
from lineage_graphql.http import timed_connection
from tests.service.running import Service, running

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(timed_connection, "HEAD_SECONDS", 0.5)
    with open_store(tmp_path / "store.db") as store, running(store) as service:
        yield service


def connected(service: Service) -> socket.socket:
    address = urlsplit(service.url)
    return socket.create_connection((address.hostname, address.port), timeout=10)


def answer(connection: socket.socket) -> bytes:
    """Return everything until the service closes the connection."""
    parts = []
    while part := connection.recv(10_000):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"G", b"GET /healthz HT", REQUEST])
def test_half_a_head_is_not_waited_for(quick: Service, sent: bytes) -> None:
    with connected(quick) as connection:
        connection.sendall(sent)
        assert b" 408 " in answer(connection)


def test_a_head_that_trickles_is_not_waited_for(quick: Service) -> None:
    with connected(quick) as connection:
        connection.sendall(REQUEST)
        began = time.monotonic()
        with contextlib.suppress(OSError):  # reset, or a broken pipe
            while time.monotonic() - began < 10:
                connection.sendall(b"a: b\r\n")
                time.sleep(0.1)
        assert time.monotonic() - began < 5


def test_half_a_head_after_an_answer_is_not_waited_for(quick: Service) -> None:
    with connected(quick) as connection:
        connection.sendall(REQUEST + b"\r\n")
        assert b" 200 " in connection.recv(10_000)
        time.sleep(0.8)  # an idle connection is kept
        connection.sendall(REQUEST + b"\r\n" + REQUEST)
        assert b" 200 " in (rest := answer(connection))
        assert b" 408 " in rest


def test_a_body_that_nobody_waits_for_is_not_waited_for(quick: Service) -> None:
    with connected(quick) as connection:
        connection.sendall(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        began = time.monotonic()
        assert b" 415 " in answer(connection)
        assert time.monotonic() - began < 5


def test_a_head_has_a_size(quick: Service) -> None:
    with connected(quick) as connection:
        connection.sendall(REQUEST + b"a: b\r\n" * (timed_connection.MAX_HEAD // 6 + 1))
        assert b" 431 " in answer(connection)


def test_slow_requests_within_the_limits_are_answered(quick: Service) -> None:
    head = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    body = b'{"query": "{ service { version } }"}'
    with connected(quick) as connection:
        connection.sendall(head)
        time.sleep(0.2)
        connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body))
        for byte in (body[:10], body[10:]):
            time.sleep(0.4)
            connection.sendall(byte)
        assert b" 200 " in answer(connection)
