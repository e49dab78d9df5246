"""What tests and dashboards name beside tables, and values that compiled SQL does not show."""

from __future__ import annotations

import copy
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ProjectDiff, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition
from lineage_ingest.diff.reports.selection import dbt_commands
from lineage_ingest.diff.reports.terminal import diff_rows
from tests.dbt.manifests import manifest, model, relation, source, write

Manifest = dict[str, Any]
RAW = '"wh"."raw"."orders"'
INLINED = f"select id, day, amount from {RAW} where amount > 0"
READER = "with __dbt__cte__inlined as (\n{}\n) select day, sum(amount) as total from __dbt__cte__inlined group by day"
LOG = """select id, day from {{ ref('stg') }}
{% if is_incremental() %} where day >= '{{ var("since") }}' {% endif %}"""


def _keyed(kind: str, name: str, *needs: str, **fields: Any) -> Manifest:
    key = f"{kind}.shop.{name}"
    return {key: {"unique_id": key, "resource_type": kind, "name": name, "depends_on": {"nodes": list(needs)},
                  "config": {}, **fields}}  # fmt: skip


def _test(name: str, of: str, column: str) -> Manifest:
    return _keyed("test", name, of, column_name=column, attached_node=of, test_metadata={"name": "not_null"})


def _base() -> Manifest:
    stg = model("stg", f"select id, day from {RAW}", "source.shop.raw.orders")
    data = manifest(
        source("orders", {"id": "int", "day": "date", "amount": "int"}),
        model("inlined", INLINED, "source.shop.raw.orders", config={"materialized": "ephemeral"}, relation_name=None),
        model("daily", READER.format(INLINED), "inlined"),
        stg,
        model("log", f"select id, day from {relation('stg')}", "stg", raw_code=LOG,
              config={"materialized": "incremental"}),
        model("odd", f"select id from {relation('stg')}", "stg", config={"materialized": "wrapped"}),
        {**model("dim", f"select id from {RAW}"), "unique_id": "model.shop.dim.v1", "version": 1,
         "relation_name": relation("dim_v1")},
        {**model("dim", f"select id + 1 as id from {RAW}"), "unique_id": "model.shop.dim.v2", "version": 2,
         "relation_name": relation("dim_v2")},
    )  # fmt: skip
    data["nodes"] |= _test("not_null_inlined_id", "model.shop.inlined", "id")
    data["nodes"] |= _test("not_null_inlined_amount", "model.shop.inlined", "amount")
    data["nodes"] |= _test("not_null_orders_id", "source.shop.raw.orders", "id")
    data["nodes"] |= _keyed("test", "of_a_variable", "model.shop.stg", raw_code="select id where day > {{ var('x') }}",
                            compiled_code=f"select id from {relation('stg')} where day > 1")  # fmt: skip
    data["exposures"] = {**_keyed("exposure", "board", "model.shop.inlined"),
                         **_keyed("exposure", "raw_board", "source.shop.raw.orders")}  # fmt: skip
    data["macros"] = {
        "macro.shop.materialization_wrapped_default": {
            "name": "materialization_wrapped_default", "unique_id": "macro.shop.materialization_wrapped_default",
            "package_name": "shop", "macro_sql": "{{ wrap(sql) }}", "depends_on": {"macros": ["macro.shop.wrap"]}},
        "macro.shop.wrap": {"name": "wrap", "unique_id": "macro.shop.wrap", "package_name": "shop",
                            "macro_sql": "select * from ({{ sql }})", "depends_on": {"macros": []}},
    }  # fmt: skip
    return data


def _diff(folder: Path, edit: Callable[[Manifest], object], base: Manifest | None = None) -> ProjectDiff:
    base = base or _base()
    head = copy.deepcopy(base)
    edit(head)
    return diff_revisions(write(folder / "base" / "target", base), write(folder / "head" / "target", head))


def _inline(data: Manifest, sql: str) -> None:
    data["nodes"]["model.shop.inlined"] |= {"compiled_code": sql, "raw_code": sql}
    data["nodes"]["model.shop.daily"]["compiled_code"] = READER.format(sql)


def _names(found: ProjectDiff) -> tuple[list[str], list[str]]:
    return [one.name for one in found.consumers], [one.name for one in found.tests]


