"""The service over a graph of 1,000,000 columns: whole GraphQL answers beside hand-written Cypher, and load.

The same hundred columns as in `impact`, asked of a service over Neo4j, of one over the embedded store, and of Neo4j
itself in Cypher; a query asks for the counts and for a hundred rows with their paths. `_with_tables` asks for what
table-level lineage adds besides, `_as_of` for the graph as it was, `_root_cause` for what those
columns come from. `hubs` are first pages of answers that are far beyond the limit of what is reached.

Then 50 clients ask the service over Neo4j for a minute (LINEAGE_BENCHMARK_SECONDS): how many answers, how long they
take, whether one fails, and how much memory the service has, before and in ten parts of the time.
LINEAGE_BENCHMARK_CACHE names the folder in which the graph is kept.
"""

from __future__ import annotations

import os
import random
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx
import neo4j

from lineage.store import open_store
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import HEAP, PAGE_CACHE, embedded_path, running_neo4j
from tests.benchmarks.impact import HAND_WRITTEN, ROUNDS, _drawn
from tests.cli.test_serve_command import served

ON_REQUEST = True

CLIENTS = 50
SECONDS = float(os.environ.get("LINEAGE_BENCHMARK_SECONDS", "60"))
QUERY = """query ($column: String!) { impact(column: $column, maxHops: 10, first: 100) {
  totalCount totalCountIsLowerBound countsByHop { hops columns } tableCount tables { name columns }
  edges { node { key hops influence masked path { steps { sourceKey targetKey kind jobKey } } } } } }"""
AS_OF = QUERY.replace("maxHops", 'asOf: "2026-01-01T00:00:00Z", maxHops')
ROOT_CAUSE = QUERY.replace("impact(", "impact: rootCause(")
WITH_TABLES = QUERY.replace("tableCount", "tableCount truncated possiblyAffected { name hops }")


def run() -> dict[str, Any]:
    graph = LayeredGraph()
    keys = graph.column_keys()
    hubs = [keys[graph.hub(number)] for number in (0, 3, 10)]
    with ExitStack() as opened:
        server = opened.enter_context(running_neo4j(graph))
        with open_store(server.bolt_uri, user=server.user, password=server.password) as store:
            asked, reached = _drawn(store, keys)
        login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password}
        address, process = _served(opened, server.bolt_uri, login)
        embedded, _ = _served(opened, str(embedded_path(graph)), {}, "--read-only")
        driver = opened.enter_context(
            neo4j.GraphDatabase.driver(
                server.bolt_uri,
                auth=(server.user, server.password),
                notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            )
        )
        client = opened.enter_context(httpx.Client(timeout=120))

        def hand_written(key: str) -> int:
            with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
                return int(session.run(HAND_WRITTEN, key=key).single(strict=True)["total"])

        def service(of: str, query: str = QUERY) -> Callable[[str], int]:
            return lambda key: _ask(client, of, key, query)

        ways = {
            "hand_written": hand_written,
            "neo4j": service(address),
            "neo4j_with_tables": service(address, WITH_TABLES),
            "neo4j_as_of": service(address, AS_OF),
            "neo4j_root_cause": service(address, ROOT_CAUSE),
            "embedded": service(embedded),
            "embedded_with_tables": service(embedded, WITH_TABLES),
            "embedded_as_of": service(embedded, AS_OF),
            "embedded_root_cause": service(embedded, ROOT_CAUSE),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for key, expected in zip(asked, reached, strict=True):
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, ask in ways.items():
                    start = time.perf_counter()
                    found = ask(key)
                    taken[name].append((time.perf_counter() - start) * 1000)
                    exact = name != "hand_written" and not name.endswith("root_cause")
                    assert not exact or found == expected, (name, key, found, expected)
            for name, several in taken.items():
                times[name].append(min(several))
        first_pages = {
            of: [_best(service(where), key) for key in hubs]
            for of, where in (("neo4j", address), ("embedded", embedded))
        }
        load = _load(address, process, asked)
    figures: dict[str, Any] = {"neo4j_heap_and_page_cache": [HEAP, PAGE_CACHE], "asked": len(asked)}
    for name, several in times.items():
        percentiles = statistics.quantiles(several, n=100)
        figures[f"{name}_p50_ms"] = round(percentiles[49], 1)
        figures[f"{name}_p95_ms"] = round(percentiles[94], 1)
    for name in ("neo4j", "embedded"):
        ratios = [one / other for one, other in zip(times[name], times["hand_written"], strict=True)]
        figures[f"{name}_against_hand_written"] = round(statistics.median(ratios), 2)
        figures[f"{name}_against_hand_written_together"] = round(sum(times[name]) / sum(times["hand_written"]), 2)
        figures[f"{name}_hubs_first_page_ms"] = first_pages[name]
    return figures | load


def _served(opened: ExitStack, store: str, login: dict[str, str], *options: str) -> tuple[str, Popen[bytes]]:
    """Start a service that is not limited by cost or time; return its address, and its process."""
    limits = ("--limit", "cost=100000", "--limit", "seconds=60")
    started = served("--store", store, "--log-format", "json", *limits, *options, environment=login)
    address, process = opened.enter_context(started)
    threading.Thread(target=_swallow, args=(process.stderr,), daemon=True).start()
    return address, process


def _best(ask: Callable[[str], int], key: str) -> int:
    """Return how long an answer takes at best, in milliseconds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        ask(key)
        taken.append((time.perf_counter() - start) * 1000)
    return round(min(taken))


def _swallow(logs: Any) -> None:
    while logs.read(65_536):
        pass


def _ask(client: httpx.Client, address: str, key: str, query: str = QUERY) -> int:
    reply = client.post(f"{address}/graphql", json={"query": query, "variables": {"column": key}}).json()
    return int(reply["data"]["impact"]["totalCount"])


def _load(address: str, process: Popen[bytes], asked: list[str]) -> dict[str, Any]:
    """Return how long the answers took that 50 clients had within the time, how many failed, the memory meanwhile."""
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

    memory = [_memory(process.pid)]
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        time.sleep(SECONDS / 10)
        memory.append(_memory(process.pid))
    for thread in threads:
        thread.join()
    percentiles = statistics.quantiles(answers, n=100)
    return {
        "clients": CLIENTS,
        "load_seconds": SECONDS,
        "load_answers": len(answers),
        "load_failures": len(failures),
        "load_p50_ms": round(percentiles[49] * 1000),
        "load_p95_ms": round(percentiles[94] * 1000),
        "load_rss_mb": memory,
    }


def _memory(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024
