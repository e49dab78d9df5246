"""Applying 100,000 edges to each store in four batches, new and again, against a bare loop that merges the same.

The bare loop does less: it knows no periods, no units, no ends; it is what the driver and the server can do at most.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import neo4j

from lineage.model.batch import (
    ColumnRecord,
    DatasetRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    definition_job_key,
)
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.store import GraphStore, open_store
from tests.neo4j_fixture import Neo4jAddress, first_there_is

BATCHES = 4
TABLES = 500
COLUMNS = 25
EDGES_PER_COLUMN = 2
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
ROWS_AT_ONCE = 10_000


def run() -> dict[str, Any]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = first_there_is(stack)
        with open_store(folder / "store.db") as embedded:
            figures = _applied("embedded", embedded)
        figures["embedded_mb"] = round(sum(path.stat().st_size for path in folder.iterdir()) / 1e6, 1)
        _emptied(address)
        bare = sum(_timed(partial(_merge_bare, address, batch(part, BEGIN))) for part in range(BATCHES))
        _emptied(address)
        with open_store(address.uri, user=address.user, password=address.password) as server:
            figures |= _applied("neo4j", server)
        _emptied(address)
    figures["neo4j_bare_merge_edges_per_second"] = round(_edges() / bare)
    figures["neo4j_new_against_bare_merge"] = round(figures["neo4j_new_seconds"] / bare, 2)
    figures["embedded_new_against_bare_merge"] = round(figures["embedded_new_seconds"] / bare, 2)
    return figures


def batch(part: int, at: datetime, *, tables: int = TABLES) -> LineageBatch:
    """Return a part of a warehouse of views: each column of each is made of columns of two other tables."""
    records = [
        DatasetRecord(
            "pg",
            f"part{part}.t{number}",
            columns=tuple(ColumnRecord(f"c{column}", "int", column) for column in range(COLUMNS)),
            schema_known=True,
        )
        for number in range(tables)
    ]
    edges, jobs = [], []
    for number, record in enumerate(records):
        key = definition_job_key(record.key)
        sources = [records[(number * 7 + step) % tables] for step in range(1, EDGES_PER_COLUMN + 1)]
        jobs.append(
            JobRecord(key, JobKind.DEFINITION, at, at, tuple(s.key for s in sources), (record.key,), "select …")
        )
        edges += [
            EdgeRecord(
                source=source.column_key(column.path),
                target=record.column_key(column.path),
                kind=EdgeKind.CONTRIBUTES,
                job=key,
                output=record.key,
                subtypes=(Subtype.IDENTITY,),
                spans=((7, 20),),
            )
            for column in record.columns
            for source in sources
        ]
    return LineageBatch(RunRecord(f"run:{part}", "sql", "benchmark", at), tuple(records), tuple(jobs), tuple(edges))


def _edges() -> int:
    return BATCHES * TABLES * COLUMNS * EDGES_PER_COLUMN


def _applied(name: str, store: GraphStore) -> dict[str, Any]:
    store.apply(batch(0, BEGIN, tables=20))
    new, again = (
        sum(_timed(partial(store.apply, batch(part, BEGIN + timedelta(days=day)))) for part in range(BATCHES))
        for day in (1, 2)
    )
    return {
        f"{name}_new_seconds": round(new, 2),
        f"{name}_new_edges_per_second": round(_edges() / new),
        f"{name}_again_seconds": round(again, 2),
        f"{name}_again_edges_per_second": round(_edges() / again),
    }


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _merge_bare(address: Neo4jAddress, new_batch: LineageBatch) -> None:
    """Merge columns and edges, rows by rows, with nothing around it."""
    keys = [{"key": record.column_key(column.path)} for record in new_batch.datasets for column in record.columns]
    rows = [{"a": edge.source, "b": edge.target, "job": edge.job, "at": BEGIN} for edge in new_batch.edges]
    statements = (
        ("UNWIND $rows AS row MERGE (:`Column` {key: row.key})", keys),
        (
            "UNWIND $rows AS row MATCH (a:`Column` {key: row.a}), (b:`Column` {key: row.b}) "
            "MERGE (a)-[e:CONTRIBUTES {job: row.job}]->(b) SET e.last_seen = row.at",
            rows,
        ),
    )
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query("CREATE CONSTRAINT column_key IF NOT EXISTS FOR (n:`Column`) REQUIRE n.key IS UNIQUE")
        driver.execute_query("CALL db.awaitIndexes()")
        with driver.session() as session:
            for statement, all_rows in statements:
                for start in range(0, len(all_rows), ROWS_AT_ONCE):
                    session.run(statement, rows=all_rows[start : start + ROWS_AT_ONCE]).consume()


def _emptied(address: Neo4jAddress) -> None:
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver,
        driver.session() as session,
    ):
        wanted = "MATCH (n) WHERE NOT n:Meta OR n.key STARTS WITH 'contents '"
        session.run(f"{wanted} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 10000 ROWS").consume()
