"""Wall clocks that are wrong, or jump while a process runs."""

from __future__ import annotations

from tests.faults.clients import all_answered, service
from tests.faults.injector import injected
from tests.faults.scene import Scene, demand, fault

_GROUP = "clock"
_HOUR, _DAY = 3_600, 86_400


@fault(_GROUP, "jumps a day ahead and back while ingests run")
def jumping(scene: Scene) -> str:
    """Times come from the input: the clock decides nothing."""
    for kind in ("sql", "log", "openlineage"):
        scene.undisturbed(kind)
        store = scene.place.new()
        scene.estate.forget_saved()
        ran = scene.estate.ingest(kind, store, clock=_DAY, clock_every=20)
        demand(ran.done, f"{kind} ends with {ran.code}: {ran.said[-500:]}")
        scene.expect(kind, store)
    return "SQL files, a query log, OpenLineage events: the same graph"


@fault(_GROUP, "jumps an hour ahead and back while a service takes events")
def service_jumping(scene: Scene) -> str:
    """Requests are measured by a clock that does not jump."""
    scene.undisturbed("openlineage")
    store = scene.place.new()
    with service(store, **injected(clock=_HOUR, clock_every=20)) as (url, _):
        all_answered(url)
    scene.expect_events(store)
    return "every event is answered: the same graph"


@fault(_GROUP, "was a day ahead at the last ingest, and was set back")
def set_back(scene: Scene) -> str:
    """What is ingested after that is current all the same, and the user is told."""
    edited = scene.estate.folder / "sql" / "m1.sql"
    before = edited.read_text()
    try:
        command = [part for part in scene.estate.command("sql", "") if part not in ("--observed-at", "2026-03-01")]
        store = scene.place.new()
        states = []
        for faults in ({}, {"clock": _DAY}):
            store = scene.place.new()
            for text, wrong in ((before, faults), (before.replace(".c0, ", ".c7, ", 1), {})):
                edited.write_text(text)
                ran = scene.estate.run([*command[:-1], store.address], store, **wrong)
                demand(ran.done, f"it ends with {ran.code}: {ran.said[-500:]}")
            states.append([one for one in store.graph(times=False) if "'CONTRIBUTES'" in one])
        demand(states[0] == states[1], "other lineage than with a right clock")
        demand("later time" in ran.said or "clock" in ran.said, f"it is not said: {ran.said[-500:]}")
    finally:
        edited.write_text(before)
    notice = next(line for line in ran.said.splitlines() if "later time" in line or "clock" in line)
    return f"the edited files count as current, with a notice: “{notice.strip()}”"
