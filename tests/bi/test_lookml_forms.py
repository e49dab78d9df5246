"""LookML: what is defined twice or is no dashboard, older forms of tiles, rows that an order with a limit chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from tests.bi.exports import completeness, into
from tests.bi.test_lookml_fields import MODEL, VIEW, of_tables, read

ORDERS = "view: orders { sql_table_name: raw.orders ;; dimension: a {} dimension: b {} }"
FIRST, SECOND = (f"view: +orders {{ dimension: a {{ sql: ${{TABLE}}.{one} ;; }} }}" for one in ("first", "second"))
TILES = """
- dashboard: d
  elements:
  - {name: old, explore: orders, dimensions: [orders.id], measures: [orders.total], pivots: [orders.made_date]}
  - {name: top, explore: orders, fields: [orders.id], sorts: [orders.total desc], limit: 10}
  - {name: all, explore: orders, fields: [orders.id], sorts: [orders.total desc]}
  - half
"""


def test_tiles(tmp_path: Path) -> None:
    model = MODEL + "explore: orders {}"
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", m_model=model, v_view=VIEW % "", d_dashboard=TILES)
        assert [one.diagnostic.message for one in summary.diagnostics] == [
            "an element of the dashboard is not of a known form"
        ]
        explore = "explore/orders.orders"
        assert into(store, "tile/d/1-old", rows=True) == {
            f"{explore}:{name} -> tile/d/1-old.orders:{name} [IDENTITY]" for name in ("id", "total", "made_date")
        }
        shown = {f"{explore}:id -> tile/d/{{}}.orders:id [IDENTITY]"}
        assert into(store, "tile/d/2-top", rows=True) == {
            *(one.format("2-top") for one in shown), f"{explore}:total ~> tile/d/2-top [FILTER]"
        }  # fmt: skip
        assert into(store, "tile/d/3-all", rows=True) == {one.format("3-all") for one in shown}
        assert completeness(store)["dashboard/d"] is Completeness.PARTIAL


def test_a_filter_with_sql_is_a_condition_on_the_rows_of_a_tile(tmp_path: Path) -> None:
    """One without sql is a value that templates read."""
    own = """filter: recent { sql: {% condition recent %} ${made_raw} {% endcondition %} AND ${TABLE}.open ;; }
filter: plain { type: string }"""
    tile = "- {dashboard: d, elements: [{name: a, explore: orders, fields: [orders.id], filters: {orders.%s: x}}]}"
    model = MODEL + "explore: orders {}"
    with open_store(tmp_path / "store.db") as store:
        for name, columns in (("recent", {"explore/orders.orders:recent"}), ("plain", set())):
            files = {"m_model": model, "v_view": VIEW % own, "d_dashboard": tile % name}
            assert not read(store, tmp_path / "in", **files).diagnostics
            found = {one for one in into(store, "tile/d/1-a", rows=True) if "~>" in one}
            assert {one.partition(" ")[0] for one in found} == columns
        assert of_tables(store, "view/orders.recent") == {"raw.orders.made_at", "raw.orders.open"}


def test_the_order_of_a_native_derived_table(tmp_path: Path) -> None:
    table = """view: best { derived_table: { explore_source: orders {
column: key { field: orders.id } sorts: [orders.total: desc] %s } } dimension: key {} }"""
    with open_store(tmp_path / "store.db") as store:
        for limit, column in (("limit: 10", {"~view/orders.total"}), ("", set())):
            files = {"m_model": MODEL + "explore: orders {}", "v_view": VIEW % "", "b_view": table % limit}
            assert not read(store, tmp_path / "in", **files).diagnostics
            found = {one for one in into(store, "derived_table/best", rows=True) if "~>" in one}
            groups = {"view/orders.id ~> derived_table/best [GROUP_BY]"}
            assert {"~" + one.partition(" ")[0] for one in found - groups} == column


def test_what_is_defined_twice_or_is_no_dashboard(tmp_path: Path) -> None:
    dashboards = (
        "- {dashboard: d, elements: [{name: a, explore: orders, fields: [orders.id]}]}\n- {dashboard: d}\n- {x: 1}"
    )
    model = MODEL + "explore: orders {} explore: o { from: orders view_name: p sql_always_where: ${p.id} > 1 ;; }"
    view = VIEW % "measure: total { type: max sql: ${TABLE}.qty ;; } dimension: total {}"
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", m_model=model, v_view=view, d_dashboard=dashboards)
        messages = {one.diagnostic.message.partition("/")[0] for one in summary.diagnostics}
        assert messages == {
            "total of orders is defined twice: the last definition is read",
            "the dashboard d is in ", "something in the file is no dashboard: it has no key `dashboard`",
        }  # fmt: skip
        assert of_tables(store, "view/orders.region") == {"raw.orders.region"}
        assert "view/orders.id ~> explore/o [FILTER]" in into(store, "explore/o", rows=True)
        assert "view/orders.id -> explore/o.p:id [IDENTITY]" in into(store, "explore/o.")


@pytest.mark.parametrize(
    ("includes", "column", "is_certain"),
    [
        ('include: "v.view" include: "z.view" include: "a.view"', "second", True),
        ('include: "v.view" include: "a.view" include: "z.view"', "first", True),
        ('include: "v.view" include: "*.view"', "first", False),
        ('include: "v.view" include: "z.view"', "second", False),
        ('include: "c.view"', "second", True),
    ],
)
def test_the_last_refinement_that_a_model_includes_counts(
    tmp_path: Path, includes: str, column: str, is_certain: bool
) -> None:
    files = {"m_model": f'connection: "pg"\n{includes}', "v_view": ORDERS, "z_view": FIRST, "a_view": SECOND}
    if "c.view" in includes:
        files["c_view"] = 'include: "v.view" include: "z.view" include: "a.view"'
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", **files)
        assert of_tables(store, "view/orders.a") == {f"raw.orders.{column}"}
        messages = {one.diagnostic.message for one in summary.diagnostics}
        assert any(one.startswith("refinements in ") for one in messages) is not is_certain
        assert (completeness(store)["view/orders"] is Completeness.FULL) is is_certain


def test_refinements_that_state_the_same_or_how_it_looks(tmp_path: Path) -> None:
    label = "view: +orders { dimension: a { label: %s sql: ${TABLE}.x ;; } dimension: b { hidden: %s } }"
    files = {"m_model": MODEL, "v_view": ORDERS, "a_view": label % ('"A"', "yes"), "b_view": label % ('"B"', "no")}
    with open_store(tmp_path / "store.db") as store:
        assert not read(store, tmp_path / "in", **files).diagnostics
        assert of_tables(store, "view/orders.a") == {"raw.orders.x"}


def test_a_measure_with_cases_and_one_without_sql(tmp_path: Path) -> None:
    case = "measure: tier { type: string case: { when: { sql: ${total} > 10 ;; label: 'a' } else: 'b' } }"
    with open_store(tmp_path / "store.db") as store:
        summary = read(store, tmp_path / "in", m_model=MODEL, v_view=VIEW % (case.replace("'", '"') + BARE))
        assert of_tables(store, "view/orders.tier") == {"~raw.orders.amount"}
        assert [one.diagnostic.message for one in summary.diagnostics] == [
            "the measure orders.bare has no sql: what it is the number of is not known"
        ]
        assert not summary.has_errors


BARE = "measure: bare { type: number }"
SHOWN = """
dimension: name { html: <i>{{ value }} {{ orders.name._value }} {{ email._rendered_value }}</i> ;;
  link: { label: "x" url: "/u/{{ users.id._value | url_encode }}" } }
