"""Files into rows: packed, in folders, by patterns, broken, of other encodings and of any size."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import parse_one

from lineage_ingest.query_log import (
    SOURCES,
    ColumnsMissingError,
    MappingError,
    NoLogFilesError,
    NotOverJdbcError,
    UnknownSourceError,
    read_log,
    source_named,
)
from lineage_ingest.query_log.reading.log_reader import FilePiece, file_pieces, read_log_file
from tests.query_logs.samples import normalised_rows

GENERIC = source_named("generic", mapping={"query_text": "sql"})


def rows(*paths: Path) -> list[dict[str, object]]:
    return normalised_rows(GENERIC, read_log(GENERIC, paths))


def line(sql: object) -> str:
    return json.dumps({"sql": sql}) + "\n"


def texts(*paths: Path) -> list[object]:
    return [row.get("query_text", row.get("problem")) for row in rows(*paths)]


def kinds(*paths: Path) -> list[object]:
    return [row.get("problem", row.get("query_text")) for row in rows(*paths)]


def test_a_folder_gives_its_files_without_markers_and_hidden_ones(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.jsonl").write_text(line("SELECT 1"))
    (tmp_path / "b.csv").write_text("other,SQL\nx,SELECT 2\n")
    for name in ("_SUCCESS", ".part.crc"):
        (tmp_path / name).write_text("no log")
    assert texts(tmp_path) == ["SELECT 2", "SELECT 1"]
    assert texts(tmp_path / "**" / "*.jsonl") == ["SELECT 1"]


def test_a_path_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoLogFilesError, match=r"no files: .*nowhere"):
        rows(tmp_path / "nowhere")


def test_a_name_says_nothing_of_the_form(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("sql\nSELECT 1\n")
    (tmp_path / "b.csv").write_text(line("SELECT 2"))
    (tmp_path / "c.parquet").write_text(line("SELECT 3"))
    pq.write_table(pa.table({"sql": ["SELECT 4"]}), tmp_path / "d.json")
    (tmp_path / "e.json").write_bytes(gzip.compress(b"sql\tx\nSELECT 5\t\n"))
    assert texts(tmp_path) == ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"]


@pytest.mark.parametrize(("name", "text"), [("a.csv", "sq1,when\nSELECT 1,x\n"), ("a.jsonl", '{"sq1": 1}\n')])
def test_rows_of_another_source_are_an_error(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ColumnsMissingError, match="'sql', and these rows do not; did you mean the column 'sq1'"):
        rows(tmp_path)


def test_a_broken_archive_keeps_what_came_before_and_the_other_files(tmp_path: Path) -> None:
    packed = gzip.compress("".join(line(f"SELECT {n}, '{hash(n)}'") for n in range(50_000)).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.jsonl").write_text(line("SELECT 'b'"))
    found = kinds(tmp_path)
    assert len(found) > 10_000
    assert found[-2:] == ["SELECT 'b'", "file report"]


def _as_csv(count: int) -> str:
    return "sql,when\n" + "".join(f"\"SELECT {n}, '{hash(n * 7.1)}'\",x\n" for n in range(count))


def _as_array(count: int) -> str:
    return json.dumps([{"sql": f"SELECT {n}, '{hash(n * 7.1)}'"} for n in range(count)], indent=1)


@pytest.mark.parametrize("made", [_as_csv, _as_array])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_small_broken_archive_keeps_what_came_before(
    pack: Callable[[bytes], bytes], made: Callable[[int], str], tmp_path: Path
) -> None:
    count = 2_000 if pack is gzip.compress else 90_000  # bzip2 packs blocks of 900 kB
    packed = pack(made(count).encode())
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) // 2])
    found = kinds(tmp_path)
    assert len(found) > count // 5
    assert found[-1] == "file report"
    assert all(str(one).startswith("SELECT ") for one in found[:-1])


def test_an_archive_of_several_members_and_filled_up_is_read_to_its_end(tmp_path: Path) -> None:
    members = (
        gzip.compress(b"sql,when\n") + b"\0" * 20 + gzip.compress(b"SELECT 1,x\n") + gzip.compress(b"SELECT 2,x\n")
    )
    (tmp_path / "a.gz").write_bytes(members + b"\0" * 500)
    streams = bz2.compress(b"sql,when\n") + bz2.compress(b"SELECT 3,x\n") + b"\0" * 500
    (tmp_path / "b.bz2").write_bytes(streams)
    assert texts(tmp_path) == ["SELECT 1", "SELECT 2", "SELECT 3"]


def test_a_parquet_file_can_be_read_in_its_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"sql": [f"SELECT {number}" for number in range(7)]}), path, row_group_size=3)
    pieces = [read_log_file(GENERIC, path, piece) for piece in file_pieces(GENERIC, path)]
    assert [sum(row.get("problem") is None for row in normalised_rows(GENERIC, p)) for p in pieces] == [3, 3, 1]
    assert texts(path) == [f"SELECT {number}" for number in range(7)]
    path.write_bytes(path.read_bytes()[:100])
    assert file_pieces(GENERIC, path) == [FilePiece()]
    assert kinds(path) == ["file report"]


def test_bytes_that_are_no_text_cost_their_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfsql\nSELECT 1\n\xff\xfe\x01\nSELECT '\xc3\xa9'\n\"SELECT\x00\"\n")
    assert texts(tmp_path) == ["SELECT 1", "not UTF-8 text", "SELECT 'é'", "not UTF-8 text"]
    (tmp_path / "a.csv").unlink()
    (tmp_path / "a.jsonl").write_bytes(
        line("SELECT 1").encode() + b'{"sql": "\\ud800"}\n{"sql": 7}\n{"sql": null}\n[]\n'
    )
    assert texts(tmp_path) == ["SELECT 1", "not UTF-8 text", "7", "no text", "unreadable record"]


def test_a_document_of_columns_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"sql": ["SELECT 1", "SELECT 2"], "when": ["x", "y"]}')
    with pytest.raises(ColumnsMissingError, match="JSONColumns"):
        rows(tmp_path)


def test_a_file_of_none_but_older_audit_entries_has_failed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"protoPayload":{"serviceData": {"jobCompletedEvent":{}}}}\n')
    source = SOURCES["bigquery_audit"]
    found = normalised_rows(source, read_log(source, [tmp_path]))
    assert [row["problem"] for row in found] == ["older AuditData, not read", "file report"]


def test_a_statement_of_ten_megabytes_is_a_statement(tmp_path: Path) -> None:
    long = "SELECT '" + "x" * 10_000_000 + "'"
    (tmp_path / "a.jsonl").write_text(line(long) + line("SELECT 1"))
    (tmp_path / "b.csv").write_text(f"sql\n{long}\n")
    assert [len(str(text)) for text in texts(tmp_path)] == [len(long), 8, len(long)]


def test_a_query_asks_from_a_moment_on() -> None:
    moment = datetime(2026, 2, 1, 12, 30, tzinfo=timezone(timedelta(hours=1)))
    for name, source in SOURCES.items():
        if source.jdbc is not None:
            query = source.query_since(moment)
            assert "2026-02-01 11:30:00" in query, name
            assert all(f"{brace}" not in query for brace in "{}"), name
            parse_one(query, source.dialect)
    with pytest.raises(NotOverJdbcError, match="Spark event log is read from files"):
        SOURCES["spark"].query_since(moment)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_can_be_sent_to_a_worker(name: str) -> None:
    assert pickle.loads(pickle.dumps(SOURCES[name])) == SOURCES[name]


def test_sources_are_named() -> None:
    with pytest.raises(UnknownSourceError, match="unknown source 'postgres_cvs'; did you mean 'postgres_csv'"):
        source_named("postgres_cvs")
    with pytest.raises(MappingError, match="has known columns"):
        source_named("snowflake", mapping={"query_text": "sql"})
    with pytest.raises(MappingError, match="no field 'usr'; did you mean 'user'"):
        source_named("generic", mapping={"usr": "who"})
    with pytest.raises(ValueError, match="unknown time zone 'Wien'"):
        source_named("mysql", zone="Wien")
