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
    ],
)  # fmt: skip
def test_forms(tmp_path: Path, files: Mapping[str, str], message: str | None, edges: set[str]) -> None:
    (tmp_path / "in").mkdir()
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    with open_store(tmp_path / "store.lbug") as store:
        summary = ingest(store, "plain", tmp_path / "in", dialect="postgres", namespace="pg", default_schema="public")
        messages = [one.diagnostic.message for one in summary.diagnostics]
        assert (not messages) if message is None else any(message in one for one in messages), messages
        assert {one.removeprefix("pg/") for one in edges_of(store)} == edges
        if message is not None and message.startswith("both"):
            assert completeness(store)["query/Q"] is Completeness.PARTIAL


def test_half_a_file_retires_nothing(tmp_path: Path) -> None:
    file = tmp_path / "boards.csv"
    file.write_text(HEAD + "D,Q,a,public.t,a\nD,R,a,public.t,a\n", encoding="utf-8")
    with open_store(tmp_path / "store.lbug") as store:
        ingest(store, "plain", file)
        file.write_text(HEAD + "D,Q,a,public.t,a\nD,R,a,pub", encoding="utf-8")
        assert ingest(store, "plain", file).gone == ()
        file.write_text(HEAD + "D,Q,a,public.t,a\n", encoding="utf-8")
        assert ingest(store, "plain", file).gone == ("query/R",)
