"""The report of a made-up company against answers worked out by hand: every column, no other, and what it shows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lineage.governance.report.pii_report import PiiReport, make_report
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify, named_column
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore
from tests.governance.conftest import DATA

WITHOUT_SQL = ("lake.", "dashboard/", "query/Salaries.")
"""The outputs of the Spark job, dashboards, which show columns of queries, and a query of which columns are stated."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _answers() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    source = ""
    for line in (DATA / "exposures.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            column, exposure = line.strip().rsplit(maxsplit=1)
            found[source][column] = exposure
        elif line and not line.startswith("#"):
            source = line
            found[source] = {}
    return found


ANSWERS = _answers()


def _report(store: GraphStore, column: str) -> PiiReport:
    columns = [named_column(store, column)]
    return make_report(store, classify(store, default_rules()), value_functions(), NOW, columns=columns)


@pytest.mark.parametrize("source", ANSWERS)
def test_where_values_are_and_what_is_shown_of_them(company: GraphStore, source: str) -> None:
    [found] = _report(company, source).sources
    assert {one.name: str(one.exposure) for one in found.holders} == ANSWERS[source]


def test_each_path_leads_from_the_source_to_the_column(company: GraphStore) -> None:
    for source in ANSWERS:
        [found] = _report(company, source).sources
        for one in found.holders:
            ends = [source, *(step.target for step in one.path)]
            assert [step.source for step in one.path] == ends[:-1]
            assert ends[-1] == one.name
            assert max(step.exposure.rank for step in one.path) == one.exposure.rank
            proven = [step for step in one.path if not step.target.startswith(WITHOUT_SQL)]
            assert all(step.proof.sql for step in proven)
            assert all(step.proof.line for step in proven if step.proof.job.startswith("file:"))


def test_who_read_it(company: GraphStore) -> None:
    [found] = _report(company, "crm.customers.email").sources
    readers = {one.name: dict(one.usage.users.named) for one in (found.own, *found.holders) if one.users}
    assert readers == {
        "crm.customers.email": {"dba": 1},
        "mart.customer_360.email": {"ana": 2, "bo": 1},
        "mart.reachable.contact": {"cy": 1},
        "dbt.ticket_contacts.contact": {"cy": 1},
        "export.newsletter.email": {"mailer": 1},
        "export.newsletter.email_domain": {"mailer": 1},
    }


def test_what_is_computed_where_no_sql_shows_it_is_named(company: GraphStore) -> None:
    [email] = _report(company, "crm.customers.email").sources
    assert {one.name for one in email.holders if "lake." in one.name} >= {"lake.person_features.provider"}
    spots = {one.what: one.why for one in _report(company, "crm.customers.email").blind_spots}
    assert spots["what some columns show"].startswith(
        "lake.person_features.provider, lake.provider_revenue.an_email count as unmasked, but the SQL"
    )
    assert "what some columns show" not in {one.what for one in _report(company, "crm.customers.ssn").blind_spots}


def test_influence_is_listed_apart(company: GraphStore) -> None:
    [found] = _report(company, "crm.customers.birth_date").sources
    influenced = {one.name: (one.how, one.masked) for one in found.influenced}
    assert influenced == {
        "mart.adult_customers.adult": (("CONDITIONAL",), False),
        "mart.age_bands (rows)": (("GROUP_BY",), False),
        "dbt.birthdays (rows)": (("GROUP_BY",), False),
    }
    [email] = _report(company, "crm.customers.email").sources
    assert next(one for one in email.influenced if one.name == "mart.joined_back (rows)").masked


def test_no_literal_is_shown(company: GraphStore) -> None:
    for source in ANSWERS:
        text = str(_report(company, source).to_dict())
        assert not {one for one in ("xxxx", "2008", "'cancelled'", "yes") if one in text}
