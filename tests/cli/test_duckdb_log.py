"""A real DuckDB writes its log, and the log is ingested."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.query_logs.pipeline.test_search_path import stated

IN_FILE = "CALL enable_logging('QueryLog', storage = 'file', storage_config = {'path': 'log.csv', 'normalize': false})"


def process(name: str, statements: list[list[str]], begin: str) -> None:
    """Run what several connections of one process ask, by turns."""
    with duckdb.connect(name) as database:
        database.execute("CREATE SCHEMA s; CREATE TABLE s.o (x INT, k INT); CREATE TABLE r AS SELECT x FROM s.o")
        database.execute(begin)
        connections = [database.cursor() for _ in statements]
        for turn in range(max(map(len, statements))):
            for connection, listed in zip(connections, statements, strict=True):
                if turn < len(listed):
                    connection.execute(listed[turn])
        if begin != IN_FILE:
            database.execute(f"COPY (FROM duckdb_logs) TO '{name}.parquet'")
        database.execute("CALL disable_logging()")


ONE = ["CREATE TEMP TABLE r AS SELECT x FROM s.o", "CREATE TABLE s.v AS SELECT x FROM r"]
OTHER = ["SELECT 1", "CREATE TABLE s.w AS SELECT x FROM r"]


@pytest.mark.parametrize("begin", [IN_FILE, "CALL enable_logging('QueryLog')"], ids=["a file", "the view"])
def test_connections_and_processes_are_told_apart(begin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    process("a.db", [ONE, OTHER], begin)
    process("b.db", [["CREATE TABLE s.u AS SELECT x FROM r"]], begin)
    files = ["log.csv"] if begin == IN_FILE else ["a.db.parquet", "b.db.parquet"]
    for _ in range(2):
        done = lineage("ingest", "log", *files, "--source", "duckdb")
        assert done.code == 0, done.err
        with open_store(tmp_path / "lineage.db") as store:
            assert stated(store) == {"s.o#x s.v#x", "r#x s.w#x", "r#x s.u#x"}


def test_the_file_without_connections_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    process("a.db", [ONE], IN_FILE.replace("false", "true").replace("log.csv", "logs"))
    done = lineage("ingest", "log", "logs/duckdb_log_entries.csv", "--source", "duckdb")
    assert done.code != 0
    assert "connection_id" in done.err
