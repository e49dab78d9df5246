"""`lineage unused` on a made-up company: what nobody reads, in the order in which it can be dropped."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from lineage.model.statement import DatasetKind
from lineage.store import open_store
from tests.cli.running import lineage
from tests.store.batch_builders import batch, job, table


def test_unused_tables_in_the_order_in_which_they_can_be_dropped(tagged: Path) -> None:
    done = lineage("unused", "--days", "30", "--until", "2026-02-28", "--json", "--store", tagged).json
    names = [one["name"] for one in done["tables"]]
    used = {
        "crm.customers", "crm.leads", "crm.addresses", "crm.consents", "shop.orders", "stage.contacts", "stage.orders",
        "stage.people_safe", "stage.customers", "mart.customer_360", "export.newsletter", "mart.reachable",
        "mart.revenue_daily", "dbt.ticket_contacts", "dbt.stg_messages", "dbt.stg_customers", "support.tickets",
        "support.messages",
        # by dashboards
        "dbt.payroll", "hr.employees", "mart.email_domains",
    }  # fmt: skip
    assert not used & set(names)
    assert len(names) == 59 - len(used)
    chains = ("mart.salaries stage.employees", "export.loyalty export.crm_copy_of_copy export.crm_copy",
              "mart.card_fraud stage.payments shop.payments")  # fmt: skip
    for before, after in (pair for chain in chains for pair in pairwise(chain.split())):
        assert names.index(before) < names.index(after)
    [salaries] = [one for one in done["tables"] if one["name"] == "mart.salaries"]
    assert (salaries["last_read"], salaries["sure"]) == ("2026-01-03", "high")
    assert done["tables"][0]["but"] != []
    long = lineage("unused", "--days", "60", "--until", "2026-02-28", "--json", "--columns", "--store", tagged).json
    assert "mart.salaries" not in {one["name"] for one in long["tables"]}
    columns = {f"{one['table']}.{one['column']}" for one in long["columns"]}
    assert {"mart.salaries.top_salary", "crm.customers.ssn"} <= columns
    assert not {"mart.salaries.average_salary", "crm.customers.email"} & columns


def test_what_leaves_the_warehouse_is_used(tagged: Path) -> None:
    with open_store(tagged) as store:
        exported = job("export.py", reads=["crm.companies"], writes=["out.csv"], at=1)
        file = replace(table("out.csv", kind=DatasetKind.FILE), namespace="postgres")
        reads, writes = ("postgres/crm.companies",), ("postgres/out.csv",)
        written = replace(exported, job=replace(exported.job, reads=reads, writes=writes))
        store.apply(batch(file, written, run="export"))
    done = lineage("unused", "--days", "30", "--until", "2026-02-28", "--json", "--store", tagged).json
    assert not {"crm.companies", "out.csv"} & {one["name"] for one in done["tables"]}


def test_without_a_log_nothing_is_unused(tagged: Path, tmp_path: Path) -> None:
    done = lineage("unused", "--days", "90", "--until", "2030-01-01", "--store", tagged)
    assert done.code == 1
    assert "no log covers 2029-10-04 to 2030-01-01: the logs end on 2026-02-28" in done.err
    (tmp_path / "one.sql").write_text("create view b as select a from c")
    lineage("ingest", "sql", tmp_path / "one.sql", "--dialect", "postgres", "--store", tmp_path / "new.db")
    done = lineage("unused", "--store", tmp_path / "new.db")
    assert done.code == 1
    assert "no ingested query log shows any use" in done.err
