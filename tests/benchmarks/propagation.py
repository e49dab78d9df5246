"""Personal data on a graph of 1,000,000 columns and 1,500,000 edges, of which 2,000 columns are tagged.

Timed is what all tags reach: where each value is, and what is shown of it there. Nothing is kept from one answer to the
next, so that a change of a tag or an edge costs what asking about its column costs: each of the tagged columns is asked
alone, too, and the answers are compared. LINEAGE_BENCHMARK_CACHE names the folder with the graph.
"""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

from lineage.garbage_collection import seldom_collecting
from lineage.governance.propagation import load_value_graph, spread
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import open_store
from tests.benchmarks._layered_graph import LayeredGraph
from tests.benchmarks._layered_stores import embedded_path

ON_REQUEST = True

EDGES = 1_500_000
TAGGED = 2_000
ALONE = 200


def run() -> dict[str, Any]:
    graph = LayeredGraph(edges=EDGES)
    keys = graph.column_keys()
    chance = random.Random(49)
    tagged = chance.sample(keys, TAGGED)
    functions = value_functions()
    with open_store(embedded_path(graph), read_only=True) as store, seldom_collecting():  # as a report does
        began, began_on_processor = time.perf_counter(), time.process_time()
        values = load_value_graph(store, tagged, functions)
        loaded = time.perf_counter()
        found = {key: spread(values, key) for key in tagged}
        ended, on_processor = time.perf_counter(), time.process_time() - began_on_processor
        alone = []
        for key in chance.sample(tagged, ALONE):
            start = time.perf_counter()
            one = spread(load_value_graph(store, [key], functions), key)
            alone.append(1000 * (time.perf_counter() - start))
            if one != found[key]:
                raise AssertionError(f"{key} alone is not what it is among others")
    reached = [len(one.reached) for one in found.values()]
    return {
        "columns": len(keys),
        "edges": EDGES,
        "tagged": TAGGED,
        "all_seconds": round(ended - began, 2),
        "seconds_of_a_processor": round(on_processor, 2),
        "of_which_reading": round(loaded - began, 2),
        "steps_read": sum(map(len, values.steps.values())),
        "reached": {"all": sum(reached), "median": statistics.median(reached), "most": max(reached)},
        "one_column_ms": {
            "median": round(statistics.median(alone), 1),
            "95th": round(sorted(alone)[int(0.95 * ALONE)], 1),
            "most": round(max(alone), 1),
        },
    }
