"""What decides the names of tables: an edit of it moves tables, or nothing. Rows do not depend on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ProjectDiff, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition
from tests.dbt.manifests import manifest, model, source, write

ORDERS = source("orders", {"id": "int"})
TEXTS = {"before": "{{ custom_schema_name }}", "after": "{{ custom_schema_name | trim }}"}


def project(macro: str = "before", name: str = "generate_schema_name", **schemas: str) -> dict[str, Any]:
    """Return a project whose models are in schemas of their own; `mart` is a view of `stg`."""
    place = {"stg": "staging", "mart": "marts", "kept": "marts", **schemas}

    def built(name: str, sql: str, *needs: str, materialized: str = "table") -> dict[str, Any]:
        config = {"materialized": materialized, "schema": {"stg": "staging"}.get(name, "marts")}
        where = {"schema": place[name], "relation_name": f'"wh"."{place[name]}"."{name}"'}
        return model(name, sql, *needs, config=config, raw_code=name, **where)

    stg = f'"wh"."{place["stg"]}"."stg"'
    own = {"name": name, "package_name": "shop", "macro_sql": TEXTS[macro], "depends_on": {"macros": []}}
    dbts = {**own, "package_name": "dbt", "macro_sql": "?"}
    return manifest(
        ORDERS,
        built("stg", 'select id from "wh"."raw"."orders"', ORDERS["unique_id"]),
        built("mart", f"select id from {stg}", "stg", materialized="view"),
        built("kept", f"select id from {stg}", "stg", materialized="incremental"),
        macros={f"macro.shop.{name}": own, f"macro.dbt.{name}": dbts},
    )


def diff(folder: Path, base: dict[str, Any], head: dict[str, Any]) -> ProjectDiff:
    return diff_revisions(write(folder / "base", base), write(folder / "head", head))


@pytest.mark.parametrize(
    "name", ["generate_schema_name", "default__generate_alias_name", "generate_database_name", "get_merge_sql"]
)
def test_rows_do_not_depend_on_the_macros_of_names(tmp_path: Path, name: str) -> None:
    found = diff(tmp_path, project(name=name), project("after", name))
    decides_rows = name == "get_merge_sql"
    assert {str(one.effect) for one in found.tables.values()} == {"changed" if decides_rows else "unchanged"}
    assert bool(found.rebuild) is decides_rows


@pytest.mark.parametrize(
    ("name", "of_dbt", "builds"),
    [
        ("postgres__get_merge_sql", "get_merge_sql", True),
        ("default__get_merge_sql", "get_merge_sql", True),
        ("materialization_view_default", "get_merge_sql", True),
        ("default__surrogate_key", "get_merge_sql", False),
        ("postgres__surrogate_key", "get_merge_sql", False),
        ("default__test_unique", "test_unique", False),
    ],
)
def test_macros_that_take_the_place_of_dbts(tmp_path: Path, name: str, of_dbt: str, builds: bool) -> None:
    """What a package dispatches under names of its own is in the SQL of the models that call it."""
    sides = [project(), project("after")]
    for data in sides:
        own, dbts = data["macros"].values()
        own["name"], dbts["name"] = name, of_dbt
    assert bool(diff(tmp_path, *sides).rebuild) is builds


def test_a_table_in_another_schema_is_moved(tmp_path: Path) -> None:
    found = diff(tmp_path, project(), project("after", stg="core"))
    effects = {one.title: (str(one.effect), one.earlier, one.rebuild) for one in found.tables.values()}
    assert effects == {
        "stg": ("renamed", "wh.staging.stg", "it is renamed"),
        "mart": ("unchanged", None, "what it reads has another name"),
        "kept": ("unchanged", None, None),
    }
    assert [text for _, text in found.failures([FailCondition.REMOVED])] == ["wh.staging.stg: renamed to wh.core.stg"]


@pytest.mark.parametrize("macro", sorted(TEXTS))
def test_another_target_moves_nothing(tmp_path: Path, macro: str) -> None:
    """Whether tables would move in production cannot be seen if the macro is edited, too: that is said."""
    found = diff(tmp_path, project("before"), project(macro, stg="dev", mart="dev", kept="dev"))
    assert {str(one.effect) for one in found.tables.values()} == {"unchanged"}
    notices = [one for one in found.notices if one.startswith("the macros that decide schemas and names")]
    assert len(notices) == (macro == "after")


@pytest.mark.parametrize("through", [False, True], ids=["renamed", "read through a new model"])
def test_what_reads_the_same_rows_elsewhere_is_left(tmp_path: Path, through: bool) -> None:
    """Only a view names the table that it reads; rows that were made of it are what they were.

    A new table between may have its rows in another order, on which LIMIT may depend: that is built again.
    """
    order = "" if through else " order by id limit 3"

    def shop(name: str, *more: dict[str, Any]) -> dict[str, Any]:
        def over(reader: str, kind: str, sql: str) -> dict[str, Any]:
            return model(reader, sql.format(f'"wh"."main"."{name}"'), name, config={"materialized": kind})

        readers = [
            over("shown", "view", "select id from {} where id > 1"),
            over("stored", "table", "select id, count(*) over (order by id) as n from {}"),
            over("grown", "incremental", f"select id from {{}}{order}"),
        ]
        return manifest(ORDERS, *more, *readers)

    stg = 'select id from "wh"."raw"."orders"'
    base = shop("stg", model("stg", stg, ORDERS["unique_id"]))
    again = [model("stg", stg, ORDERS["unique_id"]), model("again", 'select * from "wh"."main"."stg"', "stg")]
    head = shop("again", *(again if through else [model("again", stg, ORDERS["unique_id"])]))
    found = diff(tmp_path, base, head)
    assert {one.title: one.full_refresh for one in found.rebuild} == {"again": False, "shown": False}
    assert {one.title for one in found.cosmetic} == {"shown", "stored", "grown"}
