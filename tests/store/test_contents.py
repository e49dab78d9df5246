"""What a store holds is recorded with each commit, and a graph moves to another store with its history."""

from __future__ import annotations

import gzip
import random
from contextlib import closing
from pathlib import Path

import neo4j
import pytest

from lineage.store import StoreAccessError, StoreError, StoreUnreachableError, StoreWriteError, open_store
from lineage.store.graph.store import CypherStore
from lineage.store.moving import export_store, import_store, miscounted
from lineage.store.sqlite.connection import SqliteConnection
from tests.cli.running import lineage
from tests.neo4j_fixture import Neo4jAddress
from tests.store.batch_builders import batch, day, view
from tests.store.conftest import Opener, emptied
from tests.store.random_batches import random_batch, random_queries


def _ignore(_stage: str, _done: int, _total: int | None) -> None:
    """Progress that nobody looks at."""


def _lines(file: Path) -> list[str]:
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        return list(lines)


def _of(opener: Opener) -> CypherStore:
    store = opener()
    assert isinstance(store, CypherStore)
    return store


def test_what_is_recorded_is_what_is_there(open_again: Opener) -> None:
    chance = random.Random(21)
    with _of(open_again) as store:
        for step in range(40 if store.is_file else 24):
            store.apply(random_batch(chance) if step % 3 else random_queries(chance))
            if step % 10 == 7:
                store.prune(day(step / 2), at=day(40))
            if step % 12 == 11:
                store.retire_jobs(chance.sample(store.job_keys(), 2), day(41))
            assert store.count_contents(_ignore) == (store.contents(), store.contents()), step
        held = store.contents()
    assert min(held) > 0
    with _of(open_again) as store:
        assert store.contents() == held


def test_parts_of_a_batch_are_counted_together(open_again: Opener) -> None:
    with _of(open_again) as store:
        whole = batch(*(view(f"v{n}", f"a.x{n} -> v{n}.x", at=1) for n in range(50)))
        for part in [part for each in store.parts(whole) for part in each]:
            store.apply(part)
        assert store.count_contents(_ignore) == (store.contents(), store.contents())


@pytest.mark.parametrize("name", ["graph.jsonl", "graph.jsonl.gz"])
def test_a_graph_moves_between_the_stores(
    open_again: Opener, neo4j_uri: Neo4jAddress, tmp_path: Path, name: str
) -> None:
    chance = random.Random(5)
    with _of(open_again) as store:
        for step in range(30):
            store.apply(random_batch(chance) if step % 3 else random_queries(chance))
        store.prune(day(12), at=day(40))
        before, address = store.dump(), store.address
        held = store.contents()
    file, again = tmp_path / name, tmp_path / f"again-{name}"
    login = f"{neo4j_uri.user}:{neo4j_uri.password}@"
    named = address.replace("bolt://", f"bolt://{login}")
    assert export_store(named, file, _ignore) == held
    assert import_store(file, str(tmp_path / "moved.db"), _ignore) == held
    with open_store(tmp_path / "moved.db") as store:
        assert store.dump() == before
        store.apply(random_batch(chance))
    assert miscounted(str(tmp_path / "moved.db"), _ignore)[1] == []
    if address.endswith(".db"):
        return
    with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents ' DETACH DELETE n")
    assert import_store(file, named, _ignore) == held
    export_store(named, again, _ignore)
    assert sorted(_lines(again)) == sorted(_lines(file))
    with pytest.raises(StoreWriteError, match="is not empty"):
        import_store(file, named, _ignore)


