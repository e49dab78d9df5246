"""The base is production, the head a schema of its own: tables have other names, and the base's have the readers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lineage.model.batch import LineageBatch, RunRecord
from lineage.model.facts import Facts, FactsRecord
from lineage.model.names import column_key, dataset_key
from lineage.store import open_store
from lineage_ingest import LogOptions, ProjectDiff, diff_revisions, ingest_dbt, ingest_log
from tests.dbt.manifests import manifest, model, source, write

ORDERS = source("orders", {"id": "int", "email": "text"})
LOG = 'query_text,user,started_at\n"select id, mail from wh.prod.mart",ana,2026-03-01T10:00:00Z\n'


def project(schema: str, published: str = "", missing: str = "o.missing") -> dict[str, Any]:
    """Return a project as its target's schema names it; one model reads a column that does not exist."""

    def table(name: str) -> str:
        return f'"wh"."{schema}"."{name}"'

    def built(name: str, sql: str, *needs: str) -> dict[str, Any]:
        return {**model(name, sql, *needs), "schema": schema, "relation_name": table(name)}

    return manifest(
        ORDERS,
        built("stg", 'select id, email as "Mail" from "wh"."raw"."orders"', ORDERS["unique_id"]),
        built("mart", f'select id, "Mail" as mail from {table("stg")}', "stg"),
        built("board", f"select id{published} from {table('stg')}", "stg"),
        built("odd", f'select {missing} from "wh"."raw"."orders" o', ORDERS["unique_id"]),
    )


def diff(folder: Path, base: dict[str, Any], head: dict[str, Any]) -> ProjectDiff:
    return diff_revisions(write(folder / "base", base), write(folder / "head", head), store=str(folder / "s.db"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ingest_dbt(write(tmp_path / "ingested", project("prod")), store=tmp_path / "s.db")
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    options = LogOptions(dialect="postgres")
    ingest_log(tmp_path / "log.csv", source="generic", store=tmp_path / "s.db", options=options)
    return tmp_path


def test_the_same_project_in_another_schema(folder: Path) -> None:
    found = diff(folder, project("prod"), project("ci_7"))
    assert {str(one.effect) for one in found.tables.values()} <= {"unchanged", "cosmetic"}
    assert not found.missing
    assert not found.rebuild


def test_readers_are_those_of_the_base(folder: Path) -> None:
    head = project("ci_7")
    head["nodes"]["model.shop.mart"]["compiled_code"] = 'select id from "wh"."ci_7"."stg"'
    found = diff(folder, project("prod"), head)
    assert found.reach is not None
    reach = found.reach["model.shop.mart"]
    assert (reach.in_store, [user for user, _ in reach.users]) == (True, ["ana"])
    [removed] = [one for one in found.tables["model.shop.mart"].columns if one.is_content]
    assert (removed.name, str(found.risk_of(found.tables["model.shop.mart"], removed))) == ("mail", "breaking")


@pytest.mark.parametrize("where", ["properties", "store", "tag of another project", "meta of another project"])
def test_personal_data_that_was_there_is_not_new(folder: Path, where: str) -> None:
    base, head = project("prod"), project("ci_7", ', "Mail" as contact')
    if where == "properties":
        for side in (base, head):
            side["nodes"]["model.shop.stg"]["columns"] = {"mail": {"name": "mail", "tags": ["pii"]}}
    elif where == "store":
        with open_store(folder / "s.db") as store:
            store.describe(column_key(dataset_key("postgres", "wh.prod.stg"), "Mail"), tags=["pii"])
    else:
        dataset, at = dataset_key("postgres", "wh.prod.stg"), datetime(2026, 3, 2, tzinfo=UTC)
        facts = Facts("dbt/other:source.other.stg@", at, tags=("PII",) if where.startswith("tag") else (),
                      meta=(("pii", "true"),) if where.startswith("meta") else ())  # fmt: skip
        record = FactsRecord(dataset, Facts("dbt/other:source.other.stg@", at), {"Mail": facts})
        with open_store(folder / "s.db") as store:
            store.apply(LineageBatch(RunRecord("other", "dbt", "other", at, {}), (), (), (), facts=(record,)))
    found = diff(folder, base, head)
    assert [(one.table, one.column) for one in found.carriers] == [("wh.ci_7.board", "contact")]
    assert not diff(folder, base, {**head, "nodes": {**head["nodes"], **moved(base)}}).carriers


def moved(base: dict[str, Any]) -> dict[str, Any]:
    """Return the model `board` of the base in the other schema."""
    text = str(base["nodes"]["model.shop.board"]["compiled_code"]).replace('"prod"', '"ci_7"')
    return {"model.shop.board": {**base["nodes"]["model.shop.board"], "compiled_code": text, "raw_code": text}}


def test_an_incremental_model_that_was_compiled_without_its_table(tmp_path: Path) -> None:
    """If the values of variables are not known, neither is the SQL of the other build: a notice says why it differs."""
    template = "select id from {{ ref('stg') }} {% if is_incremental() %} where id > {{ var('since') }} {% endif %}"

    def shop(condition: str, **more: Any) -> dict[str, Any]:
        fields = {"config": {"materialized": "incremental"}, "raw_code": template, **more}
        stg = model("stg", 'select id from "wh"."raw"."orders"', ORDERS["unique_id"])
        return manifest(ORDERS, stg, model("grown", f'select id from "wh"."main"."stg" {condition}', "stg", **fields))

    def said(name: str, head: dict[str, Any]) -> list[str]:
        base = write(tmp_path / name / "base", shop("where id > 5"))
        found = diff_revisions(base, write(tmp_path / name / "head", head))
        return [one for one in found.notices if "is_incremental()); compile both where it does" in one]

    [text] = said("another build", shop(""))
    assert text.startswith("grown: the template is the same")
    assert said("the same", shop("where id > 5")) == []
    assert said("an edit", shop("", raw_code=template.replace("id >", "id >="))) == []


def test_another_name_of_the_project_is_said(tmp_path: Path) -> None:
    sides = [
        write(tmp_path / name, manifest(ORDERS, model("stg", "select 1 as id", project=name), project=name))
        for name in ("shop", "store")
    ]
    [notice] = [one for one in diff_revisions(*sides).notices if one.startswith("the project is")]
    assert notice.startswith("the project is shop in one manifest and store in the other")
    assert not [one for one in diff_revisions(sides[0], sides[0]).notices if one.startswith("the project is")]
