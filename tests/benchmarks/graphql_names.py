"""GraphQL over Neo4j by the names that people type: it fails if a name is not found, or leads nowhere.

Of a graph of 1,000,000 columns: a search for a table, the table by its full name and by its last parts, and the
impact of a column by its name. `LINEAGE_BENCHMARK_CACHE` names the folder in which the graph is kept.
"""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from typing import Any

import httpx

from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import running_neo4j
from tests.cli.test_serve_command import served

__all__ = ["run"]

ON_REQUEST = True

QUERIES = {
    "search": "query ($table: String!) { found: search(text: $table, types: [TABLE]) { totalCount } }",
    "table": "query ($table: String!) { found: table(name: $table) { columns { totalCount } } }",
    "short_table": "query ($short: String!) { found: table(name: $short) { columns { totalCount } } }",
    "impact": """query ($column: String!) { found: impact(column: $column, first: 10) {
        totalCount nodes { column { name } path { steps { jobKey } } } } }""",
}
ASKED = 20


def run(graph: LayeredGraph | None = None) -> dict[str, Any]:
    """Ask about columns of the first layer; return how long the answers take.

    Raises:
        AssertionError: something was not found.
    """
    graph = graph or LayeredGraph()
    taken: dict[str, list[float]] = {name: [] for name in QUERIES}
    with ExitStack() as opened:
        server = opened.enter_context(running_neo4j(graph))
        login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password}
        limits = ("--limit", "cost=100000", "--limit", "seconds=60", "--log-format", "json")
        address, _ = opened.enter_context(served("--store", server.bolt_uri, *limits, environment=login))
        client = opened.enter_context(httpx.Client(timeout=120))
        for number in range(ASKED):
            column = graph.hub(number % graph.hubs)
            table = graph.dataset_key(column // graph.columns).rpartition("/")[2]
            names = {"table": table, "short": table.partition(".")[2], "column": f"{table}.{graph.path(column)}"}
            for name, query in QUERIES.items():
                start = time.perf_counter()
                reply = client.post(f"{address}/graphql", json={"query": query, "variables": names}).json()
                taken[name].append((time.perf_counter() - start) * 1000)
                found = (reply.get("data") or {}).get("found")
                counted = found and found.get("columns", found)["totalCount"]
                assert counted, f"{name} of {names} found nothing: {reply}"
    return {"asked": ASKED} | {f"{name}_p50_ms": round(statistics.median(times), 1) for name, times in taken.items()}
