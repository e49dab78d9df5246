"""Store fixtures: each contract test runs once on every kind of store."""

from __future__ import annotations

import os
from collections import Counter
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
PLANNED = (
    "test_aliases", "test_broken_reads", "test_changed_parts", "test_column_changes", "test_datasets",
    "test_ddl_across_logs", "test_ddl_in_order", "test_dropped_columns", "test_gone_sources",
    "test_openlineage_events", "test_replacement", "test_rival_definitions", "test_second_ingest", "test_sources",
    "test_spellings", "test_still_read", "test_still_written", "test_unchanged_jobs", "test_unusual_names",
    "test_stars",
)  # fmt: skip
"""Modules that test what the planner concludes, which no database sees."""
SERVED = (
    "test_adjacent", "test_facts", "test_injection", "test_nodes", "test_personal_data", "test_questions",
    "test_stewards", "test_tables",
)  # fmt: skip
"""Modules that test what the service makes of a store's answers, which `tests/store` compares."""
SAMPLED = frozenset((*(f"store/{name}" for name in PLANNED), *(f"service/{name}" for name in SERVED)))
"""Modules of which Neo4j runs a sample."""
SAMPLE = 1 if os.environ.get("LINEAGE_TEST_ALL") else 6
"""Of how many such tests of a module one runs on Neo4j, the first one among them."""


def emptied(address: Neo4jAddress) -> Opener:
    """Empty the database except for its schema; return a function that opens a store on it."""
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents ' DETACH DELETE n")
    return lambda: open_store(address.uri, user=address.user, password=address.password)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what traverses the graph also with the graph in memory."""
    if "open_again" in metafunc.fixturenames:
        traverses = not TRAVERSALS.isdisjoint(vars(metafunc.module))
        # What Neo4j gives to a graph in memory is compared in `test_graph_in_memory`; once there, it is like any other.
        kinds = [*KINDS, *(["embedded in memory"] if traverses else [])]
        metafunc.parametrize("open_again", kinds, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what Neo4j need not run of the planner's tests."""
    seen: Counter[str] = Counter()
    left_out = []
    for item in items:
        module = f"{item.path.parent.name}/{item.path.stem}"
        if isinstance(item, pytest.Function) and module in SAMPLED and _is_on_neo4j(item):
            if seen[module] % SAMPLE:
                left_out.append(item)
            seen[module] += 1
    if left_out:
        out = set(map(id, left_out))
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if id(item) not in out]


def _is_on_neo4j(item: pytest.Function) -> bool:
    return hasattr(item, "callspec") and str(item.callspec.params.get("open_again", "")).startswith("neo4j")


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
