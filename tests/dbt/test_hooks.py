"""Hooks of a project and of its models: what they write is in the graph, what cannot be read of them is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from lineage.store import open_store
from lineage.traversal import impact, resolve
from lineage_ingest import ingest_dbt
from tests.dbt.conftest import run_dbt
from tests.dbt.manifests import manifest, model
from tests.dbt.test_again import RAW
from tests.dbt.test_broken_artifacts import found, ingest

ORDERS = 'select id, amount from "wh"."raw"."orders"'
NEEDS = "source.shop.raw.orders"
LOG = "create table if not exists audit.log (order_id int, cents int)"
FILL = "insert into audit.log select id, amount from {{ this }}"
ON_RUN_END = """
on-run-end:
  - "create table if not exists {{ target.schema }}_audit.spent (customer int, total double)"
  - "insert into {{ target.schema }}_audit.spent {{ spent_by_customer() }}"
"""


def hooked(*hooks: str, kind: str = "post-hook", as_object: bool = True) -> dict[str, Any]:
    """Return a model with hooks."""
    listed = [{"sql": one, "transaction": True, "index": None} if as_object else one for one in hooks]
    return model("orders", ORDERS, NEEDS, config={kind: listed})


def operation(name: str, raw: str, compiled: str | None, tag: str = "on-run-end", index: int = 1) -> dict[str, Any]:
    """Return a hook of the project."""
    fields = {"resource_type": "operation", "unique_id": f"operation.shop.{name}", "tags": [tag], "index": index,
              "original_file_path": "./dbt_project.yml", "raw_code": raw, "compiled_code": compiled}  # fmt: skip
    return {**model(name, "", "orders"), **fields}


def written(tmp_path: Path, table: str) -> set[str]:
    """Return the edges into a table, with the node of their job."""
    with open_store(tmp_path / "store.db") as store:
        return {
            f"{edge.source.rpartition('/')[2]} {edge.kind[:3]} {edge.target.partition('#')[2] or '*'} by "
            f"{edge.job.partition('shop:')[2].partition('@')[0]}"
            for edge in store.edges_into([f"postgres/wh.{table}"])
            if "#" in edge.source
        }


def levels(tmp_path: Path) -> dict[str, str]:
    """Return how far each job is resolved, by the node."""
    with open_store(tmp_path / "store.db") as store:
        return {job.key.partition("shop:")[2].partition("@")[0]: str(job.completeness) for job in store.jobs()}


@pytest.mark.parametrize("as_object", [True, False])
def test_what_a_hook_of_a_model_writes(tmp_path: Path, as_object: bool) -> None:
    node = hooked(LOG, FILL, "grant select on {{ this }} to x", as_object=as_object)
    assert found(ingest(tmp_path, manifest(RAW, node))) == set()
    assert written(tmp_path, "audit.log") == {
        "wh.main.orders#id CON order_id by post-hook.model.shop.orders.1",
        "wh.main.orders#amount CON cents by post-hook.model.shop.orders.1",
    }
    assert levels(tmp_path) == {
        "model.shop.orders": "full", "post-hook.model.shop.orders.0": "full", "post-hook.model.shop.orders.1": "full",
    }  # fmt: skip
    with open_store(tmp_path / "store.db") as store:
        reached = {one.table for one in impact(store, resolve(store, "raw.orders.amount")).columns}
    assert "wh.audit.log" in reached


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "parsed"])
def test_what_a_hook_of_the_project_writes(tmp_path: Path, compiled: bool) -> None:
    """The table is created by a hook that runs first, in the schema of dbt's target."""
    texts = {
        "start": ("create table if not exists {{ target.schema }}.log (order_id int, cents int)", "main"),
        "end": ("insert into {{ target.schema }}.log select id, amount from {{ ref('orders') }} -- {{ invocation_id }}",
                "main"),
    }  # fmt: skip
    ref = '"wh"."main"."orders"'
    nodes = [
        operation(name, raw, raw.replace("{{ target.schema }}", schema).replace("{{ ref('orders') }}", ref)
                  .replace("{{ invocation_id }}", "1") if compiled else None, f"on-run-{name}")
        for name, (raw, schema) in texts.items()
    ]  # fmt: skip
    assert found(ingest(tmp_path, manifest(RAW, model("orders", ORDERS, NEEDS), *nodes))) == set()
    assert written(tmp_path, "main.log") == {
        "wh.main.orders#id CON order_id by operation.shop.end",
        "wh.main.orders#amount CON cents by operation.shop.end",
    }


