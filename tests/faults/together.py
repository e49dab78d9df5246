"""Several ingests at once, of data that overlaps."""

from __future__ import annotations

from collections.abc import Sequence

from tests.faults.scene import Scene, demand, fault

_GROUP = "at once"


def _at_once(scene: Scene, kinds: Sequence[str]) -> str:
    alone = []
    for order in (kinds, kinds[::-1]):
        store = scene.place.new()
        for kind in order:
            demand(scene.estate.ingest(kind, store).done, f"{kind} alone fails")
        alone.append(store.graph())
    store = scene.place.new()
    processes = [scene.estate.start(scene.estate.command(kind, store.address), store) for kind in kinds]
    for kind, process in zip(kinds, processes, strict=True):
        _, said = process.communicate(timeout=300)
        demand(process.returncode in (0, 1), f"{kind} ends with {process.returncode}: {said[-500:]}")
    if store.graph() != alone[1]:
        scene.expect_graph(alone[0], store)
    return "both end: the same graph as one after the other"


@fault(_GROUP, "the same SQL files, twice")
def same_files(scene: Scene) -> str:
    """A file has one graph, whoever ingests it."""
    return _at_once(scene, ("sql", "sql"))


@fault(_GROUP, "SQL files and a query log")
def files_and_log(scene: Scene) -> str:
    """Both name tables of one namespace."""
    return _at_once(scene, ("sql", "log"))


@fault(_GROUP, "a dbt project and OpenLineage events")
def project_and_events(scene: Scene) -> str:
    """Neither waits for the other without end."""
    return _at_once(scene, ("dbt", "openlineage"))
