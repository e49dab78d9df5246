"""Input that is cut off, and stores that are damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import neo4j

from tests.faults.estate import KINDS, LINEAGE
from tests.faults.places import EMBEDDED, NEO4J, Store
from tests.faults.scene import Scene, compare, demand, explained, fault
from tests.store.damage import results

_GROUP = "broken files"


@fault(_GROUP, "input that is cut in half, of each kind of ingest")
def half_input(scene: Scene) -> str:
    """The file is named, nothing that was there is lost, and the whole file again completes it."""
    for kind in KINDS:
        scene.undisturbed(kind)
        store = scene.place.new()
        path = scene.estate.folder / kind
        file = path if path.is_file() else max((one for one in path.rglob("*.*") if one.is_file()), key=_size)
        whole = file.read_bytes()
        try:
            file.write_bytes(whole[: len(whole) // 2])
            ran = scene.estate.ingest(kind, store)
        finally:
            file.write_bytes(whole)
        demand(ran.code in (1, 2, 3), f"half of {file.name}: exit status {ran.code}: {ran.said[-300:]}")
        demand("Traceback" not in ran.said, ran.said[-800:])
        demand(file.name in ran.said, f"half of {file.name} is not named: {ran.said[-300:]}")
        if kind == "duckdb":  # of the others, what can be read of the half is in the graph's history
            scene.complete(kind, store)
            continue
        demand(scene.estate.ingest(kind, store).done, "the whole file again fails")
        demand(not store.damage(), "the store is damaged")
        if kind == "dbt":  # the readable half of a manifest was observed by a run of its own
            compare(*map(_without_observations, (scene.undisturbed_graph(kind), store.graph())))
    return "the file is named, exit status 1 or 3, no traceback; the whole file again completes the graph"


def _without_observations(graph: list[str]) -> list[str]:
    return [one for one in graph if not one.startswith(("('Run'", "('OBSERVED'"))]


def _size(path: Path) -> int:
    return path.stat().st_size


@fault(_GROUP, "a store with a damaged bit, or cut off, 100 times", (EMBEDDED,))
def damaged_store(scene: Scene) -> str:
    """The right answer or an error, and the file is left as it is."""
    folder = scene.folder / "damaged"
    folder.mkdir()
    found = results(folder, 100, seed=11)
    demand(found.keys() <= {"right", "error"}, str(dict(found)))
    return (
        f"{found['error']} times an error, {found['right']} times the right answer, never another; nothing written over"
    )


@fault(_GROUP, "an empty file, another program's, and a log without its store", (EMBEDDED,))
def foreign_files(scene: Scene) -> str:
    """Each is refused, and not written over."""
    folder, said = scene.folder / "foreign", []
    folder.mkdir()
    (folder / "empty.db").touch()
    (folder / "text.db").write_text("no store\n" * 1000)
    with closing(sqlite3.connect(folder / "other.db")) as other:
        other.executescript("create table t (a)")
    (folder / "gone.db-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for name in ("empty", "text", "other", "gone"):
        ran = scene.estate.ingest("sql", Store(str(folder / f"{name}.db")))
        said.append(explained(ran, 3))
    after = {path: path.read_bytes() for path in folder.iterdir()}
    demand(before == after, f"files were changed: {sorted(after)}")
    return f"exit status 3 and what it is ({len(set(said))} different messages); nothing written over"


@fault(_GROUP, "an edge that somebody deleted in Neo4j Browser", (NEO4J,))
def deleted_edge(scene: Scene) -> str:
    """`lineage store verify` counts; the same ingest with --full states it again."""
    scene.undisturbed("sql")
    store = scene.place.new()
    scene.complete("sql", store)
    assert store.login is not None
    with neo4j.GraphDatabase.driver(store.address, auth=store.login) as driver:
        driver.execute_query("MATCH ()-[e:CONTRIBUTES]->() WITH e LIMIT 1 DELETE e")
    ran = scene.estate.run([LINEAGE, "store", "verify", "--store", store.address], store)
    demand(ran.code == 3, f"verify ends with {ran.code}")
    return "`lineage store verify`: exit status 3, which count is wrong"
