"""Columns that tables have from earlier builds: their SQL is not all that they are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage_ingest import DbtOptions, ingest_dbt
from lineage_ingest.dbt.project_summary import DbtSummary
from tests.dbt.manifests import manifest, model, relation, source, write

RAW = source("people", {"id": "int", "email": "text", "city": "text"})
BEFORE = 'select id, email from "wh"."raw"."people"'
AFTER = 'select city, id from "wh"."raw"."people"'
APPEND = {"materialized": "incremental", "on_schema_change": "append_new_columns"}
CHECKED = {"materialized": "snapshot", "strategy": "check", "check_cols": "all", "unique_key": "id"}
SNAPSHOT = {"resource_type": "snapshot", "config": CHECKED}


def project(sql: str, day: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return a project whose model `log` later builds add rows to, and a model of all its columns."""
    log = model("log", sql, RAW["unique_id"], **{**fields, "config": {**fields["config"]}})
    copy = model("copy", f"select * from {relation('log')}", "log")
    last = model("last", f"select * from {relation('copy')} where id > 0", "copy")
    return manifest(RAW, log, copy, last, at=f"2026-03-{day:02d}T06:00:00Z")


def ingest(tmp_path: Path, data: dict[str, Any], **options: Any) -> DbtSummary:
    target = write(tmp_path / "target", data)
    return ingest_dbt(target, store=tmp_path / "store.db", options=DbtOptions(**options))


def content(tmp_path: Path, table: str) -> tuple[list[str], set[str]]:
    """Return the columns of a table in order, without those of snapshots, and the edges between columns into it."""
    with open_store(tmp_path / "store.db") as store:
        key = f"postgres/wh.main.{table}"
        columns = [one.path for one in store.columns([key]) if one.dropped_at is None]
        edges = [edge for edge in store.edges_into([key]) if "#" in edge.source and edge.kind == "CONTRIBUTES"]
    pairs = {f"{edge.source.rpartition('#')[2]} -> {edge.target.rpartition('#')[2]}" for edge in edges}
    return ([one for one in columns if not one.startswith("dbt_")], {one for one in pairs if "dbt_" not in one})


def said(summary: DbtSummary) -> list[str]:
    return [one.diagnostic.message for one in summary.diagnostics if str(one.diagnostic.code) == "BUILT_OTHERWISE"]


def command(tmp_path: Path, **arguments: Any) -> None:
    """Write the results of the command that wrote the manifest."""
    data = {
        "metadata": {"generated_at": "2026-03-01T06:00:00Z", "invocation_id": "1"},
        "args": {"which": "run", **arguments},
        "results": [{"unique_id": "model.shop.log", "status": "success", "timing": []}],
    }
    (tmp_path / "target" / "run_results.json").write_text(json.dumps(data), encoding="utf-8")


def catalog(tmp_path: Path, *columns: str, invocation: str = "1") -> None:
    """Write a catalog of the model's table."""
    data = json.loads((tmp_path / "target" / "catalog.json").read_text(encoding="utf-8"))
    data["metadata"]["invocation_id"] = invocation
    listed = {one: {"name": one, "type": "text", "index": number} for number, one in enumerate(columns)}
    data["nodes"]["model.shop.log"] = {"columns": listed}
    (tmp_path / "target" / "catalog.json").write_text(json.dumps(data), encoding="utf-8")


KEPT = (["id", "email", "city"], {"id -> id", "email -> email", "city -> city"})
KEPT_MESSAGE = (
    "the table keeps `email`, which the model's SQL no longer returns: later builds drop no column; their lineage is "
    "that of earlier builds"
)


@pytest.mark.parametrize("fields", [{"config": APPEND}, SNAPSHOT], ids=["append_new_columns", "snapshot"])
def test_a_column_that_no_build_drops_stays(tmp_path: Path, fields: dict[str, Any]) -> None:
    ingest(tmp_path, project(BEFORE, 1, fields))
    for day, full in ((2, False), (3, False), (4, True)):
        summary = ingest(tmp_path, project(AFTER, day, fields), full=full)
        assert said(summary) == [KEPT_MESSAGE]
        assert summary.batch.run.counts["partial"] == 1
        assert content(tmp_path, "log") == KEPT
        assert content(tmp_path, "copy") == KEPT
    again = ingest(tmp_path, project(BEFORE.replace("email", "city, email"), 5, fields))
    assert said(again) == []
    assert content(tmp_path, "log") == KEPT


