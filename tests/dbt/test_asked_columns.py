"""Templates that ask for the columns of a relation, in models that dbt has only parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest import DbtOptions, SqlOptions, ingest_dbt, ingest_sql
from tests.dbt.manifests import manifest, model, source, write
from tests.dbt.test_again import RAW
from tests.dbt.test_broken_artifacts import edges


def _macro(package: str, name: str, arguments: str, body: str) -> dict[str, Any]:
    text = f"{{% macro {name}({arguments}) %}}{body}{{% endmacro %}}"
    return {f"macro.{package}.{name}": {"name": name, "package_name": package, "macro_sql": text}}


MACROS = {
    **_macro("utils", "_check", "of", "{% if not (of is mapping and of.get('metadata', {}).get('type', '').endswith("
             "'Relation')) or of.is_cte %}{{ exceptions.raise_compiler_error('no relation: ' ~ of) }}{% endif %}"),
    **_macro("utils", "names", "of, except=[]", "{% do utils._check(of) %}{% set kept = [] %}"
             "{% for c in adapter.get_columns_in_relation(of) %}{% if c.column | lower not in except %}"
             "{% do kept.append(c.column) %}{% endif %}{% endfor %}{{ return(kept) }}"),
    **_macro("utils", "star", "of, except=[]", "{% for c in utils.names(of, except) %}{{ adapter.quote(c) }}"
             "{{ ', ' if not loop.last }}{% endfor %}"),
    **_macro("utils", "united", "all", "{% set every, own = {}, {} %}{% for r in all %}{% do own.update({r: []}) %}"
             "{% for c in adapter.get_columns_in_relation(r) %}{% do own[r].append(c.column) %}"
             "{% if c.column not in every or (c.is_string() and c.string_size() > 256) %}"
             "{% do every.update({c.column: c}) %}{% endif %}{% endfor %}{% endfor %}"
             "{% for r in all %}(select {% for n in every.keys() %}"
             "cast({{ adapter.quote(n) if n in own[r] else 'null' }} as {{ every[n].data_type }})"
             " as {{ every[n].quoted }}{{ ', ' if not loop.last }}{% endfor %} from {{ r }})"
             "{{ ' union all ' if not loop.last }}{% endfor %}"),
    **_macro("utils", "values", "of", "{% set found = run_query('select') %}"
             "{% if found %}{{ return(found) }}{% endif %}{{ return([]) }}"),
    **_macro("shop", "_next", "n", "{{ n + 1 }}"),
}  # fmt: skip
BARE = source("bare", {})
_STG = "select id, amount, note as remark from {{ source('raw', 'orders') }}"


def _parsed(name: str, template: str) -> dict[str, Any]:
    names = {"stg": "'stg'", "starred": "'starred'", RAW["unique_id"]: "'orders'", BARE["unique_id"]: "'bare'"}
    needs = [key for key, text in names.items() if text in template]
    return {**model(name, template, *needs), "compiled_code": None}


def _write(tmp_path: Path, *templates: str, catalog: bool = True, stg: str = _STG) -> Path:
    """Write a project of the models stg, starred, and m, m1, …"""
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    nodes = [_parsed("stg", stg), _parsed("starred", "select {{ utils.star(ref('stg')) }} from {{ ref('stg') }}")]
    nodes += [_parsed(f"m{number or ''}", one) for number, one in enumerate(templates)]
    data = manifest(RAW, BARE, *nodes, macros=MACROS)
    return write(tmp_path / "target", data, catalog=catalog)


def _messages(target: Path, **options: Any) -> list[str]:
    summary = ingest_dbt(target, store=target.parent / "store.db", options=DbtOptions(**options))
    return [one.diagnostic.message for one in summary.diagnostics if one.diagnostic.severity != "info"]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("select {{ utils.star(source('raw', 'orders'), ['note']) }} from {{ source('raw', 'orders') }}",
         {"orders.id -> id", "orders.amount -> amount"}),
        ("select {{ utils.star(ref('stg'), ['id', 'remark']) }} from {{ ref('stg') }}", {"stg.amount -> amount"}),
        ("select {{ utils.star(ref('starred')) }} from {{ ref('starred') }}",
         {"starred.id -> id", "starred.amount -> amount", "starred.remark -> remark"}),
        ("{{ utils.united([ref('stg'), source('raw', 'orders')]) }}",
         {"stg.id -> id", "stg.amount -> amount", "stg.remark -> remark",
          "orders.id -> id", "orders.amount -> amount", "orders.note -> note"}),
        ("select {% for c in utils.names(ref('stg'), ['id']) %}max({{ c }}) as m_{{ c }}{{ ', ' if not loop.last }}"
         "{% endfor %} from {{ ref('stg') }}", {"stg.amount -> m_amount", "stg.remark -> m_remark"}),
        ("select {% for c in adapter.get_columns_in_relation(ref('stg')) if c.is_string() %}{{ c.name }}"
         "{% else %}id{% endfor %} from {{ ref('stg') }}", {"stg.id -> id"}),
        ("select id{% if target.type == 'postgres' %}, amount{% endif %} from {{ ref('stg') }} limit {{ _next(2) }}",
         {"stg.id -> id", "stg.amount -> amount"}),
    ],
)  # fmt: skip
def test_columns_are_those_that_the_relation_has(tmp_path: Path, template: str, expected: set[str]) -> None:
    assert _messages(_write(tmp_path, template)) == []
    assert edges(tmp_path, "m") == expected


def test_a_relation_whose_columns_are_not_known_is_named(tmp_path: Path) -> None:
    star = "select {{ utils.star(source('raw', 'bare')) }} from {{ source('raw', 'bare') }}"
    assert _messages(_write(tmp_path, star)) == [
        'the template asks for the columns of "wh"."raw"."bare", which are not known',
        "`utils.star(…)` is not expanded: it may name columns or tables",
    ]


def test_columns_of_a_properties_file_may_not_be_all(tmp_path: Path) -> None:
    star = "select {{ utils.star(source('raw', 'orders')) }} from {{ source('raw', 'orders') }}"
    assert _messages(_write(tmp_path, star, catalog=False)) == [
        '`"wh"."raw"."orders"` is taken to have the columns that its properties file lists: it may have others'
    ]
    assert edges(tmp_path, "m") == {"orders.id -> id", "orders.amount -> amount", "orders.note -> note"}


def test_columns_that_the_store_knows(tmp_path: Path) -> None:
    ddl = tmp_path / "bare.sql"
    ddl.write_text("create table wh.raw.bare (a int, b int)", encoding="utf-8")
    store = tmp_path / "store.db"
    ingest_sql([ddl], store=store, options=SqlOptions(dialect="postgres", namespace="postgres"))
    star = "select {{ utils.star(source('raw', 'bare')) }} from {{ source('raw', 'bare') }}"
    assert _messages(_write(tmp_path, star), namespace="postgres") == []
    assert edges(tmp_path, "m") == {"bare.a -> a", "bare.b -> b"}


def test_an_edit_of_a_model_reaches_the_templates_that_ask_for_its_columns(tmp_path: Path) -> None:
    last = "select {{ utils.star(ref('starred')) }} from {{ ref('starred') }}"
    _messages(_write(tmp_path, last))
    assert _messages(_write(tmp_path, last, stg=_STG.replace("amount,", "amount * 2 as twice,"))) == []
    assert edges(tmp_path, "m") == {"starred.id -> id", "starred.twice -> twice", "starred.remark -> remark"}
    again = ingest_dbt(tmp_path / "target", store=tmp_path / "store.db")
    assert again.unchanged == 3


def test_a_list_that_needs_a_database_is_not_empty(tmp_path: Path) -> None:
    template = (
        "select id {% for v in utils.values(ref('stg')) %}, sum(amount) as n_{{ v }}{% endfor %} from {{ ref('stg') }}"
    )
    assert "a loop over `utils.values(…)` is read once: its columns or tables are not known" in _messages(
        _write(tmp_path, template)
    )
    assert edges(tmp_path, "m") == {"stg.id -> id", 'stg.amount -> "n_{{ utils.values(…) }}"'}


@pytest.mark.parametrize("shown", ["n - 1", "1 - n", "n * 2", "n / 2", "2 // n", "n % 7", "-n"])
def test_what_is_computed_of_an_unknown_value_is_unknown(tmp_path: Path, shown: str) -> None:
    template = (
        f"{{% set n = run_started_at.year %}}select id from {{{{ ref('stg') }}}} where amount > {{{{ {shown} }}}}"
    )
    found = _messages(_write(tmp_path, template))
    assert not [one for one in found if "cannot be rendered" in one]
    with open_store(tmp_path / "store.db") as store:
        assert "postgres/wh.main.stg#amount" in {one.source for one in store.edges_into(["postgres/wh.main.m"])}


def test_a_comparison_with_an_unknown_value_is_a_guess(tmp_path: Path) -> None:
    template = "select id {% if run_started_at.year > 2020 %}, amount{% endif %} from {{ ref('stg') }}"
    [found] = _messages(_write(tmp_path, template))
    assert found.startswith("`run_started_at.year` is taken to be neither less nor more")


def test_a_column_that_a_template_names_may_be_several(tmp_path: Path) -> None:
    looped = "select id {% for v in utils.values(ref('stg')) %}, amount as n_{{ v }}{% endfor %} from {{ ref('stg') }}"
    star = "select {{ utils.star(ref('stg')) }} from {{ ref('stg') }}"
    found = _messages(_write(tmp_path, star, stg=looped.replace("ref('stg')", "source('raw', 'orders')")))
    assert 'the template asks for the columns of "wh"."main"."stg", which are not known' in found


def test_a_pattern_leaves_placeholders_as_they_are(tmp_path: Path) -> None:
    template = (
        "select amount as {{ modules.re.sub('[^a-z]', '_', 'n ' ~ target.name) }}, "
        "{{ modules.re.sub('[^a-z]', '_', 'i d') }} from {{ ref('stg') }}"
    )
    assert any("`re.sub" in one for one in _messages(_write(tmp_path, template)))
    assert not [one for one in edges(tmp_path, "m") if "n_" in one]


@pytest.mark.parametrize(
    "template",
    [
        "{% call unread() %}x{% endcall %}",
        "{% macro m() %}{% call unread() %}x{% endcall %}{% endmacro %}{% set n = m() %}",
        "{% set n = ', '.join(['a', unread('b')]) %}",
        "{% call statement('a', fetch_result=True) %}select 1{% endcall %}{% set n = load_result('a') %}",
    ],
)
def test_a_template_with_unknown_parts_is_rendered(tmp_path: Path, template: str) -> None:
    found = _messages(_write(tmp_path, f"select id from {{{{ ref('stg') }}}} -- {template}"))
    assert not [one for one in found if "cannot be rendered" in one]
    assert edges(tmp_path, "m") == {"stg.id -> id"}


def test_sql_that_a_template_runs_is_reported(tmp_path: Path) -> None:
    template = "{% call statement('x') %}delete from y{% endcall %}select id from {{ ref('stg') }}"
    assert _messages(_write(tmp_path, template)) == [
        "`statement(…)` is taken to change nothing: the SQL that it runs is not read"
    ]
