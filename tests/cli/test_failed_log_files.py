"""`lineage ingest log` with files that cannot be read: named with the reason, and the rest is ingested."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import lineage
from tests.query_logs.broken_files import break_files

GOOD = {"query_text": "CREATE TABLE mart.t AS SELECT a FROM core.s", "started_at": "2026-03-01T10:00:00Z"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ingest(*arguments: str, code: int) -> str:
    done = lineage("ingest", "log", *arguments)
    assert done.code == code, done.err + done.out
    return " ".join((done.out + done.err).split())


def test_every_broken_file_is_named_and_the_others_are_ingested(folder: Path) -> None:
    broken = break_files(folder / "log")
    said = ingest("log", "--dialect", "postgres", code=1)
    for name, reason in broken.items():
        assert f"file not read: log/{name}: " in said
        assert reason in said.partition(f"log/{name}: ")[2][:200], name
    for name in ("good", "empty", "whole"):
        assert f"file not read: log/{name}." not in said
    found = lineage("ingest", "log", "log", "--dialect", "postgres", "--format", "json").json
    assert found["failed_files"] == len(broken)
    assert (found["left_out"], found["empty_files"]) == (0, 1)
    assert 15_000 < found["rows"] < 30_000
    for name in ("good", "whole", "gz", "cut", "quoted", "middle"):  # what came before the damage counts
        assert f"postgres/{name}#a1" in lineage("impact", "src.a1", "--format", "json").out


def test_what_counts_as_a_failure(folder: Path) -> None:
    rows = [GOOD, {**GOOD, "query_text": "SELECT FROM WHERE"}]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ingest("log.jsonl", "--dialect", "postgres", code=0)
    ingest("log.jsonl", "--dialect", "postgres", "--fail-on", "statement", code=1)
    (folder / "log.parquet").write_bytes(b"PAR1")
    ingest("log.jsonl", "log.parquet", "--fail-on", "never", code=0)
    said = ingest("log.jsonl", "log.parquet", code=1)
    assert "2 rows, 0 left out" in said


def test_a_file_that_is_mended_fails_no_longer(folder: Path) -> None:
    text = (json.dumps(GOOD) + "\n") * 2
    (folder / "log.jsonl").write_text(text[:-9])
    assert "ends in the middle of a record" in ingest("log.jsonl", code=1)
    (folder / "log.jsonl").write_text(text)
    assert "ends in the middle" not in ingest("log.jsonl", code=0)


def test_bytes_that_are_no_text_are_a_failed_file(folder: Path) -> None:
    header = "query_text,started_at\n"
    (folder / "junk.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "latin.csv").write_bytes((header + '"SELECT 1 AS é",2026-03-01T10:00:00Z\n').encode("latin-1"))
    (folder / "good.jsonl").write_text(json.dumps(GOOD) + "\n")
    said = ingest("junk.csv", "latin.csv", "good.jsonl", code=1)
    for name, reason in {
        "junk.csv": "its first line is not text in UTF-8",
        "latin.csv": "it could not be read",
    }.items():
        assert f"file not read: {name}: {reason}" in said
    assert "1 column in 1 table depends on core.s.a" in lineage("impact", "core.s.a").out


def test_a_file_of_another_source_is_named_and_the_rest_ingested(folder: Path) -> None:
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "good.jsonl").write_text(json.dumps(GOOD) + "\n")
    assert "other.csv: Any table of statements has 'query_text'" in ingest("other.csv", "--source", "generic", code=2)
    said = ingest(".", code=1)
    assert "file not read: other.csv: Any table of statements has 'query_text', and these rows do not" in said
    assert "1 column in 1 table depends on core.s.a" in lineage("impact", "core.s.a").out


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("trino", '{"query_text": "select 1"}\n'),
        ("hive", '{"query_text": "select 1"}\n'),
        ("spark", '{"Events": "other"}\n'),
        ("bigquery_audit", '[{"query": "select 1"}]'),
        ("mysql", "select 1;\nselect 2;\n"),
    ],
)
def test_a_log_of_which_nothing_is_the_source_s_is_a_failed_file(folder: Path, source: str, text: str) -> None:
    (folder / "log.txt").write_text(text)
    assert "file not read: log.txt: it has no record of a " in ingest("log.txt", "--source", source, code=1)


@pytest.mark.parametrize("text", ["", "query_text,started_at\n", "\n\n", "[]", "[\n]\n"])
def test_files_without_rows_are_named_and_fail_where_there_is_nothing_else(folder: Path, text: str) -> None:
    (folder / "empty.csv").write_text(text)
    assert "without any row: empty.csv" in ingest("empty.csv", code=1)
    ingest("empty.csv", "--fail-on", "never", code=0)
    (folder / "good.jsonl").write_text(json.dumps(GOOD) + "\n")
    assert "without any row: empty.csv" in ingest(".", code=0)


def test_a_file_without_a_statement_is_named(folder: Path) -> None:
    header = "statement_id,statement_text,start_time,executed_by\n"
    (folder / "keys.csv").write_text(header + "a1,,2026-03-01T10:00:00Z,ann\na2,\\N,2026-03-01T10:00:00Z,bob\n")
    (folder / "half.csv").write_text(header + "a1,,2026-03-01T10:00:00Z,ann\na2,SELECT 1,2026-03-01T10:00:00Z,bob\n")
    (folder / "one.csv").write_text(header + "a1,,2026-03-01T10:00:00Z,ann\na2,x\n")
    said = ingest("keys.csv", "half.csv", "one.csv", code=1)
    assert "file not read: keys.csv: none of its 2 records has a statement" in said
    assert "file not read: one.csv: none of its 2 records has a statement" in said
    assert "file not read: half.csv" not in said
    load = {"job_id": "j", "job_type": "LOAD", "query": None, "state": "DONE", "creation_time": "2026-03-01T10:00:00Z"}
    (folder / "loads.jsonl").write_text(json.dumps(load) + "\n")
    assert "not read" not in ingest("loads.jsonl", code=0)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_broken_file_is_named_beside_what_programs_read(form: str, folder: Path) -> None:
    (folder / "good.jsonl").write_text(json.dumps(GOOD) + "\n")
    (folder / "bad.parquet").write_bytes(b"PAR1")
    done = lineage("ingest", "log", "good.jsonl", "bad.parquet", "--format", form)
    assert done.code == 1
    assert "file not read: bad.parquet" in " ".join(done.err.split())
    assert "not read" not in done.out
