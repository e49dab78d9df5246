"""A table that several statements make: which columns it has is known, whatever its content is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import ProjectDiff, RevisionOptions, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition

TABLES = "create table t (id int, a int, b text);\n"
MADE = TABLES + "create table r as select id, a from t;\n"
UPDATED = "update r set a = 0 where id > 5;\n"


def _diff(folder: Path, base: str, head: str) -> ProjectDiff:
    for name, text in (("base", base), ("head", head)):
        (folder / name).mkdir()
        (folder / name / "a.sql").write_text(text, encoding="utf-8")
    return diff_revisions(folder / "base", folder / "head", options=RevisionOptions(dialect="postgres"))


def _columns(found: ProjectDiff) -> dict[str, set[str]]:
    """Return what happens to the columns of the edited tables."""
    return {
        f"{one.title}.{column.name}": {str(effect) for effect in column.effects}
        for one in found.edited
        for column in one.columns
    }


@pytest.mark.parametrize(
    ("base", "head", "gone"),
    [
        (TABLES, TABLES + "alter table t drop column a;", "t.a"),
        (TABLES, TABLES + "alter table t rename column a to c;", "t.a"),
        (MADE, MADE + "alter table r drop column a;", "r.a"),
        (MADE + UPDATED, MADE.replace("id, a", "a") + UPDATED, "r.id"),
        (MADE + "insert into r select 1, 2;", MADE.replace("id, a", "id") + "insert into r select 1;", "r.a"),
        ("drop table if exists r;\n" + MADE, "drop table if exists r;\n" + MADE.replace("id, a", "id"), "r.a"),
        ("drop table r cascade;\n" + MADE, "drop table r cascade;\n" + MADE.replace("id, a", "id"), "r.a"),
        ("drop view if exists w;\n" + TABLES + "create view w as select id, a from t;",
         "drop view if exists w;\n" + TABLES + "create view w as select id from t;", "w.a"),
    ],
)  # fmt: skip
def test_a_column_that_is_gone(tmp_path: Path, base: str, head: str, gone: str) -> None:
    found = _diff(tmp_path, base, head)
    assert [name for name, effects in _columns(found).items() if "removed" in effects] == [gone]
    assert found.failures([FailCondition.REMOVED])


@pytest.mark.parametrize("more", [UPDATED, "alter table r add column c int;", "alter table r alter a type bigint;"])
def test_a_statement_that_removes_nothing(tmp_path: Path, more: str) -> None:
    """What is added to a table's only definition is no other table."""
    columns = _columns(_diff(tmp_path, MADE, MADE + more))
    assert {"r.id", "r.a"} <= columns.keys()
    assert not any("removed" in effects for effects in columns.values())
    assert ("added" in columns.get("r.c", ())) == ("add column" in more)


def test_columns_that_are_not_known(tmp_path: Path) -> None:
    """What a statement that is not followed does to columns is not guessed."""
    like = "create table r (like t);\n"
    assert not any("removed" in effects for effects in _columns(_diff(tmp_path, like, like + UPDATED)).values())


def test_what_is_dropped_before(tmp_path: Path) -> None:
    """Tables that the former run has left are dropped: that changes no content, unless their readers go with them."""
    (tmp_path / "plain").mkdir()
    assert not _diff(tmp_path / "plain", MADE, "drop table if exists r;\n" + MADE).edited
    (tmp_path / "cascade").mkdir()
    [table] = _diff(tmp_path / "cascade", MADE, "drop table if exists r cascade;\n" + MADE).edited
    assert "setting `what is dropped with it`" in table.reasons


@pytest.mark.parametrize(
    ("made", "is_known"),
    [
        ("create table r_new as select {} from t;\ndrop table if exists r;\nalter table r_new rename to r;", False),
        ("create table if not exists r as select a from t;\ncreate table if not exists r as select {} from t;", False),
        ("create table r as select {} from t;\nupdate r set id = 0;", True),
    ],
)
def test_that_columns_are_not_known_is_said(tmp_path: Path, made: str, is_known: bool) -> None:
    """A gate against columns that are removed has nothing to go by."""
    found = _diff(tmp_path, TABLES + made.format("id, a"), TABLES + made.format("id"))
    reasons = [one for table in found.edited for one in table.reasons]
    assert any("which columns it has is not known" in one for one in reasons) != is_known
    assert bool(found.failures([FailCondition.REMOVED])) == is_known


COPIED = "create table c as select id, a from r;\n"
WATCHED = "create view w as select id, a from r;\ncreate table c as select id, a from w;\n"
MACROS = ("create or replace function f(x int) returns int language sql as 'select x + 1';\n",
          "create or replace function f(x int) returns int language sql as 'select x + 2';\n")  # fmt: skip
CALLED = "create table c as select f(id) as n from t;\n"
UNDONE = "begin;\n" + UPDATED + "rollback;\n"


@pytest.mark.parametrize(
    ("base", "head", "edited"),
    [
        (MADE + UPDATED + COPIED, MADE + COPIED + UPDATED, ["c"]),
        (MADE + UPDATED + WATCHED, MADE + WATCHED + UPDATED, ["c"]),
        (TABLES + MACROS[0] + CALLED + MACROS[1], TABLES + "".join(MACROS) + CALLED, ["c"]),
        (TABLES + "set search_path = x;\n" + CALLED, TABLES + CALLED + "set search_path = x;\n", ["c"]),
        (MADE + UNDONE, MADE + UNDONE.replace("rollback", "commit"), ["r"]),
        (MADE + UNDONE, MADE, []),
        (MADE + UPDATED + COPIED, MADE + UPDATED + "-- again\n" + COPIED + "drop table r;", ["r"]),
        ("create view w as select id from t;\n" + TABLES, TABLES + "create view w as select id from t;\n", []),
    ],
)  # fmt: skip
def test_the_order_of_statements(tmp_path: Path, base: str, head: str, edited: list[str]) -> None:
    """A table has what was there when its statement ran; where nothing follows that changes that, no order counts."""
    assert sorted(one.title for one in _diff(tmp_path, base, head).edited) == edited


def test_a_table_made_before_the_columns_of_another_change_has_columns_that_are_not_known(tmp_path: Path) -> None:
    made = "create table w as select * from r;\n"
    changed = "alter table r drop column a;\n"
    found = _diff(tmp_path, MADE + made + changed, MADE + changed + made)
    assert [name for name, effects in _columns(found).items() if "removed" in effects] == ["w.*"]
    assert found.failures([FailCondition.REMOVED])
    assert "compared as a whole" in str(found.tables["w"].reasons)
