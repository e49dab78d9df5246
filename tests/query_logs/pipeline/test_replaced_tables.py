"""Tables that are replaced, rebuilt and swapped in a log: what is there was made of what was there then."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from tests.query_logs.pipeline.running import Ran, edges, in_order, ingested, of_files

LOGS = {
    "replaced by what reads it": (
        "CREATE TABLE t AS SELECT x FROM o; CREATE OR REPLACE TABLE t AS SELECT x + 1 AS x FROM t;"
        "CREATE VIEW v AS SELECT x FROM t",
        {"o#x t#x", "t#x v#x"},
    ),
    "replaced after it was copied": (
        "CREATE TABLE t AS SELECT x FROM o; CREATE TABLE c AS SELECT x FROM t;"
        "CREATE OR REPLACE TABLE t AS SELECT y AS x FROM p",
        {"o#x c#x", "t#x c#x", "p#y t#x"},
    ),
    "made anew after it was copied": (
        "CREATE TABLE t AS SELECT x FROM o; CREATE TABLE c AS SELECT x FROM t; DROP TABLE t;"
        "CREATE TABLE t AS SELECT y AS x FROM p",
        {"o#x c#x", "t#x c#x", "p#y t#x"},
    ),
    "replaced, and read by a view only": (
        "CREATE TABLE t AS SELECT x FROM o; CREATE VIEW v AS SELECT x FROM t;"
        "CREATE OR REPLACE TABLE t AS SELECT y AS x FROM p",
        {"t#x v#x", "p#y t#x"},
    ),
    "replaced before it was copied": (
        "CREATE TABLE t AS SELECT x FROM o; CREATE OR REPLACE TABLE t AS SELECT y AS x FROM p;"
        "CREATE TABLE c AS SELECT x FROM t",
        {"t#x c#x", "p#y t#x"},
    ),
    "replaced by what reads it through a view": (
        "CREATE TABLE o (x int); CREATE TABLE t AS SELECT x FROM o; CREATE VIEW v AS SELECT x FROM t;"
        "CREATE OR REPLACE TABLE t AS SELECT x AS y FROM v",
        {"o#x t#y", "v#x t#y"},
    ),
    "replaced, as declared, by what reads it through a view by position": (
        "CREATE TABLE t (x int, y int); CREATE VIEW v AS SELECT b.f FROM t AS b(f, g);"
        "CREATE OR REPLACE TABLE t AS SELECT f AS z FROM v",
        {"t#x t#z", "v#f t#z", "t#z v#f"},
    ),
    "a view of a swapped table, read in one block with what was before the swap": (
        "CREATE TABLE t AS SELECT m FROM p; CREATE TABLE u AS SELECT g FROM q; CREATE TEMP TABLE h AS SELECT m FROM t;"
        "ALTER TABLE t RENAME TO aside; ALTER TABLE u RENAME TO t; ALTER TABLE aside RENAME TO u;"
        "CREATE VIEW v AS SELECT m AS o FROM u; INSERT INTO w SELECT v.o FROM v, h",
        {"p#m u#m", "q#g t#g", "u#m v#o", "v#o w#o"},
    ),
    "replaced by what reads it through a view, and renamed": (
        "CREATE TABLE o (x int); CREATE TABLE t AS SELECT x FROM o; CREATE VIEW v AS SELECT x FROM t;"
        "CREATE OR REPLACE TABLE t AS SELECT x FROM v; ALTER TABLE t RENAME TO u",
        {"o#x u#x", "v#x u#x", "u#x v#x"},
    ),
    "a column that is dropped under a later name": (
        "CREATE TABLE t AS SELECT x AS a, y FROM o; ALTER TABLE t RENAME COLUMN a TO b;"
        "CREATE TABLE c AS SELECT b FROM t; ALTER TABLE t DROP COLUMN b",
        {"o#y t#y", "o#x c#b"},
    ),
    "a column that is dropped after its source was renamed": (
        "CREATE TABLE t AS SELECT x AS a, y FROM o; ALTER TABLE o RENAME COLUMN x TO z;"
        "CREATE TABLE c AS SELECT a FROM t; ALTER TABLE t DROP COLUMN a",
        {"o#y t#y", "o#z c#a"},
    ),
    "swapped by renames, with other columns": (
        "CREATE TABLE t AS SELECT x FROM o; CREATE TABLE t_new AS SELECT y FROM p; ALTER TABLE t RENAME TO t_old;"
        "ALTER TABLE t_new RENAME TO t; CREATE VIEW v AS SELECT * FROM t",
        {"o#x t_old#x", "p#y t#y", "t#y v#y"},
    ),
    "a table without a query, replaced by itself, copied and replaced again": (
        "CREATE TABLE t (b int); CREATE OR REPLACE TABLE t AS SELECT b AS n FROM t; CREATE TABLE c AS SELECT n FROM t;"
        "CREATE OR REPLACE TABLE t AS SELECT y FROM p",
        {"t#b c#n", "p#y t#y"},
    ),
    "a table without a query, replaced by itself and swapped, that the other one is rebuilt from": (
        "CREATE TABLE t (b int); CREATE OR REPLACE TABLE t AS SELECT b AS n FROM t; CREATE TABLE v AS SELECT y FROM p;"
        "ALTER TABLE t RENAME TO aside; ALTER TABLE v RENAME TO t; ALTER TABLE aside RENAME TO v;"
        "CREATE TABLE v_new AS SELECT n AS o FROM v; DROP TABLE v; ALTER TABLE v_new RENAME TO v",
        {"p#y t#y", "t#b v#o"},
    ),
    "replaced by a query of the same table, without the column that was copied": (
        "CREATE TABLE t AS SELECT count(*) AS n FROM o; INSERT INTO c SELECT n FROM t;"
        "CREATE OR REPLACE TABLE t AS SELECT x FROM o",
        {"o#x t#x"},
    ),
    "swapped by renames twice, with a staging table that is made elsewhere": (
        "INSERT INTO new (a) SELECT x FROM o; DROP TABLE t_old; ALTER TABLE t RENAME TO t_old;"
        "ALTER TABLE new RENAME TO t; INSERT INTO new (a) SELECT y FROM o; DROP TABLE t_old;"
        "ALTER TABLE t RENAME TO t_old; ALTER TABLE new RENAME TO t",
        {"o#x t_old#a", "o#y t#a"},
    ),
}


def stated(store: GraphStore) -> set[str]:
    lines = (edge.split(" ") for edge in edges(store) if " CONTRIBUTES " in edge)
    return {f"{line[0].rpartition('/')[2]} {line[2].rpartition('/')[2]}" for line in lines}


def test_an_earlier_table_is_dropped_under_another_name_and_made_again(tmp_path: Path) -> None:
    made = ["CREATE TABLE p (x int, z int)", "CREATE TABLE b AS SELECT z FROM p"]
    moved = ["ALTER TABLE b RENAME TO a", "CREATE TABLE b AS SELECT z, x FROM p", "DROP TABLE a"]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(made))
        ingested(store, [Ran(text, "later", 100 + at) for at, text in enumerate(moved)])
        assert stated(store) == {"p#z b#z", "p#x b#x"}


def test_a_column_that_a_temporary_table_alone_read_is_gone_when_its_table_is_renamed(tmp_path: Path) -> None:
    made = [
        "CREATE TABLE s.g (a int, b int)",
        "CREATE TEMP TABLE t AS SELECT b AS q FROM s.g",
        "CREATE OR REPLACE TABLE s.g AS SELECT a AS o FROM s.g",
    ]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(made), "duckdb")
        ingested(store, [Ran("ALTER TABLE s.g RENAME TO f", "later", 100)], "duckdb")
        assert stated(store) == {"s.f#a s.f#o"}


@pytest.mark.parametrize(("column", "reads_rows"), [("a", True), ("b", False)])
def test_rows_of_a_new_version_are_read_if_its_columns_can_be(column: str, reads_rows: bool, tmp_path: Path) -> None:
    texts = [
        "CREATE TABLE f AS SELECT a FROM o",
        "CREATE TABLE u AS SELECT a FROM f",
        "DROP TABLE f",
        f"CREATE TABLE f AS SELECT x AS {column} FROM p",
    ]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(texts), "duckdb")
        rows = {tuple(one.split()[:3:2]) for one in edges(store) if "REFERENCES" in one}
    assert (("duckdb/f", "duckdb/u") in rows) is reads_rows
    assert ("duckdb/o", "duckdb/u") in rows


@pytest.mark.parametrize("name", LOGS)
def test_a_log_once_and_again(name: str, tmp_path: Path) -> None:
    script, expected = LOGS[name]
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, in_order(script.split(";")), "duckdb")
            assert stated(store) == expected


def test_renames_in_a_second_file_are_taken_with_the_first(tmp_path: Path) -> None:
    texts = {
        "a.sql": "CREATE TABLE t AS SELECT x FROM o; CREATE TABLE t_new AS SELECT y AS x FROM p",
        "b.sql": "ALTER TABLE t RENAME TO t_old; ALTER TABLE t_new RENAME TO t",
        "c.sql": "CREATE VIEW v AS SELECT x FROM t",
    }
    with open_store(tmp_path / "s.db") as store:
        of_files(store, tmp_path / "files", texts, "duckdb")
        assert stated(store) == {"o#x t_old#x", "p#y t#x", "t#x v#x"}
