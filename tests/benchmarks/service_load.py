"""`lineage serve` under load: who is answered, who is refused, and whether the service itself stays reachable.

Impact is asked by 16 and by 50 GraphQL clients at once; a client that is refused waits as long as `Retry-After` says.
Meanwhile another process asks /healthz and /readyz every 50 ms. Then documents of up to 50 kB that cost much to
validate come without a token to `serve --auth`, and 18 batches of 500 events to a service over an empty store, whose
memory is noted after each. SIGTERM comes under load. LINEAGE_BENCHMARK_SECONDS is the time of each load,
LINEAGE_BENCHMARK_CACHE the folder in which the graph is kept. The bars: /healthz within 100 ms, /readyz always 200,
an end within 30 s.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import embedded_path
from tests.benchmarks._load_clients import TIMEOUT, Asked, ask_impact, attack, probe
from tests.benchmarks.events import _in_batches, events_of_runs
from tests.benchmarks.service import _memory, _swallow
from tests.cli.test_serve_command import served

ON_REQUEST = True

GRAPH = LayeredGraph(layers=10, width=100, edges=100_000, hubs=20)
SECONDS = float(os.environ.get("LINEAGE_BENCHMARK_SECONDS", "20"))
CLIENTS = (16, 50)
HOSTILE = {
    "200 fragment spreads": "{"
    + " ".join(f"...f{n}" for n in range(200))
    + "}"
    + "".join(f"fragment f{n} on Query {{ service {{ version }} }} " + " " * 190 for n in range(200)),
    "service { version } x 1240": "{" + "service { version } " * 1_240 + "}",
    "table(name) { key name } x 380": "{" + 'table(name: "a") { key name } ' * 380 + "}",
    "__typename x 4900": "{" + "__typename " * 4_900 + "}",
}


class _Shown(dict[str, Any]):
    """Figures, each shown when it is known: a run takes minutes."""

    def __setitem__(self, name: str, figure: Any) -> None:
        print(f"   … {name}: {figure}", flush=True)
        super().__setitem__(name, figure)


def run() -> dict[str, Any]:
    keys = GRAPH.column_keys()
    drawn = random.Random(7).sample(keys[: len(keys) // 2], 200)
    figures: dict[str, Any] = _Shown()
    figures["columns"] = len(keys)
    figures["seconds"] = SECONDS
    figures["load_average"] = round(os.getloadavg()[0], 1)
    with _service("--store", str(embedded_path(GRAPH))) as (address, process), _processes() as pool:
        for clients in CLIENTS:
            probes = _probes(pool, address)
            asked = pool.submit(ask_impact, address, drawn, clients, SECONDS).result()
            figures[f"clients_{clients}"] = _answers(asked)
            for path, one in probes.items():
                figures[f"clients_{clients}_{path}"] = _reached(one.result())
        late = pool.submit(ask_impact, address, drawn, CLIENTS[-1], SECONDS)
        time.sleep(2)
        figures["sigterm_under_load_seconds"] = _end(process)
        late.result()
    with tempfile.TemporaryDirectory() as folder:
        tokens = str(Path(folder) / "tokens.json")
        store = str(Path(folder) / "store.db")
        with _service("--store", store, "--auth", "--tokens", tokens) as (address, _), _processes() as pool:
            for name, document in HOSTILE.items():
                reached = _probes(pool, address)["healthz"]
                refused = pool.submit(attack, address, document, SECONDS).result()
                figures[f"hostile {name}"] = {
                    "kB": len(document) // 1000,
                    **refused,
                    "healthz": _reached(reached.result()),
                }
        with _service("--store", store) as (address, process):
            figures["events_rss_mb"] = list(_memories(address, process))
            figures["sigterm_seconds"] = _end(process)
    return figures


@contextmanager
def _service(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with served(*arguments, "--log-format", "json") as (address, process):
        threading.Thread(target=_swallow, args=(process.stderr,), daemon=True).start()
        yield address, process


def _processes() -> ProcessPoolExecutor:
    """Return processes for what asks: a client's own work delays no probe."""
    return ProcessPoolExecutor(3, mp_context=get_context("spawn"))


def _end(process: subprocess.Popen[bytes]) -> float:
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)
    return round(time.monotonic() - began, 1)


def _memories(address: str, process: subprocess.Popen[bytes]) -> Iterator[int]:
    host = urlsplit(address).netloc
    for batch in _in_batches(events_of_runs(itertools.count(1), 9_000), 500):
        connection = http.client.HTTPConnection(host, timeout=TIMEOUT)
        head = {"Content-Type": "application/json"}
        connection.request("POST", "/api/v1/lineage/batch", json.dumps(list(batch)), head)
        assert connection.getresponse().status < 300
        connection.close()
        yield _memory(process.pid)


def _probes(pool: ProcessPoolExecutor, address: str) -> dict[str, Future[Asked]]:
    return {path: pool.submit(probe, address, path, SECONDS) for path in ("healthz", "readyz")}


def _answers(asked: Asked) -> dict[str, Any]:
    answered = asked.outcomes.get("200", 0)
    total = sum(asked.outcomes.values())
    return {
        "answers_per_second": round(answered / SECONDS, 1),
        "percent": {name: round(100 * count / total, 1) for name, count in sorted(asked.outcomes.items())},
    }


def _reached(asked: Asked) -> dict[str, Any]:
    in_ms = [taken * 1000 for taken in asked.seconds]
    return {"outcomes": asked.outcomes, "p50_ms": round(statistics.median(in_ms), 1), "max_ms": round(max(in_ms), 1)}
