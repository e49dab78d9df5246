"""Tables that an INSERT or a MERGE fills are compared by column; a column that is no longer masked is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import RevisionOptions, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition, ProjectDiff
from lineage_ingest.diff.reports.wording import headline

STAGE = "create view stg as select id, n, {} as h from raw.t;"
MERGE = """merge into dim d using stg s on d.id = s.id when matched and s.n > {} then update set h = s.h
when not matched then insert (id, h) values (s.id, s.h);"""
FILLED = {
    "merge": (MERGE.format(1), "DIM", ["H"]),
    "insert": ("insert into dim (k, v) select id, h from stg;", "DIM", ["V"]),
    "with CTE": ("insert into dim (k, v) with c as (select * from stg) select id, h from c;", "DIM", ["V"]),
    "by position": ("create table dim (k int, v text); insert into dim select id, h from stg;", "DIM", ["V"]),
    "unknown columns": ("insert into dim select id, h from stg;", "DIM", ["*"]),
    "two inserts": (
        "create table dim (k int, v text); insert into dim select id, h from stg; insert into dim select 1, h from u",
        "DIM",
        ["K", "V"],
    ),
}


def _diff(tmp_path: Path, base: str, head: str, dialect: str = "snowflake") -> ProjectDiff:
    for side, text in (("base", base), ("head", head)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "all.sql").write_text(text)
    return diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(dialect=dialect))


@pytest.mark.parametrize("name", FILLED)
def test_a_column_upstream_changes(tmp_path: Path, name: str) -> None:
    text, table, columns = FILLED[name]
    found = _diff(tmp_path, STAGE.format("upper(e)") + text, STAGE.format("lower(e)") + text)
    diff = found.tables[table]
    assert (str(diff.effect), [one.name for one in diff.columns]) == ("affected", columns)
    if len(columns) == 1 and columns != ["*"]:
        assert [str(one) for one in diff.columns[0].effects] == ["value changed"]


@pytest.mark.parametrize(
    ("base", "head", "effects"),
    [
        (MERGE.format(1), MERGE.format(2), {"H": "value changed"}),
        (MERGE.format(1), MERGE.format(1).replace("d.id = s.id", "d.id = s.n"), {"ID": "row set", "H": "row set"}),
        (MERGE.format(1), MERGE.format(1).replace("(s.id, s.h)", "(s.id, null)"), {"H": "value changed"}),
        (MERGE.format(1), f"{MERGE.format(1)[:-1]} when matched then delete;", {"ID": "row set", "H": "row set"}),
        (MERGE.format(1), MERGE.format(1).replace("= s.h\n", "= lower(s.h)\n"), {"H": "value changed"}),
    ],
)
def test_a_merge_is_edited(tmp_path: Path, base: str, head: str, effects: dict[str, str]) -> None:
    found = _diff(tmp_path, STAGE.format("e") + base, STAGE.format("e") + head).tables["DIM"]
    assert {one.name: " ".join(map(str, one.effects)) for one in found.columns}.keys() >= effects.keys()
    for column in found.columns:
        assert effects.get(column.name, "") in ", ".join(map(str, column.effects))


DIM = "create table dim (k int, v text, w text);"


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("(k, v) select id, h", "(v, k) select h, id"),
        ("(k, v, w) select id, h, h", "(w, k, v) select h, id, h"),
        ("select id, h", "(v, k) select h, id"),
    ],
)
def test_the_order_of_an_insert_is_not_that_of_the_table(tmp_path: Path, base: str, head: str) -> None:
    """A CREATE TABLE decides the order of the columns."""
    found = _diff(tmp_path, *(f"{STAGE.format(1)}{DIM}insert into dim {one} from stg;" for one in (base, head)))
    assert not any("in another order" in one for one in found.notices)
    assert found.tables["DIM"].effect == "cosmetic"


def test_the_order_of_a_declaration_is_that_of_the_table(tmp_path: Path) -> None:
    insert = "insert into dim (k, v) select id, h from stg;"
    found = _diff(
        tmp_path,
        f"{STAGE.format(1)}{DIM}{insert}",
        f"{STAGE.format(1)}{DIM.replace('k int, v text', 'v text, k int')}{insert}",
    )
    assert any("in another order" in one for one in found.notices)


UNMASKED = {
    "in place": (STAGE.format("sha2(lower(e))"), STAGE.format("lower(e)"), {"STG.H"}),
    "downstream": (
        STAGE.format("sha2(e)") + FILLED["insert"][0] + "create view r as select v from dim;",
        STAGE.format("e") + FILLED["insert"][0] + "create view r as select v from dim;",
        {"STG.H", "DIM.V", "R.V"},
    ),
    "around a view that masks": (
        STAGE.format("sha2(e)") + "create view v as select h as x from stg;",
        STAGE.format("sha2(e)") + "create view v as select e as x from raw.t;",
        {"V.X"},
    ),
    "under another name": (STAGE.format("sha2(e)"), STAGE.format("e").replace("as h", "as g"), {"STG.G"}),
    "beside the mask": (
        STAGE.format("sha2(e)"),
        STAGE.format("sha2(e) as h, e").replace("e as h from", "e from"),
        {"STG.E"},
    ),
    "of another source": (
        STAGE.format("sha2(e)"),
        STAGE.format("sha2(e) as h, f as g").replace(" as h from", " from"),
        set(),
    ),
    "beside a count": (
        STAGE.format("count(e)"),
        STAGE.format("count(e) as h, e").replace("e as h from", "e from"),
        set(),
    ),
    "beside a key of several columns": (
        STAGE.format("sha2(concat(e, f))"),
        STAGE.format("sha2(concat(e, f)) as h, e").replace("e as h from", "e from"),
        set(),
    ),
    "still masked": (STAGE.format("sha2(lower(e))"), STAGE.format("md5(e)"), set()),
    "never masked": (STAGE.format("e"), STAGE.format("lower(e)"), set()),
    "another way stays clear": (STAGE.format("concat(e, sha2(e))"), STAGE.format("concat(e, e)"), set()),
}


@pytest.mark.parametrize("name", UNMASKED)
def test_a_column_is_no_longer_masked(tmp_path: Path, name: str) -> None:
    base, head, places = UNMASKED[name]
    found = _diff(tmp_path, base, head)
    failures = {text.partition(":")[0] for _, text in found.failures([FailCondition.UNMASKED])}
    assert failures == places
    assert (f"{len(places)} column" in headline(found)) == bool(places)
