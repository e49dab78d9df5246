"""Which part of the graph a page or a diagram shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lineage.export.catalogue_tables import exported_tables
from lineage.export.graph_part import TooManyTablesError, read_part
from lineage.export.openlineage import openlineage_events
from lineage.export.picture.diagrams import dot, mermaid
from lineage.sql.extraction import options_for
from lineage.store import GraphStore
from lineage.traversal import resolve
from lineage_ingest.sql_files import ingest_sql_files
from tests.service.graph import fill
from tests.store.batch_builders import batch, day, job, key
from tests.store.conftest import both_stores, open_again, pytest_generate_tests, store

__all__ = ["both_stores", "open_again", "pytest_generate_tests", "store"]


def test_the_whole_graph_or_what_a_focus_reaches(store: GraphStore) -> None:
    fill(store)
    whole = read_part(store)
    assert {one.key for one in whole.datasets} == {key(name) for name in ("users", "staged", "contacts", "copied")}
    assert len(whole.edges) == 6
    part = read_part(store, [resolve(store, "contacts.hashed")])
    assert {one.key for one in part.datasets} == {key(name) for name in ("users", "staged", "contacts", "copied")}
    pairs = {(edge.source, edge.target) for edge in part.edges}
    assert (key("staged.mail"), key("contacts.hashed")) in pairs
    assert (key("staged.mail"), key("contacts.address")) not in pairs
    near = read_part(store, [resolve(store, "contacts.hashed")], max_hops=1)
    assert {one.key for one in near.datasets} == {key("staged"), key("contacts"), key("copied")}


def test_what_only_removed_sql_stated_is_left_out_as_in_a_search(store: GraphStore, tmp_path: Path) -> None:
    for name in ("kept", "gone", "other"):
        (tmp_path / f"{name}.sql").write_text(f"CREATE VIEW mart.{name} AS SELECT x FROM raw.t;", encoding="utf-8")
    ingest_sql_files([tmp_path], store, options_for("postgres"), project="shop", observed_at=day(1))
    (tmp_path / "gone.sql").unlink()
    ingest_sql_files([tmp_path], store, options_for("postgres"), project="shop", observed_at=day(2))
    assert store.search("gone") == []
    assert "postgres/mart.gone" in store.dataset_keys()
    keys = {"postgres/mart.kept", "postgres/mart.other", "postgres/raw.t"}
    assert {one.key for one in read_part(store).datasets} == keys
    assert {one.dataset.key for one in exported_tables(store, {})} == keys
    assert "gone" not in json.dumps(list(openlineage_events(store)))
    assert "gone" in json.dumps(list(openlineage_events(store, as_of=day(1))))


def test_a_part_that_is_too_large_says_what_makes_it_smaller(store: GraphStore) -> None:
    fill(store)
    with pytest.raises(TooManyTablesError, match=r"4 tables, and 3 are the limit: .* --focus"):
        read_part(store, most=3)
    with pytest.raises(TooManyTablesError, match="--hops"):
        read_part(store, [resolve(store, "users")], most=2)


def test_diagrams_quote_names_and_dash_references(store: GraphStore) -> None:
    store.apply(batch(job("a.sql", 'a"<b>.x -> c.x', "d.x ~> c", at=1)))
    part = read_part(store)
    assert mermaid(part).splitlines() == [
        "flowchart LR",
        '  t0["a#quot;#lt;b#gt;"]',
        '  t1["c"]',
        '  t2["d"]',
        "  t0 -->|1| t1",
        "  t2 -.->|1| t1",
    ]
    assert f'"{key("d")}" -> "{key("c")}" [label="1", style=dashed];' in dot(part)
    assert '[label="a\\"<b>"];' in dot(part)
