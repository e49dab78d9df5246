"""LookML: what is defined twice or is no dashboard, older forms of tiles, rows that an order with a limit chooses."""

from __future__ import annotations

from pathlib import Path

from lineage.model.statement import Completeness
from lineage.store import open_store
from tests.bi.exports import completeness, into
from tests.bi.test_lookml_fields import MODEL, VIEW, of_tables, read

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
    with open_store(tmp_path / "store.lbug") as store:
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


def test_the_order_of_a_native_derived_table(tmp_path: Path) -> None:
    table = """view: best { derived_table: { explore_source: orders {
column: key { field: orders.id } sorts: [orders.total: desc] %s } } dimension: key {} }"""
    with open_store(tmp_path / "store.lbug") as store:
        for limit, column in (("limit: 10", {"~view/orders.total"}), ("", set())):
            files = {"m_model": MODEL + "explore: orders {}", "v_view": VIEW % "", "b_view": table % limit}
            assert not read(store, tmp_path / "in", **files).diagnostics
            found = {one for one in into(store, "derived_table/best", rows=True) if "~>" in one}
            assert {"~" + one.partition(" ")[0] for one in found} == column


def test_what_is_defined_twice_or_is_no_dashboard(tmp_path: Path) -> None:
    dashboards = (
        "- {dashboard: d, elements: [{name: a, explore: orders, fields: [orders.id]}]}\n- {dashboard: d}\n- {x: 1}"
    )
    model = MODEL + "explore: orders {} explore: o { from: orders view_name: p sql_always_where: ${p.id} > 1 ;; }"
    view = VIEW % "measure: total { type: max sql: ${TABLE}.qty ;; } dimension: total {}"
    with open_store(tmp_path / "store.lbug") as store:
        summary = read(store, tmp_path / "in", m_model=model, v_view=view, d_dashboard=dashboards)
        messages = {one.diagnostic.message.partition("/")[0] for one in summary.diagnostics}
        assert messages == {
            "total of orders is defined twice: the last definition is read",
            "the dashboard d is in ", "something in the file is no dashboard: it has no key `dashboard`",
        }  # fmt: skip
        assert of_tables(store, "view/orders.region") == {"raw.orders.region"}
        assert "view/orders.id ~> explore/o [FILTER]" in into(store, "explore/o", rows=True)
        assert "view/orders.id -> explore/o.p:id [IDENTITY]" in into(store, "explore/o.")
