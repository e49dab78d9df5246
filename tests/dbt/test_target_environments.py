"""Production and development in one store: neither takes the other's place, whatever decides the schemas' names."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from lineage.store import GraphStore, open_store
from lineage_ingest import DbtOptions, ingest_dbt
from lineage_ingest.dbt.artifacts.manifest import parse_manifest
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.dbt.relation_names import target_defaults
from tests.dbt.manifests import manifest, model, source, write

RAW = source("orders", {"id": "int", "amount": "int"})
CUSTOM = {"stg": "staging", "mart": "marts"}
BOARD = {
    "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board",
    "depends_on": {"nodes": ["model.shop.mart"]},
}  # fmt: skip


def built(name: str, schema: str, sql: str, *needs: str, custom: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a model in a schema."""
    place = {"schema": schema, "relation_name": f'"wh"."{schema}"."{name}"'}
    config = {"schema": custom, **fields.pop("config", {})}
    return model(name, sql, *needs, **place, config=config, **fields)


def project(schemas: dict[str, str], day: int = 1, *more: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """Return a project of two models with custom schemas, which are in these schemas."""
    stg, mart = schemas["stg"], schemas["mart"]
    return manifest(
        RAW,
        built("stg", stg, 'select id, amount from "wh"."raw"."orders"', RAW["unique_id"], custom=CUSTOM["stg"]),
        built("mart", mart, f'select amount as total from "wh"."{stg}"."stg"', "stg", custom=CUSTOM["mart"]),
        *more,
        at=f"2026-03-{day:02d}T06:00:00Z",
        **sections,
    )


PROD = CUSTOM
DEV = {"stg": "dev_ana", "mart": "dev_ana"}


def ingest(tmp_path: Path, data: dict[str, Any]) -> DbtSummary:
    return ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "store.db", options=DbtOptions())


def sources(store: GraphStore, *tables: str) -> dict[str, list[str]]:
    """Return the jobs with live edges into tables, by the tables that have any; jobs by their environments."""
    keys = [f"postgres/wh.{one}" for one in tables]
    edges = [(edge.job.rpartition("@")[2], edge.target) for edge in store.edges_into(keys)]
    found = {one.removeprefix("postgres/wh."): sorted({job for job, key in edges if key.startswith(f"{one}#")})
             for one in keys}  # fmt: skip
    return {table: jobs for table, jobs in found.items() if jobs}


_SCHEMAS = {
    "each custom schema": (PROD, None),
    "each custom schema, in upper case": ({key: name.upper() for key, name in PROD.items()}, None),
    "all in the target's schema": (DEV, "dev_ana"),
    "the target before the custom schema": ({key: f"dev_ana_{name}" for key, name in PROD.items()}, "dev_ana"),
    "the target after the custom schema": ({key: f"{name}_dev_ana" for key, name in PROD.items()}, "dev_ana"),
}


@pytest.mark.parametrize("case", _SCHEMAS)
def test_the_schema_of_the_target(tmp_path: Path, case: str) -> None:
    schemas, expected = _SCHEMAS[case]
    snapshot = built("snap", "snaps", "select 1 as one", config={"target_schema": "snaps"}, resource_type="snapshot")
    elsewhere = built("of_others", "core", "", original_file_path="", compiled_code=None, project="core")
    data = project(schemas, 1, snapshot, elsewhere)
    found = parse_manifest({key: Raw(json.dumps(value).encode()) for key, value in data.items()})
    assert target_defaults(found) == ("wh", expected)


def test_development_in_one_schema_leaves_production_alone(tmp_path: Path) -> None:
    """dbt's macro generate_schema_name_for_env: custom schemas in production, the target's schema elsewhere."""
    ingest(tmp_path, project(PROD))
    [notice] = ingest(tmp_path, project(DEV, 2)).notices
    assert notice.startswith("the store has 2 nodes of shop as postgres,,wh, too")
    with open_store(tmp_path / "store.db") as store:
        assert sources(store, "staging.stg", "marts.mart", "dev_ana.stg", "dev_ana.mart") == {
            "staging.stg": ["postgres,,wh"], "marts.mart": ["postgres,,wh"],
            "dev_ana.stg": ["postgres,,wh,dev_ana"], "dev_ana.mart": ["postgres,,wh,dev_ana"],
        }  # fmt: skip


def test_an_environment_with_another_name_replaces_itself(tmp_path: Path) -> None:
    """The first model without a custom schema shows the target's; a model that is gone with that goes too."""
    gone = built("gone", "marts", 'select id from "wh"."raw"."orders"', RAW["unique_id"], custom="marts")
    exposures = {"exposure.shop.board": BOARD}
    ingest(tmp_path, project(PROD, 1, gone, exposures=exposures))
    new = built("new", "prod", 'select id from "wh"."raw"."orders"', RAW["unique_id"])
    summary = ingest(tmp_path, project(PROD, 2, new, exposures=exposures))
    assert summary.notices == (
        "4 nodes of shop as postgres,,wh replaced: the tables that they had are built by the models of this manifest",
    )
    with open_store(tmp_path / "store.db") as store:
        found = sources(store, "staging.stg", "marts.mart", "marts.gone", "prod.new")
        assert found == {key: ["postgres,,wh,prod"] for key in ("staging.stg", "marts.mart", "prod.new")}
        live = [one.key for one in store.jobs() if one.retired_at is None]
        assert all(key.endswith("@postgres,,wh,prod") for key in live)
        assert len(live) == 4
    assert ingest(tmp_path, project(PROD, 3, new, exposures=exposures)).notices == ()


