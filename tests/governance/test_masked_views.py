"""Masks that views pass on: a view stores nothing, so a policy on the column behind it decides for whoever asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import lineage

_BASE = """
create table crm.people (id int, mail string with masking policy sec.mail, tel string);
create table crm.leads (id int, mail string);
create masking policy sec.mail as (val string) returns string -> case when current_role() = 'DPO' then val end;
create masking policy sec.other as (val string) returns string -> case when current_role() = 'BI' then val end;
"""


def _masks(folder: Path, sql: str, column: str = "crm.people.mail") -> dict[str, list[str]]:
    (folder / "sql").mkdir()
    (folder / "sql" / "all.sql").write_text(_BASE + sql, encoding="utf-8")
    to = ("--dialect", "snowflake", "--project", "x", "--store", folder / "l.db")
    assert lineage("ingest", "sql", folder / "sql", *to).code == 0
    done: dict[str, Any] = lineage("pii", "where", column, "--json", "--store", folder / "l.db").json
    return {one["name"]: [_text(mask) for mask in one["warehouse"]["masks"]] for one in done["reached"]}


def _text(mask: dict[str, Any]) -> str:
    return f"{mask['policy']} {','.join(mask['seen_by'] or ())}" + (f" of {mask['behind']}" if mask["behind"] else "")


MAIL = "SEC.MAIL DPO of CRM.PEOPLE.MAIL"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("create view mart.v as select lower(mail) as m from crm.people", {"MART.V.M": [MAIL]}),
        (
            "create view mart.v as select mail as m from crm.people; create view mart.w as select m from mart.v",
            {"MART.V.M": [MAIL], "MART.W.M": [MAIL]},
        ),
        (  # who made the table saw the value, or its mask: nobody knows
            "create table mart.t as select mail as m from crm.people; create view mart.w as select m from mart.t",
            {"MART.T.M": [], "MART.W.M": []},
        ),
        ("create materialized view mart.v as select mail as m from crm.people", {"MART.V.M": []}),
        (  # one way is not masked
            "create table mart.t as select mail as m from crm.people;"
            "create view mart.w as select p.mail || t.m as m from crm.people p join mart.t t on true",
            {"MART.T.M": [], "MART.W.M": []},
        ),
        (  # a copy that has a mask of its own, and a view with another one
            "create table mart.t as select mail as m from crm.people;"
            "alter table mart.t modify column m set masking policy sec.mail;"
            "create view mart.w as select p.mail || t.m as m from crm.people p join mart.t t on true;"
            "alter view mart.w modify column m set masking policy sec.other",
            {"MART.T.M": ["SEC.MAIL DPO"], "MART.W.M": ["SEC.OTHER BI", MAIL]},
        ),
        (  # a hash shows nothing, with or without a mask
            "create table mart.t as select md5(mail) as m from crm.people;"
            "create view mart.w as select coalesce(p.mail, t.m) as m from crm.people p join mart.t t on true",
            {"MART.T.M": [], "MART.W.M": [MAIL]},
        ),
    ],
)
def test_masks_of_what_is_behind_a_view(tmp_path: Path, sql: str, expected: dict[str, list[str]]) -> None:
    assert _masks(tmp_path, sql) == expected


def test_a_missing_mask_is_that_of_other_columns_of_the_class(tmp_path: Path) -> None:
    _masks(tmp_path, "create table mart.t as select mail as m from crm.people")
    to = ("--store", tmp_path / "l.db")
    assert lineage("tag", "add", "crm.people.mail", "email", *to).code == 0
    sql = lineage("pii", "drift", "--sql", *to).out
    assert "ALTER TABLE MART.T MODIFY COLUMN M SET MASKING POLICY SEC.MAIL;" in sql


def test_a_value_without_a_mask_has_none_in_a_view_over_both(tmp_path: Path) -> None:
    sql = "create view mart.v as select mail as m from crm.people union all select mail from crm.leads"
    assert _masks(tmp_path, sql, "crm.leads.mail") == {"MART.V.M": []}
    log = tmp_path / "log.csv"
    log.write_text("query_text,started_at,user\nselect m from mart.v,2026-01-01T00:00:00Z,ana\n")
    to = ("--store", tmp_path / "l.db")
    given = ("--source", "generic", "--dialect", "snowflake", "--namespace", "snowflake")
    assert lineage("ingest", "log", log, *given, *to).code == 0
    for column in ("crm.people.mail", "crm.leads.mail"):
        lineage("tag", "add", column, "email", *to)
    [read] = lineage("pii", "access", "--json", *to).json["accesses"]
    assert read["warehouse"] == []  # the leads are seen by all
    drift = lineage("pii", "drift", "--json", *to).json["drift"]
    assert {one["column"]: one["mask"] for one in drift} == {
        "CRM.PEOPLE.MAIL": "yes",
        "CRM.LEADS.MAIL": "no",
        "MART.V.M": "no",
    }
    assert "The warehouse masks 1 column by policies" in lineage("pii", "report", *to).out
