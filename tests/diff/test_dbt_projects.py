"""Edits of dbt projects that are not in a model's query: settings, macros, seeds, hooks, incremental branches."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest.diff.project_diff import ProjectDiff, diff_projects
from lineage_ingest.diff.revisions.revisions import RevisionOptions, read_revisions
from tests.dbt.manifests import manifest, model, relation, source, write

Manifest = dict[str, Any]

_INCREMENTAL = """select id, day, amount from {{ ref('stg') }}
{% if is_incremental() %} where day > (select max(day) from {{ this }}) {% endif %}"""


def _project() -> Manifest:
    orders = source("orders", {"id": "int", "day": "date", "amount": "int", "email": "text"})
    seed = {**model("codes", ""), "unique_id": "seed.shop.codes", "resource_type": "seed", "compiled_code": None,
            "original_file_path": "seeds/codes.csv", "checksum": {"name": "sha256", "checksum": "one"},
            "config": {"materialized": "seed"}}  # fmt: skip
    stg = model("stg", "select id, day, amount, email from wh.raw.orders", orders["unique_id"],
                config={"materialized": "view"})  # fmt: skip
    log = model("log", f"select id, day, amount from {relation('stg')}", "stg", raw_code=_INCREMENTAL,
                config={"materialized": "incremental", "unique_key": "id"})  # fmt: skip
    daily = model("daily", f"select day, sum(amount) as total from {relation('stg')} group by day", "stg")
    named = model("named", f"select c.* from {relation('codes')} as c", "seed.shop.codes")
    top = model("top", f"select day, total from {relation('daily')} order by total limit 3", "daily")
    found = manifest(orders, seed, stg, log, daily, named, top)
    found["nodes"]["test.shop.unique_daily"] = _test("unique_daily", "daily", "day")
    found["nodes"]["test.shop.not_null_total"] = _test("not_null_total", "daily", "total")
    found["exposures"]["exposure.shop.board"] = {
        "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board",
        "owner": {"email": "sales@example.com"}, "depends_on": {"nodes": ["model.shop.daily"]},
    }  # fmt: skip
    return found


def _test(name: str, of: str, column: str) -> dict[str, Any]:
    return {"unique_id": f"test.shop.{name}", "resource_type": "test", "name": name, "column_name": column,
            "attached_node": f"model.shop.{of}", "test_metadata": {"name": name.rpartition("_")[0]},
            "depends_on": {"nodes": [f"model.shop.{of}"]}, "config": {}}  # fmt: skip


def _diff(tmp_path: Path, edit: Callable[[Manifest], object], base: Manifest | None = None) -> ProjectDiff:
    base = base if base is not None else _project()
    head = copy.deepcopy(base)
    edit(head)
    sides = [str(write(tmp_path / name, one)) for name, one in (("base", base), ("head", head))]
    return diff_projects(*read_revisions(sides[0], sides[1], RevisionOptions(), tmp_path / "work"))


def _config(data: Manifest, name: str) -> dict[str, Any]:
    found: dict[str, Any] = data["nodes"][f"model.shop.{name}"]["config"]
    return found


def _set_sql(data: Manifest, name: str, sql: str, raw: str | None = None) -> None:
    data["nodes"][f"model.shop.{name}"] |= {"compiled_code": sql, "raw_code": raw if raw is not None else sql}


def _touched(diff: ProjectDiff) -> set[str]:
    return {one.title for one in diff.tables.values() if one.is_content}


def _rebuilt(diff: ProjectDiff) -> set[str]:
    return {one.title for one in diff.rebuild}


def test_the_same_twice(tmp_path: Path) -> None:
    diff = _diff(tmp_path, lambda _data: None)
    assert (diff.edited, diff.affected, diff.cosmetic, diff.rebuild, list(diff.tests)) == ([], [], [], [], [])


@pytest.mark.parametrize("name", ["tags", "meta", "docs", "group", "persist_docs", "event_time"])
def test_settings_that_change_nothing(tmp_path: Path, name: str) -> None:
    diff = _diff(tmp_path, lambda data: _config(data, "daily").update({name: "x"}))
    assert not _touched(diff) | _rebuilt(diff)


@pytest.mark.parametrize("name", ["pre-hook", "post-hook", "sql_header", "a_new_setting"])
def test_settings_that_may_change_content(tmp_path: Path, name: str) -> None:
    diff = _diff(tmp_path, lambda data: _config(data, "daily").update({name: ["update {{ this }} set total = 1"]}))
    assert _touched(diff) == {"daily", "top"}
    assert diff.tables["model.shop.daily"].reasons == (f"setting `{name}`",)


def test_a_physical_setting_is_rebuilt_without_what_reads_it(tmp_path: Path) -> None:
    diff = _diff(tmp_path, lambda data: _config(data, "daily").update({"indexes": [{"columns": ["day"]}]}))
    assert "daily" in _rebuilt(diff)
    assert "daily" not in _touched(diff)


@pytest.mark.parametrize("name", ["grants", "labels"])
def test_a_setting_that_any_build_applies(tmp_path: Path, name: str) -> None:
    diff = _diff(tmp_path, lambda data: _config(data, "log").update({name: {"select": ["x"]}}))
    assert (_rebuilt(diff), _touched(diff), diff.cosmetic) == ({"log"}, set(), [])
    assert not [one for one in diff.rebuild if one.full_refresh]


@pytest.mark.parametrize(
    ("old", "new"),
    [("max(day)", "min(day)"), ("day >", "day >="), ("{% if is_incremental() %}", "{% if not is_incremental() %}")],
)
def test_the_branch_of_later_builds(tmp_path: Path, old: str, new: str) -> None:
    raw = _INCREMENTAL.replace(old, new)
    compiled = f"select id, day, amount from {relation('stg')}"
    diff = _diff(tmp_path, lambda data: _set_sql(data, "log", compiled, raw))
    assert _touched(diff) == {"log"}
    assert [one.title for one in diff.rebuild if one.full_refresh] == ["log"]


def test_an_incremental_model_compiled_for_its_first_or_a_later_build(tmp_path: Path) -> None:
    later = f"select id, day, amount from {relation('stg')} where day > (select max(day) from {relation('log')})"
    assert not _touched(_diff(tmp_path, lambda data: _set_sql(data, "log", later, _INCREMENTAL)))


def test_swapped_aliases_around_an_unchanged_branch(tmp_path: Path) -> None:
    branch = "{% if is_incremental() %} and x.day > (select max(day) from {{ this }}) {% endif %}"
    base = _project()
    texts = []
    for first, second in ("xy", "yx"):
        body = (f"select {first}.id, {second}.day as day, 1 as amount from STG as {first} join STG as {second} "
                f"on {first}.id = {second}.amount")  # fmt: skip
        texts.append(
            (
                body.replace("STG", relation("stg")),
                f"{body.replace('STG', '{{ ref(' + chr(39) + 'stg' + chr(39) + ') }}')} {branch}",
            )
        )
    _set_sql(base, "log", *texts[0])
    diff = _diff(tmp_path, lambda data: _set_sql(data, "log", *texts[1]), base)
    assert _touched(diff) == {"log"}


@pytest.mark.parametrize("key", [None, "day", ["id", "day"]])
def test_the_unique_key(tmp_path: Path, key: object) -> None:
    assert _touched(_diff(tmp_path, lambda data: _config(data, "log").update({"unique_key": key}))) == {"log"}


def test_a_column_that_rows_are_merged_by(tmp_path: Path) -> None:
    raw = _INCREMENTAL.replace("select id,", "select id + 0 as id,")
    diff = _diff(tmp_path, lambda data: _set_sql(data, "log", "", raw))
    assert {one.name: [str(effect) for effect in one.effects] for one in diff.tables["model.shop.log"].columns} == {
        "id": ["value changed", "row set changed"], "day": ["row set changed"], "amount": ["row set changed"],
    }  # fmt: skip


def test_a_value_downstream_and_the_tests_of_other_columns(tmp_path: Path) -> None:
    sql = "select id, day, amount * 2 as amount, email from wh.raw.orders"
    diff = _diff(tmp_path, lambda data: _set_sql(data, "stg", sql))
    changed = {(table.title, one.name) for table in diff.tables.values() for one in table.columns if one.is_content}
    # Which rows LIMIT keeps depends on the totals.
    expected = {("stg", "amount"), ("log", "amount"), ("daily", "total"), ("top", "day"), ("top", "total")}
    assert changed == expected
    assert [test.name for test in diff.tests] == ["not_null_total"]
    assert [(one.name, one.owner) for one in diff.consumers] == [("board", "sales@example.com")]


def test_only_rows_change(tmp_path: Path) -> None:
    sql = "select id, day, amount, email from wh.raw.orders where amount > 0"
    diff = _diff(tmp_path, lambda data: _set_sql(data, "stg", sql))
    assert _touched(diff) == {"stg", "log", "daily", "top"}
    assert len(diff.tests) == 2


def test_a_renamed_column_and_its_readers(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        _set_sql(data, "daily", f"select day, sum(amount) as revenue from {relation('stg')} group by day")

    diff = _diff(tmp_path, edit)
    daily = diff.tables["model.shop.daily"]
    assert [(one.name, one.earlier) for one in daily.columns if one.is_content] == [("revenue", "total")]
    assert [one.table for one in diff.missing] == ["wh.main.top"]
    assert "top" in _touched(diff)

    def both(data: Manifest) -> None:
        edit(data)
        sql = f"select day, revenue as total from {relation('daily')} order by revenue limit 3"
        _set_sql(data, "top", sql)

    adapted = _diff(tmp_path, both)
    assert not adapted.missing


def test_a_renamed_model(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        node = data["nodes"].pop("model.shop.named")
        node |= {"unique_id": "model.shop.codes_named", "name": "codes_named", "alias": "codes_named",
                 "relation_name": relation("codes_named")}  # fmt: skip
        data["nodes"]["model.shop.codes_named"] = node

    found = _diff(tmp_path, edit).tables
    assert "model.shop.named" not in found
    assert (str(found["model.shop.codes_named"].effect), found["model.shop.codes_named"].earlier) == (
        "renamed",
        "named",
    )


def test_a_seed_by_its_checksum_and_by_its_file(tmp_path: Path) -> None:
    def checksum(data: Manifest) -> None:
        data["nodes"]["seed.shop.codes"]["checksum"]["checksum"] = "two"

    assert _touched(_diff(tmp_path, checksum)) >= {"codes", "named"}

    base = _project()
    texts = {"base": "code,label\n1,one\n2,two\n", "head": "code,label\n1,one\n2,zwei\n"}
    for name, text in texts.items():
        (tmp_path / "files" / name / "seeds").mkdir(parents=True)
        (tmp_path / "files" / name / "seeds" / "codes.csv").write_text(text, encoding="utf-8")
    head = copy.deepcopy(base)
    for name, data in (("base", base), ("head", head)):
        digest = hashlib.sha256(texts[name].strip().encode()).hexdigest()
        data["nodes"]["seed.shop.codes"] |= {
            "checksum": {"name": "sha256", "checksum": digest}, "root_path": str(tmp_path / "files" / name),
        }  # fmt: skip
    sides = [str(write(tmp_path / "s" / name, one)) for name, one in (("base", base), ("head", head))]
    diff = diff_projects(*read_revisions(sides[0], sides[1], RevisionOptions(), tmp_path / "work"))
    changed = {(table.title, one.name) for table in diff.tables.values() for one in table.columns if one.is_content}
    assert changed == {("codes", "label"), ("named", "label")}


def test_macros_that_build_models(tmp_path: Path) -> None:
    def macro(name: str, text: str) -> Callable[[Manifest], object]:
        value = {"unique_id": f"macro.shop.{name}", "name": name, "package_name": "shop", "macro_sql": text}
        return lambda data: data["macros"].update({f"macro.shop.{name}": value})

    assert "daily" in _touched(_diff(tmp_path, macro("materialization_table_default", "create table …")))
    assert not _touched(_diff(tmp_path, macro("my_operation", "grant select on x to y")))


def test_hooks_of_the_project(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        key = "operation.shop.shop-on-run-start-0"
        data["nodes"][key] = {"unique_id": key, "resource_type": "operation", "raw_code": "create function f() …"}

    assert {"stg", "log", "daily"} <= _touched(_diff(tmp_path, edit))


def test_what_a_hook_writes_from_a_changed_table_is_said(tmp_path: Path) -> None:
    """What reads that table is not followed."""
    base = _project()
    hook = f"create or replace table audit.sums as select total from {relation('daily')}"
    _config(base, "top")["post-hook"] = [{"sql": hook}]

    def notices(edit: Callable[[Manifest], object]) -> list[str]:
        return [one for one in _diff(tmp_path, edit, base).notices if "hook" in one]

    def edit(data: Manifest) -> None:
        _set_sql(data, "stg", "select id, day, amount + 1 as amount, email from wh.raw.orders")

    said = "the post-hook of top writes wh.audit.sums: what reads that is neither listed nor built again"
    assert notices(edit) == [said]
    assert notices(
        lambda data: _config(data, "top").update({"post-hook": [{"sql": hook.replace("total", "day")}]})
    ) == [said]
    assert notices(lambda data: None) == []


def test_a_python_model_and_a_snapshot(tmp_path: Path) -> None:
    base = _project()
    python = model("scored", "def model(dbt, session): ...", "daily", language="python", compiled_code=None)
    python["original_file_path"] = "models/scored.py"
    snapshot = model("history", f"select id, amount from {relation('stg')}", "stg",
                     config={"materialized": "snapshot", "unique_key": "id", "strategy": "check"})  # fmt: skip
    snapshot |= {"unique_id": "snapshot.shop.history", "resource_type": "snapshot"}
    base["nodes"] |= {python["unique_id"]: python, snapshot["unique_id"]: snapshot}

    def edit(data: Manifest) -> None:
        _set_sql(data, "stg", "select id, day, amount + 1 as amount, email from wh.raw.orders")

    assert {"scored", "history"} <= _touched(_diff(tmp_path, edit, base))


def test_a_type_of_a_contract(tmp_path: Path) -> None:
    base = _project()
    base["nodes"]["model.shop.daily"] |= {"columns": {"day": {"name": "day", "data_type": "date"}}}
    _config(base, "daily")["contract"] = {"enforced": True}

    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.daily"]["columns"]["day"]["data_type"] = "timestamp"

    found = _diff(tmp_path, edit, base).tables["model.shop.daily"].columns
    assert [(one.name, str(one.effect), one.types) for one in found] == [("day", "type changed", ("date", "timestamp"))]


def _with_contract(data: Manifest, kind: str | None, constraint: str | None = None) -> None:
    """Give `daily` a contract that states the type of `total`, and a constraint."""
    column: dict[str, Any] = {"name": "total", "data_type": kind}
    if constraint is not None:
        column["constraints"] = [{"type": constraint}]
    data["nodes"]["model.shop.daily"]["columns"] = {"total": column}
    _config(data, "daily")["contract"] = {"enforced": kind is not None}


@pytest.mark.parametrize(
    ("before", "after", "touched"),
    [
        ("numeric(10,4)", "numeric(10,1)", True),
        (None, "numeric(10,1)", True),
        ("numeric(10,1)", None, True),
        ("NUMERIC (10, 1)", "decimal(10,1)", True),  # the same type, but another text may round otherwise
        ("bigint", "bigint", False),
    ],
)
def test_a_contract_casts_what_is_stored_and_what_reads_it(
    tmp_path: Path, before: str | None, after: str | None, touched: bool
) -> None:
    base = _project()
    _with_contract(base, before)
    diff = _diff(tmp_path, lambda data: _with_contract(data, after), base)
    assert _touched(diff) == ({"daily", "top"} if touched else set())
    assert [one.title for one in diff.edited] == (["daily"] if touched else [])


@pytest.mark.parametrize(
    ("kind", "of", "is_moved"),
    [
        ("table", "contract", True),
        ("incremental", "contract", True),
        ("table", "SQL", False),
        ("view", "contract", False),
        ("view", "SQL", True),
    ],
)
def test_the_order_of_a_contract_is_that_of_the_table(tmp_path: Path, kind: str, of: str, is_moved: bool) -> None:
    """Whatever order its SQL has; `reader` reads by position, and `named` by name."""

    def shop(sql: str, *names: str) -> Manifest:
        config = {"materialized": kind, "contract": {"enforced": True}}
        columns = {name: {"name": name, "data_type": "int"} for name in names}
        raw = source("orders", {"id": "int", "amount": "int"})
        return manifest(
            raw,
            model("made", f'select {sql} from "wh"."raw"."orders"', raw["unique_id"], config=config, columns=columns),
            model("reader", f"select 1 as a, 2 as b union all select * from {relation('made')}", "made"),
            model("named", f"select amount from {relation('made')}", "made"),
        )

    head = shop("amount, id", "id", "amount") if of == "SQL" else shop("id, amount", "amount", "id")
    found = _diff(tmp_path, lambda data: data.update(head), shop("id, amount", "id", "amount"))
    assert {one.title for one in found.rebuild} == ({"made", "reader"} if is_moved else set())


def test_a_constraint_of_a_contract_is_built(tmp_path: Path) -> None:
    base = _project()
    _with_contract(base, "bigint")
    diff = _diff(tmp_path, lambda data: _with_contract(data, "bigint", "not_null"), base)
    assert "daily" in _rebuilt(diff) - _touched(diff)
    assert diff.tables["model.shop.daily"].reasons == ("setting `contract`",)


def test_a_type_that_only_the_documentation_states(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.daily"]["columns"] = {"total": {"name": "total", "data_type": "text"}}

    base = _project()
    base["nodes"]["model.shop.daily"]["columns"] = {"total": {"name": "total", "data_type": "int"}}
    assert not _touched(_diff(tmp_path, edit, base))


def test_personal_data(tmp_path: Path) -> None:
    base = _project()
    base["sources"]["source.shop.raw.orders"]["columns"]["email"]["tags"] = ["pii"]

    def plain(data: Manifest) -> None:
        _set_sql(
            data, "daily", f"select day, sum(amount) as total, max(email) as mail from {relation('stg')} group by 1"
        )

    def masked(data: Manifest) -> None:
        _set_sql(
            data, "daily", f"select day, sum(amount) as total, max(md5(email)) as m from {relation('stg')} group by 1"
        )

    assert [str(one) for one in _diff(tmp_path, plain, base).carriers] == [
        "personal data of wh.raw.orders.email flows to wh.main.daily.mail"
    ]
    assert not _diff(tmp_path, masked, base).carriers


def test_a_template_that_dbt_has_not_compiled(tmp_path: Path) -> None:
    base = _project()
    raw = "select id, {{ dbt_utils.star(['a']) }} from {{ ref('stg') }}"
    base["nodes"]["model.shop.daily"] |= {"compiled_code": None, "raw_code": raw}

    def edit(data: Manifest) -> None:
        data["nodes"]["model.shop.daily"]["raw_code"] = raw.replace("'a'", "'b'")

    diff = _diff(tmp_path, edit, base)
    assert "daily" in _touched(diff)
    assert any("1 model not compiled (daily)" in notice for notice in diff.notices)


def test_a_catalog_on_one_side(tmp_path: Path) -> None:
    base = _project()
    sql = "select * from wh.raw.orders"
    _set_sql(base, "stg", sql)
    sides = [str(write(tmp_path / name, base, catalog=name == "base")) for name in ("base", "head")]
    diff = diff_projects(*read_revisions(sides[0], sides[1], RevisionOptions(), tmp_path / "work"))
    assert not _touched(diff)


def _calling(stg: str = "select id, amount from wh.raw.orders", inner: str = "x * 2") -> Manifest:
    """Return a project whose model calls a function that calls another one, and one that reads a table."""

    def function(name: str, body: str, *needs: str) -> dict[str, Any]:
        made = model(name, body, *needs, raw_code=body)
        return {**made, "unique_id": f"function.shop.{name}", "resource_type": "function", "relation_name": None,
                "arguments": [{"name": "x", "data_type": "int"}]}  # fmt: skip

    orders = source("orders", {"id": "int", "amount": "int"})
    needs = ("source.shop.raw.orders", "function.shop.outer", "function.shop.highest")
    query = 'select "wh"."main"."outer"(id) as a, "wh"."main"."highest"(id) as b from wh.raw.orders'
    functions = [
        function("outer", '"wh"."main"."inner"(x) + 1', "function.shop.inner"),
        function("inner", inner),
        function("highest", f"select max(amount) + x from {relation('stg')}", "model.shop.stg"),
    ]
    listed = {one["unique_id"]: one for one in functions}
    return manifest(orders, model("stg", stg, orders["unique_id"]), model("m", query, *needs), functions=listed)


@pytest.mark.parametrize(
    "edited",
    [{"stg": "select id, amount + 1 as amount from wh.raw.orders"}, {"inner": "x * 3"}],
    ids=["a table that a function reads", "a function that a function calls"],
)
def test_what_a_called_function_needs_is_compared(tmp_path: Path, edited: dict[str, str]) -> None:
    found = _diff(tmp_path, lambda data: data.update(_calling(**edited)), _calling())
    assert found.tables["model.shop.m"].is_content
    assert found.tables["model.shop.m"].rebuild
    assert not _diff(tmp_path / "same", lambda data: data, _calling()).rebuild
