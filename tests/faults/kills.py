"""kill -9 of ingests, backups and compactions, at exact points of what they write."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.faults.estate import KINDS, LINEAGE
from tests.faults.places import EMBEDDED, Store
from tests.faults.scene import SHARES, Scene, demand, fault

_GROUP = "kill -9"


def _killed(kind: str, scene: Scene) -> str:
    graph, size = scene.undisturbed(kind)
    store, kills = scene.place.new(), 0
    store.opened(read_only=False).close()
    scene.estate.forget_saved()
    for share in SHARES:
        ran = scene.estate.ingest(kind, store, kill_after=int(share * size), under=scene.folder / "store")
        demand(ran.killed or ran.done, f"it ended with {ran.code}: {ran.said[-500:]}")
        kills += ran.killed
        damage = store.damage()
        demand(not damage, f"after a kill at {share:.0%}: {damage[:1]}")
    demand(kills > 1, f"it was killed {kills} times only")
    scene.complete(kind, store)
    return f"killed {kills} times; run again: the same graph ({len(graph):,} nodes and edges)"


_NAMES = {"sql": "SQL files", "log": "a query log", "dbt": "a dbt project", "duckdb": "a database",
          "bi": "dashboards", "openlineage": "OpenLineage events"}  # fmt: skip
for _kind in KINDS:
    fault(_GROUP, f"the ingest of {_NAMES[_kind]}")(partial(_killed, _kind))


def _whole_store(scene: Scene) -> tuple[Store, list[str]]:
    graph, _ = scene.undisturbed("sql")
    store = scene.place.new()
    scene.complete("sql", store)
    return store, graph


@fault(_GROUP, "`lineage store backup`", (EMBEDDED,))
def backup_killed(scene: Scene) -> str:
    """A killed backup leaves a whole copy or none; the store is untouched."""
    store, graph = _whole_store(scene)
    size, kills = Path(store.address).stat().st_size, 0
    for number, share in enumerate(SHARES):
        copy = scene.folder / f"storecopy{number}.db"
        command = [LINEAGE, "store", "backup", str(copy), "--store", store.address]
        ran = scene.estate.run(command, store, kill_after=int(share * size), under=scene.folder)
        kills += ran.killed
        if copy.exists():
            scene.expect_graph(graph, Store(str(copy)))
    scene.expect_graph(graph, store)
    demand(kills > 1, f"it was killed {kills} times only")
    ran = scene.estate.run([LINEAGE, "store", "backup", str(copy), "--store", store.address], store)
    demand(ran.done or copy.exists(), ran.said)
    scene.expect_graph(graph, Store(str(copy)))
    return f"killed {kills} times; no half copy is left, the store is as it was, and the next backup is whole"


@fault(_GROUP, "`lineage store compact`", (EMBEDDED,))
def compaction_killed(scene: Scene) -> str:
    """A killed compaction leaves the store as it was."""
    store, graph = _whole_store(scene)
    size, kills = Path(store.address).stat().st_size, 0
    for share in (0.1, 0.6, 1.2, 1.8):  # the log, then the file
        command = [LINEAGE, "store", "compact", "--store", store.address]
        kills += scene.estate.run(command, store, kill_after=int(share * size), under=scene.folder / "store").killed
        scene.expect_graph(graph, store)
    demand(kills > 1, f"it was killed {kills} times only")
    return f"killed {kills} times; the same graph each time"
