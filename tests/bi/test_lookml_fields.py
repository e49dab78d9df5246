"""LookML: what a field of a view comes from, whatever parameter says so, and the tables that explores give to views."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import GraphStore, open_store
from lineage_ingest import BiSummary
from tests.bi.exports import codes, completeness, ingest, into

MODEL = 'connection: "pg"\ninclude: "*.view.lkml"\n'
VIEW = """
view: orders { sql_table_name: raw.orders ;;
  dimension: id { primary_key: yes }
  dimension: from_place { type: location sql_latitude: ${TABLE}.lat1 ;; sql_longitude: ${TABLE}.lon1 ;; }
  dimension: to_place { type: location sql_latitude: ${TABLE}.lat2 ;; sql_longitude: ${TABLE}.lon2 ;; }
  dimension: region {}
  dimension_group: made { sql: ${TABLE}.made_at ;; }
  dimension_group: sent { type: duration sql_start: ${TABLE}.made_at ;; sql_end: ${TABLE}.sent_at ;; }
  measure: total { type: sum sql: ${TABLE}.amount ;; }
  %s
}
"""


def read(store: GraphStore, folder: Path, dialect: str = "postgres", **files: str) -> BiSummary:
    """Ingest the files of a project; `x_view` is the file `x.view.lkml`."""
    folder.mkdir(exist_ok=True)
    for name, text in {"m_model": MODEL, **files}.items():
        kind = "lookml" if name.endswith("dashboard") else "lkml"
        (folder / f"{name.replace('_', '.')}.{kind}").write_text(text, encoding="utf-8")
    return ingest(store, "lookml", folder, dialect=dialect, namespace="postgres://db:5432")


def of_tables(store: GraphStore, key: str) -> set[str]:
    """Return the columns of tables that something reads, those that only influence it with `~`."""
    read_from = {one.partition(" [")[0].partition(f"> {key}")[0].strip() for one in into(store, key)}
    return {("~" if one.endswith("~") else "") + one.rstrip(" -~").rpartition("/")[2] for one in read_from}


@pytest.mark.parametrize(
    ("field", "name", "columns"),
    [
        ("dimension: far { type: distance start_location_field: from_place end_location_field: orders.to_place }",
         "far", "raw.orders.lat1 raw.orders.lon1 raw.orders.lat2 raw.orders.lon2"),
        ("measure: before { type: period_over_period based_on: total based_on_time: made_year kind: previous }",
         "before", "raw.orders.amount ~raw.orders.made_at"),
        ("dimension: kind { sql: {% if p._parameter_value == 'a' %}${region}{% else %}${TABLE}.b{% endif %} ;; }",
         "kind", "raw.orders.region raw.orders.b"),
        ("dimension: spaced { sql: ${ region } || ${id::string} ;; }", "spaced", "raw.orders.region raw.orders.id"),
        ("", "made_day_of_week", "raw.orders.made_at"),
        ("", "hours_sent", "raw.orders.made_at raw.orders.sent_at"),
    ],
)  # fmt: skip
def test_the_sources_of_a_field(tmp_path: Path, field: str, name: str, columns: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", o_view=VIEW % field)
        assert of_tables(store, f"view/orders.{name}") == set(columns.split())
        assert completeness(store)["view/orders"] is (Completeness.PARTIAL if "{%" in field else Completeness.FULL)
        assert codes(summary) <= {"EXPRESSION_NOT_READ"}


BELOW = """
view: below { sql_table_name: raw.orders ;; dimension: amount { sql: ${TABLE}.amt ;; } dimension: place {} }
"""


@pytest.mark.parametrize(
    "above",
    [
        "view: +below { dimension: amount { sql: coalesce(${EXTENDED}, 0) ;; } }",
        "view: above { extends: [below] dimension: amount { sql: coalesce(${EXTENDED}, 0) ;; } }",
    ],
)
def test_a_field_over_the_one_that_it_extends(tmp_path: Path, above: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert not read(store, tmp_path / "in", a_view=above, b_view=BELOW).diagnostics
        key = "view/below" if "+" in above else "view/above"
        assert of_tables(store, f"{key}.amount") == {"raw.orders.amt"}


def test_what_a_refinement_leaves_stays(tmp_path: Path) -> None:
    view = "view: v { derived_table: { sql: SELECT id FROM raw.t ;; } dimension: id {} }"
    refined = 'view: +v { derived_table: { persist_for: "1 hour" } }'
    model = (
        MODEL
        + """explore: v { access_filter: { field: v.id user_attribute: a } }
    explore: +v { access_filter: { field: v.id user_attribute: b } sql_always_where: ${id} > 1 ;; }
    explore: +v { sql_always_where: ${EXTENDED} AND ${id} < 9 ;; }"""
    )
    with open_store(tmp_path / "store.db") as store:
        assert not read(store, tmp_path / "in", m_model=model, v_view=view, w_view=refined).diagnostics
        assert of_tables(store, "derived_table/v.id") == {"raw.t.id"}
        assert into(store, "explore/v", rows=True) >= {"view/v.id ~> explore/v [FILTER]"}


def test_explores_and_joins_over_other_tables(tmp_path: Path) -> None:
    model = (
        MODEL
        + """explore: orders { sql_table_name: old.orders ;; access_filter_fields: [orders.region]
      join: others { from: orders sql_table_name: old.others ;; sql_on: ${orders.id} = ${others.id} ;; } }"""
    )
    with open_store(tmp_path / "store.db") as store:
        assert not read(store, tmp_path / "in", m_model=model, o_view=VIEW % "").diagnostics
        assert of_tables(store, "explore/orders.orders:region") == {"old.orders.region"}
        assert of_tables(store, "explore/orders.others:total") == {"old.others.amount"}
        rows = into(store, "explore/orders", rows=True)
        assert "postgres://db:5432/old.orders.region ~> explore/orders [FILTER]" in rows
        assert "postgres://db:5432/old.others.id ~> explore/orders [JOIN]" in rows


@pytest.mark.parametrize(
    ("table", "tables"),
    [
        ("{% if a._in_query %}raw.a{% else %}raw.b{% endif %}", {"raw.a.id", "raw.b.id"}),
        ("{{ _user_attributes['s'] }}.orders", set()),
        ("raw.orders_{% parameter p %}", set()),
        ("@{NOT_THERE}.orders", set()),
    ],
)
def test_a_table_that_a_template_decides(tmp_path: Path, table: str, tables: set[str]) -> None:
    view = f"view: v {{ sql_table_name: {table} ;; dimension: id {{}} }}"
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", v_view=view)
        assert of_tables(store, "view/v.id") == tables
        said = "which table it reads is decided by a template, and not known"
        assert (said in {one.diagnostic.message for one in summary.diagnostics}) is (not tables)
        assert completeness(store)["view/v"] is Completeness.PARTIAL
        assert {one.key for one in store.datasets() if "template" in one.key or "?" in one.key} == set()


def test_names_without_quotes_of_snowflake(tmp_path: Path) -> None:
    text = """
    view: facts { derived_table: { explore_source: orders {
        column: region {} column: sum { field: orders.total }
        derived_column: rank { sql: rank() over (order by sum) ;; }
        expression_custom_filter: ${orders.id} > 3 ;; } }
      dimension: region {} dimension: sum { sql: facts.sum ;; } dimension: rank { sql: ${TABLE}.RANK ;; } }
    """
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", "snowflake", m_model=MODEL + "explore: orders {}", o_view=VIEW % "",
                       f_view=text)  # fmt: skip
        assert [one.diagnostic.message for one in summary.diagnostics] == [
            "the database of the connection 'pg' is not known: RAW.ORDERS is not known by three parts"
        ]
        assert into(store, "view/facts") == {
            f"derived_table/facts.{name.upper()} -> view/facts.{name} [IDENTITY]" for name in ("region", "sum", "rank")
        }
        assert "view/orders.id ~> derived_table/facts [FILTER]" in into(store, "derived_table/facts", rows=True)


DASHBOARD = """
- dashboard: d
  elements:
  - name: t
    explore: orders
    fields: [orders.area, orders.total, custom]
    filter_expression: "${orders.id} > 3"
    dynamic_fields:
    - {table_calculation: share, expression: "${orders.total} / sum(${orders.total:total})"}
    - {table_calculation: change, expression: "${share} - offset(${share}, 1)"}
    - {measure: custom, based_on: orders.id, type: count_distinct, filters: {orders.region: x}}
    - {table_calculation: endless, expression: "${endless}"}