def test_a_project_whose_models_are_all_disabled(tmp_path: Path) -> None:
    """They show where the target is: nothing of the project is left in this environment."""
    ingest(tmp_path, project(PROD, 1))
    data = project(PROD, 2)
    disabled = {key: [{**node, "config": {**node["config"], "enabled": False}}] for key, node in data["nodes"].items()}
    disabled["model.shop.damaged"] = [{"name": 1}]
    summary = ingest(tmp_path, {**data, "nodes": {}, "disabled": disabled})
    assert (summary.notices, len(summary.gone)) == ((), 2)
    with open_store(tmp_path / "store.db") as store:
        assert not [one.key for one in store.jobs() if one.retired_at is None]


def test_a_shared_table_has_what_was_built_last(tmp_path: Path) -> None:
    """Both targets build one model into the same table; the others are apart."""

    def shared(column: str) -> dict[str, Any]:
        return built("shared", "ref", f'select {column} as value from "wh"."raw"."orders"', RAW["unique_id"],
                     custom="ref", alias="shared")  # fmt: skip

    ingest(tmp_path, project(PROD, 1, shared("id")))
    ingest(tmp_path, project(DEV, 2, shared("amount")))
    with open_store(tmp_path / "store.db") as store:
        assert sources(store, "ref.shared", "marts.mart", "dev_ana.mart") == {
            "ref.shared": ["postgres,,wh,dev_ana"], "marts.mart": ["postgres,,wh"],
            "dev_ana.mart": ["postgres,,wh,dev_ana"],
        }  # fmt: skip
    ingest(tmp_path, project(PROD, 3, shared("id")))
    with open_store(tmp_path / "store.db") as store:
        assert sources(store, "ref.shared") == {"ref.shared": ["postgres,,wh"]}
        then = store.edges_into(["postgres/wh.ref.shared"], as_of=datetime(2026, 3, 2, 12, tzinfo=UTC))
        assert {edge.source for edge in then if "#" in edge.source} == {"postgres/wh.raw.orders#amount"}


def test_a_project_with_another_name(tmp_path: Path) -> None:
    """The store cannot know that it is the same project: a notice says that the tables have the lineage of both."""
    ingest(tmp_path, project(PROD, 1))
    renamed = json.loads(json.dumps(project(PROD, 2)).replace(".shop.", ".store.").replace('"shop"', '"store"'))
    [notice] = ingest(tmp_path, renamed).notices
    assert notice == (
        "dbt/shop builds 2 tables of this project as well (wh.marts.mart, wh.staging.stg): they have the lineage of "
        "both; if it has another name now: lineage forget --project dbt/shop"
    )


def test_two_projects_with_tables_of_their_own(tmp_path: Path) -> None:
    """One may read what the other builds."""
    ingest(tmp_path, project(PROD, 1))
    board = model("board", 'select total from "wh"."marts"."mart"', project="other")
    assert ingest(tmp_path, manifest(board, project="other", at="2026-03-02T06:00:00Z")).notices == ()


def test_what_is_older_replaces_nothing(tmp_path: Path) -> None:
    """A manifest of development from before the last build of production is ingested after it."""

    def shared(column: str) -> dict[str, Any]:
        return built("shared", "ref", f'select {column} as value from "wh"."raw"."orders"', RAW["unique_id"],
                     custom="ref")  # fmt: skip

    ingest(tmp_path, project(PROD, 5, shared("id")))
    ingest(tmp_path, project(DEV, 2, shared("amount")))
    with open_store(tmp_path / "store.db") as store:
        assert "postgres,,wh" in sources(store, "ref.shared")["ref.shared"]
        assert sources(store, "marts.mart") == {"marts.mart": ["postgres,,wh"]}


@pytest.mark.parametrize("schema", ["staging", "STAGING", "dev_ana"])
def test_a_catalog_of_another_target_is_not_read(tmp_path: Path, schema: str) -> None:
    """Both targets write into one folder, and `dbt docs generate` was for the other one."""
    data = project(PROD)
    data["nodes"]["model.shop.stg"] |= {"original_file_path": "models/stg.py", "language": "python"}
    data["nodes"]["model.shop.mart"]["compiled_code"] = 'select * from "wh"."staging"."stg"'
    write(tmp_path / "target", data)
    catalog = json.loads((tmp_path / "target" / "catalog.json").read_text(encoding="utf-8"))
    columns = {"old": {"name": "old", "type": "int", "index": 1}}
    place = {"database": "wh", "schema": schema, "name": "stg"}
    catalog["nodes"] = {"model.shop.stg": {"metadata": place, "columns": columns}}
    (tmp_path / "target" / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    summary = ingest_dbt(tmp_path / "target", store=tmp_path / "store.db", options=DbtOptions())
    codes = {str(one.diagnostic.code) for one in summary.diagnostics} - {"PYTHON_MODEL"}
    assert codes == ({"ARTIFACT_OUTDATED", "UNRESOLVED_STAR"} if schema == "dev_ana" else set())
