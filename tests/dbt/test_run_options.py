"""Options of dbt's commands: `--defer` reads another environment, `--empty` and `--sample` compile parts of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest import DbtOptions, ProjectDiff, diff_revisions, ingest_dbt
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.dbt.templates.rendered_references import deferred_relations, whole_relations
from tests.dbt.conftest import run_dbt
from tests.dbt.manifests import AT, manifest, model, source, write

RAW = source("orders", {"id": "int", "amount": "int", "at": "date"})


def relation(schema: str, name: str) -> str:
    return f'"wh"."{schema}"."{name}"'


def project(schema: str, reads: str | None = None, alias: str = "stg", more: str = "") -> dict[str, Any]:
    """Return a project in a schema; `mart` reads a relation, by default the one of `stg`."""
    own = relation(schema, alias)
    stg = model("stg", 'select id, amount, at from "wh"."raw"."orders"', RAW["unique_id"], schema=schema, alias=alias,
                relation_name=own, config={"event_time": "at"})  # fmt: skip
    eph = model("eph", f"select id from {own}", "stg", config={"materialized": "ephemeral"}, schema=schema)
    text = f"select amount as total{more} from {reads or own} o"
    raw = f"select amount as total{more} from {{{{ ref('stg') }}}} o"
    mart = model("mart", text, "stg", schema=schema, relation_name=relation(schema, "mart"), raw_code=raw)
    return manifest(RAW, stg, eph, mart)


def results(folder: Path, **arguments: Any) -> None:
    """Write the results of the command that wrote the manifest."""
    data = {
        "metadata": {"generated_at": AT, "invocation_id": "1"}, "args": {"which": "run", **arguments},
        "results": [{"unique_id": "model.shop.mart", "status": "success", "timing": []}],
    }  # fmt: skip
    (folder / "run_results.json").write_text(json.dumps(data), encoding="utf-8")


def ingest(tmp_path: Path, target: Path) -> DbtSummary:
    return ingest_dbt(target, store=tmp_path / "store.db", options=DbtOptions())


def mart(tmp_path: Path) -> tuple[set[str], set[str], str]:
    """Return the sources of the model's columns, the tables that it reads, and its completeness."""
    with open_store(tmp_path / "store.db") as store:
        [job] = [one for one in store.jobs() if "model.shop.mart@" in one.key]
        edges = {edge.source for edge in store.edges_of([job.key]) if "#" in edge.source and "#" in edge.target}
        return {one.partition("/")[2] for one in edges}, {*job.reads}, str(job.completeness)


def said(summary: DbtSummary) -> list[str]:
    return [one.diagnostic.message for one in summary.diagnostics if str(one.diagnostic.code) == "BUILT_OTHERWISE"]


PROD = relation("prod", "stg")


def test_a_deferred_table_is_the_one_that_was_read(tmp_path: Path) -> None:
    ingest(tmp_path, write(tmp_path / "prod", project("prod")))
    [message] = said(ingest(tmp_path, write(tmp_path / "target", project("dev", PROD))))
    assert message == "dbt deferred to another environment: models read wh.prod.stg for wh.dev.stg"
    with open_store(tmp_path / "store.db") as store:
        [job] = [one for one in store.jobs() if one.key.endswith("model.shop.mart@postgres,,wh,dev")]
        found = {edge.source for edge in store.edges_of([job.key]) if "#" in edge.target}
    assert job.reads == ("postgres/wh.prod.stg",)
    assert (str(job.completeness), found) == ("full", {"postgres/wh.prod.stg#amount"})


def test_a_deferred_table_of_another_name_is_in_the_state(tmp_path: Path) -> None:
    write(tmp_path / "states" / "prod", project("prod"))
    target = write(tmp_path / "target", project("dev", PROD, alias="main__stg"))
    ingest(tmp_path, target)
    assert mart(tmp_path)[1:] == ({"postgres/wh.prod.stg", "postgres/wh.dev.main__stg"}, "partial")
    results(target, defer=True, state="states/prod")
    (tmp_path / "store.db").rename(tmp_path / "other.db")
    ingest(tmp_path, target)
    assert mart(tmp_path)[1:] == ({"postgres/wh.prod.stg"}, "full")


def test_a_table_that_only_sets_the_order_is_not_deferred(tmp_path: Path) -> None:
    """The SQL reads the source of the same name, which the project knows."""
    data = project("dev", relation("raw", "orders"), alias="orders")
    ingest(tmp_path, write(tmp_path / "target", data))
    assert mart(tmp_path)[1:] == ({"postgres/wh.raw.orders", "postgres/wh.dev.orders"}, "partial")


_PARTS = {
    "empty": f"(select * from {relation('dev', 'stg')} where false limit 0)",
    "empty, named": f"(select * from {relation('dev', 'stg')} where false limit 0) _dbt_limit_subq_stg",
    "sample": f"(select * from {relation('dev', 'stg')} where at >= '2026-01-05 00:00:00+00:00' and at < "
    "'2026-01-09 00:00:00+00:00')",
    "sample, named": f"(select * from {relation('dev', 'stg')} where cast(at as timestamp) >= "
    "to_timestamp_tz('2026-01-05 00:00:00+00:00')) _dbt_et_filter_subq_stg",
    "both": f"(select * from (select * from {relation('dev', 'stg')} where false limit 0) where at < "
    "'2026-01-05 10:11:12.131415+00:00')",
}


