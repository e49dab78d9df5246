"""A layered graph in both stores, loaded once and kept in the folder that LINEAGE_BENCHMARK_CACHE names."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, repeat
from pathlib import Path
from typing import Any, TypeVar

import neo4j
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from lineage.neo4j_server import ManagedServer, ServerSettings, start_server, stop_server
from lineage.neo4j_server.jars import ensure_jars
from lineage.neo4j_server.java import find_java
from lineage.neo4j_server.ports import free_port
from lineage.neo4j_server.release import ADMIN_CLASS, JVM_OPTIONS
from lineage.store import open_store
from lineage.store.graph.schema import LABELS, RELATIONSHIPS, SCHEMA_VERSION, Changes, Node, Relationship
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.transaction import SqliteTransaction
from tests.benchmarks._layered_graph import LayeredGraph

__all__ = ["cache_folder", "embedded_path", "running_neo4j"]

T = TypeVar("T")

ROWS_AT_ONCE = 50_000
HEAP = PAGE_CACHE = "3g"
_TYPES = {pa.bool_(): "boolean", pa.int64(): "long", pa.timestamp("us"): "datetime", pa.list_(pa.string()): "string[]"}


def embedded_path(graph: LayeredGraph) -> Path:
    """Return the embedded store that holds the graph; it is made where it is not there."""
    path = cache_folder() / f"{graph.name}-{SCHEMA_VERSION}.db"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            made = Path(folder) / path.name
            with open_store(made):
                pass
            _copy(graph, made)
            for file in Path(folder).iterdir():
                file.rename(path.with_name(file.name))
    return path


@contextmanager
def running_neo4j(graph: LayeredGraph) -> Iterator[ManagedServer]:
    """Start a Neo4j that holds the graph, imported where it is not there; it is stopped after the block."""
    home = cache_folder() / f"{graph.name}-{SCHEMA_VERSION}.neo4j"
    settings = ServerSettings(heap=HEAP, page_cache=PAGE_CACHE, bolt_port=free_port(), http_port=free_port())
    if not (home / "imported").exists():
        shutil.rmtree(home, ignore_errors=True)
        schema = _schema(start_server(settings, home, timeout=300))
        stop_server(home)
        _import(graph, home)
        _restore(schema, start_server(settings, home, timeout=300))
        stop_server(home)
        (home / "imported").touch()
    server = start_server(settings, home, timeout=300)
    try:
        with open_store(server.bolt_uri, user=server.user, password=server.password):
            pass
        with neo4j.GraphDatabase.driver(server.bolt_uri, auth=(server.user, server.password)) as driver:
            driver.execute_query("CALL db.awaitIndexes(1200)")
        yield server
    finally:
        stop_server(home)


@dataclass(frozen=True)
class _Schema:
    """What a store has beside its graph, and an import deletes. Without it, opening migrates the graph."""

    statements: list[str]
    meta: list[dict[str, Any]]


def _schema(server: ManagedServer) -> _Schema:
    """Create a store's schema in an empty database; return it."""
    with open_store(server.bolt_uri, user=server.user, password=server.password):
        pass
    with neo4j.GraphDatabase.driver(server.bolt_uri, auth=(server.user, server.password)) as driver:
        shown = driver.execute_query("SHOW CONSTRAINTS YIELD createStatement AS text").records
        indexes = "SHOW INDEXES YIELD createStatement AS text, type, owningConstraint"
        shown += driver.execute_query(f"{indexes} WHERE type <> 'LOOKUP' AND owningConstraint IS NULL").records
        meta = driver.execute_query("MATCH (m:Meta) RETURN properties(m) AS of").records
    return _Schema([one["text"] for one in shown], [one["of"] for one in meta])


def _restore(schema: _Schema, server: ManagedServer) -> None:
    with neo4j.GraphDatabase.driver(server.bolt_uri, auth=(server.user, server.password)) as driver:
        for statement in schema.statements:
            driver.execute_query(statement)
        driver.execute_query("UNWIND $meta AS of CREATE (m:Meta) SET m = of", meta=schema.meta)


