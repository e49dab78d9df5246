"""Each source's sample, in the source's documented shape and with its traps, gives the rows that stand beside it."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lineage_ingest.query_log import SOURCES, read_log, read_messages
from lineage_ingest.query_log.sources.source import LINE
from tests.query_logs.samples import FOLDER, expected_rows, normalised_rows, sample

ASSEMBLED = [name for name, source in SOURCES.items() if source.assembly is not None]
TABLES = [name for name, source in SOURCES.items() if source.reading.kind == "table"]


def by_content(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


def read(name: str) -> Any:
    source, file = sample(name)
    return pa.Table.from_batches(list(read_log(source, [file])))


@pytest.mark.parametrize("name", SOURCES)
def test_a_sample_gives_its_rows(name: str) -> None:
    source, file = sample(name)
    assert normalised_rows(source, read_log(source, [file])) == expected_rows(name)


@pytest.mark.parametrize("name", ASSEMBLED)
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    table = read(name)
    shuffled = list(range(table.num_rows))
    random.Random(7).shuffle(shuffled)
    rows = normalised_rows(SOURCES[name], table.take(shuffled).to_batches())
    assert by_content(rows) == by_content(expected_rows(name))


@pytest.mark.parametrize("name", ASSEMBLED)
def test_groups_that_lie_together_are_found_across_batches(name: str) -> None:
    source = SOURCES[name]
    assert source.assembly is not None
    table = read(name)
    keys = [key for key in source.assembly.by if key in table.column_names]
    clustered = table.sort_by([(key, "ascending") for key in keys])
    rows = normalised_rows(source, clustered.to_batches(max_chunksize=2), clustered=True)
    assert by_content(rows) == by_content(expected_rows(name))


@pytest.mark.parametrize("name", ASSEMBLED)
def test_a_log_too_large_to_be_assembled_at_once_is_dealt_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_ingest.query_log.reading.normalization._BYTES", 300)
    rows = normalised_rows(SOURCES[name], read(name).to_batches(max_chunksize=3))
    assert by_content(rows) == by_content(expected_rows(name))


@pytest.mark.parametrize("name", TABLES)
def test_parquet_says_the_same(name: str, tmp_path: Path) -> None:
    source, _file = sample(name)
    path = tmp_path / "log.parquet"
    pq.write_table(read(name), path)
    assert normalised_rows(source, read_log(source, [path])) == expected_rows(name)


@pytest.mark.parametrize("name", SOURCES)
def test_a_packed_file_says_the_same(name: str, tmp_path: Path) -> None:
    source, file = sample(name)
    packed = tmp_path / f"{file.name}.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    rows = normalised_rows(source, read_log(source, [packed]))
    for row in [*rows, *(expected := expected_rows(name))]:
        row.pop("session", None)  # MySQL's sessions have the file's name in theirs
    assert rows == expected


# One that spans lines is no message, and MySQL's and Spark's mean something only in their file's order.
@pytest.mark.parametrize(
    "name", [n for n, s in SOURCES.items() if not s.reading.placed and sample(n)[1].suffix != ".csv"]
)
def test_lines_as_messages_say_the_same(name: str) -> None:
    source, file = sample(name)
    lines = file.read_bytes().splitlines()
    messages = [pa.record_batch({LINE: pa.array([*lines[:2], None], pa.binary())}), pa.record_batch({LINE: lines[2:]})]
    assert normalised_rows(source, read_messages(source, messages)) == expected_rows(name)


def test_a_message_that_is_no_text_is_a_row() -> None:
    batch = pa.record_batch({LINE: pa.array([b"\xff", b'{"statement_text": "SELECT 1"}', b"{"], pa.binary())})
    rows = normalised_rows(SOURCES["databricks"], read_messages(SOURCES["databricks"], [batch]))
    assert sorted(row.get("problem", "") for row in rows) == ["", "unreadable record", "unreadable record"]


def test_every_sample_is_of_a_source() -> None:
    assert {path.name.split(".")[0] for path in FOLDER.iterdir() if path.is_file()} == {*SOURCES, "README"}


FALLBACKS = [
    pytest.param("redshift", {"query_id": 7, "query_text": "select 1", "user_id": 104}, ("user", "104"), id="redshift"),
    pytest.param(
        "pg_stat_statements",
        {"query": "select 1", "calls": 2, "userid": 10, "total_time": 1.5},
        ("user", "10"),
        id="pg_stat_statements: a user by number",
    ),
    pytest.param(
        "pg_stat_statements",
        {"query": "select 1", "calls": 2, "userid": 10, "total_time": 1.5},
        ("duration_us", 1_500),
        id="pg_stat_statements: times of PostgreSQL 12",
    ),
]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize(("name", "row", "expected"), FALLBACKS)
def test_a_column_that_is_not_there_does_not_hide_the_one_that_is(
    tmp_path: Path, name: str, row: dict[str, Any], expected: tuple[str, Any], form: str
) -> None:
    file = tmp_path / f"log.{form}"
    if form == "csv":
        file.write_text(",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n")
    elif form == "json":
        file.write_text(json.dumps(row) + "\n")
    else:
        pq.write_table(pa.Table.from_pylist([row]), file)
    [found] = normalised_rows(SOURCES[name], read_log(SOURCES[name], [file]))
    assert found[expected[0]] == expected[1]
