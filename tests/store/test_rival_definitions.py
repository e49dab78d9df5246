"""Two projects that define a table of the same name: ingesting one does not retire the other's lineage."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.catalog import Catalog
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.extraction import ExtractionOptions
from lineage.store.protocol import GraphStore
from lineage.traversal import impact, resolve
from lineage_ingest.sql_files import ingest_sql_files

ONE, TWO = "SELECT id1, amt1 FROM raw.one", "SELECT id2, amt2 FROM raw.two"


def ingest(
    store: GraphStore, folder: Path, project: str, day: int, tables: dict[str, list[str]] | None = None
) -> list[tuple[str, str]]:
    options = ExtractionOptions(Naming(dialect_named("postgres")))
    at = datetime(2026, 1, day, tzinfo=UTC)
    catalog = Catalog.from_dict(tables or {}, "postgres")
    done = ingest_sql_files([folder], store, options, catalog, observed_at=at, project=project, retire_most=True)
    return [(str(one.diagnostic.code), one.diagnostic.message) for one in done.batch.diagnostics]


def reached(store: GraphStore, column: str) -> list[str]:
    return [found.name for found in impact(store, resolve(store, column)).columns]


def write(folder: Path, sql: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "orders.sql").write_text(sql)
    return folder


@pytest.mark.parametrize("days", [(1, 2), (2, 1)])
def test_both_stay(store: GraphStore, tmp_path: Path, days: tuple[int, int]) -> None:
    one, two = write(tmp_path / "p1", ONE), write(tmp_path / "p2", TWO)
    assert ingest(store, one, "p1", days[0]) == []
    [(code, message)] = ingest(store, two, "p2", days[1])
    assert code == "DEFINED_TWICE"
    assert (
        message == "orders is defined in orders.sql and in orders.sql of project p1: the lineage of all of them is kept"
    )
    for _ in range(2):
        assert reached(store, "raw.one.amt1") == ["orders.amt1"]
        assert reached(store, "raw.two.amt2") == ["orders.amt2"]
        ingest(store, two, "p2", days[1])


def test_each_project_ends_its_own(store: GraphStore, tmp_path: Path) -> None:
    one, two = write(tmp_path / "p1", ONE), write(tmp_path / "p2", TWO)
    ingest(store, one, "p1", 1)
    ingest(store, two, "p2", 2)
    ingest(store, write(one, "SELECT id1 FROM raw.one"), "p1", 3)
    assert (reached(store, "raw.one.amt1"), reached(store, "raw.one.id1")) == ([], ["orders.id1"])
    assert reached(store, "raw.two.amt2") == ["orders.amt2"]


def test_a_table_that_only_one_project_defines_loses_what_its_schema_lacks(store: GraphStore, tmp_path: Path) -> None:
    one = write(tmp_path / "p1", "CREATE TABLE t (a int, b int); INSERT INTO t (a, b) SELECT x, y FROM s")
    ingest(store, one, "p1", 1)
    ingest(store, write(one, "CREATE TABLE t (a int); INSERT INTO t (a) SELECT x FROM s"), "p1", 2)
    assert (reached(store, "s.x"), reached(store, "s.y")) == (["t.a"], [])


def test_a_file_that_the_ingest_retires_keeps_no_columns(store: GraphStore, tmp_path: Path) -> None:
    """The schema comes from the catalog then, not from another file."""
    one, two = write(tmp_path / "p1", "CREATE TABLE t AS SELECT x AS a, y AS b FROM r"), tmp_path / "p2"
    ingest(store, one, "p1", 1)
    ingest(store, write(two, "INSERT INTO t (a, b) SELECT x, y FROM s"), "p2", 2)
    found = []
    for day in (3, 4):
        ingest(store, write(one, "SELECT a FROM t"), "p1", day, {"t": ["a"]})
        found.append((reached(store, "s.x"), reached(store, "s.y")))
    assert found == [(["t.a", "orders.a"], [])] * 2


@pytest.mark.parametrize("left", ["DELETE FROM t WHERE a > 1", "SELECT 1 AS one", None])
def test_a_column_goes_with_the_last_file_that_defines_it(store: GraphStore, tmp_path: Path, left: str | None) -> None:
    one, two = write(tmp_path / "p1", "CREATE TABLE t (a int, b int)"), tmp_path / "p2"
    ingest(store, one, "p1", 1)
    ingest(store, write(two, "INSERT INTO t (a, b) SELECT x, y FROM s"), "p2", 2)
    ingest(store, write(one, "CREATE TABLE t (a int, c int)"), "p1", 3)
    assert reached(store, "s.y") == ["t.b"]
    if left is None:
        (two / "orders.sql").unlink()
    else:
        write(two, left)
    ingest(store, two, "p2", 4)
    columns = [(column.path, column.ordinal) for column in store.columns([resolve(store, "t").key])]
    assert sorted(columns) == [("a", 0), ("c", 1)]
