"""Real engines over the hand-written cases of their dialect.

`differences.json` gives every difference by engine and cause: who is right (`we`, or `neither` where the engine cannot
be asked), and why. `spark_listener` has those between the Spark listener's lineage of the plan and that of the SQL:
`both` are right where they know different things. What an engine rejects and can be written otherwise is a wrong case:
mend it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.query_logs.servers.mariadb_server import running_mariadb
from tests.query_logs.servers.postgres_server import running_postgres
from tests.referees.case_tables import read_case
from tests.referees.comparison import CaseEngine, compare_case
from tests.referees.duckdb_engine import DuckdbEngine
from tests.referees.libpq import Libpq
from tests.referees.mariadb_engine import MariadbEngine
from tests.referees.postgres_engine import PostgresEngine
from tests.referees.spark_listener import SparkListener
from tests.referees.spark_session import running_spark
from tests.referees.sqlite_engine import SqliteEngine
from tests.sql.case_files import read_cases

CAUSES = json.loads(Path(__file__).with_name("differences.json").read_text(encoding="utf-8"))


@contextmanager
def asked_spark() -> Iterator[CaseEngine]:
    with running_spark() as spark:
        yield SparkListener(spark)


@contextmanager
def asked_postgres() -> Iterator[CaseEngine]:
    with running_postgres() as server:
        connection = Libpq(server.binaries, server.home)
        yield PostgresEngine(connection)
        connection.close()


@contextmanager
def asked_mariadb() -> Iterator[CaseEngine]:
    with running_mariadb() as server, server.session() as session:
        yield MariadbEngine(session)


@contextmanager
def asked_sqlite() -> Iterator[CaseEngine]:
    yield SqliteEngine()


@contextmanager
def asked_duckdb() -> Iterator[CaseEngine]:
    yield DuckdbEngine()


ENGINES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "spark": (asked_spark, ("spark", "databricks", "hive")),
    "postgres": (asked_postgres, ("postgres",)),
    "mariadb": (asked_mariadb, ("mysql",)),
    "sqlite": (asked_sqlite, ("sqlite",)),
    "duckdb": (asked_duckdb, ("duckdb",)),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("spark", marks=pytest.mark.xdist_group("referee_spark")),
        pytest.param("postgres", marks=pytest.mark.xdist_group("referee_servers")),
        pytest.param("mariadb", marks=pytest.mark.xdist_group("referee_servers")),
        "sqlite",
        "duckdb",
    ],
)
def test_every_difference_is_recorded_and_every_record_is_needed(name: str) -> None:
    start, dialects = ENGINES[name]
    found: dict[str, dict[str, list[str]]] = {name: {}, "spark_listener": {}}
    with start() as engine:  # type: ignore[attr-defined]
        second = engine.compare if isinstance(engine, SparkListener) else None
        for case in read_cases():
            for line in compare_case(read_case(case), engine, second) if case.dialect in dialects else ():
                by = "spark_listener" if line.startswith(("plan: ", "sql: ")) else name
                found[by].setdefault(case.name, []).append(line)
    assert found[name] == _recorded(name)
    assert name != "spark" or found["spark_listener"] == _recorded("spark_listener")


def _recorded(name: str) -> dict[str, list[str]]:
    return {case: lines for cause in CAUSES[name].values() for case, lines in cause["cases"].items()}


def test_every_cause_has_a_reason() -> None:
    causes = [cause for engine in CAUSES.values() for cause in engine.values()]
    assert all(
        cause["why"] and cause["cases"] and cause["right"] in ("we", "neither", "plan", "sql", "both")
        for cause in causes
    )
