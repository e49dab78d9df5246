"""Tests whose failing rows are stored: the table has copies of what they test, and is downstream of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.traversal import impact, resolve
from lineage_ingest import diff_revisions, ingest_dbt
from tests.dbt.manifests import manifest, model, source, write

PEOPLE = source("people", {"id": "int", "email": "text", "state": "text"})
SQL = 'select * from (select * from "wh"."main"."stg" where state = 1) dbt_subquery where email is null'


def project(day: int = 1, compiled: str | None = SQL, **config: Any) -> dict[str, Any]:
    """Return a project with a test whose failing rows are stored."""
    stg = model("stg", 'select id, email, state from "wh"."raw"."people"', PEOPLE["unique_id"])
    test = {
        **model("not_null_email", "{{ test_not_null(**_dbt_generic_test_kwargs) }}", "stg", schema="audit"),
        "unique_id": "test.shop.not_null_email", "resource_type": "test", "column_name": "email",
        "attached_node": "model.shop.stg", "test_metadata": {"name": "not_null", "kwargs": {}},
        "relation_name": '"wh"."audit"."not_null_email"', "compiled_code": compiled,
        "original_file_path": "models/stg.yml",
        "config": {"materialized": "test", "store_failures": True, "severity": "ERROR", **config},
    }  # fmt: skip
    return manifest(PEOPLE, stg, test, at=f"2026-03-{day:02d}T06:00:00Z")


def reached(path: Path, column: str) -> dict[str, set[str]]:
    """Return the columns that depend on a column of the source, by table."""
    found: dict[str, set[str]] = {}
    with open_store(path) as store:
        for one in impact(store, resolve(store, f"wh.raw.people.{column}")).columns:
            found.setdefault(one.table, set()).add(one.column)
    return found


EVERY = {"id", "email", "state"}


@pytest.mark.parametrize("kind", ["table", "view"])
def test_failing_rows_are_copies(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.db"
    for day in (1, 2):
        summary = ingest_dbt(write(tmp_path / "target", project(day, store_failures_as=kind)), store=path)
        assert (summary.batch.run.counts["models"], summary.batch.run.counts["resolved"]) == (1, 1)
        assert reached(path, "id") == {"wh.main.stg": {"id"}, "wh.audit.not_null_email": {"id"}}
        assert reached(path, "email") == {"wh.main.stg": {"email"}, "wh.audit.not_null_email": EVERY}
        with open_store(path) as store:
            [audit] = [one for one in store.datasets() if one.name == "wh.audit.not_null_email"]
        assert str(audit.kind) == kind


def test_a_test_that_was_not_compiled_reads_tables(tmp_path: Path) -> None:
    """`dbt run` compiles no tests: then only what they read is known, and no model is called incomplete for it."""
    path = tmp_path / "store.db"
    summary = ingest_dbt(write(tmp_path / "target", project(compiled=None)), store=path)
    assert summary.diagnostics == ()
    with open_store(path) as store:
        [job] = [one for one in store.jobs() if "not_null_email" in one.key]
        assert (str(job.completeness), job.reads) == ("tables", ("postgres/wh.main.stg",))
        answer = impact(store, resolve(store, "wh.raw.people.email"))
        assert "postgres/wh.audit.not_null_email" in {one.dataset for one in answer.possibly_affected}


def test_what_an_earlier_command_compiled(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop", encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "stg.yml").write_text("", encoding="utf-8")
    target = write(tmp_path / "target", project(compiled=None))
    folder = target / "compiled" / "shop" / "models" / "stg.yml"
    folder.mkdir(parents=True)
    (folder / "not_null_email.sql").write_text(SQL, encoding="utf-8")
    ingest_dbt(target, store=tmp_path / "store.db")
    assert reached(tmp_path / "store.db", "id")["wh.audit.not_null_email"] == {"id"}


def test_failing_rows_that_are_no_longer_stored(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ingest_dbt(write(tmp_path / "target", project()), store=path)
    data = project(2)
    data["nodes"]["test.shop.not_null_email"]["relation_name"] = None
    ingest_dbt(write(tmp_path / "target", data), store=path)
    assert reached(path, "id") == {"wh.main.stg": {"id"}}


def test_they_are_no_definitions_of_the_project(tmp_path: Path) -> None:
    head = json.loads(json.dumps(project()).replace("email is null", "email is null or 1 = 2"))
    found = diff_revisions(write(tmp_path / "base", project()), write(tmp_path / "head", head))
    assert {one.title for one in found.tables.values()} == {"stg"}
