"""A batch applied in parts by several writers yields the same graph as the whole batch."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import neo4j
import pytest

from lineage.model.batch import LineageBatch
from lineage.store import GraphStore
from lineage.store.planning.chunking import chunks as parts
from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import AppliedChanges
from tests.neo4j_fixture import Neo4jAddress
from tests.store.batch_builders import batch, history, key, live, query, rename, table, view
from tests.store.conftest import emptied
from tests.store.random_batches import random_batch

WAIT = 20


@pytest.fixture(autouse=True)
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "EDGES_IN_A_PART", 3)
    monkeypatch.setattr(parts, "COLUMNS_IN_A_PART", 3)


def apply_in_parts(store: GraphStore, new_batch: LineageBatch, writers: int = 3) -> AppliedChanges:
    changes = AppliedChanges()
    with ThreadPoolExecutor(writers) as pool:
        for same_round in store.parts(new_batch):
            for applied in pool.map(store.apply, same_round):
                changes += applied
    return changes


def test_parts_leave_what_the_batch_leaves(both_stores: tuple[GraphStore, GraphStore]) -> None:
    embedded, server = both_stores
    chance = random.Random(3)
    for step in range(12):
        new_batch = random_batch(chance, at_most=chance.choice([3, 20]))
        in_parts, whole = (server, embedded) if step % 3 else (embedded, server)
        applied = apply_in_parts(in_parts, new_batch)
        at_once = whole.apply(new_batch)
        # In separate parts, edges are created before a schema of the same batch retires them.
        assert applied.edges_created >= at_once.edges_created
        assert (step, replace(applied, edges_created=at_once.edges_created)) == (step, at_once)
        one, other = embedded.dump(), server.dump()
        assert one.nodes == other.nodes, (step, new_batch)
        assert one.relationships == other.relationships, (step, new_batch)
    assert len(one.relationships) > 100


def test_after_a_crash_all_parts_are_applied_anew(both_stores: tuple[GraphStore, GraphStore]) -> None:
    embedded, server = both_stores
    chance = random.Random(5)
    for step in range(6):
        new_batch = random_batch(chance, at_most=12)
        ordered = [part for same_round in server.parts(new_batch) for part in same_round]
        for part in ordered[: chance.randrange(len(ordered) + 1)]:
            server.apply(part)
        apply_in_parts(server, new_batch)
        embedded.apply(new_batch)
        assert (step, server.dump()) == (step, embedded.dump())


def test_a_part_finds_the_nodes_that_another_writer_took_away(store: GraphStore) -> None:
    new_batch = batch(query("q", "a.x -> v.x", "a.y ~> v", at=3))
    before_jobs, rest = _until(store, new_batch, parts.Stage.JOBS)
    _apply_all(store, before_jobs)
    store.apply(batch(table("a", "x", at=4)))
    assert [column.path for column in store.columns([key("a")])] == ["x"]
    _apply_all(store, rest)
    assert history(store) == ["a.x -> v.x 3..", "a.y ~> v 3.."]


def test_a_part_writes_what_another_writer_renamed(store: GraphStore) -> None:
    new_batch = batch(query("q", "a.x -> v.x", at=3))
    before_jobs, rest = _until(store, new_batch, parts.Stage.JOBS)
    _apply_all(store, before_jobs)
    store.apply(batch(rename("a", "b", at=4)))
    _apply_all(store, rest)
    assert history(store) == ["b.x -> v.x 3.."]
    assert [one.key for one in store.datasets()] == [key("b"), key("v")]


def test_columns_that_are_gone_go_when_a_batch_comes_in_parts(store: GraphStore) -> None:
    store.apply(batch(table("a", "x", "y", "z", at=1), view("v", "a.x -> v.x", "a.y -> v.y", at=1)))
    apply_in_parts(store, batch(table("a", "x", at=3), view("v", "a.x -> v.x", at=3)))
    assert [column.path for column in store.columns([key("a")])] == ["x"]
    assert [column.path for column in store.columns([key("a")], dropped=True)] == ["x", "y", "z"]
    assert live(store) == ["a.x -> v.x"]


@contextmanager
def held_stripe(address: Neo4jAddress, stripe: int) -> Iterator[None]:
    """Hold a lock stripe, like a writer in the middle of a part."""
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver,
        driver.session() as session,
        session.begin_transaction() as transaction,
    ):
        transaction.run("MATCH (m:Meta {key: $key}) SET m.version = m.version", key=f"lock stripe {stripe}").consume()
        yield


def test_lock_stripes_let_parts_pass_and_hold_back_who_writes_alone(neo4j_uri: Neo4jAddress) -> None:
    new_batch = batch(*(view(f"v{number}", f"a.x -> v{number}.x", at=1) for number in range(8)))
    with emptied(neo4j_uri)() as store:
        before_jobs, rest = _until(store, new_batch, parts.Stage.JOBS)
        _apply_all(store, before_jobs)
        jobs = [part for part in rest if parts.Stage.JOBS in part.stages]
        mine = jobs[0]
        others = [part for part in jobs if not set(part.stripes) & set(mine.stripes)]
        with held_stripe(neo4j_uri, mine.stripes[0]):
            _apply_all(store, others)
            assert len(live(store)) == sum(len(part.batch.edges) for part in others) > 0
            waiting = [_started(lambda: store.apply(mine)), _started(lambda: store.apply(batch(view("w", at=1))))]
            for thread in waiting:
                thread.join(1)
                assert thread.is_alive()
        for thread in waiting:
            thread.join(WAIT)
            assert not thread.is_alive()
        assert len(live(store)) == 8
        assert store.datasets([key("w")])


APPLY = """
import pickle, sys
from lineage.store import open_store
with open_store(sys.argv[1], user=sys.argv[2], password=sys.argv[3]) as store:
    while parts := pickle.load(sys.stdin.buffer):
        for part in parts:
            store.apply(part)
        print("applied", flush=True)
