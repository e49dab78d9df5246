"""A log yields the same graph, whether it is read in-process or on Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage_ingest import LogOptions, plan_log
from lineage_ingest.query_log import ColumnsMissingError, source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.engine import Template
from lineage_ingest.query_log.pipeline.engines.opening import (
    EngineKind,
    SparkOptions,
    open_engine,
    spark_plans,
    spark_session,
)
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import Jdbc, LogInput
from lineage_ingest.sql_files import ingest_sql_files
from tests.query_logs.broken_files import break_files
from tests.query_logs.forms import FOLDER as FORMS_FOLDER
from tests.query_logs.make import make, runs
from tests.query_logs.servers.spark_workload import SPARK_WORKLOAD
from tests.query_logs.servers.workload import effective_script, stated
from tests.query_logs.test_spark_event_logs import application
from tests.soundness.warehouse.campaign import Campaign, Plan
from tests.soundness.warehouse.check import Settings

pytestmark = pytest.mark.xdist_group("spark")

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session for all tests here: starting one takes longer than the tests. It logs its events."""
    conf = {
        # The engine makes eight partitions of this one: what is tested are several, and each is a task with its costs.
        "spark.default.parallelism": "1",
        "spark.sql.shuffle.partitions": "2", "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
        "spark.eventLog.dir": tmp_path_factory.mktemp("events").as_uri(), "spark.eventLog.rolling.enabled": "false",
    }  # fmt: skip
    with spark_session(SparkOptions(master="local[2]", conf=conf)) as session:
        yield session


def test_the_events_of_a_workload_say_what_took_effect(spark: Any, tmp_path: Path) -> None:
    for name in ("core", "mart"):
        spark.sql(f"CREATE DATABASE {name} LOCATION '{(tmp_path / name).as_uri()}'")
    for sent in SPARK_WORKLOAD:
        spark.sparkContext.setJobDescription(sent.text)  # as spark-sql does
        try:
            spark.sql(sent.text)
        except (PySparkException, Py4JJavaError):
            assert sent.effect is None
    spark.sparkContext.setJobDescription(None)
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    [events] = Path(spark.conf.get("spark.eventLog.dir").removeprefix("file:")).iterdir()
    with open_store(tmp_path / "sql.db") as store:
        file = effective_script(SPARK_WORKLOAD, tmp_path)
        ingest_sql_files([file], store, options_for("spark"), None, observed_at=AT)
        expected = stated(store)
    given = LogInput(source_named("spark"), (str(events),))
    with open_engine(given, EngineKind.LOCAL, SparkOptions()) as engine, open_store(tmp_path / "log.db") as store:
        ingest_log_rows(engine, store, LogContext("played", AT))
        assert stated(store) == expected
    for name in ("core", "mart"):
        spark.sql(f"DROP DATABASE {name} CASCADE")


def test_a_rotated_log_is_one_on_both_engines(spark: Any, tmp_path: Path) -> None:
    """The session's search path is in the first file, the statements that it affects in the second."""
    for folder in ("one", "other"):  # two servers, whose sessions have the same names
        (tmp_path / "log" / folder).mkdir(parents=True)
        for n, file in ((1, "server.log.1"), (2, "server.log")):
            first = "set search_path = a" if folder == "one" else "select 1"
            text = first if n == 1 else f"insert into {folder} (x) select x from c.o"
            line = f"2026-03-01 10:00:0{n}.000 UTC [8] ann@shop LOG:  statement: {text}\n"
            (tmp_path / "log" / folder / file).write_text(line)
    given = LogInput(source_named("postgres_stderr"), (str(tmp_path / "log"),))
    dumps = [graph_of(given, kind, tmp_path / f"{kind}.db", 3) for kind in (EngineKind.LOCAL, EngineKind.SPARK)]
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    written = {target.rpartition("/")[2] for kind, _, target, _ in dumps[0].relationships if kind == "CONTRIBUTES"}
    assert written == {"shop.a.one#x", "shop.public.other#x"}


def test_both_engines_leave_the_same_graph(spark: Any, tmp_path: Path) -> None:
    make(tmp_path / "log", "snowflake", runs("snowflake", 600, 40, 5), "parquet", files=2)
    given = LogInput(source_named("snowflake"), (str(tmp_path / "log"),))
    dumps = [graph_of(given, engine, tmp_path / f"{engine}.db") for engine in (EngineKind.LOCAL, EngineKind.SPARK)]
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
    dumps = [graph_of(given, engine, tmp_path / f"{engine}.db") for engine in (EngineKind.LOCAL, EngineKind.SPARK)]
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    stated = {(kind, start, end) for kind, start, end, _ in dumps[0].relationships}
    assert ("CONTRIBUTES", "duckdb/f#x", "duckdb/d#x") in stated
    assert ("CONTRIBUTES", "duckdb/u#x", "duckdb/e#x") in stated
    assert ("CONTRIBUTES", "duckdb/t#x", "duckdb/g#x") in stated


