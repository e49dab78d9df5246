"""Ingests of a log that are killed, and started again: python -m tests.query_logs.killing --engine spark --kills 5.

Each ingest is a process of its own, killed with SIGKILL after a random part of the time that an undisturbed one takes;
the last one is left to end. What the graph holds then must be what one undisturbed ingest leaves, node for node and
edge for edge, but for the seconds that it took.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lineage.store import GraphStore, open_store
from tests.neo4j_fixture import Neo4jAddress, first_there_is
from tests.query_logs.make import make, runs

__all__ = ["killed_and_undisturbed"]


def killed_and_undisturbed(
    folder: Path, engine: str, kills: int, seed: int, rows: int, server: Neo4jAddress | None = None
) -> tuple[Any, Any, list[float]]:
    """Return what both graphs hold, and after how many seconds the ingests were killed.

    Args:
        folder: for the log and the stores.
        engine: local or spark.
        kills: how many ingests are killed.
        seed: of the log, and of when they are killed.
        rows: of the log.
        server: a Neo4j, emptied before each of the two; without one, embedded stores.
    """
    make(folder / "log", "postgres_json", runs("postgres_json", rows, rows // 20, seed), "jsonl", files=2)
    pick = random.Random(seed)
    undisturbed, killed = (server.uri if server else str(folder / name) for name in ("one.db", "other.db"))
    _empty(server)
    began = time.monotonic()
    _ingest(folder, engine, undisturbed, server).wait()
    took = time.monotonic() - began
    expected = _dump(undisturbed, server)
    _empty(server)
    after: list[float] = []
    for _ in range(kills):
        process = _ingest(folder, engine, killed, server)
        after.append(round(took * pick.uniform(0.2, 1), 2))
        try:
            process.wait(after[-1])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if _ingest(folder, engine, killed, server).wait() not in (0, 1):
        raise RuntimeError("the last ingest failed")
    return _dump(killed, server), expected, after


def _ingest(folder: Path, engine: str, store: str, server: Neo4jAddress | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lineage_ingest.query_log", str(folder / "log"), "--source", "postgres_json"]
    options = ["--engine", engine, "--store", store, "--observed-at", "2026-03-01", "--show", "1"]
    login = {"LINEAGE_NEO4J_USER": server.user, "LINEAGE_NEO4J_PASSWORD": server.password} if server else {}
    with (folder / "out.txt").open("ab") as out:
        return subprocess.Popen(
            [*command, *options], stdout=out, stderr=out, start_new_session=True, env={**os.environ, **login}
        )


def _dump(address: str, server: Neo4jAddress | None) -> Any:
    with _opened(address, server) as store:
        dump = store.dump()
    for _, _, properties in dump.nodes:
        properties.pop("seconds", None)
    return dump


def _opened(address: str, server: Neo4jAddress | None) -> GraphStore:
    return open_store(address, user=server.user, password=server.password) if server else open_store(address)


def _empty(server: Neo4jAddress | None) -> None:
    if server is not None:
        import neo4j  # noqa: PLC0415  only where there is a server

        with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
            driver.execute_query("MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents ' DETACH DELETE n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="spark", choices=("local", "spark"))
    parser.add_argument("--store", default="embedded", choices=("embedded", "neo4j"))
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = first_there_is(stack) if given.store == "neo4j" else None
        killed, expected, after = killed_and_undisturbed(
            folder, given.engine, given.kills, given.seed, given.rows, server
        )
    same = killed.nodes == expected.nodes and killed.relationships == expected.relationships
    print(f"killed after {', '.join(map(str, after))} s: {'the same graph' if same else 'ANOTHER GRAPH'}")
    print(f"{len(expected.nodes):,} nodes, {len(expected.relationships):,} relationships")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
