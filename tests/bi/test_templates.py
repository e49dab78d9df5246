"""Templates in SQL: every branch of a condition is read, and what a template decides is no name of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.model.statement import Completeness
from lineage.store import open_store
from lineage_ingest.bi.templates.sql_templates import template_texts, without_templates
from lineage_ingest.bi.templates.template_branches import branch_texts
from tests.bi.exports import completeness, ingest, into, write_json
from tests.bi.test_metabase import DATABASE as METABASE
from tests.bi.test_metabase import card, native

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
    with open_store(tmp_path / "store.db") as store:
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


QUOTES = [
    ("mysql", r"SELECT 'it\'s' AS a, amount FROM {{#2}} x WHERE status = 'x'"),
    ("bigquery-cloud-sdk", r"SELECT '\'' AS a, amount FROM {{#2}} x WHERE status = 'x'"),
    ("bigquery-cloud-sdk", "SELECT '''it's''' AS a, amount FROM {{#2}} x WHERE status = 'x'"),
    ("mysql", "SELECT amount # don't\n FROM {{#2}} x WHERE status = 'x'"),
    ("mysql", "SELECT \"don't\" AS a, amount FROM {{#2}} x WHERE status = 'x'"),
    ("postgres", "SELECT 1 AS \"don't\", amount FROM {{#2}} x WHERE status = 'x'"),
    ("postgres", "SELECT $$it's$$ AS a, amount FROM {{#2}} x WHERE status = 'x'"),
    ("postgres", "SELECT /* don't /* {{t}} */ ' */ amount FROM {{#2}} x WHERE status = 'x'"),
    ("postgres", "SELECT 1 AS \"/*\", amount FROM {{#2}} x WHERE status = '*/'"),
    ("sqlserver", "SELECT 1 AS [don't], amount FROM {{#2}} x [[WHERE status = {{t}}]]"),
    ("oracle", "SELECT q'[it's]' AS a, amount FROM {{#2}} x WHERE status = 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "sql"), QUOTES)
def test_quotes_and_comments_around_tags_are_those_of_the_dialect(tmp_path: Path, engine: str, sql: str) -> None:
    """A quote that does not begin a string must not hide what stands behind it: the card would have no sources."""
    tags = {"#2": {"type": "card", "card-id": 2}, "t": {"type": "text"}}
    names = {"id": 2, "name": "Base", "database_id": 2}
    base = {**card(2, {"source-table": 10}), **names, "result_metadata": [{"name": "amount"}, {"name": "status"}]}
    database = {**METABASE, "engine": engine}
    if engine == "oracle":  # its names are in upper case
        tables = [{"id": 10, "name": "ORDERS", "db_id": 2, "fields": [{"id": 102, "name": "AMOUNT"},
                                                                    {"id": 107, "name": "STATUS"}]}]  # fmt: skip
        database["tables"] = tables
    folder = write_json(tmp_path / "in", {"db.json": database, "cards.json": [base, native(1, sql, tags)]})
    with open_store(tmp_path / "store.db") as store:
        ingest(store, "metabase", folder)
        assert {one.partition(" [")[0].lower() for one in into(store, "card/1-Native", rows=True)} == {
            "card/2-base.amount -> card/1-native.amount", "card/2-base.status ~> card/1-native"
        }  # fmt: skip
        assert completeness(store)["card/1-Native"] is Completeness.FULL


@pytest.mark.parametrize(
    ("sql", "dialect", "written"),
    [
        ("a = '{{ f('x')[0] }}' AND b IN {{ g('y') }}", "postgres", "a = '?' AND b IN '?'"),
        (r"a = '\' AND b = '{{ x }}'", "postgres", r"a = '\' AND b = '?'"),
        (r"a = '\'' AND b = '{{ x }}'", "spark", r"a = '\'' AND b = '?'"),
        ('a = "x {{ y }}"', "mysql", 'a = "x ?"'),
        ('"x {{ y }}"', "postgres", '"x template_value"'),
        ("`p.{{ d }}.t`", "bigquery", "`p.template_value.t`"),
        ("a -- {{ x }}'\n, {{ y }}", "postgres", "a --  '\n, '?'"),
        ("a {% comment %} , t.b {% endcomment %}", "postgres", "a  "),
        ("'it''s {{ x }}' {{ y }}", "postgres", "'it''s ?' '?'"),
        ("'{{ unclosed", "postgres", "'{{ unclosed"),
    ],
)
def test_what_a_tag_becomes(sql: str, dialect: str, written: str) -> None:
    assert without_templates(sql, "Jinja", dialect)[0] == written
