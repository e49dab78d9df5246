"""Broken or odd artifacts: each is a diagnostic, and the rest is ingested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest import DbtOptions, ingest_dbt
from lineage_ingest.dbt.artifacts.target_folder import NoManifestError
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.options import OptionError
from tests.dbt.manifests import V12, manifest, model, relation, source, write
from tests.dbt.test_again import MART, RAW, STAGED, lines


def ingest(tmp_path: Path, data: dict[str, Any], **options: Any) -> DbtSummary:
    target = write(tmp_path / "target", data)
    return ingest_dbt(target, store=tmp_path / "store.db", options=DbtOptions(**options))


def found(summary: DbtSummary) -> set[tuple[str, str]]:
    """Return the severity and code of each diagnostic."""
    return {(str(one.diagnostic.severity), str(one.diagnostic.code)) for one in summary.diagnostics}


def edges(tmp_path: Path, table: str) -> set[str]:
    with open_store(tmp_path / "store.db") as store:
        return lines(store, table)


@pytest.mark.parametrize("version", ["v10", "v11", "v12"])
def test_known_versions(tmp_path: Path, version: str) -> None:
    summary = ingest(tmp_path, manifest(RAW, STAGED, MART, version=V12.replace("v12", version)))
    assert found(summary) == set()
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


@pytest.mark.parametrize("version", [V12.replace("v12", "v19"), V12.replace("v12", "v4"), "", "what"])
def test_an_unknown_version_is_read_as_far_as_it_agrees(tmp_path: Path, version: str) -> None:
    summary = ingest(tmp_path, manifest(RAW, STAGED, MART, version=version))
    assert found(summary) == {("warning", "ARTIFACT_VERSION")}
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_half_a_file_keeps_what_it_does_not_show(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    target = write(tmp_path / "target", manifest(RAW, STAGED, MART, at="2026-03-02T06:00:00Z"))
    text = (target / "manifest.json").read_text(encoding="utf-8")
    (target / "manifest.json").write_text(text[: text.index("model.shop.mart")], encoding="utf-8")
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert found(summary) >= {("error", "ARTIFACT_DAMAGED")}
    assert summary.gone == ()
    assert edges(tmp_path, "stg") == {"orders.id -> id", "orders.amount -> amount"}
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_a_node_of_another_form_is_left_out_but_not_retired(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    broken = {**MART, "depends_on": 7, "columns": ["id"]}
    summary = ingest(tmp_path, manifest(RAW, STAGED, broken, at="2026-03-02T06:00:00Z"))
    assert found(summary) == {("error", "ARTIFACT_DAMAGED")}
    [problem] = summary.diagnostics
    assert "model.shop.mart is left out" in problem.diagnostic.message
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_a_damaged_text_costs_its_node_only(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, STAGED, MART))
    told = {**STAGED, "description": "Bestellungen"}
    target = write(tmp_path / "target", manifest(RAW, told, MART, at="2026-03-02T06:00:00Z"))
    path = target / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"Bestellungen", b"Bestell\xfcngen"))
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    [problem] = summary.diagnostics
    assert problem.diagnostic.message == "model.shop.stg is left out: its text is damaged"
    assert summary.gone == ()
    assert edges(tmp_path, "stg") == {"orders.id -> id", "orders.amount -> amount"}
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    target = write(tmp_path / "target", manifest(RAW, STAGED, {**MART, "meta": {"weight": float("nan")}}))
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert found(summary) == set()
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


@pytest.mark.parametrize("text", ["", "[]", "{", "no", '{"nodes": []}'])
def test_no_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(NoManifestError, match=r"manifest\.json"):
        ingest_dbt(tmp_path, store=tmp_path / "store.db")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NoManifestError, match="dbt compile"):
        ingest_dbt(tmp_path / "nothing", store=tmp_path / "store.db")
    (tmp_path / "dbt_project.yml").touch()
    with pytest.raises(NoManifestError, match="give its target folder, or --project-dir"):
        ingest_dbt(tmp_path, store=tmp_path / "store.db")
    with pytest.raises(OptionError, match="project-dir"):
        ingest_dbt(store=tmp_path / "store.db")


def test_sql_that_does_not_parse_is_traced_by_its_tables(tmp_path: Path) -> None:
    secret = "select id from (select ((( from " + relation("stg") + " where name = 'Ana'"
    broken = model("broken", secret, "stg")
    summary = ingest(tmp_path, manifest(RAW, STAGED, broken, MART))
    assert {severity for severity, _ in found(summary)} == {"error"}
    assert not any("Ana" in str(one.diagnostic) for one in summary.diagnostics)
    again = ingest(tmp_path, manifest(RAW, STAGED, broken, MART))
    assert (again.unchanged, again.diagnostics, again.has_errors) == (3, (), True)
    with open_store(tmp_path / "store.db") as store:
        [job] = [job for job in store.jobs() if "model.shop.broken" in job.key]
        assert (job.reads, job.completeness) == (("postgres/wh.main.stg",), "tables")
        assert "Ana" not in str(job.sql)
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_a_catalog_older_than_the_manifest(tmp_path: Path) -> None:
    target = write(tmp_path / "target", manifest(RAW, STAGED, MART), catalog_at="2026-02-01T00:00:00Z")
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert found(summary) == {("warning", "ARTIFACT_OUTDATED")}
    [problem] = summary.diagnostics
    assert (problem.source, "dbt docs generate" in str(problem.diagnostic.hint)) == ("catalog.json", True)
    assert edges(tmp_path, "stg") == {"orders.id -> id", "orders.amount -> amount"}


def test_half_a_catalog(tmp_path: Path) -> None:
    second = source("late", {"id": "int"})
    star = model("star", 'select * from "wh"."raw"."orders"', "source.shop.raw.orders")
    target = write(tmp_path / "target", manifest(RAW, second, star))
    text = (target / "catalog.json").read_text(encoding="utf-8")
    (target / "catalog.json").write_text(text[: text.index("raw.late") + 12], encoding="utf-8")
    assert found(ingest_dbt(target, store=tmp_path / "store.db")) == {("error", "ARTIFACT_DAMAGED")}
    assert edges(tmp_path, "star") == {"orders.id -> id", "orders.amount -> amount", "orders.note -> note"}


def test_a_cyclic_ephemeral(tmp_path: Path) -> None:
    ephemeral: dict[str, Any] = {"config": {"materialized": "ephemeral"}, "relation_name": None, "compiled_code": None}
    one = model("one", "select id from {{ ref('two') }}", "two", **ephemeral)
    two = model("two", "select id from {{ ref('one') }}", "one", **ephemeral)
    last = model("last", "select id from {{ ref('one') }}", "one", compiled_code=None)
    summary = ingest(tmp_path, manifest(RAW, STAGED, MART, one, two, last))
    assert ("error", "CYCLIC_DEFINITION") in found(summary)
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}


def test_tables_that_read_each_other(tmp_path: Path) -> None:
    one = model("one", f"select id from {relation('two')}", "two")
    two = model("two", f"select id from {relation('one')}", "one")
    summary = ingest(tmp_path, manifest(RAW, STAGED, MART, one, two))
    assert ("warning", "CYCLIC_DEFINITION") in found(summary)
    assert (edges(tmp_path, "one"), edges(tmp_path, "two")) == ({"two.id -> id"}, {"one.id -> id"})


def test_an_unknown_adapter(tmp_path: Path) -> None:
    data = manifest(RAW, STAGED)
    data["metadata"]["adapter_type"] = "acme"
    assert found(ingest(tmp_path, data)) == {("warning", "DIALECT_GUESSED")}
    assert found(ingest(tmp_path, data, dialect="postgres")) == set()


def test_nulls_for_what_is_not_set(tmp_path: Path) -> None:
    empty = dict.fromkeys(("columns", "config", "original_file_path", "alias", "meta"))
    odd = {**model("odd", f"select id from {relation('stg')}", "stg"), **empty, "original_file_path": ""}
    data = json.loads(json.dumps(manifest(RAW, STAGED, odd)))
    data |= {"exposures": None, "metrics": None, "macros": None}
    assert found(ingest(tmp_path, data)) == set()
    assert edges(tmp_path, "odd") == {"stg.id -> id"}
