"""Tables of a folder of SQL that are made of each other: an edit of one changes the other, and what reads that."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import RevisionOptions, diff_revisions

FOLDERS = {
    "swapped": (
        "snowflake",
        "create table t_new as select a from src; alter table t swap with t_new; drop table t_new;"
        "create view v as select a from t",
    ),
    "exchanged": (
        "clickhouse",
        "create table t (a Int32) engine = Memory; create table u as select a from src; exchange tables t and u;"
        "create view v as select a from t",
    ),
    "renamed in turns": (
        "mysql",
        "create table t (a int); create table u as select a from src; rename table t to x, u to t, x to u;"
        "create view v as select a from t",
    ),
    "filled from each other": (
        "postgres",
        "create table t (a int); create table u (a int); insert into t select a from u; insert into u select a from t;"
        "insert into u select a from src; create view v as select a from t",
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_an_edit_reaches_the_other_table(name: str, tmp_path: Path) -> None:
    dialect, text = FOLDERS[name]
    for folder, written in (("base", text), ("head", text.replace("select a from src", "select a + 1 as a from src"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.sql").write_text(written, encoding="utf-8")
    found = diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(dialect=dialect))
    assert "v" in {one.title.lower() for one in found.affected}


@pytest.mark.parametrize("condition", ["b > 1", "b > 2"])
def test_a_cte_of_unknown_columns_that_becomes_a_view_changes_nothing(tmp_path: Path, condition: str) -> None:
    reader = "create view f as {} select c.a, c.b * 2 as d from c"
    texts = {
        "base/f.sql": reader.format("with c as (select * from w where b > 1)"),
        "head/f.sql": reader.format(""),
        "head/c.sql": f"create view c as select * from w where {condition}",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(dialect="duckdb"))
    effects = {one.title: str(one.effect) for one in found.tables.values()}
    assert effects == {"c": "added", "f": "cosmetic" if condition == "b > 1" else "changed"}
