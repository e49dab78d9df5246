"""What is measured of an estate, each in a process of its own: `python -m tests.benchmarks._growth_stages STAGE …`.

A stage prints its figures as JSON in the last line of its output. Seconds are of the clock, `cpu_seconds` of the
processor: the machine may be shared.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from lineage import Catalog, extract
from lineage.governance.propagation import load_value_graph, spread
from lineage.model.names import column_key, dataset_key
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore, open_store
from lineage.traversal import impact
from lineage.traversal.adjacency import KeptGraph
from tests.benchmarks._estate import COLUMNS, DATABASE, DIALECT, NAMESPACE, Estate
from tests.benchmarks.impact import BOUNDS, _target
from tests.benchmarks.service import QUERY
from tests.cli.test_serve_command import served

__all__ = ["STAGES"]

SECONDS = float(os.environ.get("LINEAGE_BENCHMARK_SECONDS", "900"))
"""Extraction stops after this time; what it would have taken is computed from the share that is done."""
ASKED, ROUNDS = 100, 3
TAGS = 1
"""Tagged columns of each project: a column of the first layer reaches thousands."""
LIMITS_MB = (192, 224, 256, 320, 384, 512, 640, 768, 1_024, 1_280, 1_536, 2_048, 3_072, 4_096)
LOADED = b"edges of the graph are in memory"


def extraction(estate: Estate) -> dict[str, Any]:
    """Extract each statement by itself, in the order of chance, with the schemas of all tables."""
    names = [f"c{place}" for place in range(COLUMNS)]
    graph = estate.graph
    tables = (divmod(number, graph.width) for number in range(graph.datasets))
    catalog = Catalog.from_dict({f"layer{layer:02}.t{place:05}": names for layer, place in tables}, DIALECT)
    files = [file for project in estate.projects[1:] for file in sorted(project.iterdir())]
    random.Random(1).shuffle(files)
    began, began_cpu = time.perf_counter(), time.process_time()
    done = edges = full = 0
    for file in files:
        for statement in extract(file.read_text(encoding="utf-8"), DIALECT, catalog):
            edges += len(statement.edges)
            full += statement.completeness == "full"
        done += 1
        if time.perf_counter() - began > SECONDS:
            break
    share = done / len(files)
    return {
        "statements": len(files),
        "extracted": done,
        "full": full,
        "edges": round(edges / share),
        "seconds": (time.perf_counter() - began) / share,
        "cpu_seconds": (time.process_time() - began_cpu) / share,
        "peak_mb": _peak(),
    }


def propagation(estate: Estate, store: Path) -> dict[str, Any]:
    """Find where the values of the tagged columns go, and how they are shown there, as `pii` commands do."""
    tags = tagged(estate)
    with open_store(store, read_only=True) as opened:
        began, began_cpu = time.perf_counter(), time.process_time()
        graph = load_value_graph(opened, tags, value_functions())
        reached = [len(spread(graph, key).reached) for key in tags]
        return {
            "tags": len(tags),
            "reached": sum(reached),
            "edges_read": sum(map(len, graph.steps.values())) + sum(map(len, graph.influences.values())),
            "seconds": time.perf_counter() - began,
            "cpu_seconds": time.process_time() - began_cpu,
            "peak_mb": _peak(),
        }


def tagged(estate: Estate) -> list[str]:
    """Return columns of the first layer by chance, some for each project."""
    chance = random.Random(3)
    return sorted({_key(estate, chance.randrange(estate.graph.width * COLUMNS)) for _ in range(TAGS * estate.scale)})


def traversal(estate: Estate, store: Path) -> dict[str, Any]:
    """Ask for the impact of columns by chance: of the file, and of the graph in memory."""
    figures: dict[str, Any] = {}
    with open_store(store, read_only=True) as opened:
        asked, reached = _drawn(estate, opened)
        figures |= {"asked": len(asked), "reached": [round(one) for one in statistics.quantiles(reached)]}
        figures |= {"file_" + name: figure for name, figure in _asked_of(opened, asked).items()}
        kept = KeptGraph(opened)
        began, began_cpu = time.perf_counter(), time.process_time()
        kept.load()
        figures["load_seconds"] = time.perf_counter() - began
        figures["load_cpu_seconds"] = time.process_time() - began_cpu
        opened.explore_beside(kept)
        figures |= {"memory_" + name: figure for name, figure in _asked_of(opened, asked).items()}
    return figures


def service(estate: Estate, store: Path) -> dict[str, Any]:
    """Serve the store on one processor with as little memory as it answers with; ask it for impact."""
    with open_store(store, read_only=True) as opened:
        asked, _ = _drawn(estate, opened)
    found: dict[str, Any] = {"limit_mb": None}
    low, high = 0, len(LIMITS_MB)
    while low < high:
        middle = (low + high) // 2
        figures = _served_within(LIMITS_MB[middle], store, asked)
        if figures:
            found, high = {"limit_mb": LIMITS_MB[middle], **figures}, middle
        else:
            low = middle + 1
    return found


def _served_within(limit: int, store: Path, asked: list[str]) -> dict[str, Any]:
    """Return how a service answers that may have so much memory; nothing, if it fails."""
    under = ["taskset", "--cpu-list", "0", "prlimit", f"--data={limit * 2**20}"]
    arguments = ("--store", str(store), "--read-only", "--limit", "cost=100000", "--limit", "seconds=60")
    taken = []
    try:
        with served(*arguments, under=under) as (address, process), httpx.Client(timeout=120) as client:
            began, log = time.monotonic(), b""
            while LOADED not in log:
                line = process.stderr.readline() if process.stderr is not None else b""
                if not line or b"MemoryError" in line or time.monotonic() - began > 300:
                    return {}
                log = line
            for key in asked:
                start = time.perf_counter()
                reply = client.post(f"{address}/graphql", json={"query": QUERY, "variables": {"column": key}})
                if reply.status_code != 200 or "errors" in reply.json():
                    return {}
                taken.append((time.perf_counter() - start) * 1000)
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    except (AssertionError, httpx.HTTPError):
        return {}
    percentiles = statistics.quantiles(taken, n=100)
    resident = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    return {"p50_ms": percentiles[49], "p95_ms": percentiles[94], "rss_mb": resident}


def _drawn(estate: Estate, store: GraphStore) -> tuple[list[str], list[int]]:
    """Return columns by chance that reach some, and at most as many as an answer has, and how many each reaches."""
    chance, asked = random.Random(7), dict[str, int]()
    while len(asked) < ASKED:
        key = _key(estate, chance.randrange(estate.columns))
        answer = impact(store, _target(key), BOUNDS)
        if answer.total and not answer.is_lower_bound:
            asked[key] = answer.total
    return list(asked), list(asked.values())


def _key(estate: Estate, number: int) -> str:
    dataset, place = divmod(number, COLUMNS)
    layer, at = divmod(dataset, estate.graph.width)
    return column_key(dataset_key(NAMESPACE, f"{DATABASE}.layer{layer:02}.t{at:05}"), f"c{place}")


def _asked_of(store: GraphStore, asked: list[str]) -> dict[str, float]:
    """Return the time of half of the whole answers and of 95 %; of some rounds the fastest counts for each column."""
    taken, cpu = [], []
    for key in asked:
        several = []
        for _ in range(ROUNDS):
            start, start_cpu = time.perf_counter(), time.process_time()
            answer = impact(store, _target(key), BOUNDS)
            _ = answer.by_hop, answer.datasets, answer.page(0, 100)
            several.append(((time.perf_counter() - start) * 1000, (time.process_time() - start_cpu) * 1000))
        taken.append(min(one for one, _ in several))
        cpu.append(min(one for _, one in several))
    percentiles, of_cpu = statistics.quantiles(taken, n=100), statistics.quantiles(cpu, n=100)
    return {
        "p50_ms": percentiles[49],
        "p95_ms": percentiles[94],
        "cpu_p50_ms": of_cpu[49],
        "cpu_p95_ms": of_cpu[94],
        "peak_mb": _peak(),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


STAGES: dict[str, Callable[..., dict[str, Any]]] = {
    "extraction": extraction,
    "propagation": propagation,
    "traversal": traversal,
    "service": service,
}

if __name__ == "__main__":
    _stage, _scale, _folder, *_store = sys.argv[1:]
    print(json.dumps(STAGES[_stage](Estate(int(_scale), Path(_folder)), *map(Path, _store))))
