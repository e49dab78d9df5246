"""Pull requests that rename, move, break or half-write: no answer is wrong without a word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ProjectDiff, RevisionOptions, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition
from lineage_ingest.diff.reports.markdown import diff_to_markdown
from lineage_ingest.diff.reports.terminal import diff_rows, summary_lines
from tests.dbt.manifests import manifest, model, relation, source, write

READS, EDITED = "what it reads differs", "its definition is edited"
MADE_LIKE = {"v": {"*": "row set changed"}, "w": {"id": "value changed"}}
TABLE = "create table raw.t (id int, a int);\n"
V = TABLE + "create view v as select id from raw.t;\n"
ORDERS = source("orders", {"id": "int", "amount": "int", "day": "date"})
RAW = '"wh"."raw"."orders"'
STG = model("stg", f"select id, amount, day from {RAW}", "source.shop.raw.orders")
DAILY = model("daily", f"select day, sum(amount) as total from {relation('stg')} group by day", "stg")


def _sql(
    folder: Path, base: Mapping[str, str | bytes], head: Mapping[str, str | bytes], dialect: str = "postgres"
) -> ProjectDiff:
    for name, files in (("base", base), ("head", head)):
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return diff_revisions(folder / "base", folder / "head", options=RevisionOptions(dialect=dialect))


def _dbt(folder: Path, base: list[dict[str, Any]], head: list[dict[str, Any]]) -> ProjectDiff:
    return diff_revisions(
        write(folder / "base", manifest(ORDERS, *base)), write(folder / "head", manifest(ORDERS, *head))
    )


def _effects(found: ProjectDiff) -> dict[str, str]:
    return {one.title: str(one.effect) for one in found.tables.values() if str(one.effect) != "unchanged"}


def test_a_table_without_a_name(tmp_path: Path) -> None:
    """PostgreSQL's ROWS FROM joins functions."""
    view = "create view v as select x.a, x.b from rows from (generate_series(1, 2), generate_series(1, 3)) as x(a, b);"
    assert _effects(_sql(tmp_path, {"v.sql": view}, {"v.sql": view.replace("3", "4")})) == {"v": "changed"}


@pytest.mark.parametrize(
    ("dialect", "base", "edit", "expected"),
    [
        ("postgres", "create table t (id int, g int generated always as (id * 2) stored); create view v as table t",
         ("* 2", "* 3"), {"t": {"g": "value changed"}, "v": {"g": "value changed"}}),
        ("postgres", "create table t (id int, g int default 2); create view v as select g, id from t",
         ("default 2", "default 3"), {"t": {"g": "value changed"}, "v": {"g": "value changed"}}),
        ("postgres", "create table v as select id from t; create view w as select id from v",
         ("from t;", "from t with no data;"), {"v": {"id": "row set changed"}, "w": {"id": "row set changed"}}),
        ("postgres", "create materialized view v as select id from t with no data",
         (" with no data", ""), {"v": {"id": "row set changed"}}),
        ("duckdb", "create macro m(x) as x + 1; create view v as select m(id) as y from t",
         ("+ 1", "+ 2"), {"v": {"y": "row set changed"}}),
        ("postgres", "create view v as select id as {{ x }} from t where a = ${b}",
         ("${b}", "${c}"), {"v": {"___x___": "row set changed"}}),
        ("postgres", "create view v as select id from t {# a comment #}", ("a comment", "another"), {}),
        ("postgres", "create table t (id int); create table v (like t); create view w as select id from v",
         ("(id int)", "(id int, a int)"), {"t": {"a": "added"}, **MADE_LIKE}),
        ("databricks", "create table t (id int); create table v clone t; create view w as select id from v",
         ("(id int)", "(id int, a int)"), {"t": {"a": "added"}, **MADE_LIKE}),
        ("postgres", "create policy p on t using (a = 1); create view v as select id from t",
         ("a = 1", "a = 2"), {"v": {"id": "row set changed"}}),
        ("snowflake", "create masking policy p as (v string) returns string -> 'x'; create view v as select id from t",
         ("'x'", "'y'"), {"V": {"ID": "row set changed"}}),
        ("postgres", "grant select on t to a; create view v as select id from t", ("to a", "to b"), {}),
    ],
)  # fmt: skip
def test_what_else_decides_about_a_table(
    tmp_path: Path, dialect: str, base: str, edit: tuple[str, str], expected: dict[str, dict[str, str]]
) -> None:
    found = _sql(tmp_path, {"a.sql": base}, {"a.sql": base.replace(*edit)}, dialect)
    effects = {
        one.title: {column.name: str(column.effect) for column in one.columns if column.is_content}
        for one in found.tables.values()
    }
    assert {title: columns for title, columns in effects.items() if columns} == expected


