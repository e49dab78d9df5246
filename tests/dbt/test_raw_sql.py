"""Models that dbt has only parsed: what is expanded, and what is reported instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest import ingest_dbt
from tests.cli.running import lineage
from tests.dbt.manifests import manifest, model, source, write
from tests.dbt.test_again import RAW, STAGED
from tests.dbt.test_broken_artifacts import edges, ingest

MACROS = {
    "macro.shop.cents": {
        "name": "cents", "package_name": "shop",
        "macro_sql": "{% macro cents(column) %}({{ column }} / 100){% endmacro %}",
    },
    "macro.shop.names": {
        "name": "names", "package_name": "shop",
        "macro_sql": "{% macro names(more=none) %}{% if more %}{{ return(['id', more]) }}{% endif %}"
                     "{% do return(['id']) %}{% endmacro %}",
    },
    "macro.shop.broken": {"name": "broken", "package_name": "shop", "macro_sql": "{% macro broken( %}"},
    "macro.dbt.star": {"name": "star", "package_name": "dbt", "macro_sql": "{% macro star() %}1{% endmacro %}"},
}  # fmt: skip
ORDERS = {"orders.id -> id", "orders.amount -> a"}
LATER = "{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}"
EITHER = "{% if is_incremental() %} where note is not null {% else %} where amount > 0 {% endif %}"
FROM = "from {{ source('raw', 'orders') }}"


def parsed(sql: str, **fields: Any) -> dict[str, Any]:
    """Return a model that was not compiled."""
    named = {"source.shop.raw.orders": "source(", "stg": "'stg'"}
    return {**model("m", sql, *(key for key, text in named.items() if text in sql), **fields), "compiled_code": None}


def messages(tmp_path: Path, *nodes: dict[str, Any]) -> list[str]:
    """Ingest the nodes of a project without variables; return the messages of what is in doubt."""
    project = tmp_path / "dbt_project.yml"
    if not project.exists():
        project.write_text("name: shop\n", encoding="utf-8")
    summary = ingest(tmp_path, manifest(RAW, STAGED, *nodes, macros=MACROS))
    return [one.diagnostic.message for one in summary.diagnostics if one.diagnostic.severity != "info"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"select id, amount as a {FROM}", ORDERS),
        ("select id, amount as a from {{ ref('stg') }}", {"stg.id -> id", "stg.amount -> a"}),
        ("select id, amount as a from {{ ref('shop', 'stg') }}", {"stg.id -> id", "stg.amount -> a"}),
        ("{{ config(materialized='table', tags=['x']) }} select id, amount as a " + FROM, ORDERS),
        ("{# a comment #} select id, {{ cents('amount') }} as a " + FROM, ORDERS),
        ("{% set names = ['id', 'amount'] %} select {% for n in names %}{{ n }}{{ ',' if not loop.last }}{% endfor %} "
         + FROM, {"orders.id -> id", "orders.amount -> amount"}),
        ("select id, amount as a " + FROM + " where note = '{{ var('day', 'x') }}' and id > {{ var('n', 3) }}", ORDERS),
        ("select id {% if var('wide', true) %}, amount as a{% endif %} " + FROM, ORDERS),
        ("select {% for n in names('amount') %}{{ n }}{{ ' as a' if loop.last else ',' }}{% endfor %} " + FROM, ORDERS),
        ("{% set d = {'a': 1} %} select id {% if d.b is none %}, note{% endif %}{% if d.b %}, note{% endif %}"
         "{% if d.b is not defined and this.schema == 'main' %}, amount as a{% endif %} " + FROM, ORDERS),
        ("{% macro own(c) %}{{ c }}{% endmacro %} select {{ own('id') }}, amount as a " + FROM, ORDERS),
        (f"select id, amount as a {FROM} {LATER}", ORDERS),
        ("select id, amount as a " + FROM + " where note = {{ var('a value') }}", ORDERS),
    ],
)  # fmt: skip
def test_what_needs_no_database_is_expanded(tmp_path: Path, sql: str, expected: set[str]) -> None:
    assert messages(tmp_path, parsed(sql)) == []
    assert edges(tmp_path, "m") == expected


def test_an_incremental_model_is_read_as_it_runs_from_the_second_time_on(tmp_path: Path) -> None:
    sql = f"select id {FROM} {EITHER}"
    for materialized, column in (("incremental", "note"), ("table", "amount")):
        folder = tmp_path / materialized
        folder.mkdir()
        assert messages(folder, parsed(sql, config={"materialized": materialized})) == []

        with open_store(folder / "store.db") as store:
            rows = {edge.source for edge in store.edges_into(["postgres/wh.main.m"]) if "#" not in edge.target}
        assert f"postgres/wh.raw.orders#{column}" in rows


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("select id, {{ dbt_utils.pivot('note') }} " + FROM, "`dbt_utils.pivot(…)` is not expanded"),
        ("select id from {{ some_macro('x') }}", "`some_macro"),
        ("select id {% for c in columns() %}, {{ c }}{% endfor %} " + FROM, "a loop over `columns(…)` is read once"),
        ("select id {% if unknown() %}, amount{% endif %} " + FROM, "`unknown(…)` is taken to be false"),
        ("select id {% if target.name == 'prod' %}, amount{% endif %} " + FROM, "`target.name` is taken to differ"),
        ("select id {% if target.name != 'dev' %}, amount{% endif %} " + FROM, "`target.name` is taken to differ"),
        ("select id {% if target.name in ('a', 'b') %}, note{% endif %} " + FROM, "`target.name` is taken to differ"),
        ("select id {% if 'a' in target.name %}, note{% endif %} " + FROM, "`target.name` is taken to contain nothing"),
        ("select id {% if target.name | lower == 'a' %}, note{% endif %} " + FROM, "`target.name` is taken to differ"),
        ("select id {% if thread_id is defined %}, note{% endif %} " + FROM, "`thread_id` being defined is taken"),
        ("select id {% if target.x is none %}, note{% endif %} " + FROM, "`target.x` being none is taken to be false"),
        ("select id, {{ target.x | default('note') }} as n " + FROM, "`target.x` is taken by default"),
        ("select id {% if model.config.x == 1 %}, note{% endif %} " + FROM, "`config.x` is taken to differ"),
        ("select id from {{ ref('missing') }}", "the manifest has no model `missing`"),
        ("select id from {{ source('raw', 'missing') }}", "the manifest has no source of that name"),
        ("select id from {{ ref( }}", "the template cannot be rendered (TemplateSyntaxError)"),
        ("select {{ 1 / 0 }} as id " + FROM, "the template cannot be rendered (ZeroDivisionError)"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_reported(tmp_path: Path, sql: str, named: str) -> None:
    found = messages(tmp_path, parsed(sql))
    assert any(named in message for message in found), found

    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if "model.shop.m@" in job.key]
        assert job.completeness != "full"


def test_templates_run_in_a_sandbox(tmp_path: Path) -> None:
    escape = "select {{ ''.__class__.__mro__[1].__subclasses__() }} as id " + FROM
    assert messages(tmp_path, parsed(escape))
    endless = "{% for i in range(100000000) %}x{% endfor %} select id " + FROM
    assert messages(tmp_path, parsed(endless))
    nested = "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %} select id " + FROM
    assert messages(tmp_path, parsed(nested))
    growing = "{% set l = [1] %}{% for i in l %}{% do l.append(i) %}{% endfor %} select id " + FROM
    assert messages(tmp_path, parsed(growing))
    doubling = "{% set l = [1] %}{% for i in range(60) %}{% do l.extend(l) %}{% endfor %} select id " + FROM
    assert messages(tmp_path, parsed(doubling))


def test_ephemeral_models_become_ctes(tmp_path: Path) -> None:
    ephemeral: dict[str, Any] = {"config": {"materialized": "ephemeral"}, "relation_name": None, "compiled_code": None}
    one = {**model("one", f"select id, amount {FROM}", "source.shop.raw.orders"), **ephemeral}
    renaming = "with x as (select * from {{ ref('one') }}) select id, amount as a from x"
    two = {**model("two", renaming, "one"), **ephemeral}
    own = "-- a comment\n/* with */ with own as (select * from {{ ref('two') }})"
    last = parsed(own + " select own.*, o.id as again from own join {{ ref('one') }} o using (id)")
    last["depends_on"] = {"nodes": ["model.shop.two", "model.shop.one"]}
    assert messages(tmp_path, one, two, last) == []
    assert edges(tmp_path, "m") == {*ORDERS, "orders.id -> again"}


def test_versions_of_an_ephemeral_model_are_ctes_of_their_own(tmp_path: Path) -> None:
    versions = []
    for number, column in ((1, "amount"), (2, "note")):
        one = parsed(f"select id, {column} as a {FROM}", version=number, latest_version=2, relation_name=None)
        one |= {"name": "dim", "alias": f"dim_v{number}", "unique_id": f"model.shop.dim.v{number}"}
        versions.append({**one, "config": {"materialized": "ephemeral"}})
    reader = parsed("select x.id, y.a from {{ ref('dim', v=1) }} x join {{ ref('dim', v=2) }} y using (id)")
    reader["depends_on"] = {"nodes": ["model.shop.dim.v1", "model.shop.dim.v2"]}
    assert messages(tmp_path, *versions, reader) == []
    assert edges(tmp_path, "m") == {"orders.id -> id", "orders.note -> a"}


def test_ephemeral_models_of_one_name_are_reported(tmp_path: Path) -> None:
    """dbt itself then reads the first of them twice, or fails."""
    same = [
        {**parsed(f"select id, {column} as a {FROM}", relation_name=None), "name": "dim", "alias": "dim",
         "unique_id": f"model.{package}.dim", "package_name": package, "config": {"materialized": "ephemeral"}}
        for package, column in (("shop", "amount"), ("web", "note"))
    ]  # fmt: skip
    reader = parsed("select x.id, y.a from {{ ref('shop', 'dim') }} x join {{ ref('web', 'dim') }} y using (id)")
    reader["depends_on"] = {"nodes": ["model.shop.dim", "model.web.dim"]}
    assert "two ephemeral models are called __dbt__cte__dim: only the first one is read" in messages(
        tmp_path, *same, reader
    )


def test_versions_of_a_model(tmp_path: Path) -> None:
    raw = "source.shop.raw.orders"
    old = model("dim.v1", 'select id as old from "wh"."raw"."orders"', raw, version=1, latest_version=2)
    new = model("dim.v2", 'select id as new from "wh"."raw"."orders"', raw, version=2, latest_version=2)
    for node, number in ((old, 1), (new, 2)):
        node |= {
            "name": "dim",
            "relation_name": f'"wh"."main"."dim_v{number}"',
            "unique_id": f"model.shop.dim.v{number}",
        }
    reader = parsed("select old from {{ ref('dim', v=1) }}")
    reader["depends_on"] = {"nodes": ["model.shop.dim.v1"]}
    assert messages(tmp_path, old, new, reader) == []
    assert edges(tmp_path, "m") == {"dim_v1.old -> old"}
    both = parsed("select a.old, b.new from {{ ref('dim', v=1) }} a join {{ ref('dim') }} b on true")
    both["depends_on"] = {"nodes": ["model.shop.dim.v1", "model.shop.dim.v2"]}
    assert messages(tmp_path, old, new, both) == []
    assert edges(tmp_path, "m") == {"dim_v1.old -> old", "dim_v2.new -> new"}


def test_a_source_that_is_called_otherwise(tmp_path: Path) -> None:
    renamed = {**source("orders2", {"id": "int", "amount": "int"}), "identifier": "t_orders",
               "relation_name": '"wh"."raw"."t_orders"'}  # fmt: skip
    needs = {"depends_on": {"nodes": [renamed["unique_id"]]}}
    reader = parsed("select id, amount as a from {{ source('raw', 'orders2') }}") | needs
    assert messages(tmp_path, renamed, reader) == []
    assert edges(tmp_path, "m") == {"t_orders.id -> id", "t_orders.amount -> a"}


VARIABLES = "name: shop\nvars:\n  wide: false\n  narrow: true\n  shop: {narrow: false}\n  acme: {wide: true}\n"


@pytest.mark.parametrize(
    ("sql", "package", "columns"),
    [
        ("select id {% if var('wide', true) %}, amount as a{% endif %} ", "shop", ["id"]),
        ("select id {% if var('wide') %}, amount as a{% endif %} ", "acme", ["id", "a"]),
        ("select id {% if var('narrow', true) %}, amount as a{% endif %} ", "shop", ["id"]),
        ("select id {% if var('packaged', false) %}, amount as a{% endif %} ", "acme", ["id", "a"]),
        ("select id {% if var('packaged', false) %}, amount as a{% endif %} ", "shop", ["id"]),
    ],
)  # fmt: skip
def test_variables_are_those_of_the_project(tmp_path: Path, sql: str, package: str, columns: list[str]) -> None:
    (tmp_path / "dbt_project.yml").write_text(VARIABLES, encoding="utf-8")
    (tmp_path / "dbt_packages" / "acme").mkdir(parents=True)
    text = "name: acme\nvars: {wide: false, packaged: true}\n"
    (tmp_path / "dbt_packages" / "acme" / "dbt_project.yml").write_text(text, encoding="utf-8")
    assert messages(tmp_path, parsed(sql + FROM, package_name=package)) == []
    with open_store(tmp_path / "store.db") as store:
        assert [one.path for one in store.columns(["postgres/wh.main.m"])] == columns


def test_a_variable_that_one_template_adds_to_is_as_before_in_the_next(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop\nvars: {names: [id]}\n", encoding="utf-8")
    sql = "{% set own = var('names') %}{% do own.append('amount') %}select {{ own | join(', ') }} " + FROM
    second = {**parsed(sql), "unique_id": "model.shop.n", "name": "n", "alias": "n", "relation_name": "wh.main.n"}
    assert messages(tmp_path, parsed(sql), second) == []
    with open_store(tmp_path / "store.db") as store:
        for name in "mn":
            assert [one.path for one in store.columns([f"postgres/wh.main.{name}"])] == ["id", "amount"]


@pytest.mark.parametrize("project", [None, "name: [", "vars: {day: y}"])
def test_defaults_that_may_be_set_elsewhere_are_reported(tmp_path: Path, project: str | None) -> None:
    if project is not None:
        (tmp_path / "dbt_project.yml").write_text(project, encoding="utf-8")
    target = write(tmp_path / "target", manifest(RAW, parsed("select {{ var('day', 'id') }} as d " + FROM)))
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    found = [one.diagnostic.message for one in summary.diagnostics if one.diagnostic.severity == "warning"]
    assert [text.partition(":")[0] for text in found if "default" in text] == (
        ["`var('day')` is taken by default"] if "vars" not in (project or "") else []
    )


def test_defaults_of_the_environment_are_reported(tmp_path: Path) -> None:
    found = messages(tmp_path, parsed("select {{ env_var('COLUMN', 'id') }} as d " + FROM))
    assert found == ["`env_var('COLUMN')` is taken by default: the environment of dbt is not known"]


def test_what_the_sandbox_asks_is_not_reported(tmp_path: Path) -> None:
    assert not [text for text in messages(tmp_path, parsed("select {{ acme.f() }} as d " + FROM)) if "false" in text]


def _macro(package: str, name: str, arguments: str, body: str) -> dict[str, Any]:
    text = f"{{% macro {name}({arguments}) %}}{body}{{% endmacro %}}"
    return {f"macro.{package}.{name}": {"name": name, "package_name": package, "macro_sql": text}}


PACKAGES = {
    **_macro("dbt", "type_numeric", "", "{{ return(adapter.dispatch('type_numeric', 'dbt')()) }}"),
    **_macro("dbt", "default__type_numeric", "", "{{ return(api.Column.numeric_type('numeric', 28, 6)) }}"),
    **_macro("dbt", "type_string", "", "{{ return(api.Column.translate_type('string')) }}"),
    **_macro("dbt", "concat", "fields", "{{ return(adapter.dispatch('concat', 'dbt')(fields)) }}"),
    **_macro("dbt", "default__concat", "fields", "{{ fields | join(', ') }}"),
    **_macro("dbt_postgres", "postgres__concat", "fields", "{{ fields | join(' || ') }}"),
    **_macro("utils", "key", "fields", "md5({{ dbt.concat(own(fields)) }})"),
    **_macro("utils", "own", "fields", "{{ return(fields) }}"),
    **_macro("utils", "star", "", "{% for c in adapter.get_columns_in_relation(1) %}{{ c.name }}{% endfor %}"),
    **_macro("utils", "broken", "", "{{ 1 / 0 }}"),
    **_macro("utils", "default__dispatched", "", "{{ load_result('x') }}"),
    **_macro("utils", "dispatched", "", "{{ return(adapter.dispatch('dispatched', 'utils')()) }}"),
    **_macro(
        "utils",
        "hashed",
        "fields",
        "{% set l = [] %}{% for f in fields %}{% do l.append('coalesce(' ~ f ~ ', 0)')"
        " %}{% endfor %}md5({{ dbt.concat(l) }}) as {{ adapter.quote(modules.re.sub('[^a-z]', '', 'k 1')) }}",
    ),
    **_macro("utils", "spine", "", "{% if run_query('q') %}{% endif %}select 1 as day"),
}


def _ingested(tmp_path: Path, *nodes: dict[str, Any]) -> dict[str, list[str]]:
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    summary = ingest(tmp_path, manifest(RAW, STAGED, *nodes, macros=PACKAGES))
    found = [one.diagnostic for one in summary.diagnostics]
    levels = {str(one.severity) for one in found}
    return {level: [f"{one.code} {one.message}" for one in found if str(one.severity) == level] for level in levels}


def test_macros_of_dbt_and_of_packages_are_expanded_if_they_need_no_database(tmp_path: Path) -> None:
    sql = (
        "select cast(id as {{ type_numeric() }}) as id, cast(amount as {{ dbt.type_string() }}) as a, "
        "{{ utils.key(['id', 'note']) }} as k " + FROM
    )
    assert "warning" not in _ingested(tmp_path, parsed(sql))
    assert edges(tmp_path, "m") == {"orders.id -> id", "orders.amount -> a", "orders.id -> k", "orders.note -> k"}


def test_macros_may_add_to_lists_and_quote_names(tmp_path: Path) -> None:
    assert "warning" not in _ingested(tmp_path, parsed(f"select {{{{ utils.hashed(['id', 'note']) }}}} {FROM}"))
    assert edges(tmp_path, "m") == {"orders.id -> k", "orders.note -> k"}


@pytest.mark.parametrize("name", ["star", "broken", "dispatched"])
def test_a_macro_of_a_package_that_needs_a_database_is_a_placeholder(tmp_path: Path, name: str) -> None:
    found = _ingested(tmp_path, parsed(f"select id, {{{{ utils.{name}() }}}} {FROM}"))
    assert found["warning"] == [f"UNSUPPORTED_SYNTAX `utils.{name}(…)` is not expanded: it may name columns or tables"]
    assert edges(tmp_path, "m") == {"orders.id -> id"}


def test_a_model_that_is_one_macro_call_is_no_literal(tmp_path: Path) -> None:
    found = _ingested(tmp_path, parsed("{{ utils.star() }}"))
    assert "error" not in found
    assert "the whole statement comes from a template" in found["warning"][0]


def test_columns_that_a_guessed_template_may_have_are_no_errors(tmp_path: Path) -> None:
    sql = "with s as (select id {% if columns() %}, amount{% endif %} " + FROM + ") select id, amount from s"
    found = _ingested(tmp_path, parsed(sql))
    assert "error" not in found
    assert any("no column `amount` in s" in one for one in found["info"])


def test_the_summary_begins_with_what_was_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    ingest(tmp_path, manifest(RAW, STAGED, parsed(f"select id {FROM}"), macros=PACKAGES))
    for _ in range(2):  # the second time, nothing is resolved
        done = lineage("ingest", "dbt", tmp_path / "target", "-s", tmp_path / "store.db")
        assert done.err.startswith("1 of 2 models were not compiled: run `dbt compile`\n")
        assert "its raw SQL is read" not in done.err
