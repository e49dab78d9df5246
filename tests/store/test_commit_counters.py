"""Readers of Neo4j do not see a part of a commit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import neo4j
import pytest

from lineage.store import GraphStore
from lineage.store.exploring import Explorer
from lineage.store.neo4j import commit_counters
from lineage.store.values import Direction
from tests.neo4j_fixture import Neo4jAddress
from tests.store.conftest import emptied
from tests.store.test_traversal import batch
from tests.traversal.fake_store import NOW, edge, key
from tests.traversal.queries import downstream

COUNTERS = "MATCH (m:Meta) WHERE m.key STARTS WITH 'commits ' RETURN m.key AS key, m.version AS version"
BEGIN = "MATCH (m:Meta {key: 'commits 0'}) SET m.version = m.version + 1, m.began = timestamp() - $seconds * 1000"
END = "MATCH (m:Meta {key: 'commits 0'}) SET m.version = m.version + m.version % 2"


@pytest.fixture
def server(neo4j_uri: Neo4jAddress) -> Iterator[GraphStore]:
    with emptied(neo4j_uri)() as store:
        store.apply(batch([edge("a#x -> b#x", job="b")]))
        yield store


@pytest.fixture
def driver(neo4j_uri: Neo4jAddress, server: GraphStore) -> Iterator[neo4j.Driver]:
    """A second connection, which leaves all counters even."""
    login = (neo4j_uri.user, neo4j_uri.password)
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=login) as driver:
        yield driver
        driver.execute_query(END)


def counters(driver: neo4j.Driver) -> dict[str, int]:
    return {one["key"]: one["version"] for one in driver.execute_query(COUNTERS).records}


def test_a_commit_moves_one_counter_and_leaves_it_even(server: GraphStore, driver: neo4j.Driver) -> None:
    before = counters(driver)
    server.apply(batch([edge("a#x -> c#x", job="c")], at=NOW + timedelta(days=1)))
    changed = {name: number - before[name] for name, number in counters(driver).items() if number != before[name]}
    assert list(changed.values()) == [2]
    assert all(number % 2 == 0 for number in counters(driver).values())


def test_a_reader_waits_until_a_commit_is_complete(server: GraphStore, driver: neo4j.Driver) -> None:
    driver.execute_query(BEGIN, seconds=0)
    with ThreadPoolExecutor(1) as thread:
        reader = thread.submit(lambda: downstream(server, "a#x").total)
        time.sleep(0.3)
        assert not reader.done()
        driver.execute_query(END)
        assert reader.result(commit_counters.WAIT_SECONDS) == 1


@pytest.mark.parametrize(
    "seconds", [pytest.param(0, id="a slow commit"), pytest.param(3600, id="the writer was killed")]
)
def test_a_reader_does_not_wait_for_ever(server: GraphStore, driver: neo4j.Driver, seconds: int) -> None:
    driver.execute_query(BEGIN, seconds=seconds)
    begun = time.monotonic()
    assert downstream(server, "a#x").total == 1
    has_waited = time.monotonic() - begun > commit_counters.WAIT_SECONDS / 2
    assert has_waited == (seconds == 0)


def test_a_counter_that_a_killed_writer_left_odd_is_even_after_the_next_commit(
    server: GraphStore, driver: neo4j.Driver
) -> None:
    driver.execute_query(BEGIN, seconds=0)
    server.apply(batch([edge("a#x -> c#x", job="c")], at=NOW + timedelta(days=1)))
    assert all(number % 2 == 0 for number in counters(driver).values())


@pytest.mark.parametrize(("commits", "reads"), [(0, 1), (1, 2), (100, commit_counters.ATTEMPTS)])
def test_what_was_read_beside_a_commit_is_read_again(server: GraphStore, commits: int, reads: int) -> None:
    seen: list[int] = []

    def work(explorer: Explorer) -> int:
        numbers = explorer.begin([key("a#x")])
        explorer.load(numbers.values())
        seen.append(sum(map(len, explorer.ends[0].values())))
        if len(seen) <= commits:
            target = f"c{len(seen)}"
            writer = threading.Thread(target=lambda: server.apply(batch([edge(f"a#x -> {target}#x", job=target)])))
            writer.start()
            writer.join()
        return seen[-1]

    assert server.explore(work, Direction.DOWNSTREAM) == reads
    assert len(seen) == reads
