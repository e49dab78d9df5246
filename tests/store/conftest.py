"""Store fixtures: each contract test runs once on every kind of store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import neo4j
import pytest

from lineage.store import GraphStore, open_store
from lineage.traversal.adjacency import KeptGraph
from tests.neo4j_fixture import Neo4jAddress

Opener = Callable[[], GraphStore]

KINDS = ("embedded", "neo4j")
TRAVERSALS = {"downstream", "upstream", "impact", "root_cause", "shortest_paths"}
"""What a module imports whose tests traverse the graph."""


def emptied(address: Neo4jAddress) -> Opener:
    """Empty the database except for its schema; return a function that opens a store on it."""
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents ' DETACH DELETE n")
    return lambda: open_store(address.uri, user=address.user, password=address.password)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what traverses the graph also with the graph in memory."""
    if "open_again" in metafunc.fixturenames:
        traverses = not TRAVERSALS.isdisjoint(vars(metafunc.module))
        kinds = [*KINDS, *(f"{kind} in memory" for kind in KINDS if traverses)]
        metafunc.parametrize("open_again", kinds, indirect=True)


@pytest.fixture
def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """A function that opens the same store on each call; it is empty at first."""
    kind, _, in_memory = request.param.partition(" ")
    path = tmp_path / "store.db"
    opener: Opener = lambda: open_store(path)  # noqa: E731
    if kind == "neo4j":
        opener = emptied(request.getfixturevalue("neo4j_uri"))
    return (lambda: kept_in_memory(opener())) if in_memory else opener


def kept_in_memory(store: GraphStore) -> GraphStore:
    """Have the graph of a store explored in memory."""
    kept = KeptGraph(store)
    kept.load()
    store.explore_beside(kept)
    return store


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