def test_what_is_deleted_by_hand_is_found(open_again: Opener, neo4j_uri: Neo4jAddress) -> None:
    with _of(open_again) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1), view("w", "a.x -> w.x", at=1)))
        address = store.address
    if address.endswith(".db"):
        with closing(SqliteConnection(Path(address), read_only=False)) as connection:
            connection.execute("DELETE FROM lineage WHERE target = (SELECT max(target) FROM lineage)")
    else:
        address = address.replace("bolt://", f"bolt://{neo4j_uri.user}:{neo4j_uri.password}@")
        with neo4j.GraphDatabase.driver(neo4j_uri.uri, auth=(neo4j_uri.user, neo4j_uri.password)) as driver:
            driver.execute_query("MATCH ()-[e:CONTRIBUTES]->() WITH e LIMIT 1 DELETE e")
    found = lineage("store", "verify", "--store", address)
    assert found.code == 3
    assert "edges, where" in found.out or "edge, where" in found.out
    assert "other keys than were recorded" in found.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "before the end of the graph"),
        (lambda lines: [*lines[:-2], lines[-1]], "does not hold the graph that it says"),
        (lambda lines: [*lines[:4], lines[4][:20]], "is no JSON"),
        (lambda lines: lines[1:], "is no exported graph"),
        (lambda lines: [*lines, lines[1]], "after the end"),
        (lambda lines: [lines[0].replace('"version":1', '"version":99'), *lines[1:]], "newer version"),
        (lambda lines: [lines[0], lines[1].replace('"namespace"', '"colour"'), *lines[2:]], "'colour'"),
        (lambda lines: [*lines[:-1], '{"node":"Planet","key":"x"}\n', lines[-1]], "no node or relationship"),
        (lambda lines: [*lines[:-1], '{"end": 3}\n'], "no node or relationship"),
        (lambda _: [], "is no exported graph"),
    ],
)
def test_half_a_graph_is_not_imported(tmp_path: Path, change: object, message: str) -> None:
    assert callable(change)
    path, file = tmp_path / "store.db", tmp_path / "graph.jsonl"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    assert "exported to" in lineage("store", "export", file, "--store", path).out
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    with pytest.raises(StoreError, match=message):
        import_store(file, str(tmp_path / "new.db"), _ignore)
    assert {one.name for one in tmp_path.iterdir() if "new" in one.name} == set()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path, file = tmp_path / "store.db", tmp_path / "graph.jsonl"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    file.write_text("mine")
    with pytest.raises(StoreAccessError, match="is there already"):
        export_store(str(path), file, _ignore)
    with pytest.raises(StoreError):
        export_store(str(tmp_path / "none.db"), file, _ignore)
    assert file.read_text() == "mine"
    with pytest.raises(StoreAccessError, match="is there already"):
        import_store(file, str(path), _ignore)
    with pytest.raises(StoreUnreachableError, match="there is no store"):
        export_store(str(tmp_path / "none.db"), tmp_path / "other.jsonl", _ignore)
    assert {one.name for one in tmp_path.iterdir()} == {"store.db", "graph.jsonl"}


def test_what_is_exported_while_somebody_writes_is_one_state(tmp_path: Path) -> None:
    path, file = tmp_path / "store.db", tmp_path / "graph.jsonl"
    with open_store(path) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
        held = store.contents()  # type: ignore[attr-defined]

        def write(stage: str, number: int, _total: int | None) -> None:
            store.apply(batch(view(f"w{number}", f"a.x -> w{number}.x", at=2)))

        assert export_store(str(path), file, write) == held
        assert miscounted(str(path), write)[1] == []
    assert import_store(file, str(tmp_path / "again.db"), _ignore) == held


def test_half_a_graph_leaves_nothing_in_neo4j(neo4j_uri: Neo4jAddress, tmp_path: Path) -> None:
    with _of(emptied(neo4j_uri)) as store:
        store.apply(batch(view("v", "a.x -> v.x", at=1)))
    named = neo4j_uri.uri.replace("bolt://", f"bolt://{neo4j_uri.user}:{neo4j_uri.password}@")
    file = tmp_path / "graph.jsonl"
    export_store(named, file, _ignore)
    file.write_text("".join(_lines(file)[:-1]))
    emptied(neo4j_uri)
    with pytest.raises(StoreError, match="before the end of the graph"):
        import_store(file, named, _ignore)
    with _of(lambda: open_store(named)) as store:
        assert store.datasets() == []
