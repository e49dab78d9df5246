"""`lineage usage`: use by day, on the command line."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from lineage.model.batch import UsageRecord
from lineage.store import open_store
from tests.cli.running import lineage
from tests.store.batch_builders import batch, key, table

TODAY = datetime.now(UTC).date()
LONG_AGO = date(2024, 1, 5)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "graph.db"
    read, written = (datetime.combine(LONG_AGO, datetime.min.time(), UTC) + timedelta(hours=h) for h in (9, 7))
    records = (
        UsageRecord(key("orders"), LONG_AGO, 1200, 1, (("[etl]", 1), ("ana", 1150), ("bo", 50)), read, written),
        UsageRecord(key("orders"), TODAY - timedelta(days=2), 3, 0, (("ana", 3),)),
        UsageRecord(key("orders.id"), LONG_AGO, 7, 0),
    )
    with open_store(path) as opened:
        opened.apply(replace(batch(table("orders", "id", "note", at=1)), usage=records))
    return path


def test_a_table_by_day_the_latest_first(store: Path) -> None:
    done = lineage("usage", "orders", "-s", store, columns=120)
    assert done.code == 0
    lines = done.out.splitlines()
    recent = TODAY - timedelta(days=2)
    assert lines[0] == f"orders: 1,203 reads and 1 write by 3 known users on 2 days, {LONG_AGO} to {recent}"
    assert lines[1] == "most by ana (1,153), bo (50), [etl] (1)"
    assert [line.split()[0] for line in lines[4:6]] == [str(recent), str(LONG_AGO)]
    assert lines[5].split()[-2:] == ["09:00:00", "07:00:00"]


def test_only_the_last_days(store: Path) -> None:
    assert lineage("usage", "orders", "--days", 3, "-s", store, "-f", "json").json["reads"] == 3
    done = lineage("usage", "orders", "--days", 2, "-s", store)
    assert (done.code, done.out) == (0, "")
    recent = TODAY - timedelta(days=2)
    assert done.err == f"no known use of orders in the last 2 days; last used on {recent}\n"


def test_a_column_as_json(store: Path) -> None:
    answer = lineage("usage", "orders.id", "-s", store, "-f", "json").json
    assert (answer["key"], answer["name"], answer["reads"], answer["distinct_users"]) == (
        key("orders.id"),
        "orders.id",
        7,
        0,
    )
    assert [(one["day"], one["reads"]) for one in answer["by_day"]] == [("2024-01-05", 7)]


def test_csv(store: Path) -> None:
    rows = list(csv.DictReader(lineage("usage", "orders", "-s", store, "-f", "csv").out.splitlines()))
    assert [(row["reads"], row["users"]) for row in rows] == [("3", "1"), ("1200", "3")]
    assert rows[1]["most by"] == "ana (1,150), bo (50), [etl] (1)"


def test_rows_beyond_the_limit_are_said(store: Path) -> None:
    assert "… and 1 more day; --rows 0 shows all" in lineage("usage", "orders", "--rows", 1, "-s", store).err


@pytest.mark.parametrize("output", ["table", "csv", "json"])
def test_no_use_is_said_in_a_line(store: Path, output: str) -> None:
    done = lineage("usage", "orders.note", "-s", store, "-f", output)
    assert (done.code, done.err) == (0, "no known use of orders.note\n")


def test_without_a_log_nothing_is_known_and_readers_are_named(tmp_path: Path) -> None:
    store, file = tmp_path / "graph.db", tmp_path / "v.sql"
    file.write_text("create view mart.v as select a, sum(b) as b from shop.orders group by a")
    lineage("ingest", "sql", file, "-d", "postgres", "-s", store)
    done = lineage("usage", "shop.orders.a", "-s", store)
    assert (done.code, done.err.splitlines()) == (
        0,
        [
            "no known use of shop.orders.a: no ingested query log shows any use (lineage ingest log)",
            "its table is read for mart.v: lineage impact shop.orders.a",
        ],
    )


def test_the_help_has_an_example() -> None:
    assert "lineage usage shop.orders.amount --days 30" in " ".join(lineage("usage", "--help").out.split())


def test_an_unknown_name(store: Path) -> None:
    assert lineage("usage", "nothing", "-s", store).code == 2


def test_use_of_a_name_after_a_rename_away_is_of_the_table_that_has_it(tmp_path: Path) -> None:
    """A load that builds a new table and gives it the name of the old one: whoever reads later reads the new one."""
    log, store = tmp_path / "server.log", tmp_path / "graph.db"
    ran = [
        "select a from s.t",
        "create table s.t_new as select x as a from s.src",
        "alter table s.t rename to t_old",
        "alter table s.t_new rename to t",
        "select a from s.t",
        "select count(a) from s.t",
    ]
    lines = (f"2026-03-01 10:00:0{n}.000 UTC [7] ana@shop LOG:  statement: {sql}\n" for n, sql in enumerate(ran))
    log.write_text("".join(lines))
    for _ in range(2):
        lineage("ingest", "log", log, "-s", store)
        new, old = (lineage("usage", f"s.{name}", "-s", store, "-f", "json").json for name in ("t", "t_old"))
        assert (new["reads"], old["reads"]) == (2, 1)
