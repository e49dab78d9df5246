"""Templates in SQL: every branch of a condition is read, and what a template decides is no name of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.template_branches import branch_texts
from lineage_ingest.bi.templates import template_texts
from tests.bi.exports import completeness, ingest, into

DATABASE = {"database_name": "W", "sqlalchemy_uri": "postgresql://me@db/shop", "uuid": "w5-1"}
KEY = "dataset/mart-v-d5"
SHOP = "postgres://db:5432/shop"


def virtual(folder: Path, sql: str, **more: Any) -> Path:
    """Write an export of Superset with a dataset of this SQL, which has the columns `a` and `b`."""
    folder.mkdir()
    columns = [{"column_name": "a"}, {"column_name": "b"}]
    dataset = {"table_name": "v", "schema": "mart", "uuid": "d5-1", "database_uuid": "w5-1", "sql": sql,
               "columns": columns, **more}  # fmt: skip
    for name, value in {"database": DATABASE, "dataset": dataset}.items():
        (folder / f"{name}.yaml").write_text(json.dumps({**value, "version": "1.0.0"}), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("sql", "edges", "messages"),
    [
        ("SELECT a, b FROM {% if x %}t{% else %}u{% endif %}",
         {"t.a > a", "t.b > b", "u.a > a", "u.b > b"}, {"each branch of a condition is read as if it were run"}),
        ("{% if x %}SELECT a, b FROM t{% else %}SELECT b, a FROM u{% endif %}",
         {"t.a > a", "t.b > b", "u.a > a", "u.b > b"}, {"each branch of a condition is read as if it were run"}),
        ("SELECT {% if x %}c{% elif y %}d{% else %}e{% endif %} AS a, b FROM t",
         {"t.c > a", "t.d > a", "t.e > a", "t.b > b"}, {"each branch of a condition is read as if it were run"}),
        ("SELECT a, b FROM t WHERE true {% if x %} AND c > 1 {% endif %}",
         {"t.a > a", "t.b > b"}, {"what a condition ({% if … %}) adds is read as if the condition held"}),
        ("SELECT a, b FROM {% if x %}t{% else %}t WHERE ({% endif %}",
         {"t.a > a", "t.b > b"},
         {"each branch of a condition is read as if it were run",
          "a branch of a condition is not valid SQL, and is not read"}),
        ("SELECT t.a, u.{{ c }} AS b FROM t JOIN {{ s }}.u ON true",
         {"t.a > a"}, {"which table it reads is decided by a template, and not known"}),
        ("SELECT t.a, t.x_{{ c }} AS b FROM t",
         {"t.a > a"}, {"which column it reads is decided by a template, and not known"}),
        ('SELECT t.a, u.b FROM t JOIN raw_{{ e }}."u{{ y }}" AS u ON true',
         {"t.a > a"}, {"which table it reads is decided by a template, and not known"}),
        ("SELECT t.a, '{{ x }}' || t.b AS b FROM t LIMIT {{ n }}", {"t.a > a", "t.b > b"}, set()),
    ],
)  # fmt: skip
def test_sql_with_a_template(tmp_path: Path, sql: str, edges: set[str], messages: set[str]) -> None:
    with open_store(tmp_path / "store.lbug") as store:
        summary = ingest(store, "superset", virtual(tmp_path / "in", sql))
        found = {one.partition(" [")[0] for one in into(store, f"{KEY}.")}
        assert found == {f"{SHOP}.mart.{one.replace(' > ', f' -> {KEY}.')}" for one in edges}
        said = {one.diagnostic.message.removeprefix("Jinja: ") for one in summary.diagnostics}
        assert said - {"a value of a template ({{…}}) is not known: a literal is assumed"} == messages
        assert completeness(store)[KEY] is Completeness.PARTIAL
        assert not [one.key for one in store.datasets() if "template" in one.key.lower()]


def test_branches_that_are_nested_or_empty() -> None:
    assert branch_texts("{% case a %}{% when 1 %}b{% when 2 %}{% if c %}d{% else %}e{% endif %}{% endcase %}") == [
        "b", "e"
    ]  # fmt: skip
    assert branch_texts("a {%- if x -%} {%- else -%} b {%- endif -%} {% endif %}") == ["a  b  "]
    texts, problems = template_texts("{% if x %}a{% else %}b{% endif %}", "Liquid", lambda _text: False)
    assert [one.split() for one in texts] == [["a", "b"]]
    assert [one.severity for one in problems] == ["error"]
