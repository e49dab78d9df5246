"""Edges and answers as tables of Arrow and pandas, how values are shown, and what is no SQL text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage import Catalog, Edge, StatementLineage, extract, trace_tables
from lineage.store import open_store
from lineage.traversal import impact, resolve
from lineage_ingest import SqlOptions, ingest_sql

SQL = "CREATE VIEW mart.v AS SELECT sha2(email) AS e FROM shop.users WHERE active"


def test_edges_are_rows() -> None:
    [statement] = extract(SQL, "snowflake")
    rows = statement.to_arrow().to_pylist()
    assert [(row["source_column"], row["target_column"], row["subtype"], row["masking"]) for row in rows] == [
        ("EMAIL", "E", "TRANSFORMATION", True),
        ("ACTIVE", None, "FILTER", False),
    ]
    assert list(statement.to_pandas()["target_table"]) == ["MART.V", "MART.V"]


def test_without_edges_the_columns_are_there() -> None:
    assert extract("SELECT 1")[0].to_arrow().schema == extract(SQL)[0].to_arrow().schema


def test_an_answer_is_rows(tmp_path: Path) -> None:
    (tmp_path / "v.sql").write_text(SQL, encoding="utf-8")
    ingest_sql([str(tmp_path / "v.sql")], store=str(tmp_path / "s.db"), options=SqlOptions(dialect="postgres"))
    with open_store(str(tmp_path / "s.db"), read_only=True) as store:
        answer = impact(store, resolve(store, "shop.users.email"))
        assert repr(answer) == "<Answer downstream of shop.users.email: 1 columns in 1 tables>"
        assert repr(answer.columns) == "(<Reached mart.v.e after 1 hop>,)"
        [row] = answer.to_arrow().to_pylist()
    assert (row["table"], row["column"], row["hops"], row["masked"]) == ("mart.v", "e", 1, True)


def test_values_are_shown_in_one_line() -> None:
    [statement] = extract(SQL, "postgres")
    assert isinstance(statement, StatementLineage)
    assert isinstance(statement.edges[0], Edge)
    assert repr(statement) == "<StatementLineage CREATE_VIEW mart.v: 2 edges, full>"
    assert repr(statement.edges) == (
        "[<Edge shop.users.email -> mart.v.e [TRANSFORMATION masking]>, <Edge shop.users.active ~> mart.v [FILTER]>]"
    )
    assert len(repr(Catalog.from_dict({"t": {"a": "int"}}))) < 80


@pytest.mark.parametrize("function", [extract, trace_tables])
@pytest.mark.parametrize("sql", [None, b"SELECT 1", Path("a.sql")])
def test_what_is_no_text_is_a_type_error(function: Any, sql: Any) -> None:
    with pytest.raises(TypeError, match=f"sql must be a text \\(str\\), not {type(sql).__name__}"):
        function(sql)
