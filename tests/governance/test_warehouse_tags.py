"""Classes from tags and comments of a warehouse, what it does not know, breakers, and which of two classes counts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.cli.running import lineage

_TABLES = """
create table crm.people (id int, mail string with masking policy sec.mail, tel string, "Key" string);
create view mart.a as select mail as m, tel as t, md5(mail) as h from crm.people;
create table mart.b as select m, upper(t) as t2 from mart.a;
create masking policy sec.mail as (val string) returns string -> case when current_role() = 'DPO' then val end;
alter table crm.people modify column mail set tag sec.pii = 'email';
alter view mart.a modify column m set tag sec.pii = 'EMAIL';
alter table crm.people modify column tel set tag sec.phone = '+49 30 1234';
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warehouse")
    (folder / "sql").mkdir()
    (folder / "sql" / "all.sql").write_text(_TABLES, encoding="utf-8")
    done = lineage(
        "ingest", "sql", folder / "sql", "--dialect", "snowflake", "--project", "x", "--store", folder / "l.db"
    )
    assert done.code == 0
    return folder / "l.db"


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "l.db"))


def test_tags_of_the_warehouse_are_classes(store: Path) -> None:
    listed = lineage("tag", "list", "--json", "--store", store).json
    assert [(one["column"], one["class"], one["source"], one["why"]) for one in listed] == [
        ("CRM.PEOPLE.MAIL", "email", "warehouse", "tag SEC.PII = email"),
        ("CRM.PEOPLE.TEL", "phone", "warehouse", "tag SEC.PHONE"),
        ("MART.A.M", "email", "warehouse", "tag SEC.PII = email"),
    ]
    lineage("tag", "deny", "crm.people.tel", "phone", "--store", store)
    sources = lineage("pii", "report", "--json", "--store", store).json["sources"]
    assert [one["name"] for one in sources] == ["CRM.PEOPLE.MAIL"]
    assert sources[0]["own"]["warehouse"]["masks"] == [
        {"policy": "SEC.MAIL", "seen_by": ["DPO"], "by_tag": None, "behind": None}
    ]


def test_no_other_literal_is_stored(made: Path) -> None:
    assert b"1234" not in made.read_bytes()


def test_what_the_warehouse_does_not_know(store: Path) -> None:
    done = lineage("pii", "drift", "--json", "--store", store).json
    assert done["hops"] == [
        {"hops": 0, "columns": 2, "tagged": 2, "masked": 1},
        {"hops": 1, "columns": 2, "tagged": 1, "masked": 1},
        {"hops": 2, "columns": 2, "tagged": 0, "masked": 0},
    ]
    assert [(one["column"], one["tag"], one["mask"]) for one in done["drift"]] == [
        ("CRM.PEOPLE.TEL", "yes", "no"),
        ("MART.A.T", "no", "no"),
        ("MART.B.M", "no", "no"),
        ("MART.B.T2", "no", "no"),
    ]
    assert lineage("pii", "drift", "--sql", "--class", "email", "--store", store).out.splitlines() == [
        "ALTER TABLE MART.B MODIFY COLUMN M SET TAG SEC.PII = 'email';",
        "ALTER TABLE MART.B MODIFY COLUMN M SET MASKING POLICY SEC.MAIL;",
    ]


def test_the_statements_close_the_difference(store: Path, tmp_path: Path) -> None:
    lineage("tag", "add", 'crm.people."Key"', "credential", "--store", store)
    sql = lineage("pii", "drift", "--sql", "--store", store).out
    assert "MODIFY COLUMN \"Key\" SET TAG SEC.PII = 'credential';" in sql
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "more.sql").write_text(sql, encoding="utf-8")
    more = ("--dialect", "snowflake", "--project", "y", "--store", store)
    assert lineage("ingest", "sql", tmp_path / "more", *more).code == 0
    assert lineage("pii", "drift", "--json", "--store", store).json["drift"] == []


@pytest.mark.parametrize(
    ("what", "masked"),
    [
        ("function: upper", {"MART.B.T2"}),
        ("column: mart.a.t", {"MART.A.T", "MART.B.T2"}),
        ("edge: [mart.a.t, mart.b.t2]", {"MART.B.T2"}),
        ('job: "file:x:all.sql@snowflake>snowflake/MART.A"', {"MART.A.T", "MART.B.T2"}),
        ("function: lower", set()),
    ],
)
def test_breakers(store: Path, tmp_path: Path, what: str, masked: set[str]) -> None:
    file = tmp_path / "breakers.yaml"
    file.write_text(f"breakers:\n  - {what}\n    why: reviewed\n    at: 2026-03-01\n", encoding="utf-8")
    done = lineage("pii", "where", "crm.people.tel", "--breakers", file, "--json", "--store", store).json
    assert {one["name"] for one in done["reached"] if one["exposure"] == "masked"} == masked
    report = lineage("pii", "report", "--breakers", file, "--json", "--store", store).json
    assert report["breakers"][0].endswith(": reviewed (2026-03-01)")


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("breakers:\n  - {function: f, column: c, why: x, at: 2026-01-01}\n", 2, ":2:5: breakers.0: one of"),
        ("breakers:\n  - {function: f, at: 2026-01-01}\n", 2, ":2:5: breakers.0.why"),
        ("breakers:\n  - {column: no.such, why: x, at: 2026-01-01}\n", 0, "no.such is not known"),
    ],
)
def test_a_wrong_breaker_is_named(store: Path, tmp_path: Path, text: str, code: int, expected: str) -> None:
    file = tmp_path / "b.yaml"
    file.write_text(text, encoding="utf-8")
    done = lineage("pii", "report", "--breakers", file, "--store", store)
    assert done.code == code
    assert expected in " ".join(done.err.split())


def test_comments_name_classes(store: Path) -> None:
    with open_store(store) as opened:
        opened.describe("snowflake/CRM.PEOPLE#ID", description="Number. PII: national_id, nonsense")
    lineage("tag", "scan", "--store", store)
    tags = [one for one in lineage("tag", "list", "--json", "--store", store).json if one["source"] == "comment"]
    assert [(one["column"], one["class"]) for one in tags] == [("CRM.PEOPLE.ID", "national_id")]
    with open_store(store) as opened:
        opened.describe("snowflake/CRM.PEOPLE#ID", description="Number.")
    lineage("tag", "scan", "--store", store)
    assert "comment" not in lineage("tag", "list", "--json", "--store", store).out


@pytest.mark.parametrize(("how", "kept"), [("both", {"email", "phone"}), ("strongest", {"email"}), ("keep", {"phone"})])
def test_which_of_two_classes_counts(store: Path, tmp_path: Path, how: str, kept: set[str]) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        f"classes:\n  email: {{names: [x], on_conflict: {how}}}\n  phone: {{names: [x], on_conflict: {how}}}\n",
        encoding="utf-8",
    )
    lineage("tag", "add", "crm.people.mail", "phone", "--confidence", "0.5", "--store", store)
    listed = lineage("tag", "list", "crm.people.mail", "--rules", rules, "--json", "--store", store).json
    assert {one["class"] for one in listed} == kept
