"""Temporary tables in logs, whatever changes their rows: a log says what a file with the same statements says."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.query_logs.pipeline.running import Ran, edges, in_order, ingested, of_files, two_stores

SCRIPTS = {
    "update": (
        "duckdb",
        "CREATE TEMP TABLE tmp AS SELECT x AS a, k FROM o; UPDATE tmp SET a = p.y FROM p WHERE p.k = tmp.k;"
        "CREATE TABLE v AS SELECT a FROM tmp; DROP TABLE tmp",
    ),
    "by alias": (
        "tsql",
        "SELECT x AS a, k INTO #tmp FROM o; UPDATE t SET a = p.y FROM #tmp t JOIN p ON p.k = t.k;"
        "SELECT a INTO v FROM #tmp",
    ),
    "merge and delete": (
        "snowflake",
        "CREATE TEMP TABLE tmp AS SELECT x AS a, k FROM o; DELETE FROM tmp WHERE a > 3;"
        "MERGE INTO tmp USING p ON p.k = tmp.k WHEN MATCHED THEN UPDATE SET a = p.y;"
        "CREATE TABLE v AS SELECT a FROM tmp; TRUNCATE TABLE tmp",
    ),
    "dropped in the end": (
        "postgres",
        "CREATE TABLE tmp AS SELECT x AS a, k FROM o; UPDATE tmp SET a = p.y FROM p WHERE p.k = tmp.k;"
        "CREATE TABLE v AS SELECT a FROM tmp; DROP TABLE tmp",
    ),
    "renamed": (
        "postgres",
        "CREATE TEMP TABLE tmp AS SELECT x AS a FROM o; ALTER TABLE tmp RENAME TO tmp2;"
        "INSERT INTO tmp2 SELECT y FROM p;"
        "CREATE TABLE v AS SELECT a FROM tmp2; DROP TABLE tmp2",
    ),
    "there already": (
        "postgres",
        "CREATE TEMP TABLE IF NOT EXISTS tmp AS SELECT x AS a FROM o; CREATE TABLE u AS SELECT a FROM tmp;"
        "CREATE TEMP TABLE IF NOT EXISTS tmp AS SELECT z AS a FROM q; CREATE TABLE v AS SELECT a FROM tmp",
    ),
    "emptied": (
        "snowflake",
        "CREATE TEMP TABLE tmp AS SELECT x AS a FROM o; CREATE TABLE u AS SELECT a FROM tmp; TRUNCATE TABLE tmp;"
        "INSERT INTO tmp SELECT y FROM p; CREATE TABLE v AS SELECT a FROM tmp; DELETE FROM tmp",
    ),
    "dropped on commit": (
        "postgres",
        "CREATE TEMP TABLE tmp ON COMMIT DROP AS SELECT x AS a FROM o; ANALYZE tmp;"
        "CREATE TABLE u AS SELECT a FROM tmp; COMMIT; CREATE TABLE v AS SELECT y FROM p",
    ),
    "emptied on commit": (
        "postgres",
        "CREATE TEMP TABLE tmp (a int) ON COMMIT DELETE ROWS; BEGIN; INSERT INTO tmp SELECT x FROM o;"
        "CREATE TABLE u AS SELECT a FROM tmp; COMMIT; BEGIN; INSERT INTO tmp SELECT y FROM p;"
        "CREATE TABLE v AS SELECT a FROM tmp; COMMIT",
    ),
    "another schema": (
        "postgres",
        "SET search_path = s1; CREATE TEMP TABLE tmp AS SELECT x AS a FROM s1.o; SET search_path = s2;"
        "UPDATE tmp SET a = y FROM s1.p; CREATE TABLE v AS SELECT a FROM tmp",
    ),
}


def spellings() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in Path(__file__).with_name("temporary_spellings.txt").read_text().splitlines()[1:]:
        dialect, makes, name = line.split(" | ")
        found[dialect].append((makes, name))
    return found


@pytest.mark.parametrize("dialect", spellings())
def test_temporary_tables_of_two_sessions_are_two_however_they_are_made(dialect: str, tmp_path: Path) -> None:
    ran = []
    for number, (makes, name) in enumerate(spellings()[dialect]):
        for one in ("a", "b"):
            session = f"{one}{number}"
            script = f"{makes}; INSERT INTO into_{session} (a) SELECT a FROM {name}"
            script = script.format(source=f"from_{session}").replace("tmp", f"tmp{number}")
            ran += in_order(script.split("; "), session)
    with open_store(tmp_path / "s.db") as store:
        ingested(store, sorted(ran, key=lambda one: one.second), dialect)
        listed = [edge.lower().split(" [")[0] for edge in edges(store)]
    found = {edge for edge in listed if " contributes " in edge and "/into_" in edge}
    sessions = {str(one.session) for one in ran}
    assert found == {f"{dialect}/from_{one}#a contributes {dialect}/into_{one}#a" for one in sessions}


@pytest.mark.parametrize(
    ("dialect", "makes", "name"),
    [
        ("tsql", "SELECT a INTO ##shared FROM o", "##shared"),
        ("spark", "CREATE OR REPLACE GLOBAL TEMP VIEW shared AS SELECT a FROM o", "global_temp.shared"),
        ("snowflake", "CREATE TRANSIENT TABLE shared AS SELECT a FROM o", "shared"),
        ("postgres", "CREATE UNLOGGED TABLE shared AS SELECT a FROM o", "shared"),
    ],
)
def test_another_session_reads_what_sessions_share(dialect: str, makes: str, name: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ran = [Ran(makes, "a", 0), Ran(f"INSERT INTO v (a) SELECT a FROM {name}", "b", 1)]
        ingested(store, ran, dialect)
        found = {tuple(edge.lower().split()[:3]) for edge in edges(store) if " CONTRIBUTES " in edge}
    assert len(found) == 2
    assert {source for source, *_ in found} - {target for *_, target in found} == {f"{dialect}/o#a"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_log_says_what_a_file_says(name: str, tmp_path: Path) -> None:
    dialect, script = SCRIPTS[name]
    with two_stores(tmp_path) as (log, files):
        ingested(log, in_order(script.split(";")), dialect)
        of_files(files, tmp_path / "files", {"a.sql": script}, dialect)
        assert edges(log) == edges(files)
        both = [edge for edge in edges(log) if edge.lower().startswith((f"{dialect}/o#x", f"{dialect}/s1.o#x"))]
        assert [edge for edge in both if " CONTRIBUTES " in edge]
        for store in (log, files):
            assert not [key for key in store.dataset_keys() if "tmp" in key.lower()]


def test_the_drop_of_a_temporary_table_is_not_that_of_the_table_it_hides(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE r AS SELECT x AS a FROM o",
        "CREATE TEMP TABLE r AS SELECT y AS b FROM p",
        "CREATE VIEW v1 AS SELECT b FROM r",
        "DROP TABLE r",
        "CREATE VIEW v2 AS SELECT a FROM r",
    )
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(script))
        assert {edge.split(" [")[0] for edge in edges(store) if " CONTRIBUTES " in edge} == {
            "postgres/o#x CONTRIBUTES postgres/r#a",
            "postgres/p#y CONTRIBUTES postgres/v1#b",
            "postgres/r#a CONTRIBUTES postgres/v2#a",
        }
        [table] = store.datasets(["postgres/r"])
        assert table.dropped_at is None
        assert [column.path for column in store.columns(["postgres/r"])] == ["a"]


SESSIONLESS = {
    "made, and read": (
        ["create temp table x as select a as b from t", "insert into u (c) select b from x"],
        {"t#a u#c"},
    ),
    "in another order, filled, and over another one": (
        [
            "insert into u (c) select b from x",
            "create table z as select d from y",
            "create temp table y as select b as d from x",
            "insert into x select a from t",
            "create temp table x (b int)",
        ],
        {"t#a u#c", "t#a z#d"},
    ),
    "of two that have the name nobody knows which one": (
        [
            "create temp table x as select a as b from t",
            "create temp table x as select e as b from t",
            "insert into u (c) select b from x",
        ],
        {"x#b u#c"},
    ),
}


@pytest.mark.parametrize("name", SESSIONLESS)
def test_without_sessions_a_temporary_table_is_the_only_one_of_its_name(name: str, tmp_path: Path) -> None:
    """pg_stat_statements has neither sessions nor an order."""
    texts, expected = SESSIONLESS[name]
    rows = [f'10,5,{number},"{text}",3,1,1' for number, text in enumerate(texts)]
    header = "userid,dbid,queryid,query,calls,total_exec_time,rows"
    (tmp_path / "log.csv").write_text("\n".join([header, *rows]) + "\n")
    for _ in range(2):
        ended = lineage(
            "ingest", "log", tmp_path / "log.csv", "--observed-at", "2026-03-01", "-s", tmp_path / "graph.db"
        )
        assert ended.code == 0
        with open_store(tmp_path / "graph.db") as store:
            lines = [line.split(" ") for line in edges(store) if " CONTRIBUTES " in line]
        assert {f"{one[0].rpartition('/')[2]} {one[2].rpartition('/')[2]}" for one in lines} == expected


def test_rows_that_are_gone_and_a_table_that_is_there_add_nothing(tmp_path: Path) -> None:
    texts = [
        "CREATE TEMP TABLE IF NOT EXISTS tmp AS SELECT x AS a FROM o",
        "TRUNCATE tmp",
        "INSERT INTO tmp SELECT y FROM p",
        "CREATE TEMP TABLE IF NOT EXISTS tmp AS SELECT z AS a FROM q",
        "CREATE TABLE v AS SELECT a FROM tmp",
    ]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(texts))
        assert {edge.split(" ")[0] for edge in edges(store)} == {"postgres/p", "postgres/p#y"}