# A row without a session begins with "-", one without a time with "?".
MIXED = [
    "a: create procedure p() language sql as $$ insert into called (x) select x from f $$",
    "-: insert into called (x) select x from f",
    "b: call p()",
    "b: begin",
    "b: insert into undone select x from f",
    "c: set search_path = mart",
    "b: rollback",
    "c: insert into filled select x from q",
    "d: insert into filled select x from q",
    "?: insert into filled select x from q",
    "-: create temp table tt as select x from o",
    "-: insert into plain select x from tt",
    "c: create temp table tc as select y from o",
    "c: insert into filled select y from tc",
    "d: create table t as select x from f",
    "e: insert into twice select x from t",
    "d: alter table t rename to u",
    "d: create table t as select z as x from p",
    "e: insert into twice select x from t",
    "-: insert into twice select x from t",
    "f: select from from",
]


def test_both_engines_find_the_same_units(spark: Any, tmp_path: Path) -> None:
    """Sessions that change what statements mean, others, none; times against the order of a session; no times."""
    rows = []
    for minute, row in enumerate(MIXED):
        session, text = row.split(": ")
        at = (AT + timedelta(minutes=minute if minute % 5 else minute - 1, days=minute // 7)).isoformat()
        rows.append(
            {
                **{"query_text": text, "user": f"u{minute % 3}", "position": minute, "duration_us": minute},
                **({} if session in "-?" else {"session": session}),
                **({} if session == "?" else {"started_at": at}),
            }
        )
    for number in range(2):
        part = "".join(json.dumps(row) + "\n" for row in rows[number::2])
        (tmp_path / f"log{number}.jsonl").write_text(part, encoding="utf-8")
    given = LogInput(source_named("generic", dialect="postgres"), (str(tmp_path),))
    found = []
    for kind in (EngineKind.LOCAL, EngineKind.SPARK):
        with open_store(tmp_path / f"{kind}.db") as store, open_engine(given, kind, SparkOptions()) as engine:
            summary = ingest_log_rows(engine, store, LogContext(given.name, AT))
            dump = store.dump()
        for _, _, properties in dump.nodes:
            properties.pop("seconds", None)
        found.append((dump.nodes, dump.relationships, summary.failures, summary.notes, summary.run.counts))
    assert found[0] == found[1]
    written = {target.rpartition("/")[2] for kind, _, target, _ in found[0][1] if kind == "CONTRIBUTES"}
    assert written == {"called#x", "filled#x", "mart.filled#x", "mart.filled#y", "plain#x", "t#x", "twice#x", "u#x"}


def test_both_engines_leave_out_the_scripts_whose_statements_are_in_the_log(spark: Any, tmp_path: Path) -> None:
    """In any file: the row of `s1` precedes it, that of `s2` follows it; those of `s3` and `s4` are missing."""
    jobs: dict[str, list[tuple[str, str | None, str]]] = {
        "a.jsonl": [("s1_0", "s1", "insert into m.one (a) select a from d.s"), ("s2", None, "script two")],
        "b.jsonl": [
            ("s1", None, "script one"),
            ("s3", None, "declare x int64; insert into m.three (a) select b from d.s;"),
        ],
        "c.jsonl": [("s2_0", "s2", "insert into m.two (a) select c from d.s")],
        "d.jsonl": [("s4", "s3x", "begin insert into m.four (a) select d from d.s; end")],
    }
    for name, rows in jobs.items():
        documents = [
            {
                **{"job_id": job, "parent_job_id": parent, "query": text, "job_type": "QUERY", "state": "DONE"},
                **{
                    "statement_type": "INSERT" if "_" in job else "SCRIPT",
                    "start_time": AT.isoformat(),
                    "project_id": "p",
                },
            }
            for job, parent, text in rows
        ]
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in documents))
    given = LogInput(source_named("bigquery"), tuple(str(tmp_path / name) for name in jobs))
    dumps = [graph_of(given, engine, tmp_path / f"{engine}.db", 3) for engine in (EngineKind.LOCAL, EngineKind.SPARK)]
    assert dumps[0].nodes == dumps[1].nodes
    assert dumps[0].relationships == dumps[1].relationships
    written = {target.rpartition("/")[2] for kind, _, target, _ in dumps[0].relationships if kind == "CONTRIBUTES"}
    assert written == {"p.m.one#a", "p.m.two#a", "p.m.three#a", "p.m.four#a"}