def test_hooks_are_replaced_and_retired(tmp_path: Path) -> None:
    def at(day: int, *hooks: str) -> set[str]:
        summary = ingest(tmp_path, manifest(RAW, hooked(*hooks), at=f"2026-03-0{day}T06:00:00Z"))
        assert summary.applied.edges_ended == (day in (3, 4)) * 2
        return written(tmp_path, "audit.log")

    first = at(1, FILL, LOG)
    assert len(first) == 2
    assert at(2, FILL, LOG) == first
    edited = at(3, FILL.replace("id, amount", "amount, id"), LOG)
    assert edited == {
        "wh.main.orders#id CON cents by post-hook.model.shop.orders.0",
        "wh.main.orders#amount CON order_id by post-hook.model.shop.orders.0",
    }
    assert at(4) == set()
    with open_store(tmp_path / "store.db") as store:
        assert store.job_keys_of(["postgres/wh.audit.log"]) == {"postgres/wh.audit.log": []}


def test_what_has_not_changed_is_not_stated_again(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        data = manifest(RAW, hooked(FILL, LOG), at=f"2026-03-0{day}T06:00:00Z")
        summary = ingest(tmp_path, data)
        assert (len(summary.batch.jobs), summary.unchanged) == ((3, 0) if day == 1 else (0, 1))
    with open_store(tmp_path / "store.db") as store:
        assert {job.last_seen.day for job in store.jobs()} == {3}


def test_changes_of_the_own_rows(tmp_path: Path) -> None:
    node = hooked("delete from {{ this }} where amount < 0", "update {{ this }} set amount = id where id > 1")
    assert found(ingest(tmp_path, manifest(RAW, node))) == set()
    assert written(tmp_path, "main.orders") >= {
        "wh.main.orders#amount REF * by post-hook.model.shop.orders.0",
        "wh.main.orders#id CON amount by post-hook.model.shop.orders.1",
        "wh.raw.orders#amount CON amount by model.shop.orders",
    }
    assert set(levels(tmp_path).values()) == {"full"}


def test_a_model_reads_the_columns_that_its_hook_creates_now(tmp_path: Path) -> None:
    """Not those of the last ingest, also where the hook's own star decides."""

    def at(day: int, hook: str) -> set[str]:
        orders = model("orders", ORDERS, NEEDS)
        hooks = {"pre-hook": [f"create or replace table main.h as {hook}"]}
        by_place = model("by_place", "select x from main.h as t(x, y)", "orders", config=hooks)
        star = model("star", "select * from main.h", "by_place")
        ingest(tmp_path, manifest(RAW, orders, by_place, star, at=f"2026-03-0{day}T06:00:00Z"))
        return written(tmp_path, "main.by_place") | written(tmp_path, "main.star")

    read = 'from "wh"."main"."orders"'
    by_place, star = "by model.shop.by_place", "by model.shop.star"
    first = at(1, f"select id, amount {read}")
    assert first == {
        f"wh.main.h#id CON x {by_place}", f"wh.main.h#id CON id {star}", f"wh.main.h#amount CON amount {star}"
    }  # fmt: skip
    second = at(2, f"select amount, id as other {read}")
    assert second == {
        f"wh.main.h#amount CON x {by_place}", f"wh.main.h#amount CON amount {star}", f"wh.main.h#other CON other {star}"
    }  # fmt: skip
    assert f"wh.main.h#extra CON extra {star}" in at(3, f"select *, 1 as extra {read}")


def test_temporary_tables_of_hooks(tmp_path: Path) -> None:
    """Within one hook they are followed; what another hook or the model reads of them is reported."""
    create, fill = (
        "create temp table x as select id, amount from {{ this }}",
        "insert into audit.log (id, amount) select id, amount from x",
    )
    assert found(ingest(tmp_path, manifest(RAW, hooked(f"{create}; {fill}")))) == set()
    assert written(tmp_path, "audit.log") >= {"wh.main.orders#amount CON amount by post-hook.model.shop.orders.0"}
    reads = model("reads", "select k from st", "orders",
                  config={"pre-hook": ["create temp table st as select amount as k from wh.main.orders"]})  # fmt: skip
    data = manifest(RAW, hooked(create, fill), reads, at="2026-03-09T06:00:00Z")
    assert {code for _, code in found(ingest(tmp_path, data))} == {"NOT_FOLLOWED"}
    now = levels(tmp_path)
    assert (now["model.shop.reads"], now["post-hook.model.shop.orders.1"]) == ("partial", "partial")


@pytest.mark.parametrize("asked", ["is_incremental()", "later()"], ids=["itself", "by a macro"])
def test_a_hook_that_differs_by_build(tmp_path: Path, asked: str) -> None:
    hook = (
        f"insert into audit.log {{% if {asked} %}}(order_id) select id{{% else %}}(cents) select amount{{% endif %}}"
        " from {{ this }}"
    )
    macro = {"name": "later", "package_name": "shop",
             "macro_sql": "{% macro later() %}{{ return(is_incremental()) }}{% endmacro %}"}  # fmt: skip
    node = model("orders", ORDERS, NEEDS, config={"post-hook": [hook], "materialized": "incremental"})
    ingest(tmp_path, manifest(RAW, node, macros={"macro.shop.later": macro}))
    assert written(tmp_path, "audit.log") == {
        "wh.main.orders#id CON order_id by post-hook.model.shop.orders.0",
        "wh.main.orders#amount CON cents by post-hook.model.shop.orders.0",
    }


@pytest.mark.parametrize("hook", ["select id from {{ this }}", "select audit.refresh()", "no sql at all"])
def test_a_hook_that_writes_nothing_is_no_table(tmp_path: Path, hook: str) -> None:
    ingest(tmp_path, manifest(RAW, hooked(hook)))
    with open_store(tmp_path / "store.db") as store:
        assert {one.name for one in store.datasets()} == {"wh.raw.orders", "wh.main.orders"}


def test_a_table_that_a_hook_creates_before_its_model_is_the_model_s(tmp_path: Path) -> None:
    node = hooked("create table if not exists {{ this }} (old int)", kind="pre-hook")
    assert found(ingest(tmp_path, manifest(RAW, node))) == set()


def test_a_table_that_only_a_hook_reads(tmp_path: Path) -> None:
    """dbt lists what hooks refer to as needed by the model."""
    other = model("other", ORDERS, NEEDS)
    node = {**hooked("insert into audit.log (order_id) select id from {{ ref('other') }}"),
            "depends_on": {"nodes": [NEEDS, "model.shop.other"]}}  # fmt: skip
    assert found(ingest(tmp_path, manifest(RAW, other, node))) == set()
    assert written(tmp_path, "audit.log") == {"wh.main.other#id CON order_id by post-hook.model.shop.orders.0"}


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        ("grant select on {{ this }} to role reader", None),
        ("-- insert\n{# update #} analyze {{ this }}; create unique index if not exists i on {{ this }} (id)", None),
        ("begin; grant select on {{ this }} to x; commit;", None),
        ("create schema if not exists audit", None),
        ("delete from audit.log; truncate table audit.log", None),
        ("delete from {{ this }}", "DELETE"),
        ("truncate table {{ this }}", "TRUNCATE"),
        ("alter table {{ this }} add column more int", "ALTER"),
        ("drop table if exists audit.old", "DROP"),
        ("call audit.refresh()", "CALL"),
        ("{% do run_query('insert into audit.log select 1') %}", "INSERT"),
        ("insert into {{ acme.table_of(this) }} select id from {{ this }}", "INSERT"),
        ("insert into audit.log_{{ run_started_at.strftime('%Y') }} select 1", "INSERT"),
        ("{% if target.name == 'prod' %}insert into audit.log select 1{% endif %}", "INSERT"),
        ("select audit.refresh('x'), refresh_all() from {{ this }}", "calls audit.refresh"),
        ("select 1; select setval('s', max(id)), pg_notify('a', 'b') from {{ this }}", None),
        ("create or replace table {{ this }} as select id, 1 as more from {{ this }}", "creates wh.main.orders anew"),
        ("{{ audit_it(this) }}", "info"),
        ("", None),
    ],
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, hook: str, expected: str | None) -> None:
    end = operation("end", hook.replace("{{ this }}", "{{ ref('orders') }}"), None)
    summary = ingest(tmp_path, manifest(RAW, hooked(hook), end))
    unread = [one.diagnostic for one in summary.diagnostics if one.diagnostic.code == "NOT_FOLLOWED"]
    assert len(unread) == 2 * (expected is not None)
    severity = "info" if expected == "info" else "warning"
    assert all(one.severity == severity and (expected == "info" or f" {expected}" in one.message) for one in unread)
    assert levels(tmp_path)["model.shop.orders"] == ("full" if expected in (None, "info") else "partial")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("update {{ rel }} set amount = 0", None),
        ("create or replace transient table x as select 1", None),
        ("{% do run_query('insert into t select 1') %}", "warning"),
        ("{{ inner_one(rel) }}", "warning"),
        ("{# update t set a = 1 #} grant select on {{ rel }} to x -- delete from t", None),
    ],
)
def test_a_hook_that_a_macro_writes(tmp_path: Path, sql: str, expected: str | None) -> None:
    """Macros of the project are read; those of packages are not."""
    inner = {"name": "inner_one", "package_name": "acme", "macro_sql": "delete from {{ rel }}"}
    outer = {"name": "fix", "package_name": "shop",
             "macro_sql": f"{{% macro fix(rel) %}}{sql}{{% endmacro %}}",
             "depends_on": {"macros": ["macro.acme.inner_one"] if "inner" in sql else []}}  # fmt: skip
    macros = {"macro.acme.inner_one": inner, "macro.shop.fix": outer}
    summary = ingest(tmp_path, manifest(RAW, hooked("{{ fix(this) }}"), macros=macros))
    assert found(summary) == ({(expected, "NOT_FOLLOWED")} if expected else set())
    assert levels(tmp_path)["model.shop.orders"] == ("partial" if expected else "full")


