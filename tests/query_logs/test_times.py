"""Forms of times, and what they mean; what may mean two moments means none."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lineage_ingest.query_log.times import times

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