"""


def test_processes_write_a_batch_beside_another_writer(
    both_stores: tuple[GraphStore, GraphStore], neo4j_uri: Neo4jAddress
) -> None:
    """Two processes apply the same parts, so that they contend for each; so does a part that is written alone."""
    embedded, server = both_stores
    chance = random.Random(9)
    apart = [batch(view(f"apart{number}", f"apart.c{number} -> apart{number}.x", at=1)) for number in range(20)]
    alone = _started(lambda: [server.apply(one) for one in apart])
    for one in apart:
        embedded.apply(one)
    with _writer(neo4j_uri) as forwards, _writer(neo4j_uri) as backwards:
        for _ in range(2):
            new_batch = random_batch(chance, at_most=20)
            embedded.apply(new_batch)
            for same_round in server.parts(new_batch):
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(_applied, (forwards, backwards), (same_round, same_round[::-1])))
    alone.join(WAIT)
    assert not alone.is_alive()
    assert server.dump() == embedded.dump()


@contextmanager
def _writer(address: Neo4jAddress) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that applies the parts that it is sent."""
    arguments = [sys.executable, "-c", APPLY, address.uri, address.user, address.password]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def _applied(writer: subprocess.Popen[bytes], new_parts: Sequence[BatchPart]) -> None:
    assert writer.stdin is not None
    assert writer.stdout is not None
    pickle.dump(list(new_parts), writer.stdin)
    writer.stdin.flush()
    assert writer.stdout.readline() == b"applied\n"


def _until(store: GraphStore, new_batch: LineageBatch, stage: parts.Stage) -> tuple[list[BatchPart], list[BatchPart]]:
    ordered = [part for same_round in store.parts(new_batch) for part in same_round]
    first = next(index for index, part in enumerate(ordered) if stage in part.stages)
    return ordered[:first], ordered[first:]


def _apply_all(store: GraphStore, new_batch: list[BatchPart]) -> None:
    for part in new_batch:
        store.apply(part)


def _started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread
