"""One pipeline, two engines: the same graph, whether a log is read in-process or on Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lineage.model.diagnostics import DiagnosticCode
from lineage.store import open_store
from lineage_ingest.query_log import ColumnsMissingError, source_named
from lineage_ingest.query_log.ingest import ingest_log
from lineage_ingest.query_log.pipeline.extraction import Setting
from lineage_ingest.query_log.pipeline.opening import (
    EngineKind,
    Jdbc,
    LogInput,
    SparkOptions,
    open_engine,
    spark_session,
)
from tests.query_logs.broken_files import break_files
from tests.query_logs.forms import FOLDER as FORMS_FOLDER
from tests.query_logs.make import make, runs
from tests.query_logs.test_spark_event_logs import application
from tests.soundness.warehouse.campaign import Campaign, Plan
from tests.soundness.warehouse.check import Settings

pytestmark = pytest.mark.xdist_group("spark")

AT = datetime(2026, 3, 1, tzinfo=UTC)
# Files that Spark reads in pieces, files of which a worker reads each whole, and rows that are put together first.
_LOGS = [("snowflake", "parquet"), ("postgres_json", "jsonl"), ("mysql", "jsonl"), ("redshift", "jsonl")]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A Spark session for all tests here: starting one takes longer than what they do."""
    with spark_session(SparkOptions(master="local[2]", conf={"spark.sql.shuffle.partitions": "2"})) as session:
        yield session


@pytest.mark.parametrize(("source", "kind"), _LOGS)
def test_both_engines_leave_the_same_graph(source: str, kind: str, spark: Any, tmp_path: Path) -> None:
    make(tmp_path / "log", source, runs(source, 1_500, 60, 5), kind, files=2)
    given = LogInput(source_named(source), (str(tmp_path / "log"),))
    dumps = [graph_of(given, engine, tmp_path / f"{engine}.lbug") for engine in (EngineKind.LOCAL, EngineKind.SPARK)]
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    assert any(label == "Usage" for label, _, _ in dumps[0].nodes)


DDL = [
    "1: create table t as select x, s from f",
    "2: create temp table tmp as select x from t",
    "3: create table c as select x from t",
    "1: create or replace table t as select y as x from o",
    "2: create table d as select x from tmp",
    "3: create table e as select x from t",
    "1: alter table t rename to u",
    "1: create table t as select z as x from p",
    "3: create table g as select x from t",
    "3: insert into g select x from u",
    "2: drop table c",
]


def test_both_engines_tell_the_tables_of_one_name_apart(spark: Any, tmp_path: Path) -> None:
    rows = []
    for minute, row in enumerate(DDL):
        session, text = row.split(": ")
        at = (AT + timedelta(minutes=minute)).isoformat()
        rows.append(json.dumps({"query_text": text, "started_at": at, "session": session}))
    (tmp_path / "log.jsonl").write_text("\n".join(rows), encoding="utf-8")
    given = LogInput(source_named("generic", dialect="duckdb"), (str(tmp_path / "log.jsonl"),))
    dumps = [graph_of(given, engine, tmp_path / f"{engine}.lbug") for engine in (EngineKind.LOCAL, EngineKind.SPARK)]
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    stated = {(kind, start, end) for kind, start, end, _ in dumps[0].relationships}
    assert ("CONTRIBUTES", "duckdb/f#x", "duckdb/d#x") in stated
    assert ("CONTRIBUTES", "duckdb/u#x", "duckdb/e#x") in stated
    assert ("CONTRIBUTES", "duckdb/t#x", "duckdb/g#x") in stated


@pytest.mark.parametrize("source", ["generic", "redshift"])
def test_both_engines_name_the_same_failed_files(source: str, spark: Any, tmp_path: Path) -> None:
    """Redshift's rows are put together first, so that they go through Spark before they are read."""
    broken = break_files(tmp_path / "log")
    given = LogInput(source_named(source, dialect="postgres"), (str(tmp_path / "log"),))
    found = []
    for engine in (EngineKind.LOCAL, EngineKind.SPARK):
        with open_store(tmp_path / f"{engine}.lbug") as store, open_engine(given, engine, SparkOptions()) as running:
            summary = ingest_log(running, store, Setting(given.name, AT, observed_at=AT))
            jobs = {job.key: job.observations for job in store.jobs()}
        failed = {
            d.diagnostic.message for d in summary.diagnostics if d.diagnostic.code is DiagnosticCode.UNREADABLE_FILE
        }
        assert {Path(message.partition(": ")[0]).name for message in failed} == broken.keys()
        found.append((failed, jobs, summary.run.counts["rows"], summary.run.counts["left_out"]))
    assert found[0] == found[1]


