"""LookML: the fields that an explore shows, what always filters it, tiles that merge or listen, a view in two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import GraphStore, open_store
from tests.bi.exports import codes, columns_of, completeness, edges_of, ingest, into

VIEWS = """
view: orders {
  sql_table_name: raw.orders ;;
  dimension: id { primary_key: yes }
  dimension: amount {}
  dimension: secret { sql: ${TABLE}.ssn ;; }
  dimension: region {}
  measure: total { type: sum sql: ${amount} ;; }
  measure: deep { type: sum_distinct sql_distinct_key: ${id} ;; sql: ${amount} ;; }
  set: plain { fields: [id, more*, -region] }
  set: more { fields: [amount, region] }
}
view: people { sql_table_name: raw.people ;; dimension: id {} dimension: name {} }
"""
JOIN = "join: people { sql_on: ${orders.id} = ${people.id} ;; %s }"


def project(store: GraphStore, folder: Path, explore: str, dashboard: str = "") -> set[str]:
    """Ingest a project of the views, an explore and a dashboard; return the codes of its diagnostics."""
    folder.mkdir(exist_ok=True)
    model = f'connection: "pg"\ninclude: "*.view.lkml"\nexplore: orders {{ {explore} }}'
    files = {"v.view.lkml": VIEWS, "m.model.lkml": model, "d.dashboard.lookml": dashboard}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return codes(ingest(store, "lookml", folder, dialect="postgres", namespace="postgres://db:5432"))


@pytest.mark.parametrize(
    ("explore", "fields"),
    [
        ("fields: [ALL_FIELDS*, -orders.secret, -total, -deep]", "orders:id orders:amount orders:region"),
        ("fields: [orders.plain*]", "orders:id orders:amount"),
        ("fields: [-plain*, -deep, -total]", "orders:secret orders:region"),
        ("fields: [amount, people.name] " + JOIN % "", "orders:amount people:name"),
        ("fields: [orders.ALL_FIELDS*, -more*, -deep, -total, people.id] " + JOIN % "",
         "orders:id orders:secret people:id"),
        ("fields: [orders.id, people.ALL_FIELDS*] " + JOIN % "fields: [name]", "orders:id people:name"),
    ],
)  # fmt: skip
def test_the_fields_that_an_explore_shows(tmp_path: Path, explore: str, fields: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert not project(store, tmp_path / "in", explore)
        assert columns_of(store, "lookml://bi.test/explore/orders") == fields.split()
        assert completeness(store)["explore/orders"] is Completeness.FULL


@pytest.mark.parametrize(
    ("explore", "column"),
    [
        ("sql_always_where: ${orders.region} = 'x' -- y\n ;;", "region"),
        ("sql_always_having: ${orders.total} > 5 ;;", "total"),
        ('always_filter: { filters: [orders.region: "x"] }', "region"),
        ('conditionally_filter: { filters: [region: "x"] unless: [orders.id] }', "region"),
        ("access_filter: { field: orders.secret user_attribute: a }", "secret"),
        (JOIN % "sql_where: ${orders.amount} > 1 ;;", "amount"),
    ],
)
def test_what_always_filters_an_explore(tmp_path: Path, explore: str, column: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert not project(store, tmp_path / "in", f"fields: [orders.id] {explore}")
        found = {one for one in into(store, "explore/orders", rows=True) if "FILTER" in one}
        assert found == {f"view/orders.{column} ~> explore/orders [FILTER]"}
        assert "raw.orders.id ~> view/orders.deep [CONDITIONAL]" in str(edges_of(store))


@pytest.mark.parametrize("explore", ["fields: [orders.nothing]", "access_filter: { field: a.b user_attribute: c }"])
def test_fields_that_are_not_there(tmp_path: Path, explore: str) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert "EXPRESSION_NOT_READ" in project(store, tmp_path / "in", explore)
        assert completeness(store)["explore/orders"] is Completeness.PARTIAL


def test_a_field_that_reads_two_views(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    with open_store(tmp_path / "store.db") as store:
        folder.mkdir()
        refined = "view: +orders { dimension: mixed { sql: ${TABLE}.note || ${people.name} ;; } }"
        (folder / "z.view.lkml").write_text(refined, encoding="utf-8")
        assert not project(store, folder, "fields: [orders.mixed] " + JOIN % "")
        assert into(store, "explore/orders") == {
            "postgres://db:5432/raw.orders.note -> explore/orders.orders:mixed [TRANSFORMATION]",
            "view/people.name -> explore/orders.orders:mixed [TRANSFORMATION]",
        }


def test_values_of_filters_in_liquid(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    with open_store(tmp_path / "store.db") as store:
        folder.mkdir()
        sql = "CASE WHEN ${id} > {% date_start period %} THEN ${amount} END"
        refined = f"view: +orders {{ filter: period {{}} dimension: late {{ sql: {sql} ;; }} }}"
        (folder / "z.view.lkml").write_text(refined, encoding="utf-8")
        tile = "[{name: t, explore: orders, fields: [orders.late], listen: {When: orders.period}}]"
        assert not project(store, folder, "", f"- dashboard: d\n  elements: {tile}")
        assert "raw.orders.id ~> view/orders.late [CONDITIONAL]" in str(edges_of(store))
        assert set(completeness(store).values()) == {Completeness.FULL}


DASHBOARDS = """
- dashboard: base
  extension: required
  elements:
  - {name: one, title: One, explore: orders, fields: [orders.total], listen: {Where: orders.region, Who: "orders.id"}}
