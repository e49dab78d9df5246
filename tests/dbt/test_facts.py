"""Facts of a project in the graph: documentation, contracts, tests with their last results, freshness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.model.facts import Facts
from lineage.store import open_store
from lineage_ingest import DbtOptions, ingest_dbt
from tests.cli.running import lineage
from tests.dbt.manifests import AT, manifest, model, source, write

ORDERS, CUSTOMERS = "model.shop.orders", "model.shop.customers"


def check(name: str, kind: str, node: str, column: str | None = None, *others: str, **kwargs: Any) -> dict[str, Any]:
    """Return a generic test."""
    given = {**({"column_name": column} if column else {}), **kwargs}
    return {
        "unique_id": f"test.shop.{name}", "resource_type": "test", "name": name, "column_name": column,
        "attached_node": node, "test_metadata": {"name": kind, "namespace": None, "kwargs": given},
        "config": {"severity": "ERROR"}, "depends_on": {"nodes": [*others, node]},
        "original_file_path": "models/schema.yml",
    }  # fmt: skip


def project(columns: dict[str, Any] | None = None, **more: Any) -> list[dict[str, Any]]:
    """Return a source, and two models of which one is described and tested."""
    described = columns or {
        "id": {"name": "id", "description": "Key of an order.", "tags": ["key"], "data_type": "integer",
               "constraints": [{"type": "check", "expression": "id <> 'secret'"}]},
        "email": {"name": "email", "config": {"meta": {"pii": True}, "tags": ["pii"]}},
    }  # fmt: skip
    raw = source("raw_orders", {"id": "int", "email": "text", "customer": "int"})
    sql = 'select id, email, customer as customer_id from "wh"."raw"."raw_orders"'
    orders = model("orders", sql, raw["unique_id"], columns=described, description="All orders.", tags=["core"],
                   meta={"owner": "ana"}, config={"contract": {"enforced": True}, "group": "sales"},
                   **more)  # fmt: skip
    customers = model("customers", 'select customer_id from "wh"."main"."orders"', "orders")
    return [raw, orders, customers]


TESTS = [
    check("unique_id", "unique", ORDERS, "id"),
    check("not_null_email", "not_null", ORDERS, "email"),
    check("pair", "unique_combination_of_columns", ORDERS, None, combination_of_columns=["id", "customer_id"]),
    check("exists", "relationships", ORDERS, "customer_id", CUSTOMERS, to="ref('customers')", field="customer_id"),
    check("never", "accepted_values", ORDERS, "id", values=["email"]),
]
GROUPS = {"group.shop.sales": {"name": "sales", "owner": {"name": "Sales team"}}}


def results(statuses: dict[str, str], at: str = AT, which: str = "build", invocation: str = "1") -> dict[str, Any]:
    listed = [
        {"unique_id": f"test.shop.{key}", "status": status, "failures": 3 if status in ("fail", "warn") else 0,
         "timing": [{"name": "execute", "completed_at": at}], "message": "Got 'secret'"}
        for key, status in statuses.items()
    ]  # fmt: skip
    metadata = {"generated_at": at, "invocation_id": invocation}
    return {"metadata": metadata, "args": {"which": which}, "results": listed}


class Warehouse:
    """A store into which the project is ingested."""

    def __init__(self, folder: Path) -> None:
        self.target, self.path = folder / "target", folder / "store.db"

    def ingest(
        self, nodes: list[dict[str, Any]], runs: dict[str, Any] | None = None, at: str = AT, *, full: bool = False
    ) -> Any:
        write(self.target, manifest(*nodes, *TESTS, at=at, groups=GROUPS))
        if runs is not None:
            (self.target / "run_results.json").write_text(json.dumps(runs), encoding="utf-8")
        return ingest_dbt(self.target, store=self.path, options=DbtOptions(full=full))

    def facts(self, name: str) -> tuple[Facts, dict[str, Facts]]:
        with open_store(self.path, read_only=True) as store:
            [dataset] = store.find_datasets(name)
            columns = {one.path: one.stated_facts for one in store.columns([dataset.key])}
            [own] = dataset.stated_facts
            return own, {path: found[0] for path, found in columns.items() if found}


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path)


def statuses(facts: Facts) -> dict[str, str | None]:
    return {one.key.rpartition(".")[2]: one.result.status if one.result else None for one in facts.checks}


def test_documentation_labels_and_contracts_are_facts(warehouse: Warehouse) -> None:
    warehouse.ingest(project(constraints=[{"type": "primary_key", "columns": ["ID"]}]))
    orders, columns = warehouse.facts("wh.main.orders")
    assert (orders.description, orders.tags, orders.meta) == ("All orders.", ("core",), (("owner", '"ana"'),))
    assert (orders.owner, orders.is_contracted) == ("Sales team", True)
    assert [(one.kind, one.columns) for one in orders.constraints] == [("primary_key", ("id",))]
    assert (columns["id"].description, columns["id"].data_type) == ("Key of an order.", "integer")
    [constraint] = columns["id"].constraints
    assert constraint.expression is not None
    assert "secret" not in constraint.expression
    assert columns["email"].meta == (("pii", "true"),)
    with open_store(warehouse.path, read_only=True) as store:
        assert [one.name for one in store.search("", tags=["pii"])] == ["email"]
        assert [one.type for one in store.search("orders", tags=["core"])] == ["Table"]
        assert store.count_search("", tags=["core"]) == 1


def test_results_of_tests_that_failed_warned_were_skipped_or_never_ran(warehouse: Warehouse) -> None:
    ran = {"unique_id": "pass", "not_null_email": "fail", "pair": "warn", "exists": "skipped"}
    warehouse.ingest(project(), results(ran))
    orders, columns = warehouse.facts("wh.main.orders")
    assert statuses(orders) == {**ran, "never": None}
    assert statuses(columns["id"]) == {"unique_id": "pass", "pair": "warn", "never": None}
    assert statuses(columns["customer_id"]) == {"pair": "warn", "exists": "skipped"}
    [exists] = [one for one in orders.checks if one.kind == "relationships"]
    assert (exists.refers_to, exists.columns) == ("customers", ("customer_id",))
    assert [one.result.failures for one in columns["email"].checks if one.result] == [3]
    assert statuses(columns["email"]) == {"not_null_email": "fail"}  # a value of accepted_values is no column


@pytest.mark.parametrize("full", [False, True])
def test_a_run_of_some_tests_leaves_the_last_results_of_the_others(warehouse: Warehouse, full: bool) -> None:
    warehouse.ingest(project(), results({"unique_id": "pass", "pair": "fail"}))
    later = "2026-03-02T06:00:00Z"
    warehouse.ingest(project(), results({"pair": "pass"}, later, "test", "2"), later, full=full)
    orders, columns = warehouse.facts("wh.main.orders")
    assert statuses(orders)["unique_id"] == statuses(columns["id"])["unique_id"] == "pass"
    assert statuses(orders)["pair"] == statuses(columns["customer_id"])["pair"] == "pass"
    [unique] = [one for one in orders.checks if one.kind == "unique"]
    assert unique.result is not None
    assert f"{unique.result.at:%d}" == "01"


def test_results_older_than_the_manifest_are_reported_and_keep_their_time(warehouse: Warehouse) -> None:
    summary = warehouse.ingest(project(), results({"unique_id": "fail"}, "2026-02-01T06:00:00Z", invocation="0"))
    assert [one.source for one in summary.diagnostics if "older" in one.diagnostic.message] == ["run_results.json"]
    orders, _ = warehouse.facts("wh.main.orders")
    assert [f"{one.result.at:%m-%d}" for one in orders.checks if one.result] == ["02-01"]


def test_compiling_tests_does_not_run_them(warehouse: Warehouse) -> None:
    warehouse.ingest(project(), results({"unique_id": "error"}, which="compile"))
    assert set(statuses(warehouse.facts("wh.main.orders")[0]).values()) == {None}


def test_a_damaged_file_of_results_costs_only_the_results(warehouse: Warehouse) -> None:
    warehouse.target.mkdir()
    (warehouse.target / "run_results.json").write_text('{"metadata": {"generated_at": "2026-03-0')
    (warehouse.target / "sources.json").write_text("[]")
    summary = warehouse.ingest(project())
    damaged = sorted(one.source for one in summary.diagnostics if one.diagnostic.code == "ARTIFACT_DAMAGED")
    assert damaged == ["run_results.json", "sources.json"]
    assert warehouse.facts("wh.main.orders")[0].description == "All orders."


def test_a_renamed_column_takes_no_facts_with_its_old_name(warehouse: Warehouse) -> None:
    warehouse.ingest(project())
    nodes = project({"old": {"name": "old", "description": "Its name in the YAML file only."}})
    summary = warehouse.ingest(nodes, at="2026-03-02T06:00:00Z")
    assert [one.diagnostic.message.partition(",")[0] for one in summary.diagnostics] == ["orders has no column `old`"]
    assert summary.to_dict()["diagnostics"] == 1
    orders, columns = warehouse.facts("wh.main.orders")
    assert "old" not in columns
    assert columns["id"].description is None
    assert len(orders.checks) == len(TESTS)


@pytest.mark.parametrize("full", [False, True])
def test_facts_that_are_no_longer_stated_are_deleted(warehouse: Warehouse, full: bool) -> None:
    warehouse.ingest(project())
    raw, orders, customers = project()
    del raw["columns"]
    bare = {**orders, "columns": {}, "description": "", "tags": [], "meta": {}, "config": {}}
    write(warehouse.target, manifest(raw, bare, customers, at="2026-03-02T06:00:00Z"), catalog=False)
    ingest_dbt(warehouse.target, store=warehouse.path, options=DbtOptions(full=full))
    with open_store(warehouse.path, read_only=True) as store:
        assert store.fact_sources("dbt/shop:") == []
        assert [one.facts for one in store.columns(store.dataset_keys()) if one.facts] == []


def moved(**names: str) -> list[dict[str, Any]]:
    """Return the project with the two models in other tables."""
    raw, *models = project()
    for one in models:
        alias = names.get(one["name"], one["name"])
        one |= {"alias": alias, "relation_name": f'"wh"."main"."{alias}"', "description": f"About {one['name']}."}
        one["compiled_code"] = one["compiled_code"].replace('"orders"', f'"{names.get("orders", "orders")}"')
    return [raw, *models]


@pytest.mark.parametrize("full", [False, True])
def test_facts_follow_a_model_into_another_table(warehouse: Warehouse, full: bool) -> None:
    def about(*tables: str) -> list[list[str | None]]:
        with open_store(warehouse.path, read_only=True) as store:
            found = [store.datasets([f"postgres/wh.main.{table}"]) for table in tables]
        return [[one.description for one in node.stated_facts] for [node] in found]

    warehouse.ingest(moved(), results({"unique_id": "pass"}))
    assert about("orders", "customers") == [["About orders."], ["About customers."]]
    warehouse.ingest(moved(orders="sales"), at="2026-03-02T06:00:00Z", full=full)
    assert about("orders", "customers", "sales") == [[], ["About customers."], ["About orders."]]
    with open_store(warehouse.path, read_only=True) as store:
        assert [one.key for one in store.search("", tags=["pii"])] == ["postgres/wh.main.sales#email"]
    warehouse.ingest(moved(orders="customers", customers="orders"), at="2026-03-03T06:00:00Z", full=full)
    assert about("orders", "customers", "sales") == [["About customers."], ["About orders."], []]


def test_the_same_facts_again_change_nothing(warehouse: Warehouse) -> None:
    warehouse.ingest(project(), results({"unique_id": "pass"}))
    before = warehouse.facts("wh.main.orders")
    warehouse.ingest(project(), full=True)
    assert warehouse.facts("wh.main.orders") == before


def test_the_freshness_of_a_source_is_kept_until_it_is_checked_again(warehouse: Warehouse) -> None:
    warehouse.target.mkdir()
    checked = {"unique_id": "source.shop.raw.raw_orders", "status": "warn", "max_loaded_at": "2026-02-27T00:00:00Z",
               "snapshotted_at": "2026-03-01T05:00:00Z"}  # fmt: skip
    content = {"metadata": {"generated_at": AT}, "results": [checked]}
    (warehouse.target / "sources.json").write_text(json.dumps(content))
    warehouse.ingest(project())
    (warehouse.target / "sources.json").unlink()
    warehouse.ingest(project(), at="2026-03-02T06:00:00Z", full=True)
    fresh = warehouse.facts("wh.raw.raw_orders")[0].freshness
    assert fresh is not None
    assert (fresh.status, f"{fresh.loaded_at:%m-%d}", f"{fresh.at:%H}") == ("warn", "02-27", "05")


def test_facts_are_shown_and_forgotten_with_their_project(warehouse: Warehouse) -> None:
    warehouse.ingest(project(), results({"unique_id": "pass", "not_null_email": "fail"}))
    shown = lineage("show", "wh.main.orders", "-s", warehouse.path)
    for text in ("All orders.", "core", "Sales team", "unique (id): pass", "not_null (email): fail, 3 rows"):
        assert text in " ".join(shown.out.split()), text
    done = lineage("forget", "--project", "dbt/shop", "--yes", "-s", warehouse.path)
    assert done.code == 0, done.err
    with open_store(warehouse.path, read_only=True) as store:
        assert store.fact_sources("dbt/") == []


@pytest.mark.parametrize(
    ("test", "columns", "condition"),
    [
        (check("t", "not_null", ORDERS, "id"), ("id",), None),
        ({**check("t", "unique", ORDERS, "id"), "config": {"where": "email = 'secret'"}}, ("id",), "email = '******'"),
        (check("t", "expect_x", ORDERS, "id", row_condition="id > 7"), ("id",), "id > ?"),
        (check("t", "cols_equal", ORDERS, None, left_col="id", right_col="customer_id"), ("id", "customer_id"), None),
        (check("t", "same", ORDERS, None, CUSTOMERS, cols=["id"], compare_cols=["customer_id"]), ("id",), None),
        (check("t", "protocol", ORDERS, None, protocol="email"), (), None),
    ],
)
def test_what_a_test_is_about(
    tmp_path: Path, test: dict[str, Any], columns: tuple[str, ...], condition: str | None
) -> None:
    """A test of some rows says nothing about the others; arguments that name columns are found by their names."""
    ingest_dbt(write(tmp_path / "target", manifest(*project(), test)), store=tmp_path / "store.db")
    with open_store(tmp_path / "store.db") as store:
        [table] = store.datasets(["postgres/wh.main.orders"])
        own = {one.path for one in store.columns([table.key]) for facts in one.stated_facts if facts.checks}
    [stated] = [one for facts in table.stated_facts for one in facts.checks]
    assert (stated.columns, stated.condition, own) == (columns, condition, set(columns))
    shown = lineage("show", "wh.main.orders", "-s", tmp_path / "store.db").out
    assert "secret" not in shown
    assert (f"where {condition}" in " ".join(shown.split())) == (condition is not None)
