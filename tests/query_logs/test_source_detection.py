"""Detecting the source of a log from its content: each sample is recognised, and what is not is an error."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from lineage_ingest.query_log import SOURCES, find_log_files, read_messages
from lineage_ingest.query_log.reading.source_detection import SourceDetectionError, detect_source
from tests.cli.running import lineage
from tests.query_logs.forms import Form, forms
from tests.query_logs.samples import sample

# A table of any columns says nothing of itself: its user does, by --map.
NAMED = [name for name in SOURCES if name != "generic"]
FORMS = [pytest.param(form, id=f"{form.source}-{form.path.name}") for form in forms()]


def detected(*paths: Path) -> str:
    return detect_source(find_log_files(paths), SOURCES).name


@pytest.mark.parametrize("name", NAMED)
def test_a_sample_is_told(name: str, tmp_path: Path) -> None:
    file = sample(name)[1]
    assert detected(file) == name
    (tmp_path / "x").write_bytes(gzip.compress(file.read_bytes()))
    assert detected(tmp_path / "x") == name


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_told(form: Form, tmp_path: Path) -> None:
    assert detected(form.path) == form.source
    if form.path.is_file() and form.path.suffix != ".parquet":
        (tmp_path / "x").write_bytes(form.path.read_text(encoding="utf-8").encode("utf-16"))
        assert detected(tmp_path / "x") == form.source


@pytest.mark.parametrize("name", NAMED)
def test_beginning_of_a_file_is_enough(name: str, tmp_path: Path) -> None:
    raw = sample(name)[1].read_bytes()
    (tmp_path / "x").write_bytes(raw[: max(len(raw) * 3 // 4, 900)])
    assert detected(tmp_path / "x") == name


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d"])
def test_what_separates_lines_elsewhere_ends_no_record(separator: str, tmp_path: Path) -> None:
    document = {"query_id": "1", "query_text": f"SELECT '{separator}'", "execution_status": "SUCCESS"}
    (tmp_path / "x").write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    assert detected(tmp_path / "x") == "snowflake"
    [batch] = read_messages(
        SOURCES["clickhouse"], [pa.record_batch({"value": [f'{{"query": "SELECT \'{separator}\'"}}']})]
    )
    assert batch.num_rows == 1


def test_rows_of_chosen_columns_that_are_named_in_front_are_told(tmp_path: Path) -> None:
    """ClickHouse's FORMAT JSONCompact."""
    names = ["type", "query_start_time", "event_time", "query", "current_database"]
    meta = [{"name": name, "type": "String"} for name in names]
    row = ["QueryFinish", "2026-03-01 10:00:00", "2026-03-01 10:00:00", "SELECT 1", "shop"]
    (tmp_path / "x").write_text(json.dumps({"meta": meta, "data": [row], "rows": 1}))
    assert detected(tmp_path / "x") == "clickhouse"


def test_mysqls_table_of_slow_queries_is_told(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("start_time\tuser_host\tquery_time\tdb\tsql_text\tthread_id\n")
    assert detected(tmp_path / "x") == "mysql_slow"


def test_files_that_show_nothing_do_not_count(tmp_path: Path) -> None:
    shutil.copy(sample("trino")[1], tmp_path / "b.json")
    for name, text in {"a": "", "c": "[]", "d": "\n", "e": "other,columns\n1,2\n"}.items():
        (tmp_path / name).write_text(text)
    assert detected(tmp_path) == "trino"


def test_history_and_access_of_snowflake_are_read_together(tmp_path: Path) -> None:
    shutil.copy(sample("snowflake")[1], tmp_path / "a")
    (tmp_path / "b").write_text(json.dumps({"query_id": "01b1-0001", "objects_modified": []}) + "\n")
    assert detected(tmp_path) == "snowflake_access"


def test_two_sources_are_an_error_that_names_them(tmp_path: Path) -> None:
    for name in ("mysql", "trino"):
        shutil.copy(sample(name)[1], tmp_path / name)
    with pytest.raises(SourceDetectionError, match=r"several sources: .*/mysql of mysql, .*/trino of trino; "):
        detected(tmp_path)


def test_a_file_that_may_be_of_two_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("query,job_id,calls\nSELECT 1,a,1\n")
    with pytest.raises(SourceDetectionError, match="may be a log of bigquery or pg_stat_statements: choose"):
        detected(tmp_path)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", '{"sql": "SELECT 1"}\n', "nothing of a log\n", "\0\1\2"])
def test_what_cannot_be_told_is_an_error_with_a_hint(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(SourceDetectionError, match="name it with --source"):
        detected(tmp_path)


def test_a_table_of_statements_is_any_table(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("QUERY_TEXT,User\nSELECT 1,ann\n")
    assert detected(tmp_path) == "generic"


def test_the_command_says_what_it_took_the_files_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(sample("databricks")[1], "log.json")
    ended = lineage("ingest", "log", "log.json")
    assert "read as --source databricks (Databricks system.query.history): log.json" in ended.err
    assert lineage("ingest", "log", "log.json", "--format", "json").json["source"] == "databricks"
    shutil.copy(sample("mysql")[1], "other.log")
    ended = lineage("ingest", "log", ".")
    assert (ended.code, "several sources" in ended.err) == (2, True)
    ended = lineage("ingest", "log", "s3://bucket/log")
    assert (ended.code, "required unless the log" in ended.err) == (2, True)


def test_columns_without_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("SUCCESS,INSERT INTO t (a) SELECT a FROM s,ann,2026-03-01 10:00:00\n")
    names = "execution_status,query_text,user_name,start_time"
    assert lineage("ingest", "log", "log.csv").code == 2
    ended = lineage("ingest", "log", "log.csv", "--columns", names, "--format", "json").json
    assert (ended["source"], ended["rows"], ended["resolved"]) == ("snowflake", 1, 1)
    ended = lineage("ingest", "log", "log.csv", "--source", "snowflake", "--columns", "a,b")
    assert (ended.code, "these rows do not" in ended.err) == (2, True)


def test_a_folder_to_follow_that_is_empty_needs_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("landing").mkdir()
    ended = lineage("follow", "log", "landing", "--once")
    assert (ended.code, "name the source of the files to come" in ended.err) == (2, True)
