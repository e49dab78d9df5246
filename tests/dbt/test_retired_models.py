"""The name of a table that no model builds any more: what still reads it is as in a store that never knew it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage.store import GraphStore, open_store
from lineage_ingest import DbtOptions, LogOptions, ingest_dbt, ingest_log
from tests.dbt.manifests import manifest, model, relation, source, write

T = source("t", {"id": "int", "k": "int"})
SQL = 'select id as x from "wh"."raw"."t"'
A = model("a", SQL, T["unique_id"])
KEPT = model("kept", SQL, T["unique_id"])
LATER: dict[str, tuple[dict[str, Any], ...]] = {
    "renamed": (model("b", SQL, T["unique_id"]),),
    "another alias": ({**A, "alias": "a2", "relation_name": relation("a2")},),
    "removed": (),
}
STAR = f"select * from {relation('a')}"
READERS: dict[str, dict[str, Any]] = {
    "star": model("r", STAR),
    "columns of one of two tables": model("r", f"select x, k from {relation('a')}, {relation('d')}"),
    "not compiled": {**model("r", "select * from {{ ref('a') }}", "a"), "compiled_code": None},
}
OPTIONS = DbtOptions(namespace="postgres")


def said(store: GraphStore) -> object:
    """Return the lineage of the reader, and what is reported."""
    edges = [(one.source, one.target, one.kind) for one in store.edges_into(["postgres/wh.main.r"])]
    return sorted(edges), sorted(one.diagnostic.code for one in store.diagnostics())


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("is_new", [False, True], ids=["reader of before", "new reader"])
def test_it_is_as_in_a_new_store(tmp_path: Path, later: str, reader: str, is_new: bool) -> None:
    reads = READERS[reader]
    before = manifest(T, A) if is_new else manifest(T, A, reads)
    after = manifest(T, *LATER[later], reads, at="2026-03-02T06:00:00.000000Z")
    ingest_dbt(write(tmp_path / "target", before), store=tmp_path / "store.db", options=OPTIONS)
    write(tmp_path / "target", after)
    ingest_dbt(tmp_path / "target", store=tmp_path / "new.db", options=OPTIONS)
    with open_store(tmp_path / "new.db") as new:
        expected = said(new)
    for _ in range(2):
        ingest_dbt(tmp_path / "target", store=tmp_path / "store.db", options=OPTIONS)
        with open_store(tmp_path / "store.db") as edited:
            assert said(edited) == expected


def test_what_a_log_has_made_since_is_known(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    row = {"sql": f"create table {relation('a')} (y int)", "ts": "2026-03-03T00:00:00Z"}
    log.write_text(json.dumps(row), encoding="utf-8")
    mapping = {"query_text": "sql", "started_at": "ts"}
    with open_store(tmp_path / "store.db") as store:
        for number, nodes in enumerate(((A, KEPT), (KEPT,), (KEPT, model("r", STAR))), start=1):
            if number == 3:
                options = LogOptions(dialect="postgres", namespace="postgres", mapping=mapping)
                ingest_log(log, source="generic", store=store, options=options)
            data = manifest(T, *nodes, at=f"2026-03-0{number + (number == 3)}T06:00:00.000000Z")
            ingest_dbt(write(tmp_path / "target", data), store=store, options=OPTIONS)
        found = [one.source for one in store.edges_into(["postgres/wh.main.r"]) if "#" in one.source]
    assert found == ["postgres/wh.main.a#y"]
