"""The service with the graph in memory: 5,000,000 edges over GraphQL on loopback, and its memory beside small runs.

A query asks for the counts, the tables and a hundred rows with their paths (as in `service`). Shown for each store:
the seconds from the start of `lineage serve` to its first answer and to the graph in memory, the bytes an edge and
direction, the answers to one client, and for a minute those to 50 clients in processes of their own.

LINEAGE_BENCHMARK_CACHE names the folder in which the graph is kept, LINEAGE_BENCHMARK_STORES the stores,
LINEAGE_BENCHMARK_SECONDS how long the 50 clients ask, LINEAGE_BENCHMARK_RUNS the number of small runs (20,000).
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import httpx

from lineage.store import open_store
from lineage.traversal import impact
from lineage.traversal.adjacency import KeptGraph
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import embedded_path, running_neo4j
from tests.benchmarks._load_clients import ask_impact
from tests.benchmarks.impact import BOUNDS, _target
from tests.benchmarks.service import QUERY, _ask, _memory
from tests.cli.test_serve_command import served

ON_REQUEST = True

STORES = os.environ.get("LINEAGE_BENCHMARK_STORES", "embedded neo4j").split()
SECONDS = float(os.environ.get("LINEAGE_BENCHMARK_SECONDS", "60"))
RUNS = int(os.environ.get("LINEAGE_BENCHMARK_RUNS", "20000"))
ASKED, ROUNDS, CLIENTS, WORKERS, EARLY_RUNS = 100, 3, 50, 2, 500
LIMITS = ("--limit", "cost=100000", "--limit", "seconds=60", "--limit", "waiting=100")
_LOADED = re.compile(rb"(\d+) edges of the graph are in memory: ([\d.]+) s, (\d+) MB")


def run() -> dict[str, Any]:
    graph = LayeredGraph()
    asked = _drawn(graph)
    figures: dict[str, Any] = {"edges": graph.edges, "asked": len(asked), "load_average": round(os.getloadavg()[0], 1)}
    if "embedded" in STORES:
        figures |= _of_store("embedded", str(embedded_path(graph)), {}, asked)
    if "neo4j" in STORES:
        with running_neo4j(graph) as server:
            login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password}
            figures |= _of_store("neo4j", server.bolt_uri, login, asked)
    if RUNS:
        figures["small_runs_rss_mb"] = _beside_small_runs()
    return figures


def _drawn(graph: LayeredGraph) -> list[str]:
    """Return columns by chance that reach some columns, and at most 10,000."""
    keys, chance, asked = graph.column_keys(), random.Random(7), set[str]()
    with open_store(embedded_path(graph), read_only=True) as store:
        kept = KeptGraph(store)
        kept.load()
        store.explore_beside(kept)
        while len(asked) < ASKED:
            key = chance.choice(keys)
            answer = impact(store, _target(key), BOUNDS)
            if answer.total and not answer.is_lower_bound:
                asked.add(key)
    return sorted(asked)


def _of_store(name: str, store: str, login: dict[str, str], asked: list[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with ExitStack() as opened:
        began = time.monotonic()
        address, process = opened.enter_context(served("--store", store, *LIMITS, environment=login))
        loaded = _Loaded(process, 1)
        client = opened.enter_context(httpx.Client(timeout=120))
        client.post(f"{address}/graphql", json={"query": "{ tables(first: 1) { totalCount } }"}).raise_for_status()
        figures["first_answer_seconds"] = round(time.monotonic() - began, 1)
        loaded.wait()
        figures |= loaded.figures
        taken = []
        for key in asked:
            several = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                _ask(client, address, key)
                several.append((time.perf_counter() - start) * 1000)
            taken.append(min(several))
        percentiles = statistics.quantiles(taken, n=100)
        figures |= {"p50_ms": round(percentiles[49], 1), "p95_ms": round(percentiles[94], 1)}
        figures["rss_mb"] = _memory(process.pid)
    with ExitStack() as opened:
        arguments = ("--store", store, "--workers", str(WORKERS), *LIMITS)
        address, process = opened.enter_context(served(*arguments, environment=login))
        _Loaded(process, WORKERS).wait()
        pool = opened.enter_context(ProcessPoolExecutor(1, mp_context=get_context("spawn")))
        found = pool.submit(ask_impact, address, asked, CLIENTS, SECONDS, QUERY).result()
        percentiles = statistics.quantiles(found.seconds, n=100)
        figures |= {
            "load_answers_per_second": round(found.outcomes.get("200", 0) / SECONDS),
            "load_outcomes": found.outcomes,
            "load_p50_ms": round(percentiles[49] * 1000),
            "load_p95_ms": round(percentiles[94] * 1000),
        }
    return {f"{name}_{one}": figure for one, figure in figures.items()}


class _Loaded:
    """Reads the log of a service until its workers have the graph in memory."""

    def __init__(self, process: subprocess.Popen[bytes], workers: int) -> None:
        self.figures: dict[str, Any] = {}
        self._left, self._log = workers, process.stderr
        self._done = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def wait(self) -> None:
        """Wait until the graph is in memory.

        Raises:
            TimeoutError: it takes ten minutes.
        """
        if not self._done.wait(600):
            raise TimeoutError

    def _read(self) -> None:
        for line in iter(self._log.readline, b"") if self._log is not None else ():
            found = _LOADED.search(line)
            if found is not None:
                edges, seconds, size = (float(one) for one in found.groups())
                bytes_of_edge = round(size * 1e6 / edges / 2, 1)
                self.figures |= {"load_seconds": seconds, "bytes_an_edge_and_direction": bytes_of_edge}
                self._left -= 1
                if not self._left:
                    self._done.set()


def _beside_small_runs() -> dict[str, int]:
    """Return the memory of a service that is asked beside another process's small runs, early and at the end."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store.db")
        with served("--store", store) as (address, process):
            _Loaded(process, 1)
            command = [sys.executable, "-m", "tests.store.small_runs", store, str(RUNS)]
            writing = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for line in writing.stdout or ():
                number = int(line.split()[0])
                reply = httpx.post(f"{address}/graphql", json={"query": '{ impact(table: "av1") { totalCount } }'})
                assert reply.json().get("data"), reply.text
                if number >= EARLY_RUNS:
                    found[str(number)] = _memory(process.pid)
            assert writing.wait() == 0
    return found
