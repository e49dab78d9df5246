"""DuckDB's own log, written by DuckDB: what ran, and what did not last."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.query_logs.pipeline.running import edges

TABLES = (
    "CREATE TABLE s (id INT, status TEXT, amount INT)",
    "INSERT INTO s VALUES (1, 'a', 2)",
    "CREATE TABLE t (a INT)",
)
INSERT = "INSERT INTO t (a) SELECT amount FROM s"


def logged(folder: Path, *statements: str, again: bool = False) -> set[str]:
    """Return what a log of these statements states of the columns that tables are made from."""
    connection = duckdb.connect()
    connection.execute("CALL enable_logging('QueryLog')")
    for statement in (*TABLES, *statements):
        try:
            connection.execute(statement)
        except duckdb.Error:
            continue
    connection.execute(f"COPY (FROM duckdb_logs) TO '{folder}/log.parquet'")
    done = lineage("ingest", "log", folder / "log.parquet", "-s", folder / "graph.db")
    assert done.code == 0, done.err
    with open_store(folder / "graph.db") as store:
        found = [edge.replace("duckdb/", "").split(" [")[0] for edge in edges(store)]
    return {edge for edge in found if " CONTRIBUTES " in edge or "#" in edge}


WRITTEN = {"s#amount CONTRIBUTES t#a"}


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (("PREPARE p AS " + INSERT,), set()),
        (("PREPARE p AS " + INSERT, "EXECUTE p"), WRITTEN),
        (('PREPARE "P" AS INSERT INTO t (a) SELECT amount FROM s', 'execute "P"'), WRITTEN),
        (("PREPARE p AS SELECT 1", "PREPARE q AS " + INSERT, "EXECUTE p"), set()),
        (("BEGIN", INSERT, "COMMIT"), WRITTEN),
        (("BEGIN", INSERT, "ROLLBACK"), set()),
        (("BEGIN TRANSACTION", INSERT, "END"), WRITTEN),
        (("BEGIN", INSERT), WRITTEN),  # it may go on
    ],
)
def test_what_ran(statements: tuple[str, ...], found: set[str], tmp_path: Path) -> None:
    assert logged(tmp_path, *statements) == found


def test_a_transaction_that_ends_without_commit_is_rolled_back(tmp_path: Path) -> None:
    rows = [(3, "BEGIN"), (3, INSERT), (3, "SELECT nope"), (4, "SELECT amount FROM s")]
    lines = [f"2,{tid},{n},2026-01-01 00:00:0{n},QueryLog,{text}" for n, (tid, text) in enumerate(rows)]
    header = "connection_id,transaction_id,query_id,timestamp,type,message"
    (tmp_path / "log.csv").write_text("\n".join([header, *(line.replace("(a)", "") for line in lines)]) + "\n")
    lineage("ingest", "log", tmp_path / "log.csv", "-s", tmp_path / "graph.db")
    with open_store(tmp_path / "graph.db") as store:
        assert not [edge for edge in edges(store) if " CONTRIBUTES " in edge]


@pytest.mark.parametrize(
    ("written", "target", "column"),
    [("CREATE TABLE w AS", "w", "*"), ("INSERT INTO p", "p", "x"), ("CREATE TABLE w AS FROM", "w", "*")],
)
def test_pivot_without_values(written: str, target: str, column: str, tmp_path: Path) -> None:
    """DuckDB makes an enum of the values, and logs the PIVOT with it: the same jobs, however often it runs."""
    query = "PIVOT s ON status USING sum(amount) GROUP BY id"
    statement = f"{written} ({query})" if written.endswith("FROM") else f"{written} {query}"
    found = logged(tmp_path, "CREATE TABLE p (id INT, x INT)", *[statement] * 3)
    assert found >= {
        f"s#id CONTRIBUTES {target}#id",
        f"s#amount CONTRIBUTES {target}#{column}",
        f"s#status REFERENCES {target}#{column}",
    }
    with open_store(tmp_path / "graph.db") as store:
        jobs = [key for kind, key, _ in store.dump().nodes if kind == "Job" and key.startswith("query:")]
    assert len(jobs) <= 3  # the VALUES, the enum's query, the INSERT
