"""Edits of projects that dbt has only parsed: templates are compared by their parts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ProjectDiff, diff_revisions
from lineage_ingest.diff.definitions.classification import ColumnEffect
from lineage_ingest.diff.reports.wording import groups_of
from tests.dbt.manifests import manifest, model, source, write

RAW = source("orders", {"id": "int", "day": "date", "amount": "int"})
_LATER = "{% if is_incremental() %} where day > (select max(day) from {{ this }}) {% endif %}"
TEMPLATES = {
    "plain": "{{ config(tags=['a']) }} select id, {{ cents('amount') }} as amount from {{ source('raw', 'orders') }}",
    "starred": "select {{ utils.star(source('raw', 'orders')) }}, 1 as one from {{ source('raw', 'orders') }}",
    "looped": (
        "{% set kinds = run_query('select 1') %}select id, day {% for k in kinds %}, sum(amount) as k{% endfor %}"
        " from {{ source('raw', 'orders') }} group by id, day"
    ),
    "grown": "{{ config(unique_key='id') }} select id, day, {{ utils.star('x') }} from {{ ref('plain') }} " + _LATER,
    "reader": "select id, amount from {{ ref('plain') }}",
    "hooked": "{{ config(post_hook='analyze {{ this }}') }} select id, day from {{ source('raw', 'orders') }}",
    "copied": "select {{ utils.named(ref('reader')) }} from {{ ref('reader') }}",
}  # fmt: skip

LOOP = "a loop over `run_query(…)` is read once: its columns or tables are not known"


def _macro(package: str, name: str, arguments: str, body: str) -> dict[str, Any]:
    text = f"{{% macro {name}({arguments}) %}}{body}{{% endmacro %}}"
    return {f"macro.{package}.{name}": {"name": name, "package_name": package, "macro_sql": text}}


def _project() -> dict[str, Any]:
    macros = {**_macro("shop", "cents", "c", "{{ c }} / 100"),
              **_macro("utils", "named", "of", "{{ adapter.get_columns_in_relation(of) | "
                       "join(', ', attribute='name') }}"),
              **_macro("utils", "star", "of", "{{ adapter.list_columns_in(of) }}")}  # fmt: skip
    needs = {"plain": ["macro.shop.cents"], "starred": ["macro.utils.star"], "grown": ["macro.utils.star"]}
    nodes = []
    for name, template in TEMPLATES.items():
        reads = {"reader": "plain", "grown": "plain", "copied": "reader"}.get(name, RAW["unique_id"])
        config = {"materialized": "incremental", "unique_key": "id"} if name == "grown" else {"materialized": "view"}
        made = model(name, "", reads, config=config)
        nodes.append({**made, "compiled_code": None, "raw_code": template})
        nodes[-1]["depends_on"]["macros"] = needs.get(name, [])
    return manifest(RAW, *nodes, macros=macros)


def _diff(tmp_path: Path, edit: Callable[[dict[str, Any]], object]) -> ProjectDiff:
    base = _project()
    head = copy.deepcopy(base)
    edit(head)
    return diff_revisions(*(write(tmp_path / name, one) for name, one in (("base", base), ("head", head))))


def _changes(diff: ProjectDiff) -> dict[str, set[str]]:
    """Return the columns that may differ, by table; `rows` where the row set may."""
    found: dict[str, set[str]] = {}
    for table in diff.tables.values():
        for column in table.columns:
            if column.is_content:
                name = "rows" if ColumnEffect.ROWS in column.effects else column.name
                found.setdefault(table.title, set()).add(name)
    return found


def _replace(name: str, old: str, new: str) -> Callable[[dict[str, Any]], object]:
    def edit(head: dict[str, Any]) -> None:
        node = head["nodes"][f"model.shop.{name}"]
        assert old in node["raw_code"]
        node["raw_code"] = node["raw_code"].replace(old, new)

    return edit


def _edit_macro(name: str, old: str, new: str) -> Callable[[dict[str, Any]], object]:
    def edit(head: dict[str, Any]) -> None:
        macro = head["macros"][name]
        macro["macro_sql"] = macro["macro_sql"].replace(old, new)

    return edit


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        pytest.param(lambda _: None, {}, id="nothing"),
        pytest.param(
            _edit_macro("macro.shop.cents", "/ 100", "/ 1000"),
            {"plain": {"amount"}, "reader": {"amount"}, "copied": {"amount"}, "grown": {"rows"}},
            id="a macro changes what calls it",
        ),
        pytest.param(_edit_macro("macro.shop.cents", "{{ c }}", "{# c #}{{ c }} -- cents\n"), {}, id="its comments"),
        pytest.param(
            _edit_macro("macro.utils.star", "columns_in", "columns_of"),
            {"starred": {"rows"}, "grown": {"rows"}},
            id="a macro that is not expanded",
        ),
        pytest.param(_replace("starred", "1 as one", "1 as one, 2 as two"), {"starred": {"two"}}, id="a constant"),
        pytest.param(_replace("starred", "1 as one", "3 as one"), {"starred": {"one"}}, id="another constant"),
        pytest.param(_replace("looped", "select id, day", "select id, day, 1 as k1"), {"looped": {"k1"}}, id="beside"),
        pytest.param(_replace("looped", "sum(", "max("), {"looped": {"rows"}}, id="in a loop that is not known"),
        pytest.param(_replace("looped", "'select 1'", "'select 2'"), {"looped": {"rows"}}, id="what it is over"),
        pytest.param(
            _replace("reader", "id, amount", "id, amount, id as again"),
            {"reader": {"again"}, "copied": {"again"}},
            id="a column that another template asks for",
        ),
        pytest.param(_replace("hooked", "id, day", "id, day, 1 as k"), {"hooked": {"k"}}, id="beside a hook"),
        pytest.param(_replace("plain", "tags=['a']", "tags=['b']"), {}, id="config"),
        pytest.param(_replace("grown", "unique_key='id'", "unique_key='id', tags=['b']"), {}, id="config of grown"),
        pytest.param(_replace("grown", "id, day,", "id, day, 1 as k,"), {"grown": {"k"}}, id="grown"),
        pytest.param(_replace("grown", "max(day)", "min(day)"), {"grown": {"rows"}}, id="later builds"),
    ],
)
def test_what_an_edit_changes(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object], changes: dict[str, set[str]]
) -> None:
    assert _changes(_diff(tmp_path, edit)) == changes


def test_what_differs_is_named(tmp_path: Path) -> None:
    found = _diff(tmp_path, _replace("looped", "sum(", "max("))
    assert found.tables["model.shop.looped"].reasons == ("its template blocks", LOOP)
    found = _diff(tmp_path, _replace("starred", "{{ utils.star(source('raw', 'orders')) }}", "{{ utils.star('x') }}"))
    assert found.tables["model.shop.starred"].clauses == ("macro utils.star",)
    assert [one for one in found.notices if "compiled" in one] == [
        "both sides: 7 models not compiled (copied, grown, hooked, looped, plain and 2 more): values of var() and "
        "env_var() are not compared; run `dbt compile`"
    ]


def test_macros_that_only_one_side_calls_are_no_reasons(tmp_path: Path) -> None:
    def edit(head: dict[str, Any]) -> None:
        head["macros"] |= _macro("utils", "kinds", "", "{% if run_query('select 1') %}{% endif %}{{ return(['k']) }}")
        node = head["nodes"]["model.shop.looped"]
        node["raw_code"] = node["raw_code"].replace("run_query('select 1')", "utils.kinds()")
        node["depends_on"]["macros"] = ["macro.utils.kinds"]

    loop = LOOP.replace("run_query", "utils.kinds")
    assert _diff(tmp_path, edit).tables["model.shop.looped"].reasons == ("its template blocks", loop)


@pytest.mark.parametrize(("old", "new"), [("'select 1'", "'select 2'"), ("sum(", "max("), ("as k{%", "as m{%")])
def test_columns_that_a_loop_names(tmp_path: Path, old: str, new: str) -> None:
    """Which columns there are is not known: none is added or removed by name, and the report says why."""

    def named(project: dict[str, Any]) -> dict[str, Any]:
        node = project["nodes"]["model.shop.looped"]
        node["raw_code"] = node["raw_code"].replace(" as k{%", " as k_{{ k }}{%").replace(" as m{%", " as m_{{ k }}{%")
        return project

    base, head = _project(), _project()
    _replace("looped", old, new)(head)
    sides = (("base", named(base)), ("head", named(head)))
    found = diff_revisions(*(write(tmp_path / name, side) for name, side in sides))
    (looped,) = found.edited
    assert {one.name: one.effects[0] for one in looped.columns} == {
        "id": ColumnEffect.ROWS, "day": ColumnEffect.ROWS, "*": ColumnEffect.VALUE,
    }  # fmt: skip
    assert LOOP in looped.reasons
    assert looped.rebuild == "its definition is edited"
    assert [names for names, _, _ in groups_of(found, looped)] == ["id, day", "(further columns)"]
