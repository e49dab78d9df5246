"""Events of small runs, and clients that send them to a service until it is gone."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from tests.events.event_builders import event

__all__ = ["events_of", "send", "start_clients"]


def events_of(run: int) -> list[dict[str, Any]]:
    """Return START and COMPLETE of a run that writes a table of its own."""
    about = {"run": run, "at": 3 + run / 1_440, "job": f"etl/load{run}", "inputs": ["pg.a"]}
    lineage = {"c": ["pg.a c DIRECT/IDENTITY"]}
    outputs = {f"pg.t{run}": {"schema": ["c"], "columnLineage": {"fields": lineage}}}
    return [event({**about, "type": "START"}), event({**about, "type": "COMPLETE", "outputs": outputs})]


def send(address: str, requests: Sequence[list[dict[str, Any]]], answered: list[dict[str, Any]]) -> None:
    """Send requests of one or more events until one is not answered, or refused; note the events of the others."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    try:
        for events in requests:
            path, body = ("/api/v1/lineage/batch", events) if len(events) > 1 else ("/api/v1/lineage", events[0])
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                return
            answered += events
    except (OSError, http.client.HTTPException):
        return  # it was killed
    finally:
        connection.close()


def start_clients(
    address: str, of_clients: Sequence[Sequence[list[dict[str, Any]]]], answered: list[dict[str, Any]]
) -> list[threading.Thread]:
    """Send from several clients at once; they note the events that were answered."""
    clients = [threading.Thread(target=send, args=(address, requests, answered)) for requests in of_clients]
    for client in clients:
        client.start()
    return clients