def cache_folder() -> Path:
    """Return the folder in which graphs are kept."""
    folder = Path(os.environ.get("LINEAGE_BENCHMARK_CACHE") or Path(tempfile.gettempdir()) / "lineage-benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _batched(items: Iterator[T], size: int) -> Iterator[tuple[T, ...]]:
    while some := tuple(islice(items, size)):
        yield some


def _copy(graph: LayeredGraph, path: Path) -> None:
    """Write the graph into an empty embedded store."""
    with closing(SqliteConnection(path, read_only=False)) as connection:
        # Indexes are made at the end, and edges written in the order of their table: this takes a tenth of the time.
        indexes = connection.rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql > ''", {}, None)
        connection.execute("BEGIN IMMEDIATE")
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        transaction = SqliteTransaction(connection)
        keys: dict[str, list[str]] = {}
        for nodes in graph.nodes():
            keys[nodes.label] = nodes.rows.column("key").to_pylist()
            empty = dict.fromkeys(LABELS[nodes.label])
            made = (Node(nodes.label, row["key"], {**empty, **row}) for row in _rows(nodes.rows))
            for some in _batched(made, ROWS_AT_ONCE):
                transaction.write(Changes(created_nodes=some))
                transaction.touched.clear()
        for edges in graph.relationships():
            source, target = edges.ends
            order = np.lexsort((edges.targets, edges.sources))
            ends = zip(edges.sources[order].tolist(), edges.targets[order].tolist(), strict=True)
            properties = _rows(edges.rows.take(pa.array(order))) if edges.rows is not None else repeat({})
            empty = dict.fromkeys(RELATIONSHIPS[edges.type].properties)
            tied = (
                Relationship(edges.type, source, keys[source][a], target, keys[target][b], {**empty, **row})
                for (a, b), row in zip(ends, properties, strict=False)
            )
            for many in _batched(tied, ROWS_AT_ONCE):
                transaction.write(Changes(created_relationships=many))
                transaction.touched.clear()
        for _, statement in indexes:
            connection.execute(statement)
        connection.execute("COMMIT")


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for part in table.to_batches(ROWS_AT_ONCE):
        for row in part.to_pylist():
            yield {name: one.replace(tzinfo=UTC) if isinstance(one, datetime) else one for name, one in row.items()}


def _import(graph: LayeredGraph, home: Path) -> None:
    """Have neo4j-admin import the graph into the database of a server that does not run."""
    java = find_java()
    jars = ensure_jars(java, print)
    with tempfile.TemporaryDirectory(dir=home) as folder:
        files = []
        for nodes in graph.nodes():
            path = Path(folder) / f"{nodes.label}.csv"
            numbers = pa.array(np.arange(nodes.rows.num_rows))
            _write(path, {f":ID({nodes.label})": numbers}, nodes.rows)
            files.append(f"--nodes={nodes.label}={path}")
        for number, edges in enumerate(graph.relationships()):
            path = Path(folder) / f"{number}.csv"
            ends = {
                f":START_ID({edges.ends[0]})": pa.array(edges.sources),
                f":END_ID({edges.ends[1]})": pa.array(edges.targets),
            }
            _write(path, ends, edges.rows)
            files.append(f"--relationships={edges.type}={path}")
        classpath = f"{jars}{os.sep}*"
        command = [str(java.path), "-Xmx3g", *JVM_OPTIONS, "-cp", classpath, ADMIN_CLASS]
        options = ["--id-type=integer", "--overwrite-destination", "--array-delimiter=;", "neo4j"]
        subprocess.run(
            [*command, "database", "import", "full", *files, *options],
            env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=home,  # it leaves a report where it runs
        )


def _write(path: Path, first: dict[str, pa.Array], rows: pa.Table | None) -> None:
    columns = dict(first)
    for name, values in zip(rows.column_names, rows.columns, strict=True) if rows is not None else ():
        kind = _TYPES.get(values.type)
        columns[f"{name}:{kind}" if kind else name] = _as_text(values, kind)
    csv.write_csv(pa.table(columns), path)


def _as_text(values: pa.ChunkedArray, kind: str | None) -> pa.ChunkedArray:
    if kind == "string[]":
        return pc.binary_join(values, ";")
    return pc.strftime(values, "%Y-%m-%dT%H:%M:%SZ") if kind == "datetime" else values