def test_a_table_that_is_renamed_by_a_statement(tmp_path: Path) -> None:
    made, reader = "create table v as select id from t;", "create view w as select id from v;"
    found = _sql(
        tmp_path, {"v.sql": made, "w.sql": reader}, {"v.sql": made + "alter table v rename to x;", "w.sql": reader}
    )
    assert _effects(found) == {"v": "changed", "x": "added", "w": "affected"}


def test_a_table_whose_order_of_columns_an_insert_depends_on(tmp_path: Path) -> None:
    others = "create table d (x int, y int); insert into d select * from raw.t; create view w as select x from d;"
    found = _sql(
        tmp_path,
        {"t.sql": TABLE, "d.sql": others},
        {"t.sql": TABLE.replace("id int, a int", "a int, id int"), "d.sql": others},
    )
    assert {one.title for one in found.rebuild} >= {"t", "d"}


@pytest.mark.parametrize("gone", ["renamed", "removed"])
def test_a_reader_that_was_not_told(tmp_path: Path, gone: str) -> None:
    renamed = model("staging", STG["raw_code"], "source.shop.raw.orders")
    found = _dbt(tmp_path, [STG, DAILY], [renamed, DAILY] if gone == "renamed" else [DAILY])
    assert [(one.table, one.name) for one in found.missing] == [("wh.main.daily", "wh.main.stg")]
    assert any("reads wh.main.stg, which does not exist" in text for _, text in found.failures([FailCondition.REMOVED]))


def test_a_reader_that_was_told(tmp_path: Path) -> None:
    renamed = model("staging", STG["raw_code"], "source.shop.raw.orders")
    reader = model("daily", DAILY["raw_code"].replace('"stg"', '"staging"'), "staging")
    found = _dbt(tmp_path, [STG, DAILY], [renamed, reader])
    assert _effects(found) == {"staging": "renamed", "daily": "cosmetic"}
    assert not found.missing
    assert all(not table.clauses for table in found.tables.values())


def test_a_model_that_becomes_a_source(tmp_path: Path) -> None:
    outside = source("stg", {"id": "int", "amount": "int", "day": "date"}, schema="main")
    base = write(tmp_path / "base", manifest(ORDERS, STG, DAILY))
    head = write(tmp_path / "head", manifest(ORDERS, outside, DAILY))
    assert not diff_revisions(base, head).missing


def test_columns_swapped(tmp_path: Path) -> None:
    swapped = model("stg", f"select amount as id, id as amount, day from {RAW}", "source.shop.raw.orders")
    found = _dbt(tmp_path, [STG, DAILY], [swapped, DAILY])
    (stg,) = found.edited
    assert {one.name for one in stg.columns if one.is_content} == {"id", "amount"}
    assert _effects(found)["daily"] == "affected"


def test_a_macro_that_makes_other_columns(tmp_path: Path) -> None:
    """The template is the same, what dbt compiled of it is not: that is no effect of something upstream."""
    template = {"raw_code": "select {{ columns() }} from {{ source('raw', 'orders') }}"}
    sides = [[{**model("stg", f"select {columns} from {RAW}", "source.shop.raw.orders"), **template}, DAILY]
             for columns in ("id, amount, day, 1 as one", "id, amount, day")]  # fmt: skip
    found = _dbt(tmp_path, *sides)
    assert _effects(found) == {"stg": "changed"}
    assert [(one.title, one.rebuild) for one in found.edited] == [("stg", "its definition is edited")]
    assert [(one.name, one.effects, one.is_own) for one in found.edited[0].columns] == [("one", ("removed",), True)]


