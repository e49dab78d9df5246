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