- dashboard: own
  extends: [base]
  elements:
  - {name: one, fields: [orders.id]}
  - {name: both, merged_queries: [{explore: orders, fields: [orders.id]}, {explore: orders, fields: [orders.amount]}]}
  - {name: text, type: text}
"""


def test_tiles(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert project(store, tmp_path / "in", "", DASHBOARDS) == {"EXPRESSION_NOT_READ"}
        assert {one for one in edges_of(store, rows=True) if "> tile" in one} == {
            "explore/orders.orders:id -> tile/own/1-One.orders:id [IDENTITY]",
            "explore/orders.orders:region ~> tile/own/1-One [FILTER]",
            "explore/orders.orders:id ~> tile/own/1-One [FILTER]",
            "explore/orders.orders:id -> tile/own/2-both-1.orders:id [IDENTITY]",
            "explore/orders.orders:amount -> tile/own/2-both-2.orders:amount [IDENTITY]",
        }
        levels = completeness(store)
        assert (levels["tile/own/1-One"], levels["tile/own/2-both-1"]) == (Completeness.FULL, Completeness.PARTIAL)
        assert "dashboard/base" not in levels


def test_a_view_in_two_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    with open_store(tmp_path / "store.db") as store:
        project(store, folder, "")
        (folder / "w.view.lkml").write_text("view: orders { dimension: other {} }", encoding="utf-8")
        assert "DEFINED_TWICE" in project(store, folder, "")
        assert columns_of(store, "lookml://bi.test/view/orders") == ["other"]
        assert completeness(store)["view/orders"] is Completeness.PARTIAL


BY_ANOTHER = """
connection: "pg"
explore: a { join: b { sql_on: ${a.id} = ${b.id} ;; } }
view: a { dimension: id {} dimension: x { sql: ${b.y} ;; } dimension: good {} }
view: b { dimension: id {} dimension: y { sql: ${a.x} ;; } }
view: c { sql_table_name: ${c.SQL_TABLE_NAME} ;; dimension: id {} }
"""


def test_what_reads_itself_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "m.model.lkml").write_text(BY_ANOTHER, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "lookml", tmp_path / "m.model.lkml", dialect="postgres", namespace="postgres://db:5432")
        messages = {one.diagnostic.message for one in summary.diagnostics}
        assert {"the field a.x reads itself", "the table of the view c is that of itself"} <= messages
        assert "good" in "".join(into(store, "explore/a"))
        assert completeness(store)["explore/a"] is not Completeness.FULL


def test_a_native_derived_table_names_fields_of_its_explore_without_the_view(tmp_path: Path) -> None:
    text = """
    connection: "pg"
    explore: sales { view_name: orders }
    view: orders { sql_table_name: raw.orders ;; dimension: id {} dimension: status {} }
    view: paid {
      derived_table: { explore_source: sales { column: id {} filters: [status: "paid"] } }
      dimension: id {}
    }
    """
    (tmp_path / "m.model.lkml").write_text(text, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "lookml", tmp_path / "m.model.lkml", dialect="postgres", namespace="postgres://db:5432")
        assert not summary.diagnostics
        assert completeness(store)["derived_table/paid"] is Completeness.FULL
        found = into(store, "derived_table/paid", rows=True)
        assert any("status" in one for one in found)
