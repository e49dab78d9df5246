"""Writing a large batch into Neo4j from Spark's workers, against a bare loop that UNWINDs and MERGEs the same.

The bare loop gets the nodes and relationships ready made, knows no periods and reads nothing before it writes; it goes
in the batch size and with the number of threads that were the fastest for it on a smaller batch. Both write the same
into a graph of the same schema, one after the other, `ROUNDS` times. Edges are those between columns and to datasets.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from itertools import product
from typing import Any

import neo4j
from neo4j import ManagedTransaction
from pyspark.sql import SparkSession

from lineage.model.batch import LineageBatch
from lineage.store import open_store
from lineage.store.graph.schema import LABELS, RELATIONSHIPS, by_kind
from lineage.store.graph.writing.changes import count_changes, difference
from lineage.store.neo4j.transaction import for_rows, with_times
from lineage.store.planning.chunking.chunks import BatchPart, whole_batch
from lineage.store.planning.graph_state import GraphState
from lineage.store.planning.intake import resolve_intake
from lineage.store.planning.naming import NamesOverTime
from lineage.store.planning.plan import plan
from tests.benchmarks._warehouse import BEGIN, Warehouse
from tests.neo4j_fixture import Neo4jAddress, first_there_is

ON_REQUEST = True

JOBS = int(os.environ.get("LINEAGE_BENCHMARK_JOBS", "20000"))
FULL = Warehouse(datasets=JOBS // 4, jobs=JOBS)
SMALL = Warehouse(datasets=200, jobs=400)
ROUNDS = 3
SIZES = (1_000, 5_000, 10_000, 20_000, 50_000)
THREADS = (1, 2)


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with ExitStack() as stack:
        address = first_there_is(stack)
        spark = stack.enter_context(_spark())
        _emptied(address)
        with open_store(address.uri, user=address.user, password=address.password):
            pass
        _bare("MERGE", address, SMALL.batch("warm bare"), 5_000, 1)
        _in_parts(spark, address, SMALL.batch("warm ours"))
        tuned = {
            (size, threads): _bare("MERGE", address, SMALL.batch(f"tune {size} {threads}"), size, threads)
            for size, threads in product(SIZES, THREADS)
        }
        for (size, threads), rate in tuned.items():
            figures[f"merge_{size}_rows_{threads}_threads_edges_per_second"] = _say("tuning", rate)
        size, threads = max(tuned, key=tuned.__getitem__)
        bare, ours, peaks = [], [], []
        for number in range(ROUNDS):
            bare.append(_say("bare MERGE", _bare("MERGE", address, FULL.batch(f"bare {number}"), size, threads)))
            rate, peak = _in_parts(spark, address, FULL.batch(f"ours {number}"))
            ours.append(_say("in parts", rate))
            peaks.append(peak)
        again, _ = _in_parts(spark, address, FULL.batch("ours 0", BEGIN + timedelta(days=3)))
        created = _bare("CREATE", address, FULL.batch("created"), 20_000, 1)
        _emptied(address)
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    return figures | {
        "edges": FULL.jobs * FULL.edges_of_job,
        "merge_batch_size": size,
        "merge_threads": threads,
        "merge_edges_per_second": bare,
        "parts_edges_per_second": ours,
        "ratios": [round(ratio, 2) for ratio in ratios],
        "ratio": round(statistics.median(ratios), 2),
        "parts_again_edges_per_second": again,
        "create_edges_per_second": created,
        "worker_peak_mb": peaks,
        "driver_peak_mb": _peak_mb(),
    }


def _bare(verb: str, address: Neo4jAddress, new_batch: LineageBatch, size: int, threads: int) -> int:
    """Write all that the batch leaves in an empty graph, rows by rows; return how many edges a second."""
    naming = NamesOverTime()
    changes = difference(GraphState(), plan(GraphState(), resolve_intake(whole_batch(new_batch), naming), naming))
    steps: list[tuple[str, list[dict[str, Any]]]] = []
    for (label,), nodes in by_kind(changes.created_nodes):
        steps.append((_node(verb, label), [{"key": one.key, **one.properties} for one in nodes]))
    for (name, *ends), created in by_kind(changes.created_relationships):
        rows = [{"source": one.source, "target": one.target, **one.properties} for one in created]
        steps.append((_relationship(verb, name, ends), rows))
    start = time.perf_counter()
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver,
        ThreadPoolExecutor(threads) as pool,
    ):

        def write(statement: str, rows: list[dict[str, Any]], times: tuple[str, ...]) -> None:
            def work(managed: ManagedTransaction) -> None:
                managed.run(statement, rows=with_times(rows, times)).consume()

            with driver.session() as session:
                session.execute_write(work)

        for one, rows in steps:
            statement, times = for_rows(one)
            pieces = [rows[at : at + size] for at in range(0, len(rows), size)]
            for done in [pool.submit(write, statement, piece, times) for piece in pieces]:
                done.result()
    return round(count_changes(changes).edges_created / (time.perf_counter() - start))


def _node(verb: str, label: str) -> str:
    return f"{verb} (n:`{label}` {{key: $key}}) SET {_set('n', LABELS[label])}"


def _relationship(verb: str, name: str, ends: list[str]) -> str:
    kind = RELATIONSHIPS[name]
    identity = ", ".join(f"`{one}`: ${one}" for one in kind.identity)
    rest = _set("e", (one for one in kind.properties if one not in kind.identity))
    return (
        f"MATCH (a:`{ends[0]}` {{key: $source}}), (b:`{ends[1]}` {{key: $target}}) "
        f"{verb} (a)-[e:`{name}` {{{identity}}}]->(b) {f'SET {rest}' if rest else ''}"
    )


def _set(variable: str, properties: Iterable[str]) -> str:
    return ", ".join(f"{variable}.`{one}` = ${one}" for one in properties)


def _in_parts(spark: SparkSession, address: Neo4jAddress, new_batch: LineageBatch) -> tuple[int, int]:
    """Write the batch from Spark's workers; return how many edges a second, and the workers' largest peak in MB."""
    start = time.perf_counter()
    peaks = []
    with open_store(address.uri, user=address.user, password=address.password) as store:
        for parts in store.parts(new_batch):

            def apply(some: Iterable[BatchPart]) -> Iterator[int]:
                gc.set_threshold(100_000)
                with open_store(address.uri, user=address.user, password=address.password) as opened:
                    for part in some:
                        opened.apply(part)
                yield _peak_mb()

            peaks += spark.sparkContext.parallelize(parts, len(parts)).mapPartitions(apply).collect()
    return round(len(new_batch.edges) / (time.perf_counter() - start)), max(peaks)


@contextmanager
def _spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("neo4j_parts")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield session
    finally:
        session.stop()


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _say(what: str, rate: int) -> int:
    print(f"   {what}: {rate} edges/s", flush=True)
    return rate


def _emptied(address: Neo4jAddress) -> None:
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver,
        driver.session() as session,
    ):
        # Relationships first: with those of a few thousand hot nodes a transaction would not fit into memory.
        for pattern, found in (("()-[r]->()", "r"), ("(n) WHERE NOT n:Meta", "n")):
            deleted = f"CALL ({found}) {{ DELETE {found} }} IN TRANSACTIONS OF 20000 ROWS"
            session.run(f"MATCH {pattern} WITH {found} {deleted}").consume()
