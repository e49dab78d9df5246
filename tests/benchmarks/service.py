"""The service over a graph of 1,000,000 columns in Neo4j: whole GraphQL answers beside hand-written Cypher, and load.

The same hundred columns as in `impact`; a query asks for the counts and for a hundred rows with their paths. Then 50
clients ask for a minute (LINEAGE_BENCHMARK_SECONDS): how many answers, how long they take, whether one fails, and how
much memory the service has before and after. LINEAGE_BENCHMARK_CACHE names the folder in which the graph is kept.
"""

from __future__ import annotations

import os
import random
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import neo4j

from lineage.store import open_store
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import HEAP, PAGE_CACHE, running_neo4j
from tests.benchmarks.impact import HAND_WRITTEN, ROUNDS, _drawn
from tests.e2e.test_serve_command import served

ON_REQUEST = True

CLIENTS = 50
SECONDS = float(os.environ.get("LINEAGE_BENCHMARK_SECONDS", "60"))
QUERY = """query ($column: String!) { impact(column: $column, maxHops: 10, first: 100) {
  totalCount totalCountIsLowerBound countsByHop { hops columns } tableCount tables { name columns }
  edges { node { key hops influence masked path { steps { sourceKey targetKey kind jobKey } } } } } }"""


def run() -> dict[str, Any]:
    graph = LayeredGraph()
    keys = graph.column_keys()
    with running_neo4j(graph) as server:
        with open_store(server.bolt_uri, user=server.user, password=server.password) as store:
            asked, reached = _drawn(store, keys)
        login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password}
        options = (
            "--store",
            server.bolt_uri,
            "--log-format",
            "json",
            "--limit",
            "cost=100000",
            "--limit",
            "seconds=60",
        )
        with (
            served(*options, environment=login) as (address, process),
            neo4j.GraphDatabase.driver(
                server.bolt_uri,
                auth=(server.user, server.password),
                notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            ) as driver,
            httpx.Client(timeout=120) as client,
        ):
            threading.Thread(target=_swallow, args=(process.stderr,), daemon=True).start()
            times: dict[str, list[float]] = {"hand_written": [], "service": []}
            for key, expected in zip(asked, reached, strict=True):
                taken: dict[str, list[float]] = {name: [] for name in times}
                for _ in range(ROUNDS):
                    start = time.perf_counter()
                    with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
                        session.run(HAND_WRITTEN, key=key).single(strict=True)
                    taken["hand_written"].append((time.perf_counter() - start) * 1000)
                    start = time.perf_counter()
                    found = _ask(client, address, key)
                    taken["service"].append((time.perf_counter() - start) * 1000)
                    assert found == expected, (key, found, expected)
                for name, several in taken.items():
                    times[name].append(min(several))
            before = _memory(process.pid)
            answers, failures = _load(address, asked)
            after = _memory(process.pid)
    figures: dict[str, Any] = {"neo4j_heap_and_page_cache": [HEAP, PAGE_CACHE], "asked": len(asked)}
    for name, several in times.items():
        percentiles = statistics.quantiles(several, n=100)
        figures[f"{name}_p50_ms"] = round(percentiles[49], 1)
        figures[f"{name}_p95_ms"] = round(percentiles[94], 1)
    ratios = [one / other for one, other in zip(times["service"], times["hand_written"], strict=True)]
    figures["against_hand_written"] = round(statistics.median(ratios), 2)
    figures["against_hand_written_together"] = round(sum(times["service"]) / sum(times["hand_written"]), 2)
    under_load = statistics.quantiles(answers, n=100)
    return figures | {
        "clients": CLIENTS,
        "load_seconds": SECONDS,
        "load_answers": len(answers),
        "load_failures": failures,
        "load_p50_ms": round(under_load[49] * 1000),
        "load_p95_ms": round(under_load[94] * 1000),
        "rss_mb_before_and_after": [before, after],
    }


def _swallow(logs: Any) -> None:
    while logs.read(65_536):
        pass


def _ask(client: httpx.Client, address: str, key: str) -> int:
    told = client.post(f"{address}/graphql", json={"query": QUERY, "variables": {"column": key}}).json()
    return int(told["data"]["impact"]["totalCount"])


def _load(address: str, asked: list[str]) -> tuple[list[float], int]:
    """Return how long the answers took that 50 clients had within the time, in seconds, and how many failed."""
    answers: list[float] = []
    failures: list[Exception] = []
    ends = time.monotonic() + SECONDS

    def work(seed: int) -> None:
        chance = random.Random(seed)
        with httpx.Client(timeout=120) as client:
            while time.monotonic() < ends:
                start = time.perf_counter()
                try:
                    _ask(client, address, chance.choice(asked))
                except (httpx.HTTPError, KeyError, TypeError) as error:
                    failures.append(error)
                else:
                    answers.append(time.perf_counter() - start)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers, len(failures)


def _memory(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024
