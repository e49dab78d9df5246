"""The names of columns without an alias, compared with those that real engines give to the same expressions.

A line of a file here is an expression over one table, which the engine accepts. ClickHouse's names are recorded. A name
that we do not know must be in `uncertain.txt`, so that a loss is seen.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from lineage import Catalog, extract, extract_script
from lineage.sql.resolve.column_names.unnamed_column import UncertainName, may_be_named
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
        elif getattr(ours, "text", ours) != folded and not ("?" in ours and may_be_named(ours, folded)):
            wrong.append(f"{expression}: {real}, not {getattr(ours, 'text', ours)}")
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
            return str(database.execute(f"SELECT {expression} FROM t").description[0][0])
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
        "TIMESTAMP '2020-01-01 00:00:00' ts, 1.5D f, array(named_struct('x', 1)) o, map('k', named_struct('x', 1)) n, "
        "named_struct('p', named_struct('q', 1)) w"
    )

    def name(expression: str) -> str | None:
        try:
            return str(spark.sql(f"SELECT {expression} FROM t").columns[0])
        except Exception:  # noqa: BLE001  many classes, by the reason
            return None

    compare("spark", name, 255)


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


def output(sql: str, dialect: str, columns: dict[str, list[str]] | None = None) -> tuple[list[str], list[str], str]:
    """Return the output columns, edges and completeness of the last statement."""
    tables = {name: dict.fromkeys(listed, "int") for name, listed in (columns or {"t": ["a", "b", "s"]}).items()}
    last = extract_script(sql, dialect, Catalog.from_dict(tables, dialect))[-1]
    return last.output_columns, sorted(map(str, last.edges)), last.completeness


def test_columns_that_differ_in_a_literal_are_two() -> None:
    sql = 'CREATE VIEW v AS SELECT a + 1, a + 2 FROM t; SELECT "(a + 2)" FROM v'
    assert output(sql, "duckdb") == (["(a + ?2)"], ["v.(a + ?2) -> (a + ?2) [IDENTITY]"], "full")
    sql = 'SELECT "(a + 2)" FROM (SELECT a + 1, a + 2 FROM t) ORDER BY "(a + 2)"'
    assert output(sql, "duckdb")[:2] == (["(a + ?2)"], ["t.a -> (a + ?2) [TRANSFORMATION]", "t.a ~> * [SORT]"])


def test_a_name_that_may_be_that_of_several_columns_is_ambiguous() -> None:
    known = {"v": ["(a -> ?)", "(a -> ?2)"]}
    names, edges, completeness = output("""SELECT "(a -> 'x')" FROM v""", "duckdb", known)
    assert edges == [f"v.(a -> {one}) -> (a -> ?) [IDENTITY ambiguous]" for one in ("?", "?2")]
    assert (names, completeness) == (["(a -> ?)"], "partial")


@pytest.mark.parametrize("dialect", ["duckdb", "spark", "mysql", "sqlite", "snowflake", "clickhouse"])
def test_no_literal_is_in_a_name(dialect: str) -> None:
    expressions = (
        "s || 'secret'",
        "'secret'",
        "a + 4711",
        "CASE WHEN s = 'secret' THEN 4711 END",
        "s IN ('secret', 'x')",
    )
    sql = f"CREATE TABLE r AS SELECT {', '.join(expressions)} FROM t /* secret */; CREATE TABLE q AS SELECT * FROM r"
    for statement in extract_script(sql, dialect, Catalog.from_dict({"t": {"a": "int", "s": "text"}}, dialect)):
        told = f"{json.dumps(statement.to_dict())}{pickle.loads(pickle.dumps(statement))}".lower()
        assert "secret" not in told
        assert "4711" not in told


def test_spaces_and_the_length_of_a_list_do_not_change_a_stored_name() -> None:
    one, other = "SELECT a+1, s in ('x') FROM t", "SELECT a  + 1, s in ('x',\n'y') /* z */ FROM t"
    for dialect in ("sqlite", "mysql", "snowflake", "duckdb", "spark"):
        assert extract(one, dialect)[0].output_columns == extract(other, dialect)[0].output_columns
