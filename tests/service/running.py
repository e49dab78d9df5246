"""A service on loopback over a store of the test's, and a small client for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn

from lineage.store import GraphStore
from lineage_graphql.app import make_app
from lineage_graphql.serving import server_options
from lineage_graphql.settings import Settings

__all__ = ["Service", "running"]


@dataclass(frozen=True)
class Service:
    """A running service."""

    url: str
    http: httpx.Client = field(repr=False)

    def ask(self, query: str, token: str | None = None, **variables: Any) -> dict[str, Any]:
        """Return the whole answer to a GraphQL request."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = self.http.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
        assert answer.status_code == 200, answer.text
        reply: dict[str, Any] = answer.json()
        return reply

    def data(self, query: str, token: str | None = None, **variables: Any) -> dict[str, Any]:
        """Return the data of an answer without errors."""
        answer = self.ask(query, token, **variables)
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data

    def refusal(self, query: str, token: str | None = None, **variables: Any) -> dict[str, Any]:
        """Return the one error of an answer, its extensions beside its message."""
        answer = self.ask(query, token, **variables)
        [error] = answer["errors"]
        return {"message": error["message"], **error["extensions"]}


@contextmanager
def running(store: GraphStore, settings: Settings | None = None) -> Iterator[Service]:
    """Yield a service over the store; it ends with the block."""
    settings = (settings or Settings()).model_copy(update={"port": 0})
    config = uvicorn.Config(make_app(settings, store), **server_options(settings))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, timeout=30) as client:
        yield Service(url, client)
    server.should_exit = True
    thread.join(timeout=20)
    assert not thread.is_alive()
