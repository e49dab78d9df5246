"""Forms of times, and what they mean; what may mean two moments means none."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lineage_ingest.query_log import SOURCES
from lineage_ingest.query_log.reading.time_columns import times

NOON = "2026-03-16T12:00:00+00:00"


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-16 12:00:00", "2026-03-16T12:00Z", "2026/03/16 12:00:00", "16.3.2026 12:00", "16/03/2026 12:00:00",
        "3/16/2026 12:00:00 PM", "16-MAR-26 12.00.00.000000 PM", "16/Mar/2026:13:00:00 +0100", "Mar 16, 2026 12:00 pm",
        "Mon, 16 Mar 2026 12:00:00 GMT", "Mon Mar 16 12:00:00 UTC 2026", "Mon Mar 16 12:00:00 2026", "20260316120000",
        "20260316T120000Z", "2026-03-16 12:00:00 +0000 UTC", "2026-03-16 13:00:00 Europe/Vienna",
        "2026-03-16 12:00:00 GMT+00:00", "2026-03-17 01:00:00 NZDT", "2026-03-16 23:00:00 AEDT", "1773662400",
        "1773662400.0", "1773662400000", "1773662400000000", "1773662400000000000", "1.7736624E9",
        "1.773662400000000000E+09", 1773662400, 1773662400000, 1773662400.0,
    ],
)  # fmt: skip
def test_forms(written: str | float) -> None:
    [read] = times(pa.array([written])).to_pylist()
    assert read is not None
    assert read.isoformat() == NOON


@pytest.mark.parametrize(
    "written",
    [
        "03/04/2026 12:00:00", "3-4-2026", "2026-03-16 12:00:00 CST", "2026-03-16 12:00:00 IST", "16.13.2026", "soon",
        "30/02/2026", "2026-02-30 10:00:00", "0", "12345", "9999-12-31", "13:00:00 PM 16/03/2026", "1e99", "", "NaN",
        "1.7E+3000", "20261316", "0001-01-01 00:00:00", "01.01.0026", "٣/٤/٢٠٢٦",
    ],
)  # fmt: skip
def test_what_is_no_time_or_may_be_two(written: str) -> None:
    assert times(pa.array([written])).to_pylist() == [None]


def test_a_zone_is_of_times_that_do_not_say_theirs() -> None:
    given = pa.array(["16.03.2026 12:00", "16.03.2026 12:00 UTC", "2026-03-16 12:00:00 CST"])
    read = [one.isoformat() for one in times(given, "America/Chicago").to_pylist()]
    assert read == ["2026-03-16T17:00:00+00:00", NOON, "2026-03-16T17:00:00+00:00"]


def test_a_format_is_the_only_one_beside_iso() -> None:
    given = pa.array(["03/04/2026 12:00", "03/16/2026 12:00", "2026-03-16 12:00:00", "16.03.2026 12:00"])
    read = times(given, None, None, ["%d/%m/%Y %H:%M"]).to_pylist()
    assert [one and one.isoformat() for one in read] == ["2026-04-03T12:00:00+00:00", None, NOON, None]


def test_of_the_hour_that_comes_twice_the_name_says_which() -> None:
    given = pa.array([f"2026-11-01 01:30:00 {name}" for name in ("CDT", "CST")] + ["2026-11-01 01:30:00"])
    read = [one.strftime("%H:%M") for one in times(given, "America/Chicago").to_pylist()]
    assert read == ["06:30", "07:30", "06:30"]


ROWS_WITHOUT_WORDS = [
    ("bigquery", {"query": "select 1", "start_time": "1.772359200000000000E+09", "state": "DONE"}),
    ("bigquery", {"query": "select 1", "start_time": "1772359200000", "state": "DONE"}),
    ("clickhouse", {"type": 2, "query": "select 1", "query_start_time": pa.scalar(1772359200, pa.uint32())}),
    ("clickhouse", {"type": 2, "query": "select 1", "query_start_time_microseconds": "1772359200.000000"}),
    ("snowflake", {"query_text": "select 1", "start_time": "1772359200.000000000"}),
    ("databricks", {"statement_text": "select 1", "start_time": 1772359200000000}),
    *(
        (
            "postgres_csv",
            {
                "log_time": f"2026-03-01 {clock}:00:00.000 {name}",
                "session_start_time": f"2026-03-01 {clock}:00:00 {name}",
                "session_id": f"{1772359200:x}.1267",
                "message": "statement: select 1",
            },
        )
        for name, clock in (
            ("BST", 11),
            ("BST", 16),
            ("AST", 13),
            ("AST", "06"),
            ("CST", 18),
            ("CST", "04"),
            ("GMT", 10),
        )
    ),
    *(
        ("postgres_csv", {"log_time": f"2026-03-0{day} {clock}:00:00.000 {name}", "message": "statement: select 1"})
        for name, clock, day in (("AEST", 20, 1), ("NZDT", 23, 1), ("JST", 19, 1))
    ),
]


@pytest.mark.parametrize(("name", "row"), ROWS_WITHOUT_WORDS)
def test_times_of_exports(name: str, row: dict[str, object]) -> None:
    arrays = {
        key: pa.array([value.as_py()], value.type) if isinstance(value, pa.Scalar) else pa.array([value])
        for key, value in row.items()
    }
    source = SOURCES[name]
    [batch] = source.assemble(pa.table(arrays)).combine_chunks().to_batches()
    [found] = source.normalise(batch).to_pylist()
    assert found["problem"] is None
    assert found["started_at"].isoformat() == "2026-03-01T10:00:00+00:00"


@pytest.mark.parametrize("more", [{}, {"session_id": "69a40f01.1"}, {"session_start_time": "2026-03-01 10:00:00 GMT"}])
def test_a_zone_that_nothing_states_is_not_guessed(more: dict[str, str]) -> None:
    row = {
        "log_time": "2026-03-01 11:00:00.000 BST", "session_start_time": "2026-03-01 11:00:00 BST",
        "session_id": f"{1772359200:x}.1", "message": "statement: select 1",
    }  # fmt: skip
    row = {**row, **more} if more else {key: row[key] for key in ("log_time", "message")}
    source = SOURCES["postgres_csv"]
    [batch] = source.assemble(pa.Table.from_pylist([row])).to_batches()
    [found] = source.normalise(batch).to_pylist()
    assert (found["started_at"], found["problem"], found["unread_time"]) == (
        None, "absurd time",
        "9999-99-99 99:99:99.999 xxx - several zones have this abbreviation: name yours with --zone",
    )  # fmt: skip
