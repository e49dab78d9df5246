"""The plain form: what is half, misspelt, in another order or of two servers is read as far as it can be, and said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from tests.bi.exports import completeness, edges_of, ingest

HEAD = "dashboard,query,column,source_table,source_column\n"
TABLE = "public.t.a -> query/Q.a [IDENTITY]"
SHOWN = "query/Q.a -> dashboard/D.Q / a [IDENTITY]"


@pytest.mark.parametrize(
    ("files", "message", "edges"),
    [
        ({"a.csv": HEAD + "D,Q,a,public.t,a\n"}, None, {TABLE, SHOWN}),
        ({"a.csv": HEAD + "D,Q,a,public.t,\n"}, "both source_table and source_column", {SHOWN}),
        ({"a.csv": HEAD + "D,Q,a,,a\n"}, "both source_table and source_column", {SHOWN}),
        ({"a.csv": HEAD + "D,Q\n"}, "a row needs a query and a column", set()),
        ({"a.csv": "query,col\n"}, "the header lacks column", set()),
        ({"a.csv": ""}, "the header lacks query", set()),
        ({"a.yaml": ""}, "expected a mapping", set()),
        ({"a.yaml": "queries: {Q: {sql: SELECT a FROM t}}"}, "`queries` is not a list", set()),
        ({"a.yaml": "connections: [c]\nqueries: [{name: Q, sql: SELECT a FROM t}]"}, "`connections` is not", {TABLE}),
        ({"a.yaml": "queries: [{name: Q, colums: {b: t.b}, sql: SELECT a FROM t}]"}, "did you mean 'columns'", {TABLE}),
        ({"a.yaml": "queries: [{name: Q, columns: {b: t.b}, sql: SELECT a FROM t}]"}, "beside `sql`", {TABLE}),
        ({"a.yaml": "queries: [{name: Q, sql: SELECT a FROM t}]\ndashboards: [{name: D, show: [Q]}]"},
         "did you mean 'shows'", {TABLE}),
        ({"a.yaml": "dashboards: [{name: D, shows: Q}]", "b.yaml": "queries: [{name: Q, sql: SELECT a FROM t}]"}, None,
         {TABLE, SHOWN}),
        ({"a.yaml": "server: s\nqueries: [{name: Q, sql: SELECT a FROM t}]",
          "b.yaml": "server: r\nqueries: [{name: R, sql: SELECT a FROM t}]"}, "of the server 'r'", {TABLE}),
        ({"a.csv": HEAD + "D,Q,a,public.t,a\nD,Q,a,public.t,a\n"}, None, {TABLE, SHOWN}),
        ({"a.csv": HEAD + "D,Q,a,public.t,*\n"}, "is no column: public.t.*", {SHOWN}),
        ({"a.yaml": "queries: [{name: Q, columns: {a: t.*}}]"}, "is not of the form table.column", set()),
        ({"a.yaml": "queries: [{name: Q, columns: {on: t.on}}]"}, None, {"public.t.on -> query/Q.on [IDENTITY]"}),
        ({"a.csv": HEAD + "D,Q,a,public.t,a,x\n"}, "more values than the header", {TABLE, SHOWN}),
        ({"a.csv": HEAD.replace("\n", ",source_column\n") + "D,Q,a,public.t,x,a\n"}, "there twice", {TABLE, SHOWN}),
        ({"a.csv": HEAD.replace("\n", ",connection\n") + "D,Q,a,public.t,a,w\nD,Q,a,public.t,a,v\n"},
         "its rows name several connections: 'w' is read", {TABLE, SHOWN}),
    ],
)  # fmt: skip
def test_forms(tmp_path: Path, files: Mapping[str, str], message: str | None, edges: set[str]) -> None:
    (tmp_path / "in").mkdir()
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        summary = ingest(store, "plain", tmp_path / "in", dialect="postgres", namespace="pg", default_schema="public")
        messages = [one.diagnostic.message for one in summary.diagnostics]
        assert (not messages) if message is None else any(message in one for one in messages), messages
        assert {one.removeprefix("pg/") for one in edges_of(store)} == edges
        if message is not None and message.startswith("both"):
            assert completeness(store)["query/Q"] is Completeness.PARTIAL


def test_connections_may_be_in_a_later_file_and_lower_case_means_any_case(tmp_path: Path) -> None:
    connection = "connections: {w: {dialect: snowflake, namespace: 'snowflake://acme', database: SHOP%s}}"
    queries = """
queries:
  - {name: Q, connection: w, columns: {a: [orders.amount, orders.amount], b: ['public."t".X']}}
  - {name: R, connection: w, tables: orders}
"""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.yaml").write_text(queries, encoding="utf-8")
    (tmp_path / "in" / "b.yaml").write_text(connection % "", encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        assert not ingest(store, "plain", tmp_path / "in").diagnostics
        assert edges_of(store) == {
            "snowflake://acme/SHOP.PUBLIC.ORDERS.AMOUNT -> query/Q.a [IDENTITY]",
            "snowflake://acme/SHOP.PUBLIC.t.X -> query/Q.b [IDENTITY]",
        }
        assert "snowflake://acme/SHOP.PUBLIC.ORDERS" in {one.key for one in store.datasets()}
        assert len([one for one in store.datasets() if one.kind != "exposure"]) == 2
        (tmp_path / "in" / "c.yaml").write_text(connection % ", schema: X", encoding="utf-8")
        [twice] = ingest(store, "plain", tmp_path / "in").diagnostics
        assert twice.diagnostic.message.startswith("the connection 'w' is in another file, too, and differs there")


def test_half_a_file_retires_nothing(tmp_path: Path) -> None:
    file = tmp_path / "boards.csv"
    file.write_text(HEAD + "D,Q,a,public.t,a\nD,R,a,public.t,a\n", encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "plain", file)
        file.write_text(HEAD + "D,Q,a,public.t,a\nD,R,a,pub", encoding="utf-8")
        assert ingest(store, "plain", file).gone == ()
        file.write_text(HEAD + "D,Q,a,public.t,a\n", encoding="utf-8")
        assert ingest(store, "plain", file).gone == ("query/R",)
