"""Statements about tags, masks and grants that are not read are reported, and no others are."""

from __future__ import annotations

import pytest

from lineage.model.diagnostics import DiagnosticCode
from lineage.sql.extraction import extract


@pytest.mark.parametrize(
    ("dialect", "sql", "is_reported"),
    [
        ("snowflake", "alter schema d.s set tag d.s.pii = 'email'", True),
        ("snowflake", "alter database d unset tag d.s.pii", True),
        ("snowflake", "alter table d.s.t set tag d.s.pii = 'email'", False),
        ("snowflake", "alter warehouse w set tag d.s.cost = 'x'", False),
        ("snowflake", "set tag = 1", False),
        ("databricks", "alter catalog c set tags ('pii' = 'email')", True),
        ("databricks", "unset tag on table c.s.t pii", True),
        (
            "databricks",
            "create policy p on schema s column mask f to x for tables match columns y as a on column a",
            True,
        ),
        ("postgres", "create policy p on t using (a = 1)", False),
        ("postgres", "security label for anon on column t.a is 'MASKED WITH FUNCTION anon.fake_email()'", True),
        ("postgres", "set tag = 'x'", False),
        ("tsql", "add sensitivity classification to dbo.t.a with (label = 'x')", True),
        ("bigquery", "grant `roles/bigquery.dataViewer` on table d.t to 'user:ana'", True),
    ],
)
def test_what_is_not_read_is_reported(dialect: str, sql: str, is_reported: bool) -> None:
    [statement] = extract(sql, dialect)
    found = any(one.code is DiagnosticCode.NOT_FOLLOWED for one in statement.diagnostics)
    assert found is is_reported