"""


def test_values_that_only_html_shows(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        [found] = read(store, tmp_path / "in", m_model=MODEL, v_view=VIEW % SHOWN).diagnostics
        assert found.diagnostic.message == (
            "HTML or links of orders show values of other fields (email in name, users.id in name): "
            "that is not followed"
        )
        assert completeness(store)["view/orders"] is Completeness.FULL


def test_a_tile_without_an_explore(tmp_path: Path) -> None:
    tiles = "- {dashboard: d, elements: [{name: a, type: text}, {name: b}, {name: c, type: looker_line, look: 12}]}"
    with open_store(tmp_path / "store.db") as store:
        [found] = read(store, tmp_path / "in", m_model=MODEL, v_view=VIEW % "", d_dashboard=tiles).diagnostics
        assert found.diagnostic.message == "the tile 'c' has no explore: what it shows is not in the project"
        assert completeness(store)["dashboard/d"] is Completeness.TABLES


def test_a_filter_that_is_bound_to_one_of_the_explore(tmp_path: Path) -> None:
    table = """view: best { derived_table: { explore_source: orders { column: key { field: orders.id }
bind_filters: { to_field: orders.region from_field: best.place } } } dimension: key {} dimension: place {} }"""
    files = {"m_model": MODEL + "explore: orders {}", "v_view": VIEW % "", "b_view": table}
    with open_store(tmp_path / "store.db") as store:
        read(store, tmp_path / "in", **files)
        found = {one for one in into(store, "derived_table/best", rows=True) if "~>" in one}
        assert found == {
            "view/orders.region ~> derived_table/best [FILTER]", "view/orders.id ~> derived_table/best [GROUP_BY]"
        }  # fmt: skip


@pytest.mark.parametrize("needed", ["always_join: [near, far]", "join_of_far"])
def test_a_native_derived_table_groups_and_joins_as_its_explore_does(tmp_path: Path, needed: str) -> None:
    """A join that is not asked for decides rows, too: `always_join`, and `required_joins` of a join that is."""
    explore = """explore: orders { %s
join: far { sql_on: ${orders.id} = ${far.id} ;; %s }
join: near { type: inner sql_on: ${orders.id} = ${near.id} ;; } }"""
    always, required = (needed, "") if "always" in needed else ("", "required_joins: [near]")
    table = "view: best { derived_table: { explore_source: orders { column: k { field: far.b } column: total {} } }"
    files = {
        "m_model": MODEL + explore % (always, required),
        "v_view": VIEW % "" + "view: near { dimension: id {} } view: far { dimension: id {} dimension: b {} }",
        "b_view": table + " dimension: k {} dimension: total {} }",
    }
    with open_store(tmp_path / "store.db") as store:
        assert not read(store, tmp_path / "in", **files).diagnostics
        found = into(store, "derived_table/best", rows=True)
        assert {"view/near.id ~> derived_table/best [JOIN]", "view/far.id ~> derived_table/best [JOIN]"} <= found
        assert "view/far.b ~> derived_table/best [GROUP_BY]" in found
        assert not any("total" in one and "GROUP_BY" in one for one in found)


def test_what_a_count_is_filtered_by_decides_it(tmp_path: Path) -> None:
    own = 'measure: open_ones { type: count filters: [region: "x"] } measure: all_of_them { type: count }'
    with open_store(tmp_path / "store.db") as store:
        files = {"m_model": MODEL + "explore: orders {}", "v_view": VIEW % own}
        assert not read(store, tmp_path / "in", **files).diagnostics
        assert of_tables(store, "view/orders.open_ones") == {"~raw.orders.region"}
        assert of_tables(store, "view/orders.all_of_them") == set()
