"""Who saw personal data by other statements than a query: RETURNING, OUTPUT and COPY."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.running import lineage

_SCHEMA = (
    "create table crm.people (id int, email text, ssn text, team int); create table crm.teams (id int, phone text);"
)


@pytest.mark.parametrize(
    ("dialect", "shown"),
    [
        ("postgres", {
            "update crm.people set team = 1 where id = 1 returning email": {"people.email"},
            "delete from crm.people where id = 1 returning *": {"people.email", "people.ssn"},
            "update crm.people p set team = 1 from crm.teams t where t.id = p.team returning lower(p.email), t.phone":
                {"people.email", "teams.phone"},
            "with t as (select id as k, phone from crm.teams) delete from crm.people using t where k = team"
            " returning ssn, phone": {"people.ssn", "teams.phone"},
            "merge into crm.people p using crm.teams t on t.id = p.team when matched then delete returning p.ssn":
                {"people.ssn"},
            "insert into crm.people (email) values ('a@example.org') returning email": set(),
            "delete from crm.people where id = 1": set(),
            "copy crm.people (id, email) to stdout": {"people.email"},
            "copy crm.people (id, email) from stdin": set(),
        }),
        ("tsql", {
            "update p set team = 1 output deleted.email, inserted.ssn from crm.people p":
                {"people.email", "people.ssn"},
            "delete from crm.people output deleted.* where id = 1": {"people.email", "people.ssn"},
            "delete from crm.people output deleted.id where id = 1": set(),
        }),
    ],
)  # fmt: skip
def test_access_counts_what_a_statement_shows(tmp_path: Path, dialect: str, shown: dict[str, set[str]]) -> None:
    store = ("--store", tmp_path / "l.db")
    (tmp_path / "schema.sql").write_text(_SCHEMA)
    with (tmp_path / "log.csv").open("w", newline="") as text:
        log = csv.writer(text)
        log.writerow(("query_text", "started_at", "user"))
        log.writerows((sql, "2026-03-01T09:00:00Z", f"user{at}") for at, sql in enumerate(shown))
    assert lineage("ingest", "sql", tmp_path / "schema.sql", "-d", dialect, "--namespace", dialect, *store).code == 0
    log_options = ("--source", "generic", "-d", dialect, "--namespace", dialect)
    assert lineage("ingest", "log", tmp_path / "log.csv", *log_options, *store).code == 0
    assert lineage("tag", "scan", *store).code == 0
    found: dict[str, set[str]] = {sql: set() for sql in shown}
    for one in lineage("pii", "access", "--json", *store).json["accesses"]:
        sql = list(shown)[int(one["user"].removeprefix("user"))]
        found[sql].add(one["column"].removeprefix("crm."))
    assert found == shown


def test_a_file_of_a_relative_path_is_no_table(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "l.db")
    copies = "\n\\copy crm.people to 'people.csv' csv\ncopy crm.people to '/out/people.csv';"
    (tmp_path / "a.sql").write_text(_SCHEMA + copies)
    assert lineage("ingest", "sql", tmp_path / "a.sql", "-d", "postgres", *store).code == 0
    plan = lineage("pii", "erase-plan", "crm.people.email", "--key", "crm.people.id", "--json", *store).json
    assert [one["table"] for one in plan["steps"]] == ["crm.people"]
    assert [(one["table"], one["why"]) for one in plan["out_of_reach"]] == [
        ("/out/people.csv", "it is a file"),
        ("people.csv", "it is a file"),
    ]