def test_the_same_twice(tmp_path: Path) -> None:
    found = _diff(tmp_path, lambda _data: None)
    assert (_names(found), found.rebuild, found.edited) == (([], []), [], [])


@pytest.mark.parametrize(
    ("sql", "consumers", "tests"),
    [
        (INLINED.replace("> 0", "> 1"), ["board"], ["not_null_inlined_amount", "not_null_inlined_id"]),
        (INLINED.replace("amount from", "amount + 1 as amount from"), ["board"], ["not_null_inlined_amount"]),
        (INLINED.replace("select id", "SELECT  id /* it */"), [], []),
    ],
)
def test_an_ephemeral_model_is_named_by_tests_and_dashboards(
    tmp_path: Path, sql: str, consumers: list[str], tests: list[str]
) -> None:
    found = _diff(tmp_path, lambda data: _inline(data, sql))
    assert _names(found) == (consumers, tests)
    assert {one.title for one in found.tables.values()} == {"daily", "stg", "log", "odd", "dim.v1", "dim.v2"}


def test_an_ephemeral_model_that_becomes_a_view(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        node = data["nodes"]["model.shop.inlined"]
        node |= {"config": {"materialized": "view"}, "relation_name": relation("inlined")}

    found = _diff(tmp_path, edit)
    assert [one.title for one in found.rebuild] == ["inlined"]
    assert _names(found)[1] == ["not_null_inlined_amount", "not_null_inlined_id"]


def test_a_source_that_becomes_another_table(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        data["sources"]["source.shop.raw.orders"] |= {"identifier": "o2", "relation_name": '"wh"."raw"."o2"'}

    found = _diff(tmp_path, edit)
    assert "raw_board" in _names(found)[0]
    assert "not_null_orders_id" in _names(found)[1]
    assert [one.reads for one in found.consumers if one.name == "raw_board"] == [("raw.orders",)]


def test_a_source_that_is_quoted_otherwise(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        data["sources"]["source.shop.raw.orders"]["relation_name"] = 'wh."raw".orders'

    assert _names(_diff(tmp_path, edit)) == ([], [])


@pytest.mark.parametrize(
    ("compiled", "chosen"),
    [
        (f"select id from {relation('stg')} where day > 2", ["of_a_variable"]),
        (f"select id from {relation('stg')} where day > 1", []),
        (None, ["of_a_variable"]),
    ],
)
def test_a_variable_of_a_test(tmp_path: Path, compiled: str | None, chosen: list[str]) -> None:
    found = _diff(tmp_path, lambda data: data["nodes"]["test.shop.of_a_variable"].update(compiled_code=compiled))
    assert _names(found)[1] == chosen


def test_a_macro_that_a_materialization_calls(tmp_path: Path) -> None:
    found = _diff(tmp_path, lambda data: data["macros"]["macro.shop.wrap"].update(macro_sql="select 1"))
    assert [one.title for one in found.rebuild] == ["odd"]


@pytest.mark.parametrize(
    ("files", "rebuilt", "is_told"),
    [
        ((None, None), [], True),
        (("vars: {since: 1}", None), [], True),
        (("vars: {since: 1}", "vars: {since: 1}"), [], False),
        (("vars: {since: 1}", "vars: {since: 2}"), ["log"], False),
        (("vars: {since: 1, other: 1}", "vars: {since: 1, other: 2}"), [], False),
    ],
)
def test_a_variable_of_the_build_that_is_not_compiled(
    tmp_path: Path, files: tuple[str | None, str | None], rebuilt: list[str], is_told: bool
) -> None:
    for name, text in zip(("base", "head"), files, strict=True):
        if text is not None:
            (tmp_path / name).mkdir()
            (tmp_path / name / "dbt_project.yml").write_text(f"name: shop\n{text}\n", encoding="utf-8")
    found = _diff(tmp_path, lambda _data: None)
    assert [one.title for one in found.rebuild] == rebuilt
    assert any("only the build that dbt compiled is compared" in one for one in found.notices) == is_told


@pytest.mark.parametrize("materialized", ["incremental", "table"])
@pytest.mark.parametrize("asked", ["flags.FULL_REFRESH", "should_full_refresh()"])
def test_an_edit_of_what_only_a_full_refresh_reads(tmp_path: Path, asked: str, materialized: str) -> None:
    """The compiled SQL is that of a build without the option: it is the same on both sides."""
    raw = f"select id from {{{{ ref('stg') }}}} {{% if {asked} %}} where id > 1 {{% endif %}}"
    base = _base()
    base["nodes"]["model.shop.log"] |= {"raw_code": raw, "config": {"materialized": materialized}}

    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.log"]["raw_code"] = raw.replace("> 1", "> 2")

    assert [one.title for one in _diff(tmp_path, edit, base).rebuild] == ["log"]


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ({}, {"day"}),
        ({"unique_key": "id"}, {"day"}),
        ({"unique_key": "id", "incremental_predicates": ["DBT_INTERNAL_SOURCE.day > now()"]}, {"id", "day"}),
        ({"unique_key": "id", "merge_update_set_expressions": {"id": "DBT_INTERNAL_SOURCE.day"}}, {"id", "day"}),
        ({"unique_key": "id", "matched_condition": "DBT_INTERNAL_SOURCE.day > now()"}, {"id", "day"}),
        ({"merge_on_using_columns": ["day"]}, {"id", "day"}),
        ({"incremental_strategy": "insert_overwrite", "partition_by": {"field": "day"}}, {"id", "day"}),
    ],
)
def test_a_column_that_decides_which_rows_later_builds_replace(
    tmp_path: Path, config: Manifest, changed: set[str]
) -> None:
    base = _base()
    base["nodes"]["model.shop.log"] |= {"raw_code": "", "config": {"materialized": "incremental", **config}}

    def edit(data: Manifest) -> None:
        sql = f"select id, day + 1 as day from {RAW}"
        data["nodes"]["model.shop.stg"] |= {"compiled_code": sql, "raw_code": sql}

    [log] = [one for one in _diff(tmp_path, edit, base).affected if one.title == "log"]
    assert {one.name for one in log.columns} == changed


def test_the_past_of_a_model_that_is_never_refreshed(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.log"] |= {"compiled_code": f"select id + 1 as id, day from {relation('stg')}"}
        data["nodes"]["model.shop.log"]["config"]["full_refresh"] = False

    found = _diff(tmp_path, edit)
    assert [one.title for one in found.rebuild if one.full_refresh] == ["log"]
    assert any("log: the setting full_refresh: false keeps" in one for one in found.notices)


@pytest.mark.parametrize("setting", ["alias", "schema", "database"])
def test_a_setting_that_gives_a_table_another_name(tmp_path: Path, setting: str) -> None:
    """The old table stays in the database: a view over it would read it for ever, and so would a dashboard."""
    other = '"wh"."mart"."other"'

    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.stg"] |= {"relation_name": other}
        data["nodes"]["model.shop.stg"]["config"][setting] = "other"
        for name in ("log", "odd"):
            node = data["nodes"][f"model.shop.{name}"]
            node["compiled_code"] = node["compiled_code"].replace(relation("stg"), other)

    base = _base()
    base["nodes"]["model.shop.odd"]["config"]["materialized"] = "view"
    base["exposures"] |= _keyed("exposure", "stg_board", "model.shop.stg")
    found = _diff(tmp_path, edit, base)
    assert [one.title for one in found.rebuild] == ["stg", "odd"]
    assert [one.title for one in found.tables.values() if one.is_content] == []
    assert [one.name for one in found.consumers] == ["stg_board"]
    assert [text for _, text in found.failures([FailCondition.REMOVED])] == ["wh.main.stg: renamed to wh.mart.other"]
    assert "table renamed from wh.main.stg" in str(list(diff_rows(found)))


def test_a_version_is_named_as_dbt_selects_it(tmp_path: Path) -> None:
    found = _diff(
        tmp_path, lambda data: data["nodes"]["model.shop.dim.v2"].update(compiled_code=f"select id from {RAW}")
    )
    assert [one.title for one in found.rebuild] == ["dim.v2"]


def test_a_seed_is_loaded_into_a_new_table(tmp_path: Path) -> None:
    """`dbt seed` fills the table that is there, with its columns and types, unless it is a full refresh."""
    seed = {**model("codes", ""), "unique_id": "seed.shop.codes", "resource_type": "seed", "compiled_code": None,
            "original_file_path": "seeds/codes.csv", "config": {"materialized": "seed"}}  # fmt: skip
    sides = []
    for name, text in (("base", "a,b\n1,2\n"), ("head", "b,a\nx,1\n")):
        data = manifest(seed | {"checksum": {"name": "sha256", "checksum": sha256(text.strip().encode()).hexdigest()}})
        sides.append(write(tmp_path / name / "target", data))
        (tmp_path / name / "seeds").mkdir()
        (tmp_path / name / "seeds" / "codes.csv").write_text(text)
    found = diff_revisions(*sides)
    assert [str(column.effect) for one in found.tables.values() for column in one.columns] == [
        "value changed",
        "cosmetic",
    ]
    assert dbt_commands(found)[0].startswith("dbt build --full-refresh")


def test_the_line_ends_of_a_seed(tmp_path: Path) -> None:
    seed = {**model("codes", ""), "unique_id": "seed.shop.codes", "resource_type": "seed", "compiled_code": None,
            "original_file_path": "seeds/codes.csv", "config": {"materialized": "seed"}}  # fmt: skip
    sides = []
    for name, text in (("base", b"a,b\n1,2"), ("head", b"a,b\r\n1,2")):
        data = manifest(seed | {"checksum": {"name": "sha256", "checksum": sha256(text).hexdigest()}})
        sides.append(write(tmp_path / name / "target", data))
        (tmp_path / name / "seeds").mkdir()
        (tmp_path / name / "seeds" / "codes.csv").write_bytes(text)
    assert not [one for one in diff_revisions(*sides).tables.values() if one.is_content]


def test_a_table_that_is_read_without_ref(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.stg"]["compiled_code"] = f"select id + 1 as id, day from {RAW}"

    base = _base()
    base["nodes"]["model.shop.odd"]["depends_on"]["nodes"] = []
    found = _diff(tmp_path, edit, base)
    assert [one for one in found.notices if "without ref()" in one] == [
        "odd reads stg without ref(): build it after that, dbt knows no order"
    ]


def test_a_macro_that_names_tables_moves_seeds_too(tmp_path: Path) -> None:
    def macro(package: str) -> Manifest:
        key = f"macro.{package}.generate_schema_name"
        return {key: {"name": "generate_schema_name", "unique_id": key, "package_name": package, "macro_sql": "mart"}}

    base = _base()
    base["nodes"]["seed.shop.codes"] = {
        **model("codes", ""), "unique_id": "seed.shop.codes", "resource_type": "seed", "compiled_code": None,
        "original_file_path": "seeds/codes.csv", "checksum": {"name": "sha256", "checksum": "1"},
        "config": {"materialized": "seed"},
    }  # fmt: skip
    base["macros"] |= macro("dbt")

    def move(data: Manifest) -> None:
        data["macros"] |= macro("shop")
        data["nodes"]["seed.shop.codes"] |= {"schema": "mart", "relation_name": '"wh"."mart"."codes"'}

    found = _diff(tmp_path, move, base)
    assert [one.title for one in found.rebuild] == ["codes"]


def test_the_past_of_a_snapshot(tmp_path: Path) -> None:
    base = _base()
    base["nodes"]["snapshot.shop.history"] = {
        **model("history", f"select id from {RAW}"), "unique_id": "snapshot.shop.history",
        "resource_type": "snapshot", "config": {"materialized": "snapshot", "unique_key": "id"},
    }  # fmt: skip
    edited = f"select id + 1 as id from {RAW}"
    found = _diff(tmp_path, lambda data: data["nodes"]["snapshot.shop.history"].update(compiled_code=edited), base)
    assert [one for one in found.notices if "history" in one] == [
        "history: dbt does not build a snapshot again; its rows of the past stay as they are"
    ]


def test_a_generic_test_that_takes_the_place_of_one_of_dbt_builds_nothing(tmp_path: Path) -> None:
    def macro(package: str) -> Manifest:
        key = f"macro.{package}.test_not_null"
        return {key: {"name": "test_not_null", "unique_id": key, "package_name": package, "macro_sql": "select 1"}}

    def edit(data: Manifest) -> None:
        data["macros"].update(macro("shop"))
        data["nodes"]["test.shop.not_null_inlined_id"]["depends_on"]["macros"] = ["macro.shop.test_not_null"]

    base = _base()
    base["macros"] |= macro("dbt")
    found = _diff(tmp_path, edit, base)
    assert (found.rebuild, _names(found)[1]) == ([], ["not_null_inlined_id"])
