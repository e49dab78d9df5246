"""Example 1 of the LineageX paper, without a catalog and with views out of order: all edges and all answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.model.influence.transformations import EdgeKind
from lineage.sql.extraction import options_for
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage.traversal import Reached, impact, resolve, root_cause
from lineage_ingest.sql_files import IngestSummary, ingest_sql_files

SQL = """
CREATE VIEW info AS SELECT c.name, c.age, o.oid, w.* FROM customers c JOIN orders o ON c.cid = o.cid
JOIN webact w ON c.cid = w.wcid;
CREATE VIEW webact AS SELECT w.wcid, w.wdate, w.wpage, w.wreg FROM webinfo w
INTERSECT SELECT w1.cid, w1.date, w1.page, w1.reg FROM web w1;
CREATE VIEW webinfo AS SELECT c.cid AS wcid, w.date AS wdate, w.page AS wpage, w.reg AS wreg
FROM customers c JOIN web w ON c.cid = w.cid WHERE EXTRACT(YEAR from w.date) = 2022
"""

CONTRIBUTIONS = {
    ("customers.name", "info.name"),
    ("customers.age", "info.age"),
    ("orders.oid", "info.oid"),
    ("webact.wcid", "info.wcid"),
    ("webact.wdate", "info.wdate"),
    ("webact.wpage", "info.wpage"),
    ("webact.wreg", "info.wreg"),
    ("webinfo.wcid", "webact.wcid"),
    ("webinfo.wdate", "webact.wdate"),
    ("webinfo.wpage", "webact.wpage"),
    ("webinfo.wreg", "webact.wreg"),
    ("web.cid", "webact.wcid"),
    ("web.date", "webact.wdate"),
    ("web.page", "webact.wpage"),
    ("web.reg", "webact.wreg"),
    ("customers.cid", "webinfo.wcid"),
    ("web.date", "webinfo.wdate"),
    ("web.page", "webinfo.wpage"),
    ("web.reg", "webinfo.wreg"),
}
REFERENCES = {
    ("customers.cid", "info", "JOIN"),
    ("orders.cid", "info", "JOIN"),
    ("webact.wcid", "info", "JOIN"),
    *((f"{table}.{column}", "webact", "SET_OPERATION") for table, columns in (
        ("webinfo", ("wcid", "wdate", "wpage", "wreg")),
        ("web", ("cid", "date", "page", "reg")),
    ) for column in columns),
    ("customers.cid", "webinfo", "JOIN"),
    ("web.cid", "webinfo", "JOIN"),
    ("web.date", "webinfo", "FILTER"),
}  # fmt: skip
INFO = ("name", "age", "oid", "wcid", "wdate", "wpage", "wreg")
WEBACT = ("wcid", "wdate", "wpage", "wreg")
BOTH = {EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES}


@pytest.fixture
def ingested(store: GraphStore, tmp_path: Path) -> IngestSummary:
    path = tmp_path / "views.sql"
    path.write_text(SQL, encoding="utf-8")
    return ingest_sql_files([path], store, options_for("postgres"))


def short(key: str) -> str:
    return key.removeprefix("postgres/").replace("#", ".")


def influences(columns: tuple[Reached, ...]) -> dict[str, set[EdgeKind]]:
    return {reached.name: set(reached.influence) for reached in columns}


def test_every_statement_is_resolved(ingested: IngestSummary) -> None:
    assert ingested.batch.run.counts["resolved"] == 3
    assert ingested.diagnostics == ()


def test_every_edge(store: GraphStore, ingested: IngestSummary) -> None:
    columns = [column.key for column in store.columns([d.key for d in store.datasets()])]
    edges = [hop.edge for hop in store.expand(columns, Direction.DOWNSTREAM)]
    contributions = [(short(e.source), short(e.target)) for e in edges if e.kind is EdgeKind.CONTRIBUTES]
    references = [(short(e.source), short(e.target), *e.subtypes) for e in edges if e.kind is EdgeKind.REFERENCES]
    assert sorted(contributions) == sorted(CONTRIBUTIONS)
    assert sorted(references) == sorted(REFERENCES)
    assert {e.subtypes for e in edges if e.kind is EdgeKind.CONTRIBUTES} == {("IDENTITY",)}


def test_the_star_is_resolved_through_views_that_come_later(store: GraphStore, ingested: IngestSummary) -> None:
    assert [column.path for column in store.columns(["postgres/info"])] == list(INFO)


def test_base_columns_are_inferred_and_marked(store: GraphStore, ingested: IngestSummary) -> None:
    by_table = {
        name: {(column.path, column.inferred) for column in store.columns([f"postgres/{name}"])}
        for name in ("customers", "orders", "web", "info", "webact", "webinfo")
    }
    assert by_table["customers"] == {("cid", True), ("name", True), ("age", True)}
    assert by_table["orders"] == {("cid", True), ("oid", True)}
    assert by_table["web"] == {("cid", True), ("date", True), ("page", True), ("reg", True)}
    assert by_table["info"] == {(name, False) for name in INFO}


def test_impact_of_web_page(store: GraphStore, ingested: IngestSummary) -> None:
    answer = impact(store, resolve(store, "web.page"))
    assert influences(answer.columns) == {
        "webinfo.wpage": {EdgeKind.CONTRIBUTES},
        **{f"webact.{name}": BOTH if name == "wpage" else {EdgeKind.REFERENCES} for name in WEBACT},
        **{f"info.{name}": BOTH if name == "wpage" else {EdgeKind.REFERENCES} for name in INFO},
    }
    assert answer.truncated is None


def test_root_cause_of_info_wpage(store: GraphStore, ingested: IngestSummary) -> None:
    answer = root_cause(store, resolve(store, "info.wpage"))
    contributing = {r.name for r in answer.columns if EdgeKind.CONTRIBUTES in r.influence}
    assert contributing == {"webact.wpage", "webinfo.wpage", "web.page"}
    referenced = {r.name for r in answer.columns if EdgeKind.REFERENCES in r.influence}
    assert {"customers.cid", "orders.cid", "web.cid", "web.date", "webact.wcid"} <= referenced
    assert "customers.name" not in contributing | referenced