def test_a_model_that_does_not_parse(tmp_path: Path) -> None:
    broken = model("stg", f"selec id from from {RAW} ((", "source.shop.raw.orders")
    found = _dbt(tmp_path, [STG, DAILY], [broken, DAILY])
    assert _effects(found) == {"stg": "changed", "daily": "affected"}
    assert [text for text in found.notices if text.startswith("stg: its SQL does not parse")]
    assert [text for text in summary_lines(found) if "does not parse" in text]
    # Unchanged, it is compared by its text, and there is nothing to say.
    assert not _dbt(tmp_path / "again", [broken, DAILY], [broken, DAILY]).notices


def test_two_files_that_define_one_view(tmp_path: Path) -> None:
    found = _sql(tmp_path, {"a.sql": V}, {"a.sql": V, "b.sql": "create view v as select a as id from raw.t;"})
    assert _effects(found) == {"v": "changed"}
    (view,) = found.edited
    assert any("2 definitions in 2 files" in reason for reason in view.reasons)
    assert any("2 definitions in 2 files" in line for line in summary_lines(found))


def test_two_files_in_another_order(tmp_path: Path) -> None:
    one, other = V, "create view v as select a as id from raw.t;"
    found = _sql(tmp_path, {"a.sql": one, "b.sql": other}, {"a.sql": TABLE + other, "b.sql": one.removeprefix(TABLE)})
    assert _effects(found) == {"v": "changed"}


def test_a_half_written_file(tmp_path: Path) -> None:
    whole = f"{V}create view w as select id from v where id > 1;"
    found = _sql(
        tmp_path, {"a.sql": whole}, {"a.sql": whole[: whole.index("where id")].replace("select id from v", "sel")}
    )
    assert _effects(found) == {"w": "changed"}
    assert any("is no definition" in line for line in summary_lines(found))


def test_a_view_that_does_not_parse(tmp_path: Path) -> None:
    found = _sql(tmp_path, {"a.sql": V}, {"a.sql": V.replace("id from raw.t", "id\nfrom raw.t group by 1 2 and")})
    assert _effects(found) == {"v": "changed"}
    (view,) = found.edited
    assert {one.name: one.effects[0] for one in view.columns} == {"*": "added", "id": "value changed"}  # not: removed
    (reason,) = view.reasons  # and no setting
    assert reason.startswith("its SQL does not parse (")
    assert "head/a.sql:3: " in reason
    assert "which columns it has is not known" in reason
    conditions = [text for _, text in found.failures([FailCondition.REMOVED])]
    assert conditions == ["v: which columns it has now is not known"]


def test_a_statement_that_does_not_parse_and_names_no_table(tmp_path: Path) -> None:
    broken = f"{V}selec nonsense from;"
    found = _sql(tmp_path, {"a.sql": V}, {"a.sql": broken})
    assert [one for one in found.notices if "head: a.sql:3: " in one and "does not parse" in one]
    (tmp_path / "again").mkdir()
    assert not _sql(tmp_path / "again", {"a.sql": broken}, {"a.sql": f"\n{broken}"}).notices


STAR, NAMED = "create view s as select * from raw.u;", "create view s as select id, a from raw.u;"


@pytest.mark.parametrize(
    ("before", "after", "effects"),
    [
        pytest.param(NAMED, STAR, {"*": "added"}, id="what it had is in the star"),
        pytest.param(STAR, NAMED, {"*": "removed"}, id="what it has was in the star"),
        pytest.param(STAR, NAMED.replace(", a", ", a + 1 as b"), {"*": "removed", "b": "added"}, id="new beside it"),
        pytest.param(NAMED.replace("a ", "a + 1 as a "), STAR,
                     {"*": "added", "a": "value changed"}, id="another value"),
        pytest.param(NAMED, STAR.replace(";", " where id > 1;"),
                     {"*": "added", "id": "row set changed", "a": "row set changed"}, id="other rows"),
    ],
)  # fmt: skip
def test_columns_behind_a_star_that_is_not_known(
    tmp_path: Path, before: str, after: str, effects: dict[str, str]
) -> None:
    (view,) = _sql(tmp_path, {"a.sql": before}, {"a.sql": after}).edited
    assert {one.name: str(one.effects[0]) for one in view.columns} == effects


