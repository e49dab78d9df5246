"""`lineage ingest log` as a user types it."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.cli.running import lineage

SAMPLES = Path(__file__).parents[1] / "data" / "query_logs"


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [
        {"query_text": "CREATE TABLE mart.mails AS SELECT id, md5(email) AS email FROM crm.users", "user": "etl"},
        {"query_text": "SELECT email FROM mart.mails WHERE id = 17", "user": "ann"},
        {"query_text": "SELECT email FROM mart.mails WHERE id = 18", "user": "bo"},
        {"query_text": "SELECT FROM WHERE", "user": "bo"},
        {"query_text": "DELETE FROM mart.mails", "user": "bo", "status": "failed"},
    ]
    stamped = ({**row, "started_at": f"2026-03-0{day}T10:00:00Z"} for day, row in enumerate(rows, 1))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "history.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in stamped), encoding="utf-8")
    return file


def test_a_log_and_what_to_ask_of_it(history: Path) -> None:
    result = lineage("ingest", "log", str(history), "--dialect", "postgres", "--format", "json")
    assert result.code == 0, result.err  # one statement cannot be parsed, which is no failure of the ingest
    found = result.json
    assert (found["rows"], found["left_out"], found["templates"], found["resolved"]) == (5, 1, 3, 2)
    assert {"reason": "failed", "runs": 1} in found["failures"]
    impact = lineage("impact", "crm.users.email", "--format", "json")
    assert "postgres/mart.mails#email" in impact.out
    usage = lineage("usage", "mart.mails", "--format", "csv")
    assert len(usage.out.splitlines()) == 4  # the day it was made, two days it was read
    again = lineage("ingest", "log", str(history), "--dialect", "postgres")
    assert "5 rows, 1 left out; 3 templates" in again.out
    assert "(0 new)" in again.out
    assert "most frequent reasons" in again.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl"], "no files: nowhere.jsonl"),
        (["history.jsonl", "--source", "snowflak"], "did you mean 'snowflake'?"),
        (["history.jsonl", "--source", "databricks"], "statement_text"),
        (["history.jsonl", "--map", "usr=user"], "did you mean 'user'?"),
        (["history.jsonl", "--map", "user"], "expected NAME=VALUE"),
        (["history.jsonl", "--dialect", "klingon"], "klingon"),
        (["history.jsonl", "--zone", "Wien"], "unknown time zone"),
        (["history.jsonl", "--jdbc-url", "jdbc:x"], "give files, or --jdbc-url"),
        ([], "give files, or --jdbc-url"),
        (["--jdbc-url", "jdbc:x", "--source", "hive"], "not over JDBC"),
    ],
)
@pytest.mark.usefixtures("history")
def test_wrong_use(arguments: list[str], said: str) -> None:
    result = lineage("ingest", "log", *arguments)
    assert result.code == 2, result.out
    assert said in " ".join(result.err.replace("│", " ").split())


def test_a_plan_reads_nothing(history: Path) -> None:
    result = lineage("ingest", "log", str(history), "--explain", "--format", "csv")
    assert result.code == 0
    assert [line.split(",")[0] for line in result.out.splitlines()][:4] == [
        "stage",
        "read",
        "normalise",
        "fingerprint",
    ]
    assert not (history.parent / "lineage.db").exists()


def test_the_samples_of_every_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in sorted(path for path in SAMPLES.glob("*") if path.is_file()):
        if "expected" in file.name or file.name in ("README.md", "generic.options.json", "generic.csv"):
            continue
        result = lineage("ingest", "log", str(file), "--source", file.stem, "--format", "json", "--store", "s.db")
        assert result.code in (0, 1), result.err
        assert result.json["rows"] > 0, file.name


def test_set_operations_are_read_as_files_are(tmp_path: Path) -> None:
    sql = "INSERT INTO t (x) SELECT a FROM s UNION ALL SELECT b FROM r"
    (tmp_path / "log.jsonl").write_text(json.dumps({"query_text": sql, "started_at": "2026-03-01T10:00:00Z"}))
    (tmp_path / "file.sql").write_text(sql)
    result = {}
    for reading in ("exact", "paper"):
        for way, options in (("log", ("--engine", "local")), ("sql", ())):
            store = tmp_path / f"{reading}-{way}.db"
            path = tmp_path / ("log.jsonl" if way == "log" else "file.sql")
            arguments = ("-d", "postgres", "--set-operations", reading, "-s", store, *options)
            assert lineage("ingest", way, path, *arguments).code == 0
            with open_store(store) as opened:
                edges = opened.edges_of(opened.job_keys())
            result[reading, way] = {(edge.source, edge.target, edge.kind, edge.subtypes) for edge in edges}
    assert result["exact", "log"] == result["exact", "sql"]
    assert result["paper", "log"] == result["paper", "sql"]
    assert result["paper", "log"] != result["exact", "log"]
    assert result["paper", "log"] > result["exact", "log"]


@pytest.mark.parametrize(
    ("name", "character", "options"),
    [
        ("log.csv", ";", ["--delimiter", ";"]),
        ("log.csv", ";", []),
        ("log.csv", "|", []),
        ("log.csv", "\t", ["--delimiter", "tab"]),
        ("log.csv", ",", []),
        ("log.tsv", "\t", []),
        ("log.tsv.gz", "\t", []),
        ("log.tsv", "|", ["--delimiter", "|"]),
    ],
)
def test_csv_by_any_delimiter(tmp_path: Path, name: str, character: str, options: list[str]) -> None:
    row = ["2026-03-01T10:00:00Z", f'"INSERT INTO t (x){character}SELECT a FROM s"'.replace(character, " ")]
    text = "\n".join([character.join(["started_at", "query_text"]), character.join(row)]) + "\n"
    raw = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (tmp_path / name).write_bytes(raw)
    done = lineage("ingest", "log", tmp_path / name, "-d", "postgres", "-s", tmp_path / "s.db", *options)
    assert done.code == 0, done.err
    assert "1 row, 0 left out" in done.out
    assert "t.x" in lineage("impact", "s.a", "-s", tmp_path / "s.db").out


def test_a_delimiter_that_does_not_fit_is_said(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("started_at;query_text\n")
    done = lineage("ingest", "log", tmp_path / "log.csv", "-s", tmp_path / "s.db", "--delimiter", ",")
    assert (done.code, "--delimiter ';'" in done.err) == (2, True), done
    done = lineage("ingest", "log", tmp_path / "log.csv", "-s", tmp_path / "s.db", "--delimiter", "ab")
    assert (done.code, "is not a delimiter" in done.err) == (2, True), done


def test_spark_that_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == "pyspark" or one.endswith(".spark_engine")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    log = tmp_path / "server.log"
    log.write_text("2026-03-01 10:00:01.000 UTC [7] ana@shop LOG:  statement: select a from s.t\n")
    done = lineage("ingest", "log", log, "--engine", "spark", "-s", tmp_path / "graph.db")
    assert done.code == 2
    assert "Spark is not installed" in done.err
