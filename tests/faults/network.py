"""A network that drops, or swallows what it is given: a proxy in between."""

from __future__ import annotations

import subprocess
import time
from functools import partial
from urllib.parse import urlsplit

from tests.faults.clients import all_answered, kept, readiness, send_all, service, wait_until
from tests.faults.estate import Ran
from tests.faults.places import NEO4J
from tests.faults.scene import Scene, demand, explained, fault
from tests.service.proxy import Proxy, proxied

_GROUP = "network"


def _cut(kind: str, scene: Scene) -> str:
    scene.undisturbed(kind)
    store, cuts, said = scene.place.new(), 0, ""
    store.opened(read_only=False).close()
    scene.estate.forget_saved()
    with proxied("127.0.0.1", scene.place.port) as proxy:
        there = scene.place.there(proxy.port)
        size = _carried(kind, scene, proxy)
        store = scene.place.new()
        for share in (0.3, 0.8):
            scene.estate.forget_saved()
            proxy.cut_after(int(share * size))
            ran = scene.estate.ingest(kind, there)
            if not ran.done:
                said, cuts = explained(ran, 3), cuts + 1
            proxy.go_on()
    demand(cuts > 0, "it was never cut")
    scene.complete(kind, store)
    return f"{cuts} times exit status 3, “{said.replace(there.address, 'bolt://…')}”; run again: the same graph"


def _carried(kind: str, scene: Scene, proxy: Proxy) -> int:
    """Return how many bytes an undisturbed ingest sends."""
    proxy.carried = 0
    ran = scene.estate.ingest(kind, scene.place.there(proxy.port))
    demand(ran.done, ran.said)
    return proxy.carried


for _kind, _name in (("sql", "SQL files"), ("log", "a query log")):
    fault(_GROUP, f"cut between Neo4j and the ingest of {_name}", (NEO4J,))(partial(_cut, _kind))


@fault(_GROUP, "nothing arrives for 5 s between Neo4j and an ingest", (NEO4J,))
def silent(scene: Scene) -> str:
    """What waits goes on."""
    scene.undisturbed("sql")
    store = scene.place.new()
    scene.estate.forget_saved()
    with proxied("127.0.0.1", scene.place.port) as proxy:
        process = scene.estate.start(scene.estate.command("sql", scene.place.there(proxy.port).address), store)
        wait_until(lambda: proxy.carried > 50_000, "the ingest does not begin")
        proxy.hang()
        time.sleep(5)
        proxy.go_on()
        ran = _ended(process)
    demand(ran.done, f"it ends with {ran.code}: {ran.said[-500:]}")
    scene.expect("sql", store)
    return "the ingest waits, then goes on: the same graph"


def _ended(process: subprocess.Popen[str]) -> Ran:
    _, said = process.communicate(timeout=300)
    return Ran(process.returncode, said)


@fault(_GROUP, "cut, then silent, between Neo4j and a service that takes events", (NEO4J,))
def service_without_server(scene: Scene) -> str:
    """The service refuses within its time limit, and goes on without being started again."""
    scene.undisturbed("openlineage")
    store, slowest = scene.place.new(), 0.0
    with (
        proxied("127.0.0.1", scene.place.port) as proxy,
        service(store, scene.place.there(proxy.port).address) as (url, _),
    ):
        for fail in (proxy.cut, proxy.hang):
            clients, answered = send_all(url)
            wait_until(lambda: len(answered) >= 30, "events are not answered")  # noqa: B023  at once
            fail()
            began = time.monotonic()
            for client in clients:
                client.join()
            slowest = max(slowest, time.monotonic() - began)
            away = readiness(url)
            demand(away == 503, f"/readyz says {away}")
            proxy.go_on()
            wait_until(lambda: readiness(url) == 200, "the service does not get ready again")
            kept(store, answered)
        all_answered(url)
    scene.expect_events(store)
    return f"503 after at most {slowest:.0f} s; nothing answered is lost; the same service goes on: the same graph"


@fault(_GROUP, "cut between a service and the ingest of SQL files through it")
def ingest_through_service(scene: Scene) -> str:
    """The ingest says that no service answers; a batch is stored as a whole or not at all."""
    scene.undisturbed("sql")
    store, cuts, said = scene.place.new(), 0, ""
    with service(store) as (url, _), proxied("127.0.0.1", urlsplit(url).port or 0) as proxy:
        address = f"http://127.0.0.1:{proxy.port}"
        scene.estate.forget_saved()
        for carried in (300, 2_000, 10_000):
            proxy.cut_after(carried)
            ran = scene.estate.ingest("sql", store, address=address)
            if not ran.done:
                said, cuts = explained(ran, 3), cuts + 1
            proxy.go_on()
        ran = scene.estate.ingest("sql", store, address=address)
        demand(ran.done, f"once it is back: {ran.said}")
    demand(cuts > 1, f"it was cut {cuts} times only")
    scene.expect("sql", store)
    return f"{cuts} times exit status 3, “{said.replace(address, 'http://…')}”; run again: the same graph"


@fault(_GROUP, "cut between a service and clients that send events")
def clients_cut(scene: Scene) -> str:
    """A client that had no answer sends again; what arrived twice counts once."""
    scene.undisturbed("openlineage")
    store = scene.place.new()
    with service(store) as (url, _):
        with proxied("127.0.0.1", urlsplit(url).port or 0) as proxy:
            for carried in (20_000, 60_000):
                proxy.cut_after(carried)
                clients, answered = send_all(f"http://127.0.0.1:{proxy.port}")
                for client in clients:
                    client.join()
                demand(len(answered) < 120, "it was not cut")
                kept(store, answered)
                proxy.go_on()
        all_answered(url)
    scene.expect_events(store)
    return "cut twice; all sent again, of which some had arrived: the same graph"
