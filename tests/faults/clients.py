"""Clients of a service: events of all runs from several at once, until it fails them; and what must be there then."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import IO, Any

import httpx

from tests.cli.test_serve_command import served
from tests.faults.estate import RUNS
from tests.faults.places import Store
from tests.faults.scene import demand
from tests.service.events_of_runs import events_of, start_clients

__all__ = ["Answered", "all_answered", "kept", "readiness", "send_all", "service", "wait_until"]

Answered = list[dict[str, Any]]
_CLIENTS = 4


@contextmanager
def service(store: Store, address: str = "", **environment: str) -> Iterator[tuple[str, Popen[bytes]]]:
    """Yield the address and the process of a service over a store."""
    given = {**store.environment, **environment}
    with served("--store", address or store.address, environment=given, seconds=180) as (url, process):
        threading.Thread(target=_swallow, args=(process.stderr,), daemon=True).start()
        yield url, process


def send_all(url: str) -> tuple[list[threading.Thread], Answered]:
    """Start clients that send all events; return them, and the list of what has been answered so far."""
    requests = [
        [[one] for run in range(number, RUNS + 1, _CLIENTS) for one in events_of(run)] for number in (1, 2, 3, 4)
    ]
    answered: Answered = []
    return start_clients(url, requests, answered), answered


def readiness(url: str) -> int:
    """Return the status of /readyz."""
    return httpx.get(f"{url}/readyz", timeout=30).status_code


def wait_until(holds: Any, otherwise: str, seconds: float = 60) -> None:
    """Wait until something holds."""
    waiting = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if holds():
            return
        waiting.wait(0.02)
    demand(False, otherwise)


def all_answered(url: str) -> None:
    """Send all events, and demand that each is answered."""
    clients, answered = send_all(url)
    for client in clients:
        client.join()
    demand(len(answered) == 2 * RUNS, f"{len(answered)} of {2 * RUNS} events were answered")


def kept(store: Store, answered: Answered) -> None:
    """Demand that a store has the output of each run whose end was answered."""
    ended = {one["outputs"][0]["name"] for one in answered if one["eventType"] == "COMPLETE"}
    with store.opened() as opened:
        known = {key.rpartition("/")[2] for key in opened.dataset_keys()}
    demand(ended <= known, f"{len(ended - known)} answered events are not there")


def _swallow(pipe: IO[bytes]) -> None:
    while pipe.read(10_000):
        pass
