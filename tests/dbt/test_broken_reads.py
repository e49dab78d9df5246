"""A column that a model no longer has, and that another model still selects."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from lineage.traversal import broken_reads, impact, resolve, root_cause
from lineage_ingest import ingest_dbt
from tests.dbt.manifests import manifest, model, relation, source, write

BASE = source("base", {"a": "int", "b": "int"})
FROM = 'FROM "wh"."raw"."base"'


def answers(store: GraphStore, owner: str, reader: str) -> list[object]:
    columns = store.columns([f"postgres/wh.main.{owner}"], dropped=True)
    asked = (impact, f"{owner}.a1"), (root_cause, f"{reader}.a2"), (impact, "base.a")
    return [
        [(one.path, one.ordinal, one.inferred, one.dropped_at is None) for one in columns],
        [[(one.name, one.hops) for one in find(store, resolve(store, name)).columns] for find, name in asked],
        [str(one) for one in broken_reads(store, [one.key for one in store.datasets()])],
    ]


@pytest.mark.parametrize(("owner", "reader"), [("l1", "l2"), ("z1", "l2")])
def test_it_is_named_as_in_a_new_store(tmp_path: Path, owner: str, reader: str) -> None:
    reads = model(reader, f"SELECT a1 AS a2, b AS b2 FROM {relation(owner)}", owner)
    before = manifest(BASE, model(owner, f"SELECT a AS a1, b {FROM}", BASE["unique_id"]), reads)
    after = manifest(BASE, model(owner, f"SELECT b {FROM}", BASE["unique_id"]), reads, at="2026-03-02T06:00:00.000000Z")
    for data in (before, after):
        ingest_dbt(write(tmp_path / "target", data), store=tmp_path / "store.db")
    ingest_dbt(write(tmp_path / "target", after), store=tmp_path / "new.db")
    with open_store(tmp_path / "store.db") as edited, open_store(tmp_path / "new.db") as new:
        found = answers(edited, owner, reader)
        assert found == answers(new, owner, reader)
    assert found[0] == [("b", 0, False, True), ("a1", None, True, True)]
    name = f"wh.main.{owner}"
    assert found[2] == [f"wh.main.{reader} reads {name}.a1, which {name} does not have"]
