"""Models of other projects (dbt Mesh): a manifest only names them, and their columns are what the store knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lineage.store import open_store
from lineage_ingest import DbtOptions, diff_revisions, ingest_dbt
from lineage_ingest.dbt.project_summary import DbtSummary
from tests.dbt.manifests import manifest, model, relation, source, write

RAW = source("orders", {"id": "int", "amount": "int"})
CORE = model("orders", 'select id, amount from "wh"."raw"."orders"', RAW["unique_id"], project="core")
NAMED = {**CORE, "original_file_path": "", "raw_code": "", "compiled_code": None, "config": {"materialized": "view"}}
OWN = model("own", f"select *, amount * 2 as twice from {relation('orders')}", "model.core.orders")


def ingest(tmp_path: Path, data: dict[str, Any]) -> DbtSummary:
    target = write(tmp_path / "target", data)
    return ingest_dbt(target, store=tmp_path / "store.db", options=DbtOptions())


def jobs(tmp_path: Path) -> dict[str, str]:
    """Return the completeness of the jobs."""
    with open_store(tmp_path / "store.db") as store:
        listed = [one for one in store.jobs() if one.retired_at is None]
    return {one.key.partition("@")[0]: str(one.completeness) for one in listed}


def test_a_model_of_another_project_has_the_columns_that_it_has_there(tmp_path: Path) -> None:
    ingest(tmp_path, manifest(RAW, CORE, project="core"))
    summary = ingest(tmp_path, manifest(NAMED, OWN, at="2026-03-02T06:00:00Z"))
    assert summary.diagnostics == ()
    assert summary.batch.run.counts["models"] == 1
    assert jobs(tmp_path) == {"dbt:core:model.core.orders": "full", "dbt:shop:model.shop.own": "full"}
    with open_store(tmp_path / "store.db") as store:
        [dataset] = store.find_datasets("wh.main.orders")
        assert dataset.kind == "table"
        found = {(edge.source.partition("#")[2], edge.target.partition("#")[2])
                 for edge in store.edges_into(["postgres/wh.main.own"]) if "#" in edge.source}  # fmt: skip
    assert found == {("id", "id"), ("amount", "amount"), ("amount", "twice")}


def test_a_model_of_an_unknown_project_is_reported(tmp_path: Path) -> None:
    summary = ingest(tmp_path, manifest(NAMED, OWN))
    assert [str(one.diagnostic.code) for one in summary.diagnostics] == ["UNRESOLVED_STAR"]
    assert jobs(tmp_path) == {"dbt:shop:model.shop.own": "partial"}


def test_a_model_that_another_project_builds_from_now_on(tmp_path: Path) -> None:
    """It keeps its name here, as the plugins of dbt write it."""
    ingest(tmp_path, manifest(RAW, CORE, OWN))
    summary = ingest(tmp_path, manifest(NAMED, OWN, at="2026-03-02T06:00:00Z"))
    assert summary.gone == ("model.core.orders",)
    assert jobs(tmp_path) == {"dbt:shop:model.shop.own": "full"}


def test_it_is_compared_as_a_table(tmp_path: Path) -> None:
    base, head = (write(tmp_path / side, manifest(NAMED, OWN)) for side in ("base", "head"))
    found = diff_revisions(base, head)
    assert list(found.tables) == ["model.shop.own"]
    assert found.notices == ()
