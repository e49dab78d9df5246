"""A table that is renamed to make room for another one, and kept: `t_old` is a copy, and readers of `t` stay readers.

As in `test_swaps.py`, each case states what happens, and the live edges that every way of cutting the logs gives.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.query_logs.pipeline import test_swaps as swaps
from tests.query_logs.pipeline.running import AT, Ran, ingested
from tests.query_logs.pipeline.test_swaps import BEGIN, WAYS, Day, flows


def until_the_next(day: int, query: str) -> list[str]:
    renames = ["ALTER TABLE t RENAME TO t_old", "ALTER TABLE t_tmp RENAME TO t"]
    return [
        "DROP TABLE IF EXISTS t_old",
        f"CREATE TABLE t_tmp AS {query}",
        *renames,
        f"CREATE TABLE r{day} AS SELECT a FROM t",
    ]


def dated(day: int, query: str) -> list[str]:
    return [text.replace("t_old", f"t_{day}") for text in until_the_next(day, query)[1:]]


def in_one_statement(day: int, query: str) -> list[str]:
    drop, create, *_, read = until_the_next(day, query)
    return [drop, create, "RENAME TABLE t TO t_old, t_tmp TO t", read]


def made_anew(day: int, query: str) -> list[str]:
    return [
        f"ALTER TABLE t RENAME TO t_{day}",
        f"CREATE TABLE t AS {query}",
        f"CREATE TABLE r{day} AS SELECT a FROM t",
    ]


def filled(day: int, query: str) -> list[str]:
    drop, _, *rest = until_the_next(day, query)
    return [drop, "CREATE TABLE t_tmp (a int)", f"INSERT INTO t_tmp (a) {query}", *rest]


def with_sp_rename(day: int, query: str) -> list[str]:
    texts = ["EXEC sp_rename 't', 't_old'", "EXEC sp_rename 't_tmp', 't'", f"SELECT a INTO r{day} FROM t"]
    return ["DROP TABLE IF EXISTS t_old", query.replace(" FROM", " INTO t_tmp FROM"), *texts]


FORMS: tuple[Day, ...] = (until_the_next, dated, in_one_statement, made_anew, filled, with_sp_rename)
swaps.DIALECTS |= {in_one_statement: "mysql", with_sp_rename: "tsql"}
DATED = (dated, made_anew)
READERS = {"t.a r0.a", "t.a r1.a", "t.a r2.a", "t.a r3.a"}


def backups(day: Day, sources: dict[int, str]) -> set[str]:
    """Return the edges of the backups of each day: of `t`, and of what the backup of a day comes from besides."""
    if day not in DATED:
        last = sources.get(3)
        return {"t.a t_old.a"} | ({f"{last} t_old.a"} if last else set())
    own = {f"{source} t_{number}.a" for number, source in sources.items()}
    return own | {f"t.a t_{number}.a" for number in range(4)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("day", FORMS, ids=lambda one: one.__name__)
def test_a_backup_of_a_table_that_does_not_change(day: Day, way: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.lbug") as store:
        swaps.ingest(store, day, "AAAA", way)
        assert flows(store) == {"src.a t.a"} | READERS | backups(day, {})


@pytest.mark.parametrize("way", [way for way in WAYS if way != "every second day first"])
@pytest.mark.parametrize("day", [one for one in FORMS if one is not filled], ids=lambda one: one.__name__)
def test_a_backup_of_what_the_table_was(day: Day, way: str, tmp_path: Path) -> None:
    """(A day that arrives before the one before it copies what is known by then: a backup may have a source more.)"""
    with open_store(tmp_path / "s.lbug") as store:
        swaps.ingest(store, day, "AABB", way)
        copies = {"src.a r0.a", "src.a r1.a"}
        first = dict.fromkeys(range(3), "src.a")
        assert flows(store) == {"other.b t.a"} | copies | READERS | backups(day, first)


def test_the_past_has_the_sources_of_then(tmp_path: Path) -> None:
    path = tmp_path / "s.lbug"
    with open_store(path) as store:
        swaps.ingest(store, dated, "AABB", "day by day")
        for day, source in enumerate(("src.a", "src.a", "other.b", "other.b")):
            assert swaps._into(store, "t.a", day) == {source}
        assert swaps._into(store, "t_0.a", 0) == {"t.a"}
        assert swaps._into(store, "t_2.a", 2) == {"t.a", "src.a"}
    for at, rows in ((-1, []), (1, ["r0", "t_0"]), (2, ["r0", "r1", "t_0", "t_1"])):
        then = (AT + timedelta(days=at, seconds=-1)).strftime("%Y-%m-%dT%H:%M:%S")
        said = lineage("impact", "t.a", "--as-of", then, "--format", "csv", "--store", path).out
        assert sorted({line.split(",")[1].rpartition(".")[0] for line in said.splitlines()[1:]}) == rows


CASES: dict[str, tuple[list[str], set[str]]] = {
    "made of its backup": (
        [
            "CREATE TABLE t AS SELECT a FROM src",
            "CREATE TABLE r AS SELECT a FROM t",
            "ALTER TABLE t RENAME TO t_old",
            "CREATE TABLE t AS SELECT a FROM t_old",
            "CREATE TABLE q AS SELECT a FROM t",
        ],
        {"src.a r.a", "src.a t_old.a", "t.a r.a", "t.a q.a", "t.a t_old.a", "t_old.a t.a"},
    ),
    "of a table whose columns no schema lists": (
        [
            "CREATE TABLE r AS SELECT a FROM t",
            "ALTER TABLE t RENAME TO t_old",
            "CREATE TABLE t (a int)",
            "CREATE TABLE q AS SELECT a FROM t_old",
        ],
        {"t.a r.a", "t.a t_old.a", "t_old.a q.a"},
    ),
    "of backups": (
        [
            "CREATE TABLE t AS SELECT a FROM src",
            "CREATE TABLE t_1 AS SELECT b AS a FROM other",
            "CREATE TABLE r AS SELECT a FROM t",
            "ALTER TABLE t_1 RENAME TO t_2",
            "ALTER TABLE t RENAME TO t_1",
            "CREATE TABLE t (a int)",
        ],
        {"other.b t_2.a", "src.a r.a", "src.a t_1.a", "t.a r.a", "t.a t_1.a", "t_1.a t_2.a"},
    ),
    "under a view that follows it": (
        [
            "CREATE TABLE t AS SELECT a FROM src",
            "CREATE VIEW v AS SELECT a FROM t",
            "CREATE TABLE n AS SELECT b AS a FROM other",
            "ALTER TABLE t RENAME TO t_old",
            "ALTER TABLE n RENAME TO t",
            "CREATE TABLE q AS SELECT a FROM v",
        ],
        {"other.b t.a", "src.a t_old.a", "t.a t_old.a", "t_old.a v.a", "v.a q.a"},
    ),
    "whose name nobody takes over": (
        [
            "CREATE TABLE t AS SELECT a FROM src",
            "CREATE TABLE r AS SELECT a FROM t",
            "ALTER TABLE t RENAME TO t_old",
            "CREATE TABLE q AS SELECT a FROM t_old",
        ],
        {"src.a t_old.a", "t_old.a r.a", "t_old.a q.a"},
    ),
    "of a staging table, which is none": (
        [
            "CREATE TABLE s AS SELECT a FROM src",
            "ALTER TABLE s RENAME TO t",
            "CREATE TABLE r AS SELECT a FROM t",
            "CREATE TABLE s AS SELECT a FROM src",
            "ALTER TABLE t RENAME TO t_old",
            "ALTER TABLE s RENAME TO t",
            "CREATE TABLE q AS SELECT a FROM t",
        ],
        {"src.a t.a", "t.a r.a", "t.a q.a", "t.a t_old.a"},
    ),
}


def as_log(texts: list[str]) -> list[Ran]:
    return [Ran(text, "s", 60 * at) for at, text in enumerate((*BEGIN, *texts))]


@pytest.mark.parametrize("case", CASES)
def test_a_backup(case: str, tmp_path: Path) -> None:
    texts, expected = CASES[case]
    with open_store(tmp_path / "s.lbug") as store:
        for _ in range(2):
            ingested(store, as_log(texts))
            assert flows(store) == expected