def test_the_database_agrees(project: Path, tmp_path: Path) -> None:
    """dbt's own example, with hooks that fill tables: columns as DuckDB has them, and their sources."""
    file = project / "dbt_project.yml"
    file.write_text(file.read_text(encoding="utf-8") + ON_RUN_END, encoding="utf-8")
    query = "select customer_id, sum(amount) from {{ ref('orders') }} group by 1"
    macro = f"{{% macro spent_by_customer() %}}{query}{{% endmacro %}}"
    (project / "macros").mkdir(exist_ok=True)
    (project / "macros" / "spent.sql").write_text(macro, encoding="utf-8")
    orders = project / "models" / "orders.sql"
    hooks = (
        "create schema if not exists {{ target.schema }}_audit",
        ("create or replace table {{ target.schema }}_audit.orders_kept as select order_id, amount from {{ this }}"),
    )
    orders.write_text(f"{{{{ config(post_hook={list(hooks)!r}) }}}}\n{orders.read_text(encoding='utf-8')}", "utf-8")
    run_dbt(project, "build")
    ingest_dbt(project / "target", store=tmp_path / "store.db")
    [database] = project.glob("*.duckdb")
    with duckdb.connect(str(database), read_only=True) as connection, open_store(tmp_path / "store.db") as store:
        listed = "select table_name, column_name from information_schema.columns where table_schema = 'main_audit'"
        real = set(connection.execute(listed).fetchall())
        datasets = {one.key: one.name.rpartition(".")[2] for one in store.datasets() if ".main_audit." in one.name}
        assert {(datasets[one.dataset], one.spelled_name) for one in store.columns(sorted(datasets))} == real
        reached = impact(store, resolve(store, "main.raw_payments.amount")).columns
        tables = {one.table.rpartition(".")[2] for one in reached}
    assert {"spent", "orders_kept"} <= tables
