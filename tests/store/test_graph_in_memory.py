"""The graph in memory is used, and answers as the store does: after every kind of change, and beside a writer."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lineage.model.batch import DatasetChange, LineageBatch, RunRecord
from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ChangeKind
from lineage.store import GraphStore, open_store
from lineage.store.exploring import Explorer
from lineage.store.graph import graph_changes
from lineage.store.values import Direction, StoredEdge
from lineage.traversal import Answer, TraversalOptions, impact, root_cause, shortest_paths
from lineage.traversal.adjacency import KeptGraph
from lineage.traversal.adjacency.explorer import ArrayExplorer
from tests.store.conftest import Opener, emptied
from tests.store.test_traversal import batch
from tests.traversal.fake_store import NOW, edge, key
from tests.traversal.graphs import COLUMNS, TABLES
from tests.traversal.queries import target

SEEDS = int(os.environ.get("LINEAGE_EXPLORE_SEEDS", "2"))
NAMES = [*COLUMNS, *TABLES]


class Both:
    """A store, and the same one with its graph in memory."""

    def __init__(self, store: GraphStore, beside: GraphStore) -> None:
        self.store, self.beside = store, beside
        self.kept = KeptGraph(beside)
        self.kept.load()
        beside.explore_beside(self.kept)

    def check(self, choose: random.Random, times: int = 12) -> None:
        """Compare answers, and that they come from memory."""
        assert self.beside.explore(type, Direction.DOWNSTREAM) is ArrayExplorer
        for _ in range(times):
            start, end = choose.choice(NAMES), choose.choice(NAMES)
            options = TraversalOptions(
                max_hops=choose.choice([1, 2, 20]),
                kinds=choose.choice([frozenset(EdgeKind), frozenset({choose.choice(list(EdgeKind))})]),
                max_references=choose.choice([None, None, 0, 1]),
                limit_per_hop=choose.choice([None, None, 2]),
                limit_total=choose.choice([10_000, 3]),
                through_masking=choose.choice([True, True, False]),
            )
            for ask in (impact, root_cause):
                expected, found = (ask(one, target(start), options) for one in (self.store, self.beside))
                assert whole(found) == whole(expected), (start, options)
            routes = [
                shortest_paths(one, target(start), target(end), options=options) for one in (self.store, self.beside)
            ]
            assert routes[0] == routes[1]


def whole(answer: Answer) -> tuple[object, ...]:
    """Return everything that an answer says."""
    return answer.to_dict(), answer.datasets, answer.by_dataset, answer.page(1, 3, values_first=True), facts(answer)


def facts(answer: Answer) -> list[tuple[object, ...]]:
    return [(one.key, one.hops, one.references, one.influence, one.masked, one.root) for one in answer.outlines]


@pytest.fixture(params=["embedded", "neo4j"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Both]:
    if request.param == "embedded":
        path = tmp_path / "store.db"
        opener: Opener = lambda: open_store(path)  # noqa: E731
    else:
        opener = emptied(request.getfixturevalue("neo4j_uri"))
    with opener() as store, opener() as beside:
        yield Both(store, beside)


def edges(choose: random.Random, number: int) -> list[StoredEdge]:
    made = {}
    for _ in range(number):
        arrow = choose.choice(["->", "->", "~>"])
        end = choose.choice(COLUMNS if arrow == "->" else NAMES)
        job = f"{choose.choice(['one', 'two'])}>{end.partition('#')[0]}"
        start = choose.choice(COLUMNS if arrow == "->" else NAMES)
        if start.partition("#")[0] == end and "#" not in start:
            continue
        one = edge(f"{start} {arrow} {end}", job=job, masking=choose.random() < 0.3)
        made[one.source, one.target, one.kind, job] = one
    return list(made.values())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_each_of_many_changes(both: Both, seed: int) -> None:
    choose = random.Random(seed)
    at = NOW
    both.store.apply(batch(edges(choose, 25), columns={"a": TABLES["a"]}))
    for _ in range(12 if both.store.is_file else 6):  # both a store and its graph in memory are asked: a server is slow
        at += timedelta(days=1)
        change(both.store, choose, at)
        both.check(choose, 4)


def change(store: GraphStore, choose: random.Random, at: datetime) -> None:
    """Change the graph by chance: jobs again with other edges, columns that go and come, all that people may do."""
    match choose.randrange(7):
        case 0 | 1:
            store.apply(batch(edges(choose, 12), at=at))
        case 2:
            table = choose.choice(list(TABLES))
            kept = choose.sample(TABLES[table], choose.randint(1, len(TABLES[table])))
            store.apply(batch((), at=at, columns={table: sorted({*kept, *("s" for one in kept if one[0] == "s")})}))
        case 3:
            keys = store.job_keys()
            store.retire_jobs(choose.sample(keys, min(2, len(keys))), at)
        case 4:
            found = edges(choose, 1)
            for one in found:
                store.retire_edges(one.source, one.target, one.kind, at=at)
        case 5:
            store.apply(stated(DatasetChange(ChangeKind.DROP, key(choose.choice(list(TABLES))), at), at))
        case _:
            before, after = choose.sample(list(TABLES), 2)
            store.apply(stated(DatasetChange(ChangeKind.RENAME, key(before), at, key(after)), at))


def stated(one: DatasetChange, at: datetime) -> LineageBatch:
    return LineageBatch(run=RunRecord(f"run:{at.isoformat()}", "sql", "test", at), changes=(one,))


def test_what_is_only_seen_again_changes_nothing(both: Both) -> None:
    stated_edges = [edge("a#1 -> b#1", job="b")]
    both.store.apply(batch(stated_edges))
    before = both.store.graph_version()
    both.store.apply(batch(stated_edges, at=NOW + timedelta(days=1)))
    both.store.describe(key("a"), description="A table.")
    assert both.store.graph_version() == before
    both.store.retire_edges(key("a#1"), key("b#1"), EdgeKind.CONTRIBUTES, at=NOW + timedelta(days=2))
    assert both.store.graph_version() != before
    both.check(random.Random(1))


def test_a_column_that_is_dropped_and_comes_back(both: Both) -> None:
    found_again = [edge("a#1 -> b#1", job="b"), edge("a#2 -> c#1", job="c")]
    both.store.apply(batch(found_again, columns={"a": ["1", "2"]}))
    for number, (stated_edges, columns) in enumerate((([], ["1"]), (found_again, ["1", "2"])), 1):
        both.store.apply(batch(stated_edges, at=NOW + timedelta(days=number), columns={"a": columns}))
        expected, found = (impact(one, target("a")) for one in (both.store, both.beside))
        assert whole(found) == whole(expected), columns
        assert both.beside.explore(type, Direction.DOWNSTREAM) is ArrayExplorer


def test_fields_are_loaded_with_what_holds_them(both: Both) -> None:
    both.store.apply(batch([edge("a#s.f -> b#1", job="b"), edge("a#s -> c#1", job="c")], columns=TABLES))
    both.kept.load()
    for name in ("a#s", "a#s.f"):
        expected, found = (impact(one, target(name)) for one in (both.store, both.beside))
        assert whole(found) == whole(expected)
        assert found.total == 2
        assert both.beside.explore(type, Direction.DOWNSTREAM) is ArrayExplorer


def test_of_the_past_the_store_is_asked(both: Both) -> None:
    both.store.apply(batch([edge("a#1 -> b#1", job="b")]))
    assert both.beside.explore(type, Direction.DOWNSTREAM, as_of=NOW) is not ArrayExplorer
    assert impact(both.beside, target("a#1"), TraversalOptions(as_of=NOW)).total == 1


def test_more_than_is_recorded_is_loaded_again(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage.store.sqlite.live_graph.MOST", 3)
    monkeypatch.setattr("lineage.store.neo4j.live_graph.MOST", 3)
    both.store.apply(batch([edge(f"a#1 -> b#{n}", job="b") for n in range(5)]))
    assert impact(both.beside, target("a#1")).total == 5
    assert both.kept.graph is None
    assert both.beside.explore(type, Direction.DOWNSTREAM) is not ArrayExplorer
    both.kept.load()
    both.check(random.Random(2))


def test_older_than_is_recorded_is_loaded_again(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage.store.sqlite.live_graph.KEPT", 2)
    monkeypatch.setattr("lineage.store.neo4j.live_graph.KEPT", 2)
    for number in range(5):
        both.store.apply(batch([edge(f"a#1 -> b#{number}", job=f"b{number}")]))
    assert impact(both.beside, target("a#1")).total == 5
    assert both.kept.graph is None


def test_a_thread_loads_the_graph_and_follows(both: Both) -> None:
    both.store.apply(batch([edge("a#1 -> b#1", job="b")]))
    kept = KeptGraph(both.beside)
    both.beside.explore_beside(kept)
    assert both.beside.explore(type, Direction.DOWNSTREAM) is not ArrayExplorer
    kept.start()
    try:
        while kept.graph is None:
            threading.Event().wait(0.01)
        both.store.apply(batch([edge("a#1 -> c#1", job="c")]))
        assert impact(both.beside, target("a#1")).total == 2
        assert both.beside.explore(type, Direction.DOWNSTREAM) is ArrayExplorer
    finally:
        kept.close()


def test_readers_beside_a_writer_see_whole_states(both: Both) -> None:
    """A commit moves an edge from one column to the next, so that every state has one."""
    done = threading.Event()
    state = [edge("a#1 -> b#1", job="b")]
    both.store.apply(batch(state))

    def read() -> set[tuple[int, bool]]:
        seen = set()
        while not done.is_set():

            def look(explorer: Explorer) -> tuple[int, bool]:
                numbers = explorer.begin([key("a#1")])
                explorer.load(numbers.values())
                return sum(map(len, explorer.ends[0].values())), isinstance(explorer, ArrayExplorer)

            seen.add(both.beside.explore(look, Direction.DOWNSTREAM))
        return seen

    with ThreadPoolExecutor(2) as threads:
        readers = [threads.submit(read) for _ in range(2)]
        try:
            for number in range(2, 30):
                at = NOW + timedelta(hours=number)
                both.store.apply(batch([edge(f"a#1 -> b#{number}", job="b")], at=at))
        finally:
            done.set()
        seen = set().union(*(reader.result() for reader in readers))
    assert {count for count, _ in seen} == {1}
    assert (1, True) in seen
    both.check(random.Random(3))


def test_lists_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage.traversal.adjacency.graph._FEW", 10)
    with open_store(tmp_path / "store.db") as store, open_store(tmp_path / "store.db") as beside:
        both = Both(store, beside)
        for day in range(20):
            store.apply(batch([edge(f"a#1 -> b#{n + day}", job="b") for n in range(9)], at=NOW + timedelta(days=day)))
            both.check(random.Random(day), 1)
        graph = both.kept.graph
        assert graph is not None
        packed = graph.packed()
        assert packed is not graph
        assert packed.bytes < graph.bytes
        both.kept._graph = packed
        both.check(random.Random(4))


def test_what_commits_record_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage.store.sqlite.live_graph.KEPT", 5)
    assert graph_changes.KEPT > 5
    with open_store(tmp_path / "store.db") as store:
        for number in range(20):
            store.apply(batch([edge(f"a#1 -> b#{number}", job=f"b{number}")]))
        rows = store._backend._read(lambda one: one.value("SELECT count(*) FROM graph_change"))  # type: ignore[attr-defined]
        assert rows == 6
