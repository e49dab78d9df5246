"""`lineage ingest log` and when statements ran: no run is dated by the clock, and what cannot be read is said."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.running import lineage

SQL = "INSERT INTO mart.t SELECT a FROM core.s"


def log(*times: str | float | None) -> str:
    rows: list[dict[str, object]] = [
        {"query_text": SQL} if time is None else {"query_text": SQL, "started_at": time} for time in times
    ]
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "log.jsonl"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ingest(*arguments: str, code: int = 0) -> str:
    done = lineage("ingest", "log", *arguments)
    assert done.code == code, done.err + done.out
    return " ".join((done.out + done.err).split())


def days() -> dict[str, int]:
    """Return how often the source was read, by day."""
    found = csv.DictReader(io.StringIO(lineage("usage", "core.s", "--days", "100000", "--format", "csv").out))
    return {one["day"]: int(one["reads"]) for one in found}


def test_common_forms_are_read() -> None:
    said = ingest(log("16.11.2026 08:00:00", "1.772359200000000000E+09", 1772359200, 1772359200000, "2026-11-16 08:00"))
    assert "readable time" not in said
    assert days() == {"2026-03-01": 3, "2026-11-16": 2}


def test_what_cannot_be_read_is_in_no_day_and_is_said() -> None:
    said = ingest(log("03/01/2026 10:00:00", "2026-02-02T10:00:00Z", "when the moon was full", None))
    assert "3 runs without a readable time, in no day of use" in said
    assert "(one is written 99/99/9999 99:99:99," in said
    assert "moon" not in said
    assert "--time-format" in said
    assert days() == {"2026-02-02": 1}


def test_a_format_says_which_is_the_day() -> None:
    file = log("03/01/2026 10:00:00", "16/01/2026 10:00:00")
    said = ingest(file, "--store", "other.db")
    assert "1 run without a readable time" in said  # the sixteenth can be no month
    ingest(file, "--time-format", "%d/%m/%Y %H:%M:%S")
    assert days() == {"2026-01-03": 1, "2026-01-16": 1}
    assert "does not say year, month and day" in ingest(file, "--time-format", "%H:%M", code=2)
    assert "is no format" in ingest(file, "--time-format", "%Q", code=2)


@pytest.mark.parametrize("times", [(None, None), ("soon", "later")])
def test_a_log_without_any_time_is_refused_unless_it_was_observed(times: tuple[str | None, ...]) -> None:
    said = ingest(log(*times), code=1)
    assert (
        "the times of all 2 statements cannot be read" if times[0] else "not known when the 2 statements ran"
    ) in said
    assert "--map started_at=COLUMN" in said
    assert lineage("runs", "--format", "json").json == []
    ingest("log.jsonl", "--observed-at", "2026-05-01")
    assert days() == {"2026-05-01": 2}
    assert datetime.now(UTC).date().isoformat() not in days()


def test_what_has_no_time_is_not_taken_for_the_newest() -> None:
    rows = [
        {"query_text": "CREATE VIEW mart.v AS SELECT a FROM core.s", "started_at": None},
        {"query_text": "CREATE VIEW mart.v AS SELECT b FROM core.s", "started_at": "2026-02-02T10:00:00Z"},
    ]
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ingest("log.jsonl")
    assert "mart.v" in lineage("impact", "core.s.b").out
    assert "mart.v" not in lineage("impact", "core.s.a").out
