"""Ingesting the same files twice yields the same graph, except for `last_seen` and counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.catalog import Catalog
from lineage.sql.extraction import options_for
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, GraphDump
from lineage.traversal import impact, resolve, root_cause
from lineage_ingest.sql_files import ingest_sql_files
from tests.truth.compare import DEMO

MOVES = {"last_seen", "observations", "observed_at"}


def ingest(store: GraphStore, folder: Path) -> dict[str, int | float]:
    catalog = Catalog.from_ddl(DEMO / "create.sql", "postgres")
    return ingest_sql_files([folder], store, options_for("postgres"), catalog).to_dict()


def still(dump: GraphDump) -> tuple[list[Any], list[Any]]:
    def kept(properties: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in properties.items() if name not in MOVES}

    nodes = [(label, key, kept(properties)) for label, key, properties in dump.nodes]
    relationships = [(kind, start, end, kept(properties)) for kind, start, end, properties in dump.relationships]
    return nodes, relationships


@pytest.fixture
def mimic(store: GraphStore) -> dict[str, int | float]:
    return ingest(store, DEMO / "concepts")


def test_mimic_is_resolved(mimic: dict[str, int | float]) -> None:
    assert mimic["statements"] == mimic["resolved"]
    assert mimic["diagnostics"] == 0
    assert mimic["edges_created"] == mimic["edges"] > 1900


def test_a_second_ingest_changes_nothing(store: GraphStore, mimic: dict[str, int | float]) -> None:
    before = store.dump()
    again = ingest(store, DEMO / "concepts")
    assert again["edges_created"] == 0
    assert still(store.dump()) == still(before)


def test_two_questions(store: GraphStore, mimic: dict[str, int | float]) -> None:
    reached = impact(store, resolve(store, "mimiciv_icu.chartevents.valuenum"))
    assert len(reached.columns) == 397
    assert "mimiciv_derived.sofa.sofa_24hours" in {column.name for column in reached.columns}
    causes = root_cause(store, resolve(store, "mimiciv_derived.sofa.sofa_24hours"))
    assert "mimiciv_icu.chartevents.valuenum" in {column.name for column in causes.columns}


def test_a_view_that_selects_by_from_alone(store: GraphStore, tmp_path: Path) -> None:
    """DuckDB's `FROM t` has no star in the text: the whole statement is the proof of its edges."""
    sql = "CREATE TABLE t (a int);\nCREATE VIEW v AS FROM t"
    (tmp_path / "v.sql").write_text(sql)
    for _ in range(2):
        assert ingest_sql_files([tmp_path], store, options_for("duckdb"), Catalog()).to_dict()["diagnostics"] == 0
        [hop] = store.expand([resolve(store, "t.a").key], Direction.DOWNSTREAM)
        assert hop.edge.spans == ((0, len(sql.splitlines()[1])),)


def test_a_drop_on_a_search_path_means_the_same_once_the_later_view_is_known(store: GraphStore, tmp_path: Path) -> None:
    text = """set search_path = 's2,s3';
    create view s3.v as select 1 as k;
    drop view v;
    create view v as select 0 as n;"""
    (tmp_path / "all.sql").write_text(text, encoding="utf-8")
    for _ in range(2):
        ingest_sql_files([tmp_path], store, options_for("duckdb"))
        assert [one.key for one in store.datasets() if one.dropped_at is None] == ["duckdb/s2.v"]
