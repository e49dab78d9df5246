"""The subscription, over a WebSocket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import ClientConnection, connect

from lineage.store import open_store
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.settings import Settings
from tests.service.running import Service, running
from tests.store.batch_builders import batch, job

_WATCH = "subscription { graphChanged { at run { kind source } } }"


def opened(service: Service) -> ClientConnection:
    return connect(service.url.replace("http", "ws") + "/graphql", subprotocols=["graphql-transport-ws"])  # type: ignore[list-item]


def sent(socket: ClientConnection, **message: Any) -> None:
    socket.send(json.dumps(message))


def received(socket: ClientConnection) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(socket.recv(timeout=10))
    return reply


def test_who_watches_is_told_of_what_is_stored(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store, running(store) as service, opened(service) as socket:
        sent(socket, type="connection_init")
        assert received(socket)["type"] == "connection_ack"
        sent(socket, type="subscribe", id="1", payload={"query": _WATCH})
        sent(socket, type="subscribe", id="2", payload={"query": "{ runs { edges { cursor } } }"})
        assert received(socket)["payload"] == {"data": {"runs": {"edges": []}}}  # the subscription looked before
        assert received(socket)["type"] == "complete"
        store.apply(batch(job("one", "a.x -> b.x", at=3)))
        reply = received(socket)
        assert reply["payload"]["data"]["graphChanged"] == {
            "at": "2024-01-03T00:00:00+00:00",
            "run": {"kind": "sql", "source": "tests"},
        }
        sent(socket, type="complete", id="1")


def test_watching_needs_a_token(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    reader, _ = tokens.create("reader", [Role.READER])
    with open_store(tmp_path / "store.db") as store, running(store, Settings(tokens=tokens.path)) as service:
        with opened(service) as socket:
            sent(socket, type="connection_init")
            with pytest.raises(ConnectionClosedError) as closed:
                received(socket)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4403
        with opened(service) as socket:
            sent(socket, type="connection_init", payload={"Authorization": f"Bearer {reader}"})
            assert received(socket)["type"] == "connection_ack"


def test_limits_hold_over_a_socket_too(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store, running(store) as service, opened(service) as socket:
        sent(socket, type="connection_init")
        received(socket)
        deep = "{ jobs(first: 500) { edges { node { edges(first: 500) { edges { cursor } } } } } }"
        sent(socket, type="subscribe", id="1", payload={"query": deep})
        reply = received(socket)
        assert reply["type"] == "error"
        assert reply["payload"][0]["extensions"]["limit"] == "cost"
