"""Which clause changes the row set of an edited table."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import ProjectDiff, RevisionOptions, diff_revisions
from lineage_ingest.diff.reports.as_json import diff_to_dict
from lineage_ingest.diff.reports.junit import diff_to_junit
from lineage_ingest.diff.reports.markdown import diff_to_markdown
from lineage_ingest.diff.reports.sarif import diff_to_sarif
from lineage_ingest.diff.reports.terminal import diff_rows

TABLES = "create table t (a int, b int, c int); create table u (a int, d int);"
PAIRS = [
    ("select a from t where b > 1", "select a from t where b > 2", "WHERE"),
    ("select a from t", "select a from t where b > 2", "WHERE"),
    ("select t.a from t join u on t.a = u.a", "select t.a from t left join u on t.a = u.a", "JOIN"),
    ("select t.a from t join u on t.a = u.a", "select t.a from t join u on t.b = u.a", "JOIN"),
    ("select t.a from t", "select t.a from t join u on t.b = u.a", "JOIN"),
    ("select a, sum(b) as s from t group by a", "select a, sum(b) as s from t group by a, c", "GROUP BY"),
    ("select a, b from t", "select max(a) as a, max(b) as b from t", "GROUP BY"),
    ("select a from t group by a having sum(b) > 1", "select a from t group by a having sum(b) > 2", "HAVING"),
    # HAVING means something else after another WHERE, but was not edited.
    ("select a from t where c > 1 group by a having sum(b) > 1",
     "select a from t where c > 2 group by a having sum(b) > 1", "WHERE"),
    ("select distinct a from t", "select a from t", "DISTINCT"),
    ("select distinct a, b from t", "select distinct a from t", "DISTINCT"),
    ("select a from t order by b limit 3", "select a from t order by b limit 4", "LIMIT"),
    ("select a from t order by b limit 3", "select a from t order by c limit 3", "ORDER BY"),
    ("select a from t", "select a from u", "FROM"),
    ("select a from t union select a from u", "select a from t union all select a from u", "set operation"),
    ("select a from t union all select a from u", "select a from t", "FROM, set operation"),
    # In a CTE, in a sub-query, and in both branches.
    ("with x as (select a from t where b > 1) select a from x",
     "with x as (select a from t where b > 2) select a from x", "WHERE"),
    ("select a from (select distinct a from t) x where a > 1", "select a from (select a from t) x where a > 1",
     "DISTINCT"),
    ("select a from t where a > 1 union all select a from u where d > 1",
     "select a from t where a > 1 union all select a from u where d > 2", "WHERE"),
    ("select a from t where a in (select a from u where d > 1)",
     "select a from t where a in (select a from u where d > 2)", "WHERE"),
    ("select a from t qualify row_number() over (partition by b order by c) = 1",
     "select a from t qualify row_number() over (partition by b order by c) = 2", "QUALIFY"),
    # Two of them, and one written otherwise without meaning anything else.
    ("select a from t where b > 1 and c > 1 group by a", "select x.a from t x where c > 1 and b > 2 group by x.a, c",
     "WHERE, GROUP BY"),
    ("select a from t where b > 1 group by a", "select x.a from t as x where x.b > 2 group by x.a", "WHERE"),
]  # fmt: skip


def _diff(folder: Path, base: str, head: str) -> ProjectDiff:
    for name, query in (("base", base), ("head", head)):
        (folder / name).mkdir()
        (folder / name / "all.sql").write_text(f"{TABLES} create view v as {query};", encoding="utf-8")
    return diff_revisions(folder / "base", folder / "head", options=RevisionOptions(dialect="duckdb"))


@pytest.mark.parametrize(("base", "head", "clauses"), PAIRS)
def test_the_clause_is_named(tmp_path: Path, base: str, head: str, clauses: str) -> None:
    found = _diff(tmp_path, base, head)
    (table,) = found.edited
    assert ", ".join(table.clauses) == clauses


def test_every_report_names_it(tmp_path: Path) -> None:
    found = _diff(tmp_path, "select a, b from t where b > 1", "select a, b from t where b > 2")
    said = "row set changed (WHERE)"
    assert [row[3] for row in diff_rows(found)] == [said]
    assert "row set changed \\(WHERE\\)" in diff_to_markdown(found) or said in diff_to_markdown(found)
    assert diff_to_dict(found)["tables"][0]["row_clauses"] == ["WHERE"]
    assert said in diff_to_sarif(found)["runs"][0]["results"][0]["message"]["text"]
    assert said in diff_to_junit(found)


def test_no_clause_is_named_for_what_changes_upstream(tmp_path: Path) -> None:
    view = "select a from t where b > {}; create view w as select a from v where a > 1"
    found = _diff(tmp_path, view.format(1), view.format(2))
    assert {table.title: table.clauses for table in (*found.edited, *found.affected)} == {"v": ("WHERE",), "w": ()}


def test_the_order_of_rows_alone_is_a_reason_of_the_table(tmp_path: Path) -> None:
    found = _diff(tmp_path, "select a from t order by b", "select a from t order by c")
    (table,) = found.edited
    effects = {str(effect) for column in table.columns for effect in column.effects}
    assert (str(table.effect), table.reasons, effects) == ("changed", ("the order of its rows",), {"cosmetic"})


def test_some_columns_are_not_all(tmp_path: Path) -> None:
    """Of a table whose definition is not edited, only the columns to which something happens are listed."""
    view = "select a, b, c + {} as c, c * {} as d from t; create view w as select a, c, d from v"
    found = _diff(tmp_path, view.format(1, 1), view.format(2, 2))
    named = {(row[0], row[2]) for row in diff_rows(found)}
    assert named == {("v", "c, d"), ("w", "c, d")}
    assert "| `w` | c, d |" in diff_to_markdown(found)
