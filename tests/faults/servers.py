"""kill -9 of the service and of Neo4j, in the middle of what they write."""

from __future__ import annotations

import os
import signal
from functools import partial

from tests.faults.clients import all_answered, kept, readiness, send_all, service, wait_until
from tests.faults.places import NEO4J
from tests.faults.scene import Scene, demand, explained, fault

_GROUP = "kill -9"


@fault(_GROUP, "the service, while four clients send events")
def service_killed(scene: Scene) -> str:
    """What was answered is stored; sending all again completes it."""
    scene.undisturbed("openlineage")
    store, total = scene.place.new(), 0
    for number in (5, 40, 80):
        with service(store) as (url, process):
            clients, answered = send_all(url)
            wait_until(lambda: len(answered) >= number, "events are not answered")  # noqa: B023  at once
            process.kill()
            for client in clients:
                client.join()
        total += len(answered)
        kept(store, answered)
    with service(store) as (url, _):
        all_answered(url)
    scene.expect_events(store)
    return f"killed 3 times; all {total} events that were answered are there; all sent again: the same graph"


def _server_killed(kind: str, scene: Scene) -> str:
    _, size = scene.undisturbed(kind)
    store, said = scene.place.new(), ""
    scene.estate.forget_saved()
    kills = 0
    for share in (0.3, 0.8):
        ran = scene.estate.ingest(
            kind,
            store,
            kill_after=int(share * size),
            kill_pid=scene.place.pid(),
            under=scene.folder / "store",
        )
        if not ran.done:
            said, kills = explained(ran, 3), kills + 1
        scene.place.start_again()
        demand(not store.damage(), f"{store.damage()[:1]}")
    demand(kills > 0, "the server was not killed")
    scene.complete(kind, store)
    said = said.replace(store.address, "bolt://…")
    return f"{kills} times exit status 3, “{said}”; Neo4j started, run again: the same graph"


for _kind, _name in (("sql", "SQL files"), ("log", "a query log")):
    fault(_GROUP, f"Neo4j, during the ingest of {_name}", (NEO4J,))(partial(_server_killed, _kind))


@fault(_GROUP, "Neo4j, while a service takes events", (NEO4J,))
def server_killed_behind_service(scene: Scene) -> str:
    """The service goes on without being started again."""
    scene.undisturbed("openlineage")
    store = scene.place.new()
    with service(store) as (url, _):
        clients, answered = send_all(url)
        wait_until(lambda: len(answered) >= 30, "events are not answered")
        os.kill(scene.place.pid(), signal.SIGKILL)
        for client in clients:
            client.join()
        away = readiness(url)
        demand(away == 503, f"/readyz says {away}")
        scene.place.start_again()
        wait_until(lambda: readiness(url) == 200, "the service does not get ready again")
        kept(store, answered)
        all_answered(url)
    scene.expect_events(store)
    return "503 and `/readyz` 503 meanwhile; nothing answered is lost; the same service goes on: the same graph"
