"""What builds a table besides the compiled SQL of its model: other builds, macros, materializations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.traversal import impact, resolve
from tests.dbt.manifests import manifest, model, relation, source
from tests.dbt.test_again import MART, RAW, STAGED
from tests.dbt.test_broken_artifacts import edges, found, ingest

ORDERS = 'select id from "wh"."raw"."orders"'
CHANGES = (
    "{% if is_incremental() %} select id, note as label from {{ ref('changes') }} c where exists "
    "(select 1 from {{ this }} t where t.id = c.id) "
    "{% else %} select id, label from {{ ref('everything') }} {% endif %}"
)


def incremental(raw_code: str, compiled: str | None, *needs: str) -> dict[str, Any]:
    """Return an incremental model."""
    return {**model("inc", raw_code, *needs, config={"materialized": "incremental"}), "compiled_code": compiled}


@pytest.mark.parametrize("build", ["first", "later", "not compiled"])
def test_an_incremental_model_has_the_lineage_of_all_its_builds(tmp_path: Path, build: str) -> None:
    changes = model("changes", 'select id, note from "wh"."raw"."orders"', "source.shop.raw.orders")
    everything = model("everything", 'select id, note as label from "wh"."raw"."orders"', "source.shop.raw.orders")
    compiled = {
        "first": f"select id, label from {relation('everything')}",
        "later": f"select id, note as label from {relation('changes')} c where exists "
                 f"(select 1 from {relation('inc')} t where t.id = c.id)",
        "not compiled": None,
    }[build]  # fmt: skip
    expected = {"changes.id -> id", "everything.id -> id", "changes.note -> label", "everything.label -> label"}
    inc = incremental(CHANGES, compiled, "changes", "everything")
    for day in (1, 2):  # the second time, nothing is resolved
        summary = ingest(tmp_path, manifest(RAW, changes, everything, inc, at=f"2026-03-0{day}T06:00:00Z"))
        assert {one for one in found(summary) if one[0] != "info"} == set()
        assert edges(tmp_path, "inc") == expected
    assert summary.unchanged == 3
    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if "model.shop.inc@" in job.key]
        assert (str(job.completeness), sorted(job.reads)) == (
            "full", [f"postgres/wh.main.{name}" for name in ("changes", "everything", "inc")]
        )  # fmt: skip


def test_what_all_builds_lack_is_said_once(tmp_path: Path) -> None:
    bare = source("bare", {})
    later = "{% if is_incremental() %} join {{ ref('stg') }} using (id) {% endif %}"
    raw = "select * from {{ source('raw', 'bare') }} " + later
    compiled = 'select * from "wh"."raw"."bare"'
    inc = incremental(raw, compiled, "source.shop.raw.bare", "stg")
    summary = ingest(tmp_path, manifest(RAW, bare, STAGED, inc))
    listed = [(str(one.diagnostic.code), one.diagnostic.message) for one in summary.diagnostics]
    assert len(listed) == len(set(listed)) == summary.batch.run.counts["diagnostics"]
    assert ("UNRESOLVED_STAR", "the columns behind `*` are unknown: no schema of wh.raw.bare") in listed


@pytest.mark.parametrize(
    ("compiled", "completeness", "severity"),
    [
        ('select id from "wh"."raw"."orders"', "partial", "warning"),
        ('select id from "wh"."raw"."orders" where id > (select max(id) from "wh"."main"."inc")', "full", "info"),
    ],
)
def test_a_build_that_cannot_be_read_is_reported(
    tmp_path: Path, compiled: str, completeness: str, severity: str
) -> None:
    raw = "select id from {{ source('raw', 'orders') }} {% if is_incremental() %} {{ acme.newer() }} {% endif %}"
    summary = ingest(tmp_path, manifest(RAW, incremental(raw, compiled, "source.shop.raw.orders")))
    assert found(summary) == {(severity, "NOT_FOLLOWED")}
    with open_store(tmp_path / "store.db") as store:
        assert [str(job.completeness) for job in store.jobs()] == [completeness]


@pytest.mark.parametrize("materialized", ["incremental", "table"])
@pytest.mark.parametrize(
    "asked",
    [
        "flags.FULL_REFRESH",
        "should_full_refresh()",
        "load_relation(this) is none",
        "load_cached_relation(this) is not none",
        "adapter.get_relation(this.database, this.schema, this.table) is none",
        "adapter.get_relation(database=this.database, schema=this.schema, identifier=this.name) is none",
        "is_there()",
    ],
)
def test_a_template_that_asks_for_the_table_or_for_a_full_refresh(
    tmp_path: Path, asked: str, materialized: str
) -> None:
    """The compiled SQL is that of one build; the others read other columns."""
    raw = f"select id, {{% if {asked} %}} amount {{% else %}} label {{% endif %}} as x from {{{{ ref('wide') }}}}"
    wide = model("wide", 'select id, amount, note as label from "wh"."raw"."orders"', "source.shop.raw.orders")
    node = model("m", f"select id, label as x from {relation('wide')}", "wide", config={"materialized": materialized})
    node |= {"raw_code": raw, "depends_on": {"nodes": ["model.shop.wide"], "macros": ["macro.shop.is_there"]}}
    is_there = "{% macro is_there() %}{{ return(load_relation(this) is not none) }}{% endmacro %}"
    macro = {"name": "is_there", "unique_id": "macro.shop.is_there", "package_name": "shop", "macro_sql": is_there}
    summary = ingest(tmp_path, manifest(RAW, wide, node, macros={"macro.shop.is_there": macro}))
    reported = {one for one in found(summary) if one[0] != "info"}
    if asked == "is_there()":  # a macro does not have the model's `this`
        assert reported == {("warning", "NOT_FOLLOWED")}
    else:
        assert (reported, edges(tmp_path, "m")) == (
            set(), {"wide.id -> id", "wide.amount -> x", "wide.label -> x"}
        )  # fmt: skip


def test_a_template_that_asks_for_another_table_is_read_as_compiled(tmp_path: Path) -> None:
    node = model("m", ORDERS, "source.shop.raw.orders")
    orders = "source('raw', 'orders')"
    node["raw_code"] = f"{{% if load_relation({orders}) %}} select id from {{{{ {orders} }}}} {{% endif %}}"
    assert found(ingest(tmp_path, manifest(RAW, node))) == set()


def test_what_dbt_needs_and_the_sql_does_not_read_is_table_level_lineage(tmp_path: Path) -> None:
    pivoted = model("pivoted", f"select id from {relation('mart')}", "mart", "stg")
    assert found(ingest(tmp_path, manifest(RAW, STAGED, MART, pivoted))) == {("warning", "NOT_FOLLOWED")}
    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if "model.shop.pivoted@" in job.key]
        reads = ["postgres/wh.main.mart", "postgres/wh.main.stg"]
        assert (str(job.completeness), sorted(job.reads)) == ("partial", reads)
        affected = impact(store, resolve(store, "wh.main.stg.amount")).possibly_affected
        assert "postgres/wh.main.pivoted" in {one.dataset for one in affected}


def test_a_materialization_of_a_package_is_reported(tmp_path: Path) -> None:
    defined = {"acme": "materialization_by_period_default", "dbt": "materialization_table_default"}
    macros = {name: {"name": name, "package_name": package, "macro_sql": ""} for package, name in defined.items()}
    kinds = ("by_period", "table")
    nodes = [model(kind, ORDERS, "source.shop.raw.orders", config={"materialized": kind}) for kind in kinds]
    summary = ingest(tmp_path, manifest(RAW, *nodes, macros=macros))
    assert [one.source for one in summary.diagnostics] == ["target/compiled/shop/models/by_period.sql"]


@pytest.mark.parametrize(
    ("header", "is_reported"),
    [
        ("declare latest date default (select max(day) from wh.raw.days);", True),
        ("-- set x\ncreate temp table picked as select id from wh.raw.orders", True),
        ("set timezone = 'UTC'; set latest = (select max(day) from wh.raw.days);", True),
        ("create temp function f(x int) as ((select max(rate) * x from wh.raw.rates));", True),
        ("create temp function f(x int) as (x * 2); -- select\nalter session set timezone = 'UTC';", False),
        ("", False),
        (["no text"], False),
    ],
)
def test_a_header_from_which_the_query_may_take_values(tmp_path: Path, header: Any, is_reported: bool) -> None:
    node = model("m", ORDERS, "source.shop.raw.orders", config={"sql_header": header})
    assert found(ingest(tmp_path, manifest(RAW, node))) == ({("warning", "NOT_FOLLOWED")} if is_reported else set())


def test_a_macro_that_asks_which_build_it_is(tmp_path: Path) -> None:
    """The compiled SQL is that of the first build; a macro of the project adds what later ones read."""
    sql = 'select id from "wh"."raw"."orders"'
    macros = {
        "macro.shop.later": {
            "name": "later", "unique_id": "macro.shop.later", "package_name": "shop",
            "macro_sql": "{% macro later() %}{{ extra() }}{% endmacro %}",
            "depends_on": {"macros": ["macro.shop.extra", "macro.dbt.is_incremental"]},
        },
        "macro.shop.extra": {
            "name": "extra", "unique_id": "macro.shop.extra", "package_name": "shop", "depends_on": {"macros": []},
            "macro_sql": "{% macro extra() %}{% if is_incremental() %}where amount > 0{% endif %}{% endmacro %}",
        },
    }  # fmt: skip
    node = model("m", sql, "source.shop.raw.orders", config={"materialized": "incremental"})
    node["raw_code"] = "select id from {{ source('raw', 'orders') }} {{ later() }}"
    node["depends_on"]["macros"] = ["macro.shop.later"]
    ingest(tmp_path, manifest(RAW, node, macros=macros))
    with open_store(tmp_path / "store.db") as store:
        rows = {edge.source for edge in store.edges_into(["postgres/wh.main.m"]) if "#" not in edge.target}
    assert "postgres/wh.raw.orders#amount" in rows


def function(name: str, body: str, *needs: str, **fields: Any) -> dict[str, Any]:
    """Return a function of one argument, `x`, as dbt 1.11 writes it."""
    made = model(name, body, *needs, **fields)
    return {**made, "unique_id": f"function.shop.{name}", "resource_type": "function", "relation_name": None,
            "arguments": [{"name": "x", "data_type": "double"}]}  # fmt: skip


RATES = source("rates", {"rate": "double"})
HIGHEST = 'select x * (select max(rate) from "wh"."raw"."rates")'


@pytest.mark.parametrize(
    ("call", "functions", "expected"),
    [
        ('"wh"."main"."eur"(amount)', [function("eur", HIGHEST, "source.shop.raw.rates")],
         {"orders.amount -> e", "rates.rate -> e"}),
        ("wh.main.eur(amount)", [function("eur", "x + 1")], {"orders.amount -> e"}),
        ('"wh"."main"."outer"(amount)',
         [function("outer", '"wh"."main"."eur"(x)', "function.shop.eur"),
          function("eur", HIGHEST, "source.shop.raw.rates")], {"orders.amount -> e", "rates.rate -> e"}),
        ("{{ function('eur') }}(amount)",
         [function("eur", "select max(rate) + x from {{ source('raw', 'rates') }}", "source.shop.raw.rates")],
         {"orders.amount -> e", "rates.rate -> e"}),
    ],
)  # fmt: skip
def test_functions_of_the_project_are_followed(
    tmp_path: Path, call: str, functions: list[dict[str, Any]], expected: set[str]
) -> None:
    needs = ("source.shop.raw.orders", *(one["unique_id"] for one in functions))
    is_raw = "{{" in call
    calling = model("calling", f'select {call} as e from "wh"."raw"."orders"', *needs)
    listed = {one["unique_id"]: {**one, **({"compiled_code": None} if is_raw else {})} for one in functions}
    if is_raw:
        calling["compiled_code"] = None
    data = manifest(RAW, RATES, calling, functions=listed)
    assert {one for one in found(ingest(tmp_path, data)) if one[0] != "info"} == set()
    assert edges(tmp_path, "calling") == expected
    for one in listed.values():  # another body
        one["compiled_code"] = "0"
    data["metadata"]["generated_at"] = "2026-03-02T06:00:00Z"
    ingest(tmp_path, data)
    assert edges(tmp_path, "calling") == set()


def test_a_function_in_another_language_has_table_level_lineage(tmp_path: Path) -> None:
    python = function("eur", "def f(x): ...", "source.shop.raw.rates", language="python")
    needs = ("source.shop.raw.orders", "function.shop.eur")
    calling = model("calling", 'select "wh"."main"."eur"(amount) as e from "wh"."raw"."orders"', *needs)
    summary = ingest(tmp_path, manifest(RAW, RATES, calling, functions={"function.shop.eur": python}))
    assert found(summary) == {("warning", "NOT_FOLLOWED")}
    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if ".calling@" in job.key]
        reads = ["postgres/wh.raw.orders", "postgres/wh.raw.rates"]
        assert (str(job.completeness), sorted(job.reads)) == ("partial", reads)
