"""One server for all tests of a process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from tests.live_database.postgres_database import ServedDatabase, new_database
from tests.query_logs.servers.postgres_server import running_postgres


@pytest.fixture(scope="session")
def postgres_port() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with running_postgres(listen_addresses="127.0.0.1", port=port) as server:
        yield server.port


@pytest.fixture
def database(postgres_port: str) -> Iterator[ServedDatabase]:
    with new_database(postgres_port) as database:
        yield database


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    with open_store(str(tmp_path / "graph.db")) as opened:
        yield opened
