"""Impact on a graph of 1,000,000 columns and 5,000,000 edges: both stores, beside hand-written Cypher in Neo4j.

The whole answer is timed: its number of columns, by hop and by dataset, and the first hundred with their paths. The
columns that are asked about are drawn at random from those that reach some, and at most 10,000. Each is asked
`ROUNDS` times of each, in turn, and the fastest counts: the machine is shared. LINEAGE_BENCHMARK_CACHE names the folder
in which the graph is kept.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neo4j

from lineage.model.names import split_column_key
from lineage.store import GraphStore, open_store
from lineage.traversal import Answer, Target, TraversalOptions, impact
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import HEAP, PAGE_CACHE, embedded_path, running_neo4j

ON_REQUEST = True

COLUMNS = 100
ROUNDS = 3
ROWS = 100
BOUNDS = TraversalOptions(max_hops=10)
WITHOUT_LIMIT = TraversalOptions(max_hops=10, limit_total=10_000_000)
MAX_COLUMNS = 10_000
HAND_WRITTEN = Path(__file__).with_suffix(".cypher").read_text(encoding="utf-8")


def run() -> dict[str, Any]:
    graph = LayeredGraph()
    keys = graph.column_keys()
    hubs = [keys[graph.hub(number)] for number in (0, 3, 10)]
    with (
        open_store(embedded_path(graph), read_only=True) as embedded,
        running_neo4j(graph) as server,
        open_store(server.bolt_uri, user=server.user, password=server.password, read_only=True) as store,
        neo4j.GraphDatabase.driver(
            server.bolt_uri,
            auth=(server.user, server.password),
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        ) as driver,
    ):

        def hand_written(key: str) -> int:
            with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
                return int(session.run(HAND_WRITTEN, key=key).single(strict=True)["total"])

        def ours(store: GraphStore) -> Callable[[str], int]:
            return lambda key: _whole(store, key).total

        asked, reached = _drawn(store, keys)
        ways = {"hand_written": hand_written, "neo4j": ours(store), "embedded": ours(embedded)}
        times: dict[str, list[float]] = {name: [] for name in ways}
        differing = 0
        for key, expected in zip(asked, reached, strict=True):
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, ask in ways.items():
                    start = time.perf_counter()
                    found = ask(key)
                    taken[name].append((time.perf_counter() - start) * 1000)
                    differing += name == "hand_written" and found != expected
                    if name != "hand_written" and found != expected:
                        raise AssertionError(f"{name} finds {found} columns from {key}, not {expected}")
            for name, several in taken.items():
                times[name].append(min(several))
        figures: dict[str, Any] = {
            "columns": len(keys),
            "edges": graph.edges,
            "neo4j_heap_and_page_cache": [HEAP, PAGE_CACHE],
            "asked": len(asked),
            "hand_written_differs_on": differing // ROUNDS,
            "reached_quartiles": [round(each) for each in statistics.quantiles(reached)],
        }
        for name, several in times.items():
            percentiles = statistics.quantiles(several, n=100)
            figures[f"{name}_p50_ms"] = round(percentiles[49], 1)
            figures[f"{name}_p95_ms"] = round(percentiles[94], 1)
        for name in ("neo4j", "embedded"):
            ratios = [one / other for one, other in zip(times[name], times["hand_written"], strict=True)]
            figures[f"{name}_against_hand_written"] = round(statistics.median(ratios), 2)
            together = sum(times[name]) / sum(times["hand_written"])
            figures[f"{name}_against_hand_written_together"] = round(together, 2)
        for name, opened in (("neo4j", store), ("embedded", embedded)):
            figures[f"{name}_hubs"] = [_first_page(opened, key) for key in hubs]
        figures["hubs_reach"] = _without_limit(store, hubs[1])
    return figures


def _whole(store: GraphStore, key: str) -> Answer:
    answer = impact(store, _target(key), BOUNDS)
    _ = answer.by_hop, answer.datasets, answer.page(0, ROWS)
    return answer


def _target(key: str) -> Target:
    dataset, column = split_column_key(key)
    return Target(key, key, dataset, column)


def _drawn(store: GraphStore, keys: list[str]) -> tuple[list[str], list[int]]:
    """Return columns by chance that reach some columns, and at most so many, and how many each reaches."""
    chance = random.Random(7)
    asked: dict[str, int] = {}
    while len(asked) < COLUMNS:
        key = chance.choice(keys)
        answer = impact(store, _target(key), BOUNDS)
        if answer.total and not answer.is_lower_bound:
            asked[key] = answer.total
    return list(asked), list(asked.values())


def _first_page(store: GraphStore, key: str) -> dict[str, Any]:
    """Return how long the first page of a hub's answer takes, at best of some, and what it says."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        answer = _whole(store, key)
        taken.append((time.perf_counter() - start) * 1000)
    return {"ms": round(min(taken)), "total": answer.total, "cuts": list(answer.cuts)}


def _without_limit(store: GraphStore, key: str) -> dict[str, Any]:
    start = time.perf_counter()
    total = impact(store, _target(key), WITHOUT_LIMIT).total
    return {"total": total, "seconds": round(time.perf_counter() - start, 1)}
