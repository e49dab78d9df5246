"""Where personal data flows is found without resolving what is neither above nor below an edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import diff_revisions
from lineage_ingest.diff import project_diff
from lineage_ingest.diff.effects.edges import project_edges
from tests.dbt.manifests import manifest, model, relation, source, write

RAW = source("people", {"id": "int", "email": "text"})


def project(mart: str, *, tagged: bool = True) -> dict[str, Any]:
    people = {**RAW, "columns": {**RAW["columns"], "email": {"name": "email", "data_type": "text", "tags": ["pii"]}}}
    others = [model(f"other{n}", 'select id from "wh"."raw"."people"', RAW["unique_id"]) for n in range(9)]
    return manifest(
        people if tagged else RAW,
        model("stg", 'select id, lower(email) as mail from "wh"."raw"."people"', RAW["unique_id"]),
        model("mid", f"select id, mail as contact from {relation('stg')}", "stg"),
        model("mart", mart.format(relation("mid")), "mid"),
        model("report", f"select * from {relation('mart')}", "mart"),
        *others,
    )


def traced(monkeypatch: pytest.MonkeyPatch, base: Path, head: Path) -> tuple[list[str], object]:
    """Return the new carriers, and the tables that were traced (None: all)."""
    asked: list[object] = []

    def observed(one: Any, other: Any, only: set[str] | None = None) -> Any:
        asked.append(only)
        return project_edges(one, other, only)

    monkeypatch.setattr(project_diff, "project_edges", observed)
    found = diff_revisions(base, head)
    return [f"{one.table}.{one.column} of {one.source}" for one in found.carriers], asked[0]


def test_an_edit_that_publishes_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = write(tmp_path / "base", project("select id from {}"))
    head = write(tmp_path / "head", project("select id, contact from {}"))
    carriers, only = traced(monkeypatch, base, head)
    assert carriers == [f"wh.main.{one}.contact of wh.raw.people.email" for one in ("mart", "report")]
    assert only == {f"wh.main.{one}" for one in ("stg", "mid", "mart", "report")}


def test_a_new_tag_concerns_tables_that_are_not_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = write(tmp_path / "base", project("select id, contact from {}", tagged=False))
    head = write(tmp_path / "head", project("select id + 1 as id, contact from {}"))
    carriers, only = traced(monkeypatch, base, head)
    assert [one.partition(" ")[0] for one in carriers] == [
        "wh.main.mart.contact", "wh.main.mid.contact", "wh.main.report.contact", "wh.main.stg.mail",
    ]  # fmt: skip
    assert only is None
