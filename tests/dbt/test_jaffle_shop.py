"""dbt's example project: every column of every model, against edges written by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from lineage_ingest import ingest_dbt
from tests.dbt.conftest import run_dbt

MAIN = "jaffle_shop.main"

CUSTOMERS = """
stg_customers.customer_id -> customer_id [IDENTITY]
stg_customers.first_name -> first_name [IDENTITY]
stg_customers.last_name -> last_name [IDENTITY]
stg_orders.order_date -> first_order [AGGREGATION]
stg_orders.order_date -> most_recent_order [AGGREGATION]
stg_orders.order_id -> number_of_orders [AGGREGATION]
stg_payments.amount -> customer_lifetime_value [AGGREGATION]
stg_customers.customer_id ~> * [JOIN]
stg_orders.customer_id ~> * [JOIN, GROUP_BY]
stg_orders.order_id ~> * [JOIN]
stg_payments.order_id ~> * [JOIN]
"""
ORDERS = """
stg_orders.order_id -> order_id [IDENTITY]
stg_orders.customer_id -> customer_id [IDENTITY]
stg_orders.order_date -> order_date [IDENTITY]
stg_orders.status -> status [IDENTITY]
stg_payments.amount -> credit_card_amount [AGGREGATION]
stg_payments.amount -> coupon_amount [AGGREGATION]
stg_payments.amount -> bank_transfer_amount [AGGREGATION]
stg_payments.amount -> gift_card_amount [AGGREGATION]
stg_payments.amount -> amount [AGGREGATION]
stg_payments.payment_method ~> credit_card_amount [CONDITIONAL]
stg_payments.payment_method ~> coupon_amount [CONDITIONAL]
stg_payments.payment_method ~> bank_transfer_amount [CONDITIONAL]
stg_payments.payment_method ~> gift_card_amount [CONDITIONAL]
stg_orders.order_id ~> * [JOIN]
stg_payments.order_id ~> * [JOIN, GROUP_BY]
"""


def edges_into(store: GraphStore, table: str) -> set[str]:
    """Return the edges from columns into a table, each as a line of the notation above."""
    [dataset] = store.find_datasets(f"{MAIN}.{table}")
    found = set()
    for edge in store.edges_into([dataset.key]):
        if "#" not in edge.source:
            continue
        source = edge.source.rpartition(f"{MAIN}.")[2].replace("#", ".")
        target = edge.target.partition("#")[2] or "*"
        arrow = "->" if edge.kind == "CONTRIBUTES" else "~>"
        found.add(f"{source} {arrow} {target} [{', '.join(edge.subtypes)}]")
    return found


@pytest.fixture(scope="module")
def store(built: Path, tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    """Return a store with the built project."""
    opened = open_store(tmp_path_factory.mktemp("store") / "store.db")
    ingest_dbt(built / "target", store=opened)
    return opened


@pytest.mark.parametrize(("table", "expected"), [("customers", CUSTOMERS), ("orders", ORDERS)])
def test_every_column_of_a_mart(store: GraphStore, table: str, expected: str) -> None:
    lines = set(expected.strip().splitlines())
    assert edges_into(store, table) == lines


def test_every_column_of_every_model_has_a_source(store: GraphStore) -> None:
    for model in ("customers", "orders", "stg_customers", "stg_orders", "stg_payments"):
        [dataset] = store.find_datasets(f"{MAIN}.{model}")
        assert dataset.schema_known, model
        reached = {edge.target for edge in store.edges_into([dataset.key]) if edge.kind == "CONTRIBUTES"}
        assert reached == {column.key for column in store.columns([dataset.key])}
        assert dataset.kind == ("view" if model.startswith("stg_") else "table")


def test_the_job_is_the_model(store: GraphStore) -> None:
    [job] = [job for job in store.jobs() if job.key.startswith("dbt:jaffle_shop:model.jaffle_shop.orders@")]
    assert (job.kind, job.source, job.operation, job.completeness) == ("dbt", "models/orders.sql", "DBT_TABLE", "full")
    assert job.writes == (f"duckdb/{MAIN}.orders",)
    assert "sum(case when payment_method = " in str(job.sql)
    assert "credit_card'" not in str(job.sql)  # literals are masked


@pytest.mark.parametrize("compiled_before", [True, False])
def test_what_dbt_has_only_parsed_gives_the_same_edges(
    project: Path, tmp_path: Path, store: GraphStore, compiled_before: bool
) -> None:
    if not compiled_before:
        shutil.rmtree(project / "target" / "compiled")
    run_dbt(project, "parse", "--no-partial-parse")
    with open_store(tmp_path / "parsed.db") as parsed:
        summary = ingest_dbt(project / "target", store=parsed)
        codes = {str(found.diagnostic.code) for found in summary.diagnostics}
        # The results are of the build; its properties describe a column that `customers` does not have.
        assert codes == {"NOT_COMPILED", "ARTIFACT_OUTDATED", "UNKNOWN_COLUMN"}
        assert not summary.has_errors
        sources = {found.source for found in summary.diagnostics if str(found.diagnostic.code) == "NOT_COMPILED"}
        assert (sources == {"manifest.json"}) is compiled_before
        for table in ("customers", "orders", "stg_payments"):
            assert edges_into(parsed, table) == edges_into(store, table)


def test_types_come_from_the_catalog(project: Path, tmp_path: Path) -> None:
    run_dbt(project, "docs", "generate")
    with open_store(tmp_path / "typed.db") as typed:
        ingest_dbt(project / "target", store=typed)
        [customers] = typed.find_datasets(f"{MAIN}.customers")
        types = {column.path: column.data_type for column in typed.columns([customers.key])}
    assert types["customer_id"] == "INTEGER"
    assert types["first_order"] == "DATE"
    assert types["customer_lifetime_value"] == "DOUBLE"


def test_tests_of_the_build_are_facts_with_their_results(built: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "facts.db") as store:
        ingest_dbt(built / "target", store=store)
        [orders] = store.find_datasets("orders")
        [facts] = orders.stated_facts
        assert facts.description is not None
        by_kind = {one.kind for one in facts.checks}
        assert by_kind == {"unique", "not_null", "accepted_values", "relationships"}
        assert {one.result.status for one in facts.checks if one.result} == {"pass"}
        assert all(one.result is not None and len(one.columns) == 1 for one in facts.checks)
