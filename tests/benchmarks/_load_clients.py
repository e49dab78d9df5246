"""What asks a service in other processes than the one that measures: it imports little, so that it begins at once."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

__all__ = ["TIMEOUT", "Asked", "ask_impact", "attack", "probe"]

TIMEOUT = 60
_ATTACKERS = 4
_EVERY = 0.05
_QUERY = """query ($column: String!) { impact(column: $column, first: 20) { totalCount
  edges { node { key hops path { steps { sourceKey targetKey kind jobKey } } } } } }"""


class Asked(NamedTuple):
    """What requests were answered with, and how long each took, in seconds."""

    outcomes: dict[str, int]
    seconds: list[float]


def probe(address: str, path: str, seconds: float) -> Asked:
    """Ask a path again and again."""
    return _repeated(
        address, time.monotonic() + seconds, lambda connection: connection.request("GET", f"/{path}"), _EVERY
    )


def ask_impact(address: str, keys: list[str], clients: int, seconds: float, query: str = _QUERY) -> Asked:
    """Ask for impact by several clients at once."""
    ends = time.monotonic() + seconds

    def client(seed: int) -> Asked:
        chance = random.Random(seed)

        def ask(connection: http.client.HTTPConnection) -> None:
            body = json.dumps({"query": query, "variables": {"column": chance.choice(keys)}})
            connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})

        return _repeated(address, ends, ask)

    return _together(clients, client)


def attack(address: str, document: str, seconds: float) -> dict[str, Any]:
    """Send a document by several clients at once; return how often, and what came back."""
    ends, body = time.monotonic() + seconds, json.dumps({"query": document})

    def attacker(_: int) -> Asked:
        head = {"Content-Type": "application/json"}
        return _repeated(address, ends, lambda connection: connection.request("POST", "/graphql", body, head))

    sent = _together(_ATTACKERS, attacker)
    return {"sent_per_second": round(len(sent.seconds) / seconds), **sent.outcomes}


def _together(clients: int, work: Callable[[int], Asked]) -> Asked:
    found: list[Asked] = []
    threads = [threading.Thread(target=lambda seed=seed: found.append(work(seed))) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcomes = sum((Counter(one.outcomes) for one in found), Counter())
    return Asked(dict(outcomes), [taken for one in found for taken in one.seconds])


def _repeated(
    address: str, ends: float, send: Callable[[http.client.HTTPConnection], None], pause: float = 0.0
) -> Asked:
    outcomes: Counter[str] = Counter()
    taken = []
    host = urlsplit(address).netloc
    connection = http.client.HTTPConnection(host, timeout=TIMEOUT)
    while time.monotonic() < ends:
        began, wait = time.perf_counter(), pause
        try:
            send(connection)
            answer = connection.getresponse()
            text = answer.read()
        except TimeoutError:
            outcomes["no answer in time"] += 1
            connection.close()
        except (OSError, http.client.HTTPException):
            outcomes["no connection"] += 1
            connection.close()
            time.sleep(1)
        else:
            outcome, wait = _outcome(answer, text, pause)
            outcomes[outcome] += 1
        taken.append(time.perf_counter() - began)
        time.sleep(wait)
    connection.close()
    return Asked(dict(outcomes), taken)


def _outcome(answer: http.client.HTTPResponse, text: bytes, pause: float) -> tuple[str, float]:
    """Return what an answer says, and how long to wait before the next request."""
    if answer.status == 503:
        after = answer.headers["Retry-After"]
        return ("503 with Retry-After", float(after)) if after else ("503 without Retry-After", pause)
    errors = json.loads(text).get("errors") if answer.headers.get_content_type() == "application/json" else None
    code = errors[0].get("extensions", {}).get("code", "error") if errors else ""
    return f"{answer.status} {code}".strip(), pause
