"""Store fixtures: each contract test runs once on every kind of store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import neo4j
import pytest

from lineage.store import GraphStore, open_store
from tests.neo4j_fixture import Neo4jAddress

Opener = Callable[[], GraphStore]


def emptied(address: Neo4jAddress) -> Opener:
    """Empty the database except for its schema; return a function that opens a store on it."""
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents ' DETACH DELETE n")
    return lambda: open_store(address.uri, user=address.user, password=address.password)


@pytest.fixture(params=["embedded", "neo4j"])
def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """A function that opens the same store on each call; it is empty at first."""
    if request.param == "embedded":
        return lambda: open_store(tmp_path / "store.db")
    return emptied(request.getfixturevalue("neo4j_uri"))


@pytest.fixture
def store(open_again: Opener) -> Iterator[GraphStore]:
    """An empty store."""
    with open_again() as opened:
        yield opened


@pytest.fixture
def both_stores(neo4j_uri: Neo4jAddress, tmp_path: Path) -> Iterator[tuple[GraphStore, GraphStore]]:
    """An empty embedded store and an empty Neo4j store."""
    with open_store(tmp_path / "store.db") as embedded, emptied(neo4j_uri)() as server:
        yield embedded, server
