"""What reads a column with the time or chance in it: a view has the time of its reader, a table that of its build."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import RevisionOptions, diff_revisions

READER = "create view r as select id, yearly from v where moment > 18;"


@pytest.mark.parametrize(
    ("kind", "moment", "effects"),
    [
        ("view", "extract(year from age(born))", {"yearly": ["value changed"]}),
        ("view", "extract(epoch from now())", {"yearly": ["value changed"]}),
        ("view", "random()", {"id": ["row set changed"], "yearly": ["value changed", "row set changed"]}),
        ("materialized view", "extract(epoch from now())",
         {"id": ["row set changed"], "yearly": ["value changed", "row set changed"]}),
        ("table", "extract(epoch from now())",
         {"id": ["row set changed"], "yearly": ["value changed", "row set changed"]}),
        ("table", "extract(year from born)", {"yearly": ["value changed"]}),
    ],
)  # fmt: skip
def test_an_edit_beside_it(tmp_path: Path, kind: str, moment: str, effects: dict[str, list[str]]) -> None:
    for side, factor in (("base", 12), ("head", 13)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.sql").write_text(
            "create table t (id int, born date, pay int);"
            f"create {kind} v as select id, {moment} as moment, pay * {factor} as yearly from t; {READER}",
            encoding="utf-8",
        )
    found = diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(dialect="postgres"))
    (reader,) = found.affected
    assert {one.name: [str(effect) for effect in one.effects] for one in reader.columns} == effects
