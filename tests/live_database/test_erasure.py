"""A plan to erase a person, run on a real PostgreSQL: nothing of the person is left, but what the plan names."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
import pytest

from lineage.governance.erasure.erasure_plan import ErasurePlan, plan_erasure
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify, named_column
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore
from lineage.traversal import resolve_table
from tests.cli.running import lineage
from tests.governance.conftest import DATA
from tests.live_database.postgres_database import ServedDatabase

SCHEMAS = ("crm", "shop", "support", "web", "hr", "stage", "mart", "export")
PERSONS = (1, 2, 3)
GONE = 2
ROWS = """
insert into crm.customers values ({n}, 1, 'person{n}@example.com', 'First{n}', 'Last{n}', '555-000{n}', '1980-01-0{n}',
  '000-00-000{n}', '2025-01-01');
insert into crm.leads values ({n}, 'person{n}@example.com', 'fair', '2025-01-01');
insert into crm.addresses values ({n}, {n}, 'Street {n}', '1000{n}', 'Town', 'DE');
insert into crm.campaign_members values (1, {n}, true);
insert into crm.consents values ({n}, 'mail', '2025-01-01');
insert into crm.notes values ({n}, {n}, 'likes person{n}@example.com');
insert into shop.orders values ({n}, {n}, '2025-02-0{n}', 'paid', 10 * {n}), (1{n}, {n}, '2025-03-0{n}', 'paid', 5);
insert into shop.order_items values ({n}, {n}, 1, 1, 10 * {n}), (1{n}, 1{n}, 1, 1, 5);
insert into shop.payments values ({n}, {n}, '411111111111111{n}', 'DE0{n}', 10 * {n}, '2025-02-0{n}');
insert into shop.refunds values ({n}, {n}, 1);
insert into shop.shipments values ({n}, {n}, {n}, 'post');
insert into support.tickets values ({n}, {n}, 1, 'help', '2025-04-01', '2025-04-02');
insert into support.messages values ({n}, {n}, 'person{n}@example.com', 'please');
insert into web.sessions values ({n}, {n}, '10.0.0.{n}', 'browser', '2025-05-01');
insert into web.page_views values ({n}, {n}, '/start', '2025-05-01');
"""
OTHERS = """
insert into crm.companies values (1, 'Acme', 'DE', 'DE1');
insert into crm.campaigns values (1, 'Spring', '2025-01-01');
insert into shop.categories values (1, 'Things');
insert into shop.products values (1, 1, 'Thing', 10);
insert into support.agents values (1, 'Agent');
"""
TABLES = "select table_schema || '.' || table_name from information_schema.tables where table_type = 'BASE TABLE'"


@pytest.fixture
def company(database: ServedDatabase, store: GraphStore) -> ServedDatabase:
    database.run("".join(f"create schema {name};" for name in SCHEMAS))
    database.run((DATA / "schema.sql").read_text(encoding="utf-8"))
    database.run("create table export.suppressed (email_hash bytea)")
    database.run(OTHERS + "".join(ROWS.format(n=number) for number in PERSONS))
    for file in sorted((DATA / "models").glob("*.sql")):
        database.run(file.read_text(encoding="utf-8"))
    path = store.address
    sql = ("--dialect", "postgres", "--catalog", DATA / "schema.sql", "--project", "company", "--store", path)
    assert lineage("ingest", "sql", DATA / "models", *sql).code == 0
    assert lineage("tag", "scan", "--store", path).code == 0
    return database


def _plan(store: GraphStore, *keep: str) -> ErasurePlan:
    email, key = (named_column(store, f"crm.customers.{name}") for name in ("email", "id"))
    kept = [resolve_table(store, one).key for one in keep]
    return plan_erasure(store, classify(store, default_rules()), value_functions(), email, key, kept)


def _traces(database: ServedDatabase) -> set[str]:
    """Return the tables that still have something of the person, by any of the person's values, keys or hashes."""
    marks = (f"person{GONE}@", f"First{GONE}", f"Last{GONE}", f"000-00-000{GONE}", f"Street {GONE}", f"10.0.0.{GONE}",
             f"411111111111111{GONE}", f"DE0{GONE}")  # fmt: skip
    [[member, suppressed]] = database.rows(
        f"select md5('person{GONE}@example.com' || '555-000{GONE}'), sha256('person{GONE}@example.com'::bytea)::text"
    )
    found = set()
    for [table] in database.rows(f"{TABLES} and table_schema = any(array{list(SCHEMAS)})"):
        text = "\n".join(str(row) for [row] in database.rows(f"select t::text from {table} t")).lower()
        if any(str(mark).lower() in text for mark in (*marks, member, str(suppressed).removeprefix("\\x"))):
            found.add(str(table))
    return found


