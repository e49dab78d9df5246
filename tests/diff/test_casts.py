"""A cast changes a type, and the value too if it may cut something."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import RevisionOptions, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition

CASES = [
    ("a", "cast(a as int)", "type changed, value changed"),
    ("a", "cast(a as text)", "type changed"),
    ("cast(a as int)", "cast(a as bigint)", "type changed"),
    ("cast(a as bigint)", "cast(a as int)", "type changed, value changed"),
    ("cast(a as timestamp)", "cast(a as date)", "type changed, value changed"),
    ("cast(a as date)", "cast(a as timestamp)", "type changed, value changed"),
    ("cast(a as int)", "cast(a as text)", "type changed, value changed"),
    ("cast(a as float)", "cast(a as double)", "type changed, value changed"),
    ("cast(a as decimal(10, 0))", "cast(a as decimal(12, 2))", "type changed, value changed"),
    ("cast(a as decimal(10, 2))", "cast(a as decimal(12, 2))", "type changed"),
    ("cast(a as decimal(10, 2))", "cast(a as decimal(10, 3))", "type changed, value changed"),
    ("cast(a as varchar(10))", "cast(a as varchar(5))", "cosmetic"),  # DuckDB knows no length
    ("cast(a as int)", "a", "type changed, value changed"),
    ("cast(a as int)", "try_cast(a as int)", "value changed"),
    ("cast(a as int)", "cast(b as bigint)", "type changed, value changed"),
    ("try_cast(a as int)", "try_cast(a as bigint)", "type changed, value changed"),  # what was NULL may be a value
    ("try_cast(a as int)", "try_cast(b as int)", "value changed"),
]


@pytest.mark.parametrize(("base", "head", "effects"), CASES)
def test_a_cast(tmp_path: Path, base: str, head: str, effects: str) -> None:
    for side, value in (("base", base), ("head", head)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "v.sql").write_text(f"create view v as select {value} as x from t")
    found = diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(dialect="duckdb"))
    (column,) = found.tables["v"].columns
    assert ", ".join(map(str, column.effects)) == effects
    assert bool(found.failures([FailCondition.VALUE])) == ("value" in effects)


def test_a_length(tmp_path: Path) -> None:
    for side, size in (("base", 10), ("head", 5)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "v.sql").write_text(f"create view v as select cast(a as varchar({size})) as x from t")
    found = diff_revisions(tmp_path / "base", tmp_path / "head", options=RevisionOptions(dialect="postgres"))
    assert [str(one) for one in found.tables["v"].columns[0].effects] == ["type changed", "value changed"]
