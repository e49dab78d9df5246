"""Edits of a CREATE outside of its query: how a table is stored, where its rows come from, who sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_ingest import ProjectDiff, RevisionOptions, diff_revisions
from lineage_ingest.diff.reports.terminal import summary_lines

T = "create table t (a int, b int);\n"
READER = ";\ncreate view r as select a from v"


def _diff(folder: Path, dialect: str, base: str, head: str) -> ProjectDiff:
    for name, text in (("base", base), ("head", head)):
        (folder / name).mkdir()
        (folder / name / "a.sql").write_text(text, encoding="utf-8")
    return diff_revisions(folder / "base", folder / "head", options=RevisionOptions(dialect=dialect))


STORED = [
    ("postgres", "create view v as select a from t", "create table v as select a from t"),
    ("postgres", "create view v as select a from t", "create materialized view v as select a from t"),
    ("postgres", "create view v as select a from t", "create view v as select a from t with check option"),
    ("postgres", "create view v as select a from t", "create view v as select a from t with local check option"),
    ("redshift", "create view v as select a from t", "create view v as select a from t with no schema binding"),
    ("oracle", "create view v as select a from t", "create view v bequeath current_user as select a from t"),
    ("snowflake", "create secure view v as select a from t", "create view v as select a from t"),
    ("postgres", "create table v (a int)", "create table v (a int not null)"),
    ("postgres", "create table v (a int)", "create table v (a int check (a > 0))"),
    ("postgres", "create table v (a int)", "create table v (a int, primary key (a))"),
    (
        "postgres",
        "create table v (a int references t (a))",
        "create table v (a int references t (a) on delete cascade)",
    ),
    ("databricks", "create table v (a int) using delta", "create table v (a int) using delta partitioned by (a)"),
]
"""The table is made again; what reads it does not differ."""

NOT_STORED = [
    ("postgres", "create view v as select a from t", "CREATE OR REPLACE VIEW v AS select a from t;"),
    ("postgres", "create table v (a int not null, b int)", "CREATE TABLE IF NOT EXISTS v (a int NOT NULL,\n b int)"),
    ("postgres", "create view v (a) as select a from t", "create view v (A) as select a from t"),
    ("databricks", "create table v (mask int, filter int) using delta",
     "create table v (mask int , filter int)\nusing delta"),
]  # fmt: skip
"""Nothing is made again."""

DECIDES = [
    ("hive", "create external table v (a int) location 's3://a'", ("//a", "//b")),
    ("spark", "create table v (a int) using csv options (path 'a')", ("path 'a'", "path 'b'")),
    ("trino", "create table v (a int) with (external_location = 's3://a')", ("//a", "//b")),
    ("postgres", "create foreign table v (a int) server s options (table_name 'x')", ("'x'", "'y'")),
    ("snowflake", "create stream v on table t", ("table t", "table t append_only = true")),
    ("clickhouse", "create table v (a Int) engine = MergeTree order by a", ("MergeTree", "ReplacingMergeTree")),
    ("clickhouse", "create table v (a Int) engine = Memory; create materialized view m to v as select a from t",
     ("select a", "select b as a")),
    ("snowflake", "create view v with row access policy p on (a) as select a from t", ("policy p", "policy q")),
    ("snowflake", "create table v (a int with masking policy m)", (" with masking policy m", "")),
    ("databricks", "create table v (a int mask m)", ("mask m", "mask n")),
    ("databricks", "create table v (a int) with row filter f on (a)", ("filter f", "filter g")),
    ("tsql", "create table v (a int masked with (function = 'default()'))",
     (" masked with (function = 'default()')", "")),
]  # fmt: skip
"""Rows or values that a query of the table sees may differ: also in what reads it."""


@pytest.mark.parametrize(("dialect", "base", "head"), STORED)
def test_a_table_that_is_stored_otherwise(tmp_path: Path, dialect: str, base: str, head: str) -> None:
    found = _diff(tmp_path, dialect, T + base + READER, T + head + READER)
    assert [one.title.lower() for one in found.rebuild][:1] == ["v"]
    assert not [one.title for one in found.tables.values() if one.is_content]
    assert "cosmetic" not in "\n".join(map(str, summary_lines(found)))


@pytest.mark.parametrize(("dialect", "base", "head"), NOT_STORED)
def test_what_is_written_otherwise(tmp_path: Path, dialect: str, base: str, head: str) -> None:
    found = _diff(tmp_path, dialect, T + base + READER, T + head + READER)
    assert found.rebuild == []


@pytest.mark.parametrize(("dialect", "base", "edit"), DECIDES)
def test_what_decides_rows_reaches_what_reads_it(
    tmp_path: Path, dialect: str, base: str, edit: tuple[str, str]
) -> None:
    found = _diff(tmp_path, dialect, T + base + READER, T + base.replace(*edit) + READER)
    assert {one.title.lower() for one in found.tables.values() if one.is_content} >= {"v", "r"}