def _counts(database: ServedDatabase, tables: Iterable[str]) -> dict[str, int]:
    return {name: int(str(database.rows(f"select count(*) from {name}")[0][0])) for name in tables}


def test_nothing_is_left_but_what_the_plan_names(company: ServedDatabase, store: GraphStore) -> None:
    plan = _plan(store)
    tables = {str(name) for [name] in company.rows(f"{TABLES} and table_schema = any(array{list(SCHEMAS)})")}
    before = _counts(company, tables)
    assert _traces(company) > {"crm.customers", "support.messages", "export.crm_copy", "export.loyalty"}
    deleted: dict[str, int] = {}
    with psycopg.connect(company.uri) as connection:
        for step in plan.steps:
            count, statement = (text.replace(":key", str(GONE)) for text in (step.count, step.statement))
            [number] = connection.execute(count).fetchone() or (0,)
            assert connection.execute(statement).rowcount == number > 0, step.table
            assert connection.execute(count).fetchone() == (0,)
            deleted[step.table] = number
    assert deleted == {
        **dict.fromkeys(
            ("crm.customers", "crm.addresses", "crm.campaign_members", "crm.consents", "crm.notes", "shop.payments",
             "shop.refunds", "shop.shipments", "support.tickets", "support.messages", "web.sessions", "web.page_views",
             "export.crm_copy", "export.crm_copy_of_copy"), 1),
        "shop.orders": 2, "shop.order_items": 2,
    }  # fmt: skip
    after = _counts(company, tables)
    assert {name: number - after[name] for name, number in before.items() if number != after[name]} == deleted
    named = {one.table for one in plan.out_of_reach}
    assert named == {"export.loyalty", "export.newsletter", "export.newsletter_by_letter", "export.suppressed"}
    assert any(one.startswith("crm.leads.email:") for one in plan.unknown)
    assert _traces(company) == {"export.loyalty", "export.newsletter", "export.suppressed", "crm.leads"}


def test_rows_that_are_kept_lose_what_is_personal(company: ServedDatabase, store: GraphStore) -> None:
    plan = _plan(store, "shop.payments", "shop.refunds", "shop.orders")
    with psycopg.connect(company.uri) as connection:
        for step in plan.steps:
            connection.execute(step.statement.replace(":key", str(GONE)))
    left = company.rows("select card_number, iban, order_id, amount from shop.payments order by id")
    assert left[1] == (None, None, GONE, 20)
    assert company.rows("select customer_id from shop.orders where id in (2, 12)") == [(None,), (None,)]
    assert company.rows("select count(*) from shop.refunds") == [(3,)]
    assert "shop.payments" not in _traces(company)


def test_nothing_of_a_plan_is_run(company: ServedDatabase, store: GraphStore) -> None:
    done = lineage("pii", "erase-plan", "crm.customers.email", "--key", "crm.customers.id", "--store", store.address)
    assert done.code == 0
    statements = [line for line in done.out.splitlines() if line and not line.startswith("--")]
    assert len(statements) == 1 + 3 * len(_plan(store).steps)
    assert company.rows("select count(*) from crm.customers") == [(3,)]
