"""Requests at a fixed rate, whether or not earlier ones are answered: impact, search, and events of runs.

A request's time counts from when it was due, so that a service that stops for a second is seen by all that were due.
"""

from __future__ import annotations

import http.client
import itertools
import json
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.benchmarks.events import events_of_runs

__all__ = ["KINDS", "Answer", "Load"]

KINDS = ("impact", "search", "events")
_SHARES = (60, 25, 15)
_TIMEOUT = 30
_CONNECTIONS = 64
_IMPACT = """query ($column: String!) { impact(column: $column, first: 20) { totalCount
  edges { node { hops path { steps { sourceKey targetKey kind jobKey } } } } } }"""
_SEARCH = "query ($text: String!) { search(text: $text, first: 20) { edges { node { __typename } } } }"


@dataclass(frozen=True)
class Answer:
    """A request: its kind, when it was due, the seconds until it was answered, and what went wrong, if something."""

    kind: str
    due: float
    seconds: float
    error: str = ""


class Load:
    """Sends requests about some columns to a service; `note` gets each answer."""

    def __init__(self, address: str, columns: list[str], note: Callable[[Answer], None], seed: int = 1) -> None:
        self._host = urlsplit(address).netloc
        self._columns, self._note, self._chance = columns, note, random.Random(seed)
        self._runs = itertools.count(1)
        self._due: queue.Queue[tuple[float, str, str, str] | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._send, daemon=True) for _ in range(_CONNECTIONS)]
        for thread in self._threads:
            thread.start()

    def run(self, rate: float, seconds: float) -> None:
        """Send so many requests a second for so many seconds, and wait for the answers."""
        began = time.monotonic()
        for number in range(int(rate * seconds)):
            due = began + number / rate
            time.sleep(max(0.0, due - time.monotonic()))
            self._due.put((due, *self._request()))
        while self._due.unfinished_tasks:
            time.sleep(0.05)

    def close(self) -> None:
        """End the threads."""
        for _ in self._threads:
            self._due.put(None)
        for thread in self._threads:
            thread.join()

    def _request(self) -> tuple[str, str, str]:
        """Return a kind of request, its path and its body."""
        [kind] = self._chance.choices(KINDS, _SHARES)
        column = self._chance.choice(self._columns)
        if kind == "impact":
            return kind, "/graphql", json.dumps({"query": _IMPACT, "variables": {"column": column}})
        if kind == "search":
            text = column.rpartition("/")[2].partition("#")[0][-6:]
            return kind, "/graphql", json.dumps({"query": _SEARCH, "variables": {"text": text}})
        return kind, "/api/v1/lineage/batch", json.dumps(events_of_runs(self._runs, 2))

    def _send(self) -> None:
        connection = http.client.HTTPConnection(self._host, timeout=_TIMEOUT)
        for due, kind, path, body in self._taken():
            error = ""
            try:
                connection.request("POST", path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                error = _error_of(answer.status, answer.read())
            except (OSError, http.client.HTTPException) as broken:
                connection.close()
                error = type(broken).__name__
            self._note(Answer(kind, due, time.monotonic() - due, error))

    def _taken(self) -> Iterator[tuple[float, str, str, str]]:
        while (one := self._due.get()) is not None:
            try:
                yield one
            finally:
                self._due.task_done()
        self._due.task_done()


def _error_of(status: int, content: bytes) -> str:
    """Return what is wrong with an answer, in short; empty if nothing is."""
    if status != 200:
        return str(status)
    errors = json.loads(content).get("errors")
    return str(errors[0].get("extensions", {}).get("code", "error")) if errors else ""
