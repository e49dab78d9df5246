"""Columns that a schema drops: what brings them back, and that the same ingested again changes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.model.batch import ColumnRecord
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.extraction import ExtractionOptions
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.batch_builders import batch, day, job, table
from tests.store.log_rows import ingest_rows

NEVER = datetime(2000, 1, 1, tzinfo=UTC)
WITH_U, WITHOUT = "CREATE TABLE c (u int, x int)", "CREATE TABLE c (x int); INSERT INTO c (x) SELECT a FROM r"
WRITES_X = "INSERT INTO c (x) SELECT a FROM q;"
LIVE, DROPPED, GONE = "live", "dropped", "gone"


def ingest(store: GraphStore, folder: Path, sql: str, day: int) -> None:
    """Ingest a project of one file."""
    folder.mkdir(exist_ok=True)
    (folder / "f.sql").write_text(sql, encoding="utf-8")
    options = ExtractionOptions(Naming(dialect_named("postgres")))
    at = datetime(2026, 1, day, tzinfo=UTC)
    ingest_sql_files([folder], store, options, observed_at=at, project=folder.name, retire_most=True)


def fate(store: GraphStore) -> tuple[str, int]:
    """Return what became of the column, and how often it was dropped."""
    column = next((one for one in store.columns(["postgres/c"], dropped=True) if one.path == "u"), None)
    drops = [one for one in store.dataset_changes(NEVER, datetime(2027, 1, 1, tzinfo=UTC)) if one.column == "u"]
    return GONE if column is None else LIVE if column.dropped_at is None else DROPPED, len(drops)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param("CREATE TEMP TABLE t AS SELECT x FROM c WHERE u > 1", DROPPED, id="named"),
        pytest.param(
            WRITES_X + "CREATE TEMP TABLE t AS SELECT x FROM c WHERE u > 1", DROPPED, id="named-beside-a-write"
        ),
        pytest.param("INSERT INTO c (u) VALUES (1)", DROPPED, id="named-by-a-write"),
        pytest.param("ALTER TABLE c ADD COLUMN u int; " + WRITES_X, LIVE, id="added"),
        pytest.param("CREATE VIEW v AS SELECT u FROM c", LIVE, id="lineage-out-of-it"),
        pytest.param("INSERT INTO c (u) SELECT a FROM q", LIVE, id="lineage-into-it"),
    ],
)
def test_a_dropped_column_comes_back_for_lineage_only(
    store: GraphStore, tmp_path: Path, other: str, expected: str
) -> None:
    one, two = tmp_path / "p1", tmp_path / "p2"
    ingest(store, one, WITH_U, 1)
    ingest(store, one, WITHOUT, 2)
    found = []
    for number in range(3, 7):
        ingest(store, two, other, number)
        found.append(fate(store))
    assert found == [(expected, 1)] * 4


def test_projects_in_turn_do_not_decide_whether_a_column_exists(store: GraphStore, tmp_path: Path) -> None:
    """One project drops the column from its DDL, the other goes on reading it: it is known by use, whoever is last."""
    states, reader = tmp_path / "p1", tmp_path / "p2"
    ingest(store, states, WITH_U, 1)
    found = []
    for number in range(2, 9):
        if number % 2:
            ingest(store, states, "CREATE TABLE c (x int)", number)
        else:
            ingest(store, reader, "CREATE VIEW v AS SELECT u FROM c", number)
        column = next(one for one in store.columns(["postgres/c"], dropped=True) if one.path == "u")
        known = "use" if column.inferred else "schema"
        found.append((fate(store), known, len(store.expand([column.key], Direction.DOWNSTREAM))))
    before, ended, after = ((LIVE, 0), "schema", 1), ((DROPPED, 1), "schema", 0), ((LIVE, 1), "use", 1)
    assert found == [before, ended, *[after] * 5]


def test_a_column_that_stays_because_it_is_used_is_dropped_once(store: GraphStore, tmp_path: Path) -> None:
    """Its table is stated without it each time; a view of a later time reads it."""
    one, two = tmp_path / "p1", tmp_path / "p2"
    ingest(store, one, WITH_U, 1)
    ingest(store, two, "CREATE VIEW v AS SELECT u FROM c", 9)
    found = []
    for number in range(2, 6):
        ingest(store, one, WITHOUT, number)
        found.append(fate(store))
    assert found == [(LIVE, 1)] * 4


def test_a_column_that_a_file_adds_stays(store: GraphStore) -> None:
    """The store knows a schema without it; the file does not know the other columns."""
    added = replace(table("c"), columns=(ColumnRecord("u", "int"),), schema_known=False)
    store.apply(batch(table("c", "u", "x", at=1)))
    store.apply(batch(table("c", "x", at=2)))
    found = []
    for number in range(3, 7):
        writes = job("file:f.sql>c", "r.a -> c.x", at=number, source="f.sql")
        writes = replace(writes, job=replace(writes.job, file_key="f.sql"))
        one = batch(writes, replace(added, at=day(number)), run=str(number), files=["f.sql"])
        for parts in store.parts(one) if number % 2 else [[one]]:
            for part in parts:
                store.apply(part)
        found.append(next(c.dropped_at for c in store.columns(["pg/c"], dropped=True) if c.path == "u"))
    assert found == [None] * 4


def test_a_column_with_an_ordinal_that_is_dropped_is_dropped_once(store: GraphStore) -> None:
    """A query of the same moment that defines the table has it."""
    query = replace(table("c"), columns=(ColumnRecord("u", None, 0, True),), schema_known=False, at=day(2))
    store.apply(batch(table("c", "u", "x", at=1)))
    store.apply(batch(table("c", "x", at=2)))
    store.apply(batch(query))
    for number in range(3, 6):
        store.apply(batch(table("c", "x", at=number)))
    assert len([one for one in store.dataset_changes(day(0), day(9)) if one.column == "u"]) == 1


def test_a_log_that_drops_a_column_by_a_query_over_it_says_nothing_new_again(store: GraphStore, tmp_path: Path) -> None:
    ingest_rows(store, tmp_path / "0.jsonl", 0, ["1: create table f (y int, b int)", "1: update f set y = abs(y)"])
    replaced = ["1: create or replace table f as select y from f group by y having max(b) > 0"]
    ingest_rows(store, tmp_path / "1.jsonl", 1, replaced)
    before = store.columns(["duckdb/main.f"], dropped=True)
    ingest_rows(store, tmp_path / "1.jsonl", 1, replaced)
    assert store.columns(["duckdb/main.f"], dropped=True) == before
    assert [(one.path, one.inferred) for one in before if one.dropped_at] == [("b", False)]