_DROPPED = {
    "sync_all_columns": {**APPEND, "on_schema_change": "sync_all_columns"},
    "fail": {**APPEND, "on_schema_change": "fail"},
    "always all": {**APPEND, "full_refresh": True},
    "a table": {"materialized": "table"},
}


@pytest.mark.parametrize("case", _DROPPED)
def test_a_column_that_a_build_drops_is_gone(tmp_path: Path, case: str) -> None:
    fields = {"config": _DROPPED[case]}
    ingest(tmp_path, project(BEFORE, 1, fields))
    assert said(ingest(tmp_path, project(AFTER, 2, fields))) == []
    assert content(tmp_path, "copy") == (["city", "id"], {"city -> city", "id -> id"})


def test_a_full_refresh_drops_columns(tmp_path: Path) -> None:
    fields = {"config": APPEND}
    ingest(tmp_path, project(BEFORE, 1, fields))
    assert said(ingest(tmp_path, project(AFTER, 2, fields)))
    command(tmp_path, full_refresh=True)
    assert said(ingest(tmp_path, project(AFTER, 3, fields))) == []
    assert content(tmp_path, "log") == (["city", "id"], {"city -> city", "id -> id"})
    command(tmp_path, full_refresh=False)
    assert said(ingest(tmp_path, project(AFTER, 4, fields))) == []


def test_the_database_knows_better(tmp_path: Path) -> None:
    """`dbt docs generate` reads the columns: of a table that was made anew meanwhile, and of one nobody ingested."""
    fields = {"config": APPEND}
    ingest(tmp_path, project(BEFORE, 1, fields))
    write(tmp_path / "target", project(AFTER, 2, fields))

    def ingest_with(day: int, *columns: str, invocation: str = "1") -> list[str]:
        write(tmp_path / "target", project(AFTER, day, fields))
        catalog(tmp_path, *columns, invocation=invocation)
        return said(ingest_dbt(tmp_path / "target", store=tmp_path / "store.db"))

    assert ingest_with(2, "id", "city", invocation="of another command") == [KEPT_MESSAGE]
    assert ingest_with(3, "id", "city") == []
    assert content(tmp_path, "log") == (["id", "city"], {"id -> id", "city -> city"})
    [message] = ingest_with(4, "id", "old", "city")
    assert "keeps `old`" in message
    assert content(tmp_path, "copy") == (["id", "old", "city"], {"id -> id", "old -> old", "city -> city"})


def test_a_column_that_no_build_adds_is_reported_until_a_full_refresh(tmp_path: Path) -> None:
    """The table lacks it after each later build: whatever else of the model is edited, and if nothing is."""
    fields = {"config": {"materialized": "incremental"}}
    ingest(tmp_path, project(BEFORE, 1, fields))
    wider = BEFORE.replace("email", "email, city")
    for day, sql, full in ((2, wider, False), (3, wider, False), (4, wider.replace("id", "id + 1 as id"), True)):
        summary = ingest(tmp_path, project(sql, day, fields), full=full)
        assert said(summary) == [
            "the model's SQL returns `city`, which its table lacks: later builds add no column",
            "the model reads `city` of wh.main.log, which that table lacks: later builds add no column to it",
            "the model reads `city` of wh.main.copy, which that table lacks: later builds add no column to it",
        ]
        assert summary.batch.run.counts["partial"] == 3
        with open_store(tmp_path / "store.db") as store:
            for table in ("log", "copy", "last"):
                known = {one.path: one.inferred for one in store.columns([f"postgres/wh.main.{table}"])}
                assert known == {"id": False, "email": False, "city": True}, table
    write(tmp_path / "target", project(wider, 5, fields))
    command(tmp_path, full_refresh=True)
    assert said(ingest(tmp_path, project(wider, 5, fields))) == []
    with open_store(tmp_path / "store.db") as store:
        for table in ("log", "copy", "last"):
            assert not any(one.inferred for one in store.columns([f"postgres/wh.main.{table}"])), table
    command(tmp_path, full_refresh=False)
    assert said(ingest(tmp_path, project(wider, 6, fields), full=True)) == []
