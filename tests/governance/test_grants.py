"""`lineage pii grants`: each state, and what decides; GRANT of roles in each product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import lineage

_TABLES = "create table crm.people (id int, email text, city text); create table crm.orders (id int);"
_LOG = """query_text,started_at,user
select email from crm.people,2026-03-02T09:00:00Z,ana
select count(*) from crm.people,2026-03-03T09:00:00Z,bo
select city from crm.people,2026-03-04T09:00:00Z,cy
select id from crm.orders,2026-03-20T09:00:00Z,di
"""


def _ingest(folder: Path, grants: str, log: str = _LOG, dialect: str = "postgres", namespace: str = "db://x") -> Path:
    (folder / "sql").mkdir()
    (folder / "sql" / "1.sql").write_text(f"{_TABLES}{grants}", encoding="utf-8")
    (folder / "log.csv").write_text(log, encoding="utf-8")
    store = folder / "l.db"
    options = ("--dialect", dialect, "--namespace", namespace, "--store", store)
    assert lineage("ingest", "sql", folder / "sql", "--project", "x", *options).code == 0
    logged = ("--dialect", dialect, "--namespace", "db://x", "--store", store)
    assert lineage("ingest", "log", folder / "log.csv", "--source", "generic", *logged).code == 0
    hits = lineage("search", "people", "--json", "--store", store).json
    [key] = [one["key"] for one in hits if one["kind"] == "table" and one["key"].startswith(f"{namespace}/")]
    email = "EMAIL" if "PEOPLE" in key else "email"
    assert lineage("tag", "add", f"{key}#{email}", "email", "--store", store).code == 0
    return store


def _states(store: Path, *options: str) -> dict[str, Any]:
    listed = lineage("pii", "grants", "--json", "--store", store, *options).json["grants"]
    return {f"{one['role']} on {one['on'].lower()}": (one["state"], one["why"]) for one in listed}


UNUSED, USED = ("unused", "in 19 days of logs"), ("used", None)


@pytest.mark.parametrize(
    ("grants", "expected"),
    [
        ("grant select on crm.people to ana, bo, di", {"ana": USED, "bo": USED, "di": UNUSED}),  # bo: count(*)
        ("grant select on crm.people to ghost", {"ghost": ("unknown", "who has this role is not known")}),
        ("grant select on crm.people to staff; grant staff to di", {"staff": UNUSED}),
        ("grant select on crm.people to staff; grant staff, x to crew; grant crew to ana", {"staff": USED}),
        ("grant select on crm.people to a; grant a to ana; revoke a from ana; grant a to di", {"a": UNUSED}),
        ("grant select on crm.people to di; revoke select on crm.people from di", {}),
        ("grant select on crm.people to public", {"public": ("used", "by somebody: all have it")}),
        ("grant select on crm.orders to ana", {}),  # no personal data
        ("grant all on crm.people to Di", {"di": UNUSED}),
    ],
)  # fmt: skip
def test_what_is_said_of_a_grant(tmp_path: Path, grants: str, expected: dict[str, tuple[str, str | None]]) -> None:
    store = _ingest(tmp_path, grants)
    assert _states(store) == {f"{role} on crm.people": said for role, said in expected.items()}


def test_a_grant_of_a_column_is_used_by_who_reads_that_column(tmp_path: Path) -> None:
    store = _ingest(tmp_path, "grant select (email) on crm.people to ana, cy")
    assert _states(store) == {"ana on crm.people.email": USED, "cy on crm.people.email": UNUSED}
    assert _states(store, "--since", "2026-03-03")["ana on crm.people.email"] == ("unused", "in 18 days of logs")
    done = lineage("pii", "grants", "--unused", "--store", store)
    assert "2 grants on personal data: 1 unused, 0 unknown, 1 used" in done.out
    assert "ana" not in done.out
    assert "owners, administrators" in " ".join(done.err.split())


def test_what_the_log_does_not_show_is_not_called_unused(tmp_path: Path) -> None:
    more = "select email from crm.people,2026-03-02T09:00:00Z,\n"
    store = _ingest(tmp_path, "grant select on crm.people to di", _LOG + more)
    assert _states(store) == {"di on crm.people": ("unknown", "1 query of users who are not named")}


def test_a_system_without_a_log(tmp_path: Path) -> None:
    store = _ingest(tmp_path, "grant select on crm.people to di", namespace="db://y")
    listed = lineage("pii", "grants", "--json", "--store", store).json
    assert [one["why"] for one in listed["grants"]] == ["no log covers db://y"]
    assert "no log covers db://y" in listed["blind_spots"]


def test_a_grant_that_is_later_than_the_log(tmp_path: Path) -> None:
    more = "grant select on crm.people to di,2026-03-21T09:00:00Z,dba\n"
    said = _states(_ingest(tmp_path, "", _LOG + more))
    assert said == {"di on crm.people": ("unknown", "granted on 2026-03-21, after the logs")}


_LATER = "grant select on crm.people to ana,{day}T10:00:00Z,dba\n"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([_LATER.format(day="2026-03-02")], USED),  # on the day of her query
        ([_LATER.format(day="2026-03-03")], ("unused", "in 18 days of logs")),
        ([_LATER.format(day="2026-03-20")], ("unused", "in 1 day of logs")),
        # Granted again, which changes nothing: since the first time.
        ([_LATER.format(day="2026-03-01"), _LATER.format(day="2026-03-10")], USED),
        ([_LATER.format(day="2026-03-10"), "select id from crm.people,2026-03-05T09:00:00Z,\n"],
         ("unused", "in 11 days of logs")),
        # The right that she used was revoked: when it was granted again is not known.
        ([_LATER.format(day="2026-03-01"), "revoke select on crm.people from ana,2026-03-04T10:00:00Z,dba\n",
          _LATER.format(day="2026-03-10")], USED),
        ([_LATER.format(day="2026-03-03").replace("select", "all"), _LATER.format(day="2026-03-10")],
         ("unused", "in 18 days of logs")),
    ],
)  # fmt: skip
def test_use_before_a_grant_is_none_of_the_grant(tmp_path: Path, log: list[str], expected: tuple[str, str]) -> None:
    assert _states(_ingest(tmp_path, "", _LOG + "".join(log))) == {"ana on crm.people": expected}


def test_without_grants_and_without_a_log(tmp_path: Path) -> None:
    store = _ingest(tmp_path, "")
    assert "no grant on these tables is known" in lineage("pii", "grants", "--store", store).out
    done = lineage("pii", "grants", "--since", "2027-01-01", "--store", store)
    assert (done.code, "no log covers" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("dialect", "grants"),
    [
        ("snowflake", "grant select on table crm.people to role r; grant role r to role s; grant role s to user ana"),
        ("snowflake", "grant select on table crm.people to role R; grant role r to user ANA"),
        ("tsql", "grant select on crm.people to r; alter role r add member ana"),
        ("oracle", "grant select on crm.people to r; grant r to ana; grant create session to r"),
        ("mysql", "grant select on crm.people to r; grant r to ana"),
    ],
)
def test_roles_of_each_product(tmp_path: Path, dialect: str, grants: str) -> None:
    log = _LOG.replace(",ana", ",ANA")
    [(_, said)] = _states(_ingest(tmp_path, grants, log, dialect)).items()
    assert said == USED
