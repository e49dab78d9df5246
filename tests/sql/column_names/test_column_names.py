"""The names of columns without an alias, compared with those that real engines give to the same expressions.

A line of a file here is an expression over one table, which the engine accepts. ClickHouse's names are recorded. A name that we do not know must be in `uncertain.txt`, so that a loss is seen.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from lineage import extract
from lineage.sql.resolve.column_names.unnamed_column import UncertainName, UnnamedColumn, may_be_named
from tests.query_logs.servers.mariadb_server import running_mariadb

HERE = Path(__file__).parent


def expressions(dialect: str) -> list[str]:
    return [line for line in (HERE / f"{dialect}.txt").read_text("utf-8").splitlines() if not line.startswith("#")]


def compare(dialect: str, engine_name: Callable[[str], str | None], at_least: int) -> None:
    """Check our names of all expressions that the engine accepts: at least so many."""
    compared: int = 0
    wrong: list[str] = []
    uncertain: list[str] = []
    refused: list[str] = []
    for expression in expressions(dialect):
        real = engine_name(expression)
        if real is None:
            refused.append(expression)
            continue
        [ours] = extract(f"SELECT {expression} FROM t", dialect)[0].output_columns
        compared += 1
        folded = real if dialect == "clickhouse" else real.lower()
        if isinstance(ours, UncertainName):
            uncertain.append(expression)
        elif not may_be_named(str(ours), folded) and ours != folded:
            wrong.append(f"{expression}: {real}, not {ours}")
        elif isinstance(ours, UnnamedColumn) and "?" not in ours and ours.text != folded:
            wrong.append(f"{expression}: {real}, not {ours.text}")
    assert wrong == []
    assert refused == []
    assert compared >= at_least
    known = (HERE / "uncertain.txt").read_text("utf-8").splitlines()
    assert [one for one in uncertain if f"{dialect}: {one}" not in known] == []
    assert [one for one in known if one.startswith(f"{dialect}: ") and one.partition(": ")[2] not in uncertain] == []


def test_duckdb() -> None:
    database = duckdb.connect()
    database.execute(
        'CREATE TABLE t (a INT, b INT, s VARCHAR, d DATE, "Weird Name" INT, st STRUCT(x INT), l INT[], '
        "m MAP(VARCHAR, INT))"
    )

    def name(expression: str) -> str | None:
        try:
            return str(database.execute(f"SELECT {expression} FROM t").description[0][0])  # type: ignore[index]
        except duckdb.Error:
            return None

    compare("duckdb", name, 200)


def test_sqlite() -> None:
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE t (a INT, b INT, s TEXT, d TEXT, "Weird Name" INT)')

    def name(expression: str) -> str | None:
        try:
            return str(database.execute(f"SELECT * FROM (SELECT {expression} FROM t)").description[0][0])
        except sqlite3.Error:
            return None

    compare("sqlite", name, 90)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_spark(spark: SparkSession) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW t AS SELECT 1 a, 2 b, 'x' s, DATE '2020-01-01' d, 1 `Weird Name`, "
        "named_struct('x', 1) st, array(1) l, map('k', 1) m, true p, CAST('x' AS BINARY) y, "
        "TIMESTAMP '2020-01-01 00:00:00' ts, 1.5D f"
    )

    def name(expression: str) -> str | None:
        try:
            return str(spark.sql(f"SELECT {expression} FROM t").columns[0])
        except Exception:  # noqa: BLE001  many classes, by the reason
            return None

    compare("spark", name, 230)


def test_mariadb() -> None:
    with running_mariadb() as server, server.session() as session:
        for statement in (
            "CREATE DATABASE x",
            "USE x",
            "CREATE TABLE t (a INT, b INT, s VARCHAR(10), d DATE, `Weird Name` INT)",
        ):
            session.run(statement)

        def name(expression: str) -> str | None:
            session.run("DROP VIEW IF EXISTS v")
            session.run(f"CREATE VIEW v AS SELECT {expression} FROM t")
            found = session.run("SELECT column_name FROM information_schema.columns WHERE table_name = 'v'")
            return found.rstrip("\n") or None

        compare("mysql", name, 80)


def test_clickhouse() -> None:
    recorded = dict(line.split(" | ") for line in expressions("clickhouse"))
    for expression, real in recorded.items():
        [ours] = extract(f"SELECT {expression} FROM t", "clickhouse")[0].output_columns
        if not isinstance(ours, UncertainName):
            assert may_be_named(str(ours), real) or ours == real, expression
    uncertain = [
        expression
        for expression in recorded
        if isinstance(extract(f"SELECT {expression} FROM t", "clickhouse")[0].output_columns[0], UncertainName)
    ]
    assert len(recorded) > 100
    assert len(uncertain) < 20, uncertain
