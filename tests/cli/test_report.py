"""`lineage extract --report`: what would resolve the statements that are not full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import lineage

SQL = """
create view v1 as select * from raw.orders;
create view v2 as select o.* from raw.orders o join raw.users u on o.order_id = u.id;
create view v3 as select * from v1;
create view v4 as select id, amount from raw.orders join raw.users on true;
create table tgt as select * from other;
create view bad as select from where;
create view good as select id from raw.users;
select x.a from raw.users;
"""
COLUMNS = {"raw.orders": {"order_id": "int", "amount": "int"}, "raw.users": {"id": "int"}, "other": {"a": "int"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "a.sql").write_text(SQL, encoding="utf-8")
    return tmp_path / "sql"


def report(folder: Path, *options: object) -> dict[str, Any]:
    answer = lineage("extract", "-d", "postgres", "--report", folder, "-f", "json", *options).json
    assert isinstance(answer, dict)
    return answer


def full(answer: dict[str, Any]) -> float:
    return float(round(answer["statements"]["full"] / sum(answer["statements"].values()), 4))


def test_needs_come_in_the_order_in_which_they_help(folder: Path) -> None:
    needs = report(folder)["needs"]
    assert [(one["need"], one["statements"], one["first"]) for one in needs] == [
        ("the columns of raw.orders", 4, "a.sql:2"),
        ("the columns of other", 1, "a.sql:6"),
        ("the columns of raw.users", 1, "a.sql:5"),
        ("PARSE_ERROR: Expected table name, found `…`", 1, "a.sql:7"),
        ("UNKNOWN_TABLE: no table or alias `…` for column `…`", 1, "a.sql:9"),
    ]
    assert [one["full"] for one in needs] == [0.5, 0.625, 0.75, 0.875, 1.0]
    assert all(one["help"] for one in needs)


def test_what_the_report_promises_for_a_catalog_comes_true(folder: Path) -> None:
    before = report(folder)
    given: dict[str, dict[str, str]] = {}
    for need in before["needs"]:
        if need["kind"] != "columns":
            break
        given[need["name"]] = COLUMNS[need["name"]]
        catalog = folder.parent / "catalog.json"
        catalog.write_text(json.dumps(given), encoding="utf-8")
        after = report(folder, "-c", catalog)
        assert full(after) >= need["full"], need  # one schema may be enough for an ambiguous column
        assert need["need"] not in {one["need"] for one in after["needs"]}
    assert len(given) == 3


def test_a_report_fits_the_terminal_and_says_what_to_do_once(folder: Path) -> None:
    shown = lineage("extract", "-d", "postgres", "--report", folder, columns=80).out
    assert max(map(len, shown.splitlines())) <= 80, shown
    assert shown.count("--catalog") == 1
    assert "7 statements not full" in shown


def test_a_report_as_csv_has_a_row_per_need(folder: Path) -> None:
    shown = lineage("extract", "-d", "postgres", "--report", folder, "-f", "csv").out.splitlines()
    assert shown[0] == "need,kind,name,code,statements,full,first,help"
    assert shown[1].startswith("the columns of raw.orders,columns,raw.orders,,4,0.5,a.sql:2,")
    assert len(shown) == 6


def test_nothing_is_needed_where_all_is_full(folder: Path) -> None:
    (folder / "a.sql").write_text("create view v as select id from t", encoding="utf-8")
    assert report(folder)["needs"] == []
    assert "not full" not in lineage("extract", "-d", "postgres", "--report", folder).out


def test_rows_of_a_log_that_only_together_are_held_up(tmp_path: Path) -> None:
    """A statement that needs two tables is full only with both."""
    log = tmp_path / "log.jsonl"
    rows = ["select a.*, b.* from a, b", "select * from b", "select * from c"]
    log.write_text("".join(json.dumps({"sql": sql}) + "\n" for sql in rows), encoding="utf-8")
    needs = report(log)["needs"]
    assert [(one["name"], one["statements"], one["full"], one["first"]) for one in needs] == [
        ("b", 2, 0.3333, "log.jsonl:1:1"),
        ("a", 1, 0.6667, "log.jsonl:1:1"),
        ("c", 1, 1.0, "log.jsonl:3:1"),
    ]


def test_an_insert_without_a_list_needs_the_columns_of_its_target(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("insert into mart.tgt select id from raw.users", encoding="utf-8")
    [need] = report(tmp_path)["needs"]
    assert (need["need"], need["full"]) == ("the columns of mart.tgt", 1.0)
