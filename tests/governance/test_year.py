"""Readers and unused tables of a generated log, against the raw rows; `python -m tests.governance.year` has a year."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import lineage
from tests.governance.year import check


def test_every_figure_is_that_of_the_raw_rows(tmp_path: Path) -> None:
    done = check(tmp_path, days=100, users=8)
    assert done.differences == []
    assert done.accesses > 100
    assert 10 < done.unused < 60


def test_who_writes_a_column_is_no_reader_of_it(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "query_text,started_at,user\n"
        "insert into stage.p (email) select email from raw.p,2026-01-01T00:00:00Z,loader\n"
        "update stage.p set email = lower(email),2026-01-02T00:00:00Z,cleaner\n"
        "select email from stage.p,2026-01-03T00:00:00Z,ana\n"
    )
    to = ("--store", tmp_path / "lineage.db")
    lineage("ingest", "log", log, "--source", "generic", "--dialect", "postgres", "--namespace", "postgres", *to)
    lineage("tag", "add", "raw.p.email", "email", *to)
    listed = lineage("pii", "access", "--json", *to).json["accesses"]
    assert {(one["column"], one["user"], one["queries"]) for one in listed} == {
        ("raw.p.email", "loader", 1),
        ("stage.p.email", "cleaner", 1),
        ("stage.p.email", "ana", 1),
    }


def test_what_only_select_star_reads_counts_apart(tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text("create table raw.p (id int, email text, fax text, zip text);")
    log = tmp_path / "log.csv"
    log.write_text(
        "query_text,started_at,user\n"
        "select * from raw.p where id = 7,2026-01-02T00:00:00Z,ana\n"
        "select * from raw.p where id = 8,2026-01-03T00:00:00Z,bo\n"
        "select Email from raw.p,2026-01-03T00:00:00Z,ana\n"
        "create table mart.z as select * from raw.p,2026-01-03T00:00:00Z,etl\n"
        "select zip from mart.z,2026-01-04T00:00:00Z,ana\n"
    )
    to = ("--store", tmp_path / "lineage.db")
    given = ("--source", "generic", "--dialect", "postgres", "--catalog", tmp_path / "schema.sql")
    assert lineage("ingest", "log", log, *given, *to).code == 0
    found = lineage("unused", "--until", "2026-01-04", "--days", "5", "--columns", "--json", *to).json["columns"]
    listed = {f"{one['table']}.{one['column']}": one["star_reads"] for one in found}
    assert listed == {"raw.p.fax": 3, "mart.z.email": 0, "mart.z.fax": 0, "mart.z.id": 0}
    shown = lineage("unused", "--until", "2026-01-04", "--days", "5", "--columns", *to).out
    assert "unused column raw.p.fax, but for SELECT * (3)" in shown
