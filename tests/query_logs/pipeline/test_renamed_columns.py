"""RENAME COLUMN in files and logs, in one ingest or in several: the chain goes on, and both names find the column."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage.traversal.lookup import resolve_column
from lineage_ingest.sql_files import ingest_sql_files
from tests.query_logs.pipeline.running import AT, Ran, edges, in_order, ingested

BEFORE = "CREATE TABLE t AS SELECT x AS a, k FROM o; CREATE VIEW v AS SELECT a FROM t"
SPELLINGS = {
    "postgres": "ALTER TABLE t RENAME a TO a2",
    "tsql": "EXEC sp_rename 't.a', 'a2', 'COLUMN'",
    "mysql": "ALTER TABLE t CHANGE COLUMN a a2 bigint",
    "oracle": "ALTER TABLE t RENAME COLUMN a TO a2",
}
AFTER = "CREATE TABLE w AS SELECT * FROM t"


def expected(dialect: str) -> set[str]:
    chain = {"o#x t#a2", "o#k t#k", "t#a2 v#a", "t#a2 w#a2", "t#k w#k"}
    return {line.upper() if dialect == "oracle" else line for line in chain}


def stated(store: GraphStore) -> set[str]:
    lines = (edge.split(" ") for edge in edges(store) if " CONTRIBUTES " in edge)
    return {f"{line[0].rpartition('/')[2]} {line[2].rpartition('/')[2]}" for line in lines}


def ingest_files(store: GraphStore, folder: Path, texts: dict[str, str], dialect: str, day: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    ingest_sql_files([folder], store, options_for(dialect), observed_at=AT + timedelta(days=day))


def check(store: GraphStore, dialect: str) -> None:
    assert stated(store) == expected(dialect)
    assert resolve_column(store, "t.a").key == resolve_column(store, "t.a2").key


@pytest.mark.parametrize("dialect", SPELLINGS)
def test_in_one_file_in_several_and_in_a_log(dialect: str, tmp_path: Path) -> None:
    texts = {"V1.sql": BEFORE, "V2.sql": SPELLINGS[dialect], "V3.sql": AFTER}
    whole = ";".join(texts.values())
    with open_store(tmp_path / "one.db") as store:
        ingest_files(store, tmp_path / "one", {"a.sql": whole}, dialect)
        check(store, dialect)
    with open_store(tmp_path / "several.db") as store:
        for _ in range(2):
            ingest_files(store, tmp_path / "several", texts, dialect)
            check(store, dialect)
    with open_store(tmp_path / "log.db") as store:
        ingested(store, in_order(whole.split(";")), dialect)
        check(store, dialect)
        once = store.dump()
        ingested(store, in_order(whole.split(";")), dialect)
        assert store.dump().relationships == once.relationships


def test_in_ingests_one_after_the_other(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest_files(store, tmp_path / "one", {"V1.sql": BEFORE}, "postgres")
        ingest_files(store, tmp_path / "two", {"V2.sql": SPELLINGS["postgres"]}, "postgres", 1)
        ingest_files(store, tmp_path / "three", {"V3.sql": AFTER}, "postgres", 2)
        check(store, "postgres")


def test_a_table_that_is_altered_between_statements_that_a_temporary_table_ties_together(tmp_path: Path) -> None:
    """The definition has its own time, not that of all that is resolved with it."""
    ran = [
        Ran("CREATE TEMP TABLE tmp AS SELECT x, y FROM o", "one", 0),
        Ran("CREATE TABLE t AS SELECT x, y FROM tmp", "one", 1),
        Ran("ALTER TABLE t DROP COLUMN x", "one", 2),
        Ran("CREATE TABLE w AS SELECT * FROM t", "other", 3),
        Ran("CREATE TABLE u AS SELECT y FROM tmp", "one", 4),
    ]
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, ran)
            assert stated(store) == {"o#y t#y", "t#y w#y", "o#y u#y"}
            assert [column.path for column in store.columns(["postgres/t"])] == ["y"]


def test_a_table_that_is_altered_between_its_creation_and_its_reading_in_one_session_block(tmp_path: Path) -> None:
    """The ALTER mentions no temporary table, but what comes behind it does: a table of the same name."""
    ran = in_order(
        (
            "CREATE TEMP TABLE k AS SELECT x AS a, y AS b FROM o",
            "CREATE TABLE s.f AS SELECT a, b FROM k",
            "ALTER TABLE s.f RENAME COLUMN b TO c",
            "CREATE TABLE z.k AS SELECT t.*, t.a AS b FROM s.f AS t",
        )
    )
    with open_store(tmp_path / "s.db") as store:
        assert ingested(store, ran, "duckdb").failures == ()
        assert stated(store) == {"o#x s.f#a", "o#y s.f#c", "s.f#a z.k#a", "s.f#c z.k#c", "s.f#a z.k#b"}


MADE = "CREATE TABLE o (x int, y int); CREATE TABLE t AS SELECT x AS a, y FROM o; CREATE TABLE c AS SELECT a FROM t"
LATER_LOGS = {
    "read and dropped under the new name": (
        "ALTER TABLE t RENAME COLUMN a TO b; CREATE TABLE v AS SELECT b FROM t; ALTER TABLE t DROP COLUMN b",
        {"o#y t#y", "o#x c#a", "o#x v#b"},
    ),
    "added after an unprefixed column of that name was read from another table": (
        "CREATE TABLE v AS SELECT a FROM t JOIN o ON true; ALTER TABLE o ADD COLUMN a int;"
        "CREATE TABLE w AS SELECT o.a FROM o",
        {"o#x t#a", "o#y t#y", "t#a c#a", "t#a v#a", "o#a w#a"},
    ),
    "dropped after its source was renamed": (
        "ALTER TABLE o RENAME COLUMN x TO z; CREATE TABLE v AS SELECT a FROM t; ALTER TABLE t DROP COLUMN a",
        {"o#y t#y", "o#z c#a", "o#z v#a"},
    ),
}


@pytest.mark.parametrize("name", LATER_LOGS)
def test_a_later_log_renames_and_drops_what_was_copied(name: str, tmp_path: Path) -> None:
    later, expected = LATER_LOGS[name]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(MADE.split(";")))
        for _ in range(2):
            ingested(store, [Ran(text, "later", 100 + at) for at, text in enumerate(later.split(";"))])
            assert stated(store) == expected


FILLED = [Ran("CREATE TABLE t (a int, b int)", "one", 0), Ran("CREATE TEMP TABLE tmp AS SELECT * FROM t", "two", 1)]
READ = Ran("CREATE TABLE w AS SELECT * FROM tmp", "two", 9)
BETWEEN = {
    "renamed": ([Ran("ALTER TABLE t RENAME COLUMN a TO c", "one", 5)], {"t#c w#a", "t#b w#b"}),
    "renamed twice": (
        [Ran("ALTER TABLE t RENAME COLUMN a TO c", "one", 5), Ran("ALTER TABLE t RENAME COLUMN c TO d", "three", 6)],
        {"t#d w#a", "t#b w#b"},
    ),
    "renamed, and the name used again": (
        [Ran("ALTER TABLE t RENAME COLUMN a TO c", "one", 5), Ran("ALTER TABLE t ADD COLUMN a int", "one", 6)],
        {"t#c w#a", "t#b w#b"},
    ),
    "renamed in vain": (
        [
            Ran("BEGIN", "one", 5),
            Ran("ALTER TABLE t RENAME COLUMN a TO c", "one", 6),
            Ran("ROLLBACK", "one", 7),
        ],
        {"t#a w#a", "t#b w#b"},
    ),
    "added": ([Ran("ALTER TABLE t ADD COLUMN c int", "one", 5)], {"t#a w#a", "t#b w#b"}),
    "renamed in a table with a new name": (
        [Ran("ALTER TABLE t RENAME TO u", "one", 5), Ran("ALTER TABLE u RENAME COLUMN a TO c", "one", 6)],
        {"u#c w#a", "u#b w#b"},
    ),
    "renamed by the session itself, which has written the table": (
        [Ran("INSERT INTO t (b) SELECT a FROM tmp", "two", 4), Ran("ALTER TABLE t RENAME COLUMN a TO c", "two", 5)],
        {"t#c t#b", "t#c w#a", "t#b w#b"},
    ),
    "renamed in another table of that name": (
        [Ran("ALTER TABLE s.t RENAME COLUMN a TO c", "one", 5)],
        {"t#a w#a", "t#b w#b"},
    ),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_columns_are_changed_between_the_filling_of_a_temporary_table_and_its_reading(
    name: str, tmp_path: Path
) -> None:
    between, expected = BETWEEN[name]
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            summary = ingested(store, [*FILLED, *between, READ])
            assert stated(store) == expected
            assert summary.run.counts["statements"] == len(FILLED) + len(between) + 1