@pytest.mark.parametrize("text", [b"", bytes(range(256)), b"\xe9t\xe9 create view v as select id from raw.t"])
def test_a_file_that_is_no_sql(tmp_path: Path, text: bytes) -> None:
    found = _sql(tmp_path, {"a.sql": V}, {"a.sql": text})
    assert set(_effects(found).values()) <= {"removed", "changed"}
    assert found.has_errors
    assert "a.sql" in found.notices[0]


def test_a_view_that_is_dropped_under_its_reader(tmp_path: Path) -> None:
    reader = "create view w as select id from v;"
    found = _sql(tmp_path, {"a.sql": V + reader}, {"a.sql": TABLE + reader})
    assert _effects(found) == {"w": "affected", "v": "removed"}
    assert [(one.table, one.name) for one in found.missing] == [("w", "v")]


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        pytest.param("", [("v", "table removed", "breaking", ""), ("w", "value changed", "breaking", READS)],
                     id="gone"),
        pytest.param("create view x as select id, a from raw.t;",
                     [("x", "table renamed from v", "breaking", "it is renamed"),
                      ("w", "value changed", "breaking", READS)], id="renamed"),
        pytest.param("create view v as select a from raw.t;",
                     [("v", "removed", "breaking", EDITED), ("w", "value changed", "breaking", READS)], id="column"),
        pytest.param("create view v as select id + 1 as id, a from raw.t;",
                     [("v", "value changed", "changes content", EDITED),
                      ("w", "value changed", "changes content", "the columns that it reads differ")], id="still there"),
    ],
)  # fmt: skip
def test_what_reads_what_is_gone_breaks(tmp_path: Path, head: str, rows: list[tuple[str, ...]]) -> None:
    reader = "create view w as select id from v;"
    base = "create view v as select id, a from raw.t;"
    found = _sql(tmp_path, {"a.sql": TABLE + base + reader}, {"a.sql": TABLE + head + reader}, "snowflake")
    shown = [(table, change.removesuffix(", row set changed"), risk, why)
             for table, _, _, change, risk, why in ([str(one) for one in row] for row in diff_rows(found))]  # fmt: skip
    assert [tuple(one.lower() for one in row) for row in shown] == rows
    assert "| breaking |" in diff_to_markdown(found) or head.count("+")


@pytest.mark.parametrize(
    ("reader", "later", "missing"),
    [
        ("view w as select a from raw.t", "alter table raw.t drop column a;", [("W", "RAW.T.A")]),
        ("view w as select a from raw.t", "alter table raw.t rename column a to b;", [("W", "RAW.T.A")]),
        ("view w as select id from raw.t", "alter table raw.t drop column a;", []),
        ("table w as select a from raw.t", "alter table raw.t drop column a;", []),  # it has its values already
        ("view w as select a from raw.t", "alter table raw.t add column b int;", []),
    ],
)
def test_a_view_before_the_statement_that_takes_its_column(
    tmp_path: Path, reader: str, later: str, missing: list[tuple[str, str]]
) -> None:
    base = f"{TABLE}create {reader};"
    found = _sql(tmp_path, {"a.sql": base}, {"a.sql": base + later}, "snowflake")
    assert [(one.table, one.name) for one in found.missing] == missing


def test_no_dialect_is_said(tmp_path: Path) -> None:
    assert [one for one in _sql(tmp_path, {"a.sql": V}, {"a.sql": V}, "ansi").notices if "no dialect given" in one]


@pytest.mark.parametrize("side", ["base", "head"])
def test_half_a_manifest(tmp_path: Path, side: str) -> None:
    for name in ("base", "head"):
        write(tmp_path / name, manifest(ORDERS, STG, DAILY))
    file = tmp_path / side / "manifest.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index('"model.shop.daily"') + 30], encoding="utf-8")
    found = diff_revisions(tmp_path / "base", tmp_path / "head")
    assert found.has_errors
    assert "ends in the middle" in found.notices[0]


def test_ephemeral_models_in_a_circle(tmp_path: Path) -> None:
    ephemeral: dict[str, Any] = {"config": {"materialized": "ephemeral"}, "compiled_code": None}
    one = model("one", "select id from {{ ref('two') }}", "two", **ephemeral)
    two = model("two", "select id from {{ ref('one') }}", "one", **ephemeral)
    last = model("last", "select id from {{ ref('one') }}", "one", compiled_code=None)
    found = _dbt(tmp_path, [STG], [STG, one, two, last])
    (added,) = found.edited
    assert (added.title, str(added.effect)) == ("last", "added")
    assert added.reasons