@pytest.mark.parametrize("form", _PARTS)
def test_a_part_of_a_table_is_the_table(tmp_path: Path, form: str) -> None:
    ingest(tmp_path, write(tmp_path / "target", project("dev")))
    before = mart(tmp_path)
    data = project("dev", _PARTS[form])
    text = data["nodes"]["model.shop.mart"]["compiled_code"]
    data["nodes"]["model.shop.mart"]["compiled_code"] = text if form.count(",") == 0 else text.replace(" o", "", 1)
    summary = ingest(tmp_path, write(tmp_path / "target", data))
    assert mart(tmp_path) == before
    assert [one.partition(":")[0] for one in said(summary)] == [
        "dbt compiled 1 model for a part of the rows (--empty, --sample)"
    ]
    base = write(tmp_path / "base", project("prod"))
    assert {str(one.effect) for one in diff_revisions(base, tmp_path / "target").tables.values()} == {"unchanged"}


_OWN = {
    "a filter of the model": ("(select * from {{ ref('stg') }} where at >= '2026-01-05 00:00:00+00:00')",
                              f"(select * from {PROD} where at >= '2026-01-05 00:00:00+00:00')"),
    "no rows in the model": ("(select * from {{ ref('stg') }} where false limit 0)",
                             f"(select * from {PROD} where false limit 0)"),
    "another column": ("", f"(select * from {PROD} where id >= '2026-01-05 00:00:00+00:00')"),
    "no time": ("", f"(select * from {PROD} where at >= 'x')"),
}  # fmt: skip


@pytest.mark.parametrize("case", _OWN)
def test_what_a_model_says_itself_stays(case: str) -> None:
    raw, compiled = _OWN[case]
    node = DbtNode.model_validate({**project("prod")["nodes"]["model.shop.stg"]})
    assert whole_relations(f"select 1 from {compiled}", raw, [node]) == f"select 1 from {compiled}"


@pytest.mark.parametrize(
    ("own", "sql", "expected"),
    [
        ("`p`.`dev`.`t`", "select * from `p`.`prod`.`t`", "`p`.`prod`.`t`"),
        ("dev.t", "select * from prod.t as t", "prod.t"),
        ("[wh].[dev].[t]", "select * from [wh].[prod].[t]", "[wh].[prod].[t]"),
        ('"wh"."dev"."t"', 'select * from "wh"."prod"."t2"', None),
        ('"wh"."dev"."t"', 'select * from "wh"."prod"."t" join "wh"."old"."t"', None),
        ("dev.t", "select prod.t.a from x.y", None),
        ("t", "select * from prod.t", None),
    ],
)
def test_the_relation_in_place_of_a_node(own: str, sql: str, expected: str | None) -> None:
    data = {"unique_id": "model.shop.t", "resource_type": "model", "name": "t", "relation_name": own}
    node = DbtNode.model_validate(data)
    assert [one for _, one in deferred_relations(sql, [node], {own}, {})] == ([expected] if expected else [])


def diff(tmp_path: Path, head: dict[str, Any]) -> ProjectDiff:
    return diff_revisions(write(tmp_path / "base", project("prod")), write(tmp_path / "head", head))


@pytest.mark.parametrize("alias", ["stg", "main__stg"])
def test_a_deferred_table_is_compared_as_the_projects_own(tmp_path: Path, alias: str) -> None:
    """CI builds what is modified, and reads the rest in production."""
    found = diff(tmp_path, project("ci_7", PROD, alias, more=", id"))
    table = found.tables["model.shop.mart"]
    assert [(one.name, str(one.effect)) for one in table.columns if one.is_content] == [("id", "added")]
    assert [one.title for one in found.rebuild if one.key != "model.shop.stg"] == ["mart"]
    upstream = project("ci_7", PROD, alias)
    upstream["nodes"]["model.shop.stg"]["compiled_code"] = (
        'select id, amount / 2 as amount, at from "wh"."raw"."orders"'
    )
    assert str(diff(tmp_path, upstream).tables["model.shop.mart"].effect) == "affected"


def test_copies_are_reported(tmp_path: Path) -> None:
    target = write(tmp_path / "target", project("dev"))
    results(target, which="clone")
    [message] = said(ingest(tmp_path, target))
    assert message.startswith("`dbt clone` made 1 table copies of those of another environment")


def test_what_dbt_compiles_with_these_options(project: Path, tmp_path: Path) -> None:
    profile = (project / "profiles.yml").read_text(encoding="utf-8")
    (project / "profiles.yml").write_text(profile.replace("threads", "schema: ci\n      threads"), encoding="utf-8")
    (project / "target").rename(project / "prod")
    run_dbt(project, "compile", "--select", "orders", "stg_payments", "--defer", "--state", "prod", "--empty")
    summary = ingest(tmp_path, project / "target")
    assert sorted(one.partition(":")[0] for one in said(summary)) == [
        "dbt compiled 2 models for a part of the rows (--empty, --sample)", "dbt deferred to another environment",
    ]  # fmt: skip
    with open_store(tmp_path / "store.db") as store:
        [job] = [one for one in store.jobs() if "model.jaffle_shop.orders@" in one.key]
    assert {one.partition(".")[2] for one in job.reads} == {"main.stg_orders", "main.stg_payments"}
    found = diff_revisions(project / "prod", project / "target")
    assert {str(one.effect) for one in found.tables.values()} == {"unchanged"}