"""


def test_fields_that_a_tile_makes(tmp_path: Path) -> None:
    view = (VIEW % "").replace("region {}", "region { alias: [area] }")
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", m_model=MODEL + "explore: orders {}", o_view=view, d_dashboard=DASHBOARD)
        assert {one.diagnostic.message for one in summary.diagnostics} == {
            "the field endless of the tile is made of itself"
        }
        explore, tile = "explore/orders.orders", "tile/d/1-t"
        assert into(store, tile, rows=True) >= {
            f"{explore}:region -> {tile}.orders:area [IDENTITY]",
            f"{explore}:total -> {tile}.orders:total [IDENTITY]",
            f"{explore}:total -> {tile}.share [TRANSFORMATION]",
            f"{explore}:total -> {tile}.change [TRANSFORMATION]",
            f"{explore}:id -> {tile}.custom [AGGREGATION]",
            f"{explore}:region ~> {tile}.custom [CONDITIONAL]",
            f"{explore}:id ~> {tile} [FILTER]",
        }


def test_columns_of_tables_in_an_explore(tmp_path: Path) -> None:
    model = MODEL + "explore: orders { sql_always_where: orders.deleted = 0 AND ${orders.id} > 1 ;; }"
    with open_store(tmp_path / "store.db") as store:
        tier = "dimension: tier { type: tier tiers: [1, 2] sql: ${id} ;; }"
        assert not read(store, tmp_path / "in", m_model=model, o_view=VIEW % tier).diagnostics
        assert {one for one in into(store, "explore/orders", rows=True) if "FILTER" in one} == {
            "postgres://db:5432/raw.orders.deleted ~> explore/orders [FILTER]",
            "view/orders.id ~> explore/orders [FILTER]",
        }
        assert into(store, "view/orders.tier") == {
            "postgres://db:5432/raw.orders.id -> view/orders.tier [TRANSFORMATION]"
        }


def test_a_view_in_models_of_two_connections(tmp_path: Path) -> None:
    files = {"o_view": VIEW % "", "n_model": MODEL.replace("pg", "other"), "x_view": "test: a {}\nvisualization: {}"}
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", **files)
        messages = {one.diagnostic.message for one in summary.diagnostics}
        assert "models of several connections include it (pg, other): that of 'pg' is taken" in messages
        assert completeness(store)["view/orders"] is Completeness.PARTIAL
    folders = tmp_path / "folders"
    (folders / "views").mkdir(parents=True)
    (folders / "views" / "o.view.lkml").write_text(VIEW % "", encoding="utf-8")
    (folders / "n.model.lkml").write_text('connection: "other"', encoding="utf-8")
    (folders / "m.model.lkml").write_text('connection: "pg"\ninclude: "/views/**/*.view"', encoding="utf-8")
    with open_store(tmp_path / "other.db") as store:
        assert not ingest(store, "lookml", folders, dialect="postgres", namespace="postgres://db:5432").diagnostics


VALUES = """
view: a { sql_table_name: raw.a ;; dimension: id {} dimension: x {} filter: status {} parameter: pick {}
  dimension: big { type: yesno sql: {% condition status %} ${TABLE}.z {% endcondition %} ;; } }