@pytest.mark.parametrize("kind", ["table", "view", "incremental"])
def test_columns_in_another_order(tmp_path: Path, kind: str) -> None:
    stored = {"materialized": kind}
    turned = model("stg", f"select day, id, amount from {RAW}", "source.shop.raw.orders", config=stored)
    stg = {**STG, "config": {**STG["config"], **stored}}
    star = model("star", f"select * from {relation('stg')}", "stg")
    named = model("named", f"select id, day from {relation('star')}", "star")
    both = model("both", f"select * from {relation('star')} union all select id, 1, day from {RAW}", "star")
    found = _dbt(tmp_path, [stg, star, named], [turned, star, named])
    assert (_effects(found), found.rebuild) == ({"stg": "cosmetic"}, [])
    # Where a reader depends on it, all tables in between must be built again: one of them alone keeps the old order.
    found = _dbt(tmp_path / "again", [stg, star, named, both], [turned, star, named, both])
    assert _effects(found) == {"stg": "changed", "star": "affected", "both": "affected"}
    assert [one.title for one in found.rebuild] == ["stg", "star", "both"]
    assert found.tables["model.shop.stg"].full_refresh == (kind == "incremental")
    assert [text for text in summary_lines(found) if text.startswith("stg: its columns are in another order")]


def _macro(text: str) -> dict[str, Any]:
    macro = {"name": "own", "unique_id": "macro.shop.own", "package_name": "shop", "depends_on": {"macros": []}}
    return {"macro.shop.own": {**macro, "macro_sql": f"{{% macro own() %}}{text}{{% endmacro %}}"}}


_ASKS = "select id, amount, day from t {% if is_incremental() %}where id > BOUND{% endif %}"


@pytest.mark.parametrize(
    ("config", "text", "effects"),
    [
        ({"materialized": "incremental"}, _ASKS, {"stg": "changed", "daily": "affected"}),
        # In a table's build both have one text, and a hook that reads changes no rows.
        ({"materialized": "table", "post-hook": [{"sql": "{{ own() }}"}]}, _ASKS, {"stg": "changed"}),
        (
            {"materialized": "table", "post-hook": [{"sql": "{{ own() }}"}]},
            "update {{ this }} set amount = BOUND",
            {"stg": "changed", "daily": "affected"},
        ),
    ],
)
def test_a_macro_that_compiled_sql_does_not_show(
    tmp_path: Path, config: dict[str, Any], text: str, effects: dict[str, str]
) -> None:
    """A macro that asks whether the table exists, and one that a hook calls."""
    raw = STG["compiled_code"] if "this" in text else "{{ own() }}"
    stg = {**STG, "config": config, "raw_code": raw}
    stg["depends_on"] = {"nodes": ["source.shop.raw.orders"], "macros": ["macro.shop.own"]}
    revisions = []
    for name, bound in (("base", "1"), ("head", "2")):
        macros = _macro(text.replace("BOUND", bound))
        revisions.append(write(tmp_path / name, manifest(ORDERS, stg, DAILY, macros=macros)))
    assert _effects(diff_revisions(*revisions)) == effects


def test_a_source_that_a_microbatch_model_filters_by_another_column(tmp_path: Path) -> None:
    stg = {**STG, "config": {"materialized": "incremental", "incremental_strategy": "microbatch"}}
    revisions = [
        write(tmp_path / day, manifest({**ORDERS, "config": {"event_time": day}}, stg, DAILY)) for day in ("day", "id")
    ]
    assert _effects(diff_revisions(*revisions)) == {"stg": "changed", "daily": "affected"}


def test_packages_of_a_python_model(tmp_path: Path) -> None:
    revisions = []
    for version in ("1", "2"):
        config = {"materialized": "table", "packages": [f"numpy=={version}"]}
        stg = {**STG, "config": config, "language": "python", "compiled_code": None, "original_file_path": "m.py"}
        revisions.append(write(tmp_path / version, manifest(ORDERS, stg, DAILY)))
    assert _effects(diff_revisions(*revisions)) == {"stg": "changed", "daily": "affected"}