FORMS = ["bigquery/bq_prettyjson.json", "redshift/stl", "mysql/batch.tsv", "clickhouse/CSV.csv", "spark"]


@pytest.mark.parametrize("form", FORMS)
def test_both_engines_read_a_form_alike(form: str, spark: Any, tmp_path: Path) -> None:
    path = FORMS_FOLDER / form
    if form == "spark":
        path = application(tmp_path, "zstd", [4, 9])
    given = LogInput(source_named(form.partition("/")[0]), (str(path),))
    dumps = []
    for kind in (EngineKind.LOCAL, EngineKind.SPARK):
        with open_store(tmp_path / f"{kind}.lbug") as store, open_engine(given, kind, SparkOptions()) as engine:
            summary = ingest_log(engine, store, Setting(given.name, AT))
            assert summary.run.counts["resolved"] > 1
            assert not summary.failed_files
            dumps.append(store.dump())
    for dump in dumps:
        for _, _, properties in dump.nodes:
            properties.pop("seconds", None)
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    assert dumps[0].relationships


def test_a_log_in_a_database(spark: Any, tmp_path: Path) -> None:
    """Derby comes with Spark: a real database, read over JDBC."""
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    url = "jdbc:derby:memory:log;create=true"
    connection = spark._jvm.java.sql.DriverManager.getConnection(url)
    statement = connection.createStatement()
    statement.execute("CREATE TABLE history (query_text VARCHAR(200), who VARCHAR(20), started_at TIMESTAMP)")
    statement.execute(
        "INSERT INTO history VALUES ('INSERT INTO t SELECT a FROM s', 'ann', TIMESTAMP('2026-03-01 10:00:00'))"
    )
    statement.execute(
        "INSERT INTO history VALUES ('INSERT INTO t SELECT a FROM s', 'bo', TIMESTAMP('2026-03-02 10:00:00'))"
    )
    source = source_named("generic", dialect="postgres", mapping={"query_text": "query_text", "user": "who"})
    given = LogInput(source, jdbc=Jdbc(url, AT, "SELECT * FROM history"))
    with open_store(tmp_path / "s.lbug") as store, open_engine(given, EngineKind.SPARK, SparkOptions()) as engine:
        ingest_log(engine, store, Setting(given.name, AT))
        [job] = store.jobs(users=True)
        uses = store.usage("postgres/s#a")
    assert job.users is not None
    assert (job.observations, dict(job.users.named)) == (2, {"ann": 1, "bo": 1})
    assert [(use.day.day, use.reads) for use in uses] == [(1, 1), (2, 1)]


def graph_of(given: LogInput, kind: EngineKind, path: Path) -> Any:
    with open_store(path) as store, open_engine(given, kind, SparkOptions()) as engine:
        summary = ingest_log(engine, store, Setting(given.name, AT))
        assert summary.run.counts["resolved"] > 10
        dump = store.dump()
    for _, _, properties in dump.nodes:
        properties.pop("seconds", None)
    return dump


@pytest.mark.parametrize("name", ["log.jsonl", "log.csv"])
@pytest.mark.parametrize("kind", [EngineKind.LOCAL, EngineKind.SPARK])
def test_a_log_of_another_source_is_refused(kind: EngineKind, name: str, spark: Any, tmp_path: Path) -> None:
    text = '{"sql": "SELECT a FROM t"}\n' if name == "log.jsonl" else "sql\nSELECT a FROM t\n"
    (tmp_path / name).write_text(text, encoding="utf-8")
    given = LogInput(source_named("snowflake"), (str(tmp_path / name),))
    with open_store(tmp_path / "s.lbug") as store:
        with (
            pytest.raises(ColumnsMissingError, match="these rows do not"),
            open_engine(given, kind, SparkOptions()) as engine,
        ):
            ingest_log(engine, store, Setting(given.name, AT))
        assert not store.runs()


def test_a_random_warehouse_on_spark(spark: Any) -> None:
    settings = Settings(experiments=False, again=False, engine=EngineKind.SPARK)
    campaign = Campaign(Plan(1, "log", settings=settings, shrink_seconds=0))
    campaign.run(range(1))
    assert "\n".join(map(str, campaign.failures)) == ""
    assert campaign.asked