view: b { sql_table_name: raw.b ;; dimension: id {} dimension: status {} dimension: v {} }
view: c { derived_table: { explore_source: a { column: id { field: a.id } filters: [a.status: "1", b.v: "2"] } } }
"""
EXPLORE = """explore: a { always_filter: { filters: [a.status: "1", a.pick: "2"] }
  conditionally_filter: { filters: [b.v: "3"] unless: [a.id] } join: b { sql_on: ${a.id} = ${b.id} ;; } }
"""
TILE = """- dashboard: d
  elements:
  - {name: t, type: table, explore: a, fields: [a.id], filters: {a.status: "1", a.pick: "2", FIELD: "3"}}
"""


@pytest.mark.parametrize("field", ["b.status", "b.v"])
def test_values_of_templates_are_no_columns(tmp_path: Path, field: str) -> None:
    """A filter without SQL is one of its own view only: another view may have a column of its name."""
    with open_store(tmp_path / "store.db") as store:
        files = {"v_view": VALUES, "m_model": MODEL + EXPLORE, "d_dashboard": TILE.replace("FIELD", field)}
        messages = [one.diagnostic.message for one in read(store, tmp_path / "in", **files).diagnostics]
        assert not [one for one in messages if "which is not in it" in one or "not in the explore" in one], messages
        levels = completeness(store)
        assert levels["explore/a"] is levels["tile/d/1-t"] is Completeness.FULL
        tile = {one for one in into(store, "tile/d/1-t", rows=True) if "[FILTER]" in one}
        assert {one.partition(" ~>")[0] for one in tile} == {f"explore/a.{field.replace('.', ':')}"}
        table = {one.partition(" ~>")[0] for one in into(store, "derived_table/c", rows=True) if "[FILTER" in one}
        assert table == {"view/b.v"}
        assert levels["derived_table/c"] is Completeness.FULL
