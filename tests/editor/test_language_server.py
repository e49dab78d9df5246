"""`lineage lsp` as an editor sees it: a real process, over standard input and output."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.editor.stdio_client import Editor, covered, place

SECRET = "4111-1111"


def _path(uri: str) -> Path:
    return Path(unquote(uri.removeprefix("file://")))


def _model(editor: Editor, name: str) -> tuple[str, str]:
    text = (editor.folder / "models" / name).read_text()
    return editor.open(f"models/{name}"), text


def test_hover_says_where_a_column_comes_from_and_goes_to(editor: Editor) -> None:
    uri, text = _model(editor, "revenue.sql")
    shown = editor.hover(uri, place(text, "b.total", inside=3))
    assert "**Value from** `stage.orders.gross` (aggregation)" in shown
    assert "**In this file →** `mart.revenue.total`" in shown
    assert "`shop.orders.amount`" in shown.partition("**Comes from**")[2]
    assert "`mart.report.revenue`" in shown.partition("**Goes to**")[2]
    assert "Partial" not in shown


def test_hover_tells_values_from_influences(editor: Editor) -> None:
    uri, text = _model(editor, "revenue.sql")
    shown = editor.hover(uri, place(text, "gross > 0"))
    assert "**Decides rows of** `paid`" in shown
    uri, text = _model(editor, "orders.sql")
    masked = editor.hover(uri, place(text, "AS mail", inside=5))
    assert "`shop.customers.email` (transformation, masked)" in masked


def test_hover_over_a_table_lists_its_columns_and_its_file(editor: Editor) -> None:
    uri, text = _model(editor, "revenue.sql")
    shown = editor.hover(uri, place(text, "stage.orders"))
    assert "`id`, `gross`, `customer_id`, `mail`" in shown
    assert "orders.sql`" in shown
    assert "`customer_id`, `total`, `n`" in editor.hover(uri, place(text, "by_customer", 1))


@pytest.mark.parametrize(
    ("mark", "inside", "file", "expected"),
    [
        ("b.total", 3, "revenue.sql", "sum(gross) AS total"),  # through a CTE
        ("sum(gross)", 5, "orders.sql", "o.amount * 1.19 AS gross"),  # through `*`, into another file
        ("by_customer AS b", 2, "revenue.sql", "by_customer"),
        ("stage.orders", 8, "orders.sql", "stage.orders"),
    ],
)
def test_definition_is_the_expression_that_makes_the_column(
    editor: Editor, mark: str, inside: int, file: str, expected: str
) -> None:
    uri, text = _model(editor, "revenue.sql")
    [found] = editor.definition(uri, place(text, mark, inside=inside))
    assert _path(found.uri).name == file
    assert covered(_path(found.uri).read_text(), found.range) == expected


def test_definition_follows_tables_that_the_same_text_makes(editor: Editor) -> None:
    text = "CREATE TEMP TABLE x AS SELECT amount * 2 AS twice FROM shop.orders;\nSELECT * FROM x;\nSELECT twice FROM x;"
    uri = editor.open("models/scratch.sql", text)
    [found] = editor.definition(uri, place(text, "twice", 1))
    assert covered(text, found.range) == "amount * 2 AS twice"


def test_diagnostics_are_those_of_lineage_with_place_and_hint(editor: Editor) -> None:
    text = "SELECT amuont FROM shop.orders;"
    uri = editor.open("models/typo.sql", text)
    [problem] = editor.problems(uri)
    assert (problem.code, problem.severity) == ("UNKNOWN_COLUMN", types.DiagnosticSeverity.Warning)
    assert covered(text, problem.range) == "amuont"
    assert "did you mean `amount`?" in problem.message
    fix = editor.actions(uri, place(text, "amuont"))["Change to `amount`"]
    [edit] = fix.edit.changes[uri]
    assert (covered(text, edit.range), edit.new_text) == ("amuont", "amount")
    assert editor.problems(uri, editor.change(uri, "SELECT amount FROM shop.orders;")) == []


def test_positions_count_utf16_units(editor: Editor) -> None:
    text = "SELECT '😀' AS face, amuont FROM shop.orders;"
    uri = editor.open("models/face.sql", text)
    [problem] = editor.problems(uri)
    units = len(text[: text.index("amuont")].encode("utf-16-le")) // 2
    assert problem.range.start == types.Position(0, units)
    assert "amuont" not in editor.hover(uri, types.Position(0, 8))


TEMPLATES = {
    "plain": "{{ config(materialized='table') }}\nSELECT id, amount FROM {{ source('shop', 'orders') }}",
    "branches": "SELECT {% if target.name == 'x' %} id {% else %} amount {% endif %} AS a FROM {{ ref('orders') }}",
    "loop": "SELECT {% for c in ['a'] %} sum({{ c }}) AS {{ c }}_sum, {% endfor %} id FROM {{ ref('orders') }}",
    "macro": "{% macro cents(c) %} {{ c }} / 100 {% endmacro %}",
    "call": "SELECT {{ dbt_utils.star(ref('orders')) }} FROM {{ ref('orders') }} WHERE {{ filters() }}",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_have_no_errors(editor: Editor, name: str) -> None:
    uri = editor.open(f"models/{name}.sql", TEMPLATES[name])
    severities = {problem.severity for problem in editor.problems(uri)}
    assert severities <= {types.DiagnosticSeverity.Information}
    assert severities or name == "plain"


def test_a_typo_in_a_model_of_dbt_is_an_error(editor: Editor) -> None:
    uri = editor.open("models/dbt.sql", "SELECT amuont FROM {{ source('shop', 'orders') }}")
    assert [problem.code for problem in editor.problems(uri)] == ["UNKNOWN_COLUMN"]


@pytest.mark.parametrize(
    ("text", "expected", "others"),
    [
        ("SELECT o.| FROM shop.orders o JOIN shop.customers c ON true", {"amount", "placed_at"}, {"email"}),
        ("SELECT | FROM shop.orders o JOIN shop.customers c ON true", {"amount", "email", "o.id", "c.id"}, {"id"}),
        ("WITH x AS (SELECT amount AS a FROM shop.orders) SELECT | FROM x", {"a", "x"}, {"amount"}),
        ("WITH x AS (SELECT | FROM shop.orders) SELECT a FROM x", {"amount"}, {"a"}),
        ("WITH x AS (SELECT 1 AS a) SELECT a FROM |", {"x", "shop.orders", "mart.revenue"}, set()),
        ("SELECT * FROM shop.|", {"orders", "customers"}, {"revenue"}),
        ("UPDATE shop.orders SET | WHERE id = 1", {"amount"}, {"email"}),
        ("SELECT 'from |' FROM shop.orders", set(), {"shop.orders", "amount"}),
        ("SELECT id FROM shop.orders -- from |", set(), {"shop.orders", "amount"}),
    ],
)
def test_completion_knows_the_scope_and_the_catalog(
    editor: Editor, text: str, expected: set[str], others: set[str]
) -> None:
    at = place(text, "|", inside=0)
    uri = editor.open("models/typing.sql", text.replace("|", ""))
    found = set(editor.complete(uri, at))
    assert expected <= found
    assert not others & found


def test_who_breaks_names_the_sql_and_what_depends_on_it(editor: Editor) -> None:
    uri, text = _model(editor, "orders.sql")
    at = place(text, "o.amount", inside=3)
    action = editor.actions(uri, at)["Who breaks if `amount` is renamed or dropped?"]
    found = editor.execute(action)
    assert found["complete"], found
    assert {(Path(one["file"]).name if one["file"] else None, one["line"]) for one in found["breaks"]} == {
        (None, 2),
        ("orders.sql", 2),
    }
    assert (found["columns"], found["tables"]) == (6, 3)
    assert "`customer_id` (influence only)" in found["markdown"]
    assert "**mart.report**: `revenue`" in found["markdown"]
    assert any("Named in 2 places; dependent: 6 columns in 3 tables." in text for text in editor.messages)


def test_the_explorer_opens_with_the_column_in_focus(editor: Editor) -> None:
    uri, text = _model(editor, "revenue.sql")
    at = place(text, "b.total", inside=3)
    address = editor.execute(editor.actions(uri, at)["Open `total` in the explorer"])
    assert (
        address
        == "http://127.0.0.1:8000/#/lineage?of=postgres%2Fmart.revenue%23total&focus=postgres%2Fmart.revenue%23total"
    )
    assert editor.shown == [address]


def test_what_is_not_known_is_said(editor: Editor) -> None:
    text = "CREATE VIEW v AS SELECT b.a FROM nowhere.b, elsewhere.c WHERE x > 1;"
    uri = editor.open("models/unknown.sql", text)
    shown = editor.hover(uri, place(text, "b.a", inside=2))
    assert "**Partial:** of this statement not everything is known" in shown
    assert "**Partial:** the store does not know the table `nowhere.b`." in shown


def test_without_a_store_the_open_text_is_known(tmp_path: Path) -> None:
    text = f"SELECT a + 1 AS b FROM t WHERE c = '{SECRET}' AND (;"
    with Editor(tmp_path, options={"dialect": "postgres", "store": "missing.db"}) as alone:
        uri = alone.open("x.sql", text)
        assert alone.problems(uri)
        shown = alone.hover(uri, place(text, "a + 1", inside=0))
        assert "missing.db" in shown
        assert "only this file is known" in shown
        assert any("missing.db" in message for message in alone.messages)
        with pytest.raises(JsonRpcException):
            alone.command("lineage.whoBreaks", uri, SECRET)
        logged = alone.close()
    assert SECRET not in logged


def test_an_open_request_can_be_cancelled(editor: Editor) -> None:
    text = "\n".join(f"CREATE VIEW v{n} AS SELECT a{n}.id FROM shop.orders AS a{n};" for n in range(2_000))
    uri = editor.open("models/long.sql", text)
    assert editor.cancelled_hover(uri, types.Position(0, 26))
    # The server goes on to answer, about what was typed since.
    editor.change(uri, "SELECT id FROM shop.orders;")
    assert "shop.orders.id" in editor.hover(uri, types.Position(0, 8))