@pytest.mark.parametrize("source", ["generic", "redshift"])
def test_both_engines_name_the_same_failed_files(source: str, spark: Any, tmp_path: Path) -> None:
    """Redshift splits a statement over several rows; Spark joins them before they are parsed."""
    broken = break_files(tmp_path / "log")
    given = LogInput(source_named(source, dialect="postgres"), (str(tmp_path / "log"),))
    local, on_spark = (read_by(kind, given) for kind in (EngineKind.LOCAL, EngineKind.SPARK))
    assert {Path(name).name for name in local.failed} == broken.keys()
    assert local == on_spark


FORMS = [
    "bigquery/bq_prettyjson.json",
    "bigquery/flattened.csv",
    "redshift/stl",
    "mysql/batch.tsv",
    "clickhouse/CSV.csv",
    "spark",
]


@pytest.mark.parametrize("form", FORMS)
def test_both_engines_read_a_form_alike(form: str, spark: Any, tmp_path: Path) -> None:
    path = FORMS_FOLDER / form
    if form == "spark":
        path = application(tmp_path, "zstd", [4, 9])
    given = LogInput(source_named(form.partition("/")[0]), (str(path),))
    local, on_spark = (read_by(kind, given) for kind in (EngineKind.LOCAL, EngineKind.SPARK))
    assert len(local.templates) > 1
    assert not local.failed
    assert local == on_spark


class ReadLog(NamedTuple):
    """What the later stages, to which all forms are one, get of a log."""

    counts: tuple[Any, ...]
    failed: dict[str, str]
    templates: dict[int, Template]
    uses: list[dict[str, Any]]
    """By template, day and user."""


def read_by(kind: EngineKind, given: LogInput) -> ReadLog:
    with open_engine(given, kind, SparkOptions()) as engine:
        found = engine.read(lambda *_: None)
        samples = {part.fingerprint: part for part in engine.samples()}
        templates = {one.key: one._replace(part=samples[one.part.fingerprint]) for one in engine.templates()}
        engine.sessions({})
        uses = [row for days in engine.days() for row in days.to_pylist()]
    counts = (found.rows, found.left_out, found.samples, found.undated, found.unread_time)
    return ReadLog(counts, found.files.failed(), templates, sorted(uses, key=repr))


@pytest.mark.parametrize("source", ["redshift", "bigquery"])  # what is joined in files, and scripts, are read twice
def test_a_plan_is_what_spark_will_do_and_reads_no_row(source: str, spark: Any, tmp_path: Path) -> None:
    make(tmp_path, source, runs(source, 30, 5, 5), "parquet")
    spark.sparkContext.setJobGroup("plan", "")
    stages = plan_log(str(tmp_path), source=source, options=LogOptions(engine=EngineKind.SPARK))
    tracker = spark.sparkContext.statusTracker()
    ran = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup("plan")]
    names = {tracker.getStageInfo(stage).name for job in ran for stage in job.stageIds}
    assert all(name.startswith("parquet at") for name in names), names  # the schema, by the footers of the files
    plans = {name: plan for name, _, _, plan in stages if plan}
    assert list(plans) == ["read", "normalise", "fingerprint", "extract", "sessions", "count"]
    assert "HashAggregate" in plans["fingerprint"]
    assert "Keys [4]: [unit#" in plans["count"]
    assert "LeftSemi" in plans["sessions"]
    assert "extract_templates(" in plans["extract"]
    assert "INSERT" not in str(plans).upper()


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
    plan = spark_plans(given, SparkOptions())["read"]
    assert "JDBCRelation" in plan
    assert "(…)" in plan
    assert "history" not in plan.lower()
    with open_store(tmp_path / "s.db") as store, open_engine(given, EngineKind.SPARK, SparkOptions()) as engine:
        ingest_log_rows(engine, store, LogContext(given.name, AT))
        [job] = store.jobs(users=True)
        uses = store.usage("postgres/s#a")
    assert job.users is not None
    assert (job.observations, dict(job.users.named)) == (2, {"ann": 1, "bo": 1})
    assert [(use.day.day, use.reads) for use in uses] == [(1, 1), (2, 1)]


def graph_of(given: LogInput, kind: EngineKind, path: Path, resolved: int = 10) -> Any:
    with open_store(path) as store, open_engine(given, kind, SparkOptions()) as engine:
        summary = ingest_log_rows(engine, store, LogContext(given.name, AT))
        assert summary.run.counts["resolved"] > resolved
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
    with open_store(tmp_path / "s.db") as store:
        with (
            pytest.raises(ColumnsMissingError, match="these rows do not"),
            open_engine(given, kind, SparkOptions()) as engine,
        ):
            ingest_log_rows(engine, store, LogContext(given.name, AT))
        assert not store.runs()


def test_a_random_warehouse_on_spark(spark: Any) -> None:
    settings = Settings(experiments=False, again=False, engine=EngineKind.SPARK)
    campaign = Campaign(Plan(3, "log", settings=settings, shrink_seconds=0))
    campaign.run(range(1))
    assert "\n".join(map(str, campaign.failures)) == ""
    assert campaign.asked
