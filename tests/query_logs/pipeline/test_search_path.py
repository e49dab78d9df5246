"""Names without a schema in a log, of a session whose search path has several schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from tests.query_logs.pipeline.running import Ran, edges, in_order, ingested, of_files, two_stores


def stated(store: GraphStore) -> set[str]:
    lines = (edge.split(" ") for edge in edges(store) if " CONTRIBUTES " in edge)
    return {f"{line[0].rpartition('/')[2]} {line[2].rpartition('/')[2]}" for line in lines}


def test_a_table_that_another_session_makes_is_found_in_the_schema_that_has_it_then(tmp_path: Path) -> None:
    log = [
        Ran("CREATE TABLE b.f AS SELECT x FROM c.o", "maker", 0),
        Ran("SET search_path TO a, b", "reader", 1),
        Ran("CREATE TABLE v AS SELECT * FROM f", "reader", 2),
        Ran("INSERT INTO f SELECT y FROM c.p", "reader", 3),
        Ran("CREATE TABLE a.f AS SELECT z FROM c.q", "maker", 4),
        Ran("CREATE TABLE w AS SELECT * FROM f", "reader", 5),
    ]
    expected = {"c.o#x b.f#x", "b.f#x a.v#x", "c.p#y b.f#x", "c.q#z a.f#z", "a.f#z a.w#z"}
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, log, size=2)
            assert stated(store) == expected


def test_a_name_that_a_table_had_before_it_was_renamed_is_passed_over(tmp_path: Path) -> None:
    log = [
        "CREATE TABLE a.f AS SELECT x FROM c.o",
        "ALTER TABLE a.f RENAME TO g",
        "SET search_path TO a, b",
        "CREATE TABLE b.f AS SELECT y FROM c.p",
        "INSERT INTO f (y) SELECT x FROM a.g",
    ]
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, in_order(log))
            assert stated(store) == {"c.o#x a.g#x", "c.p#y b.f#y", "a.g#x b.f#y"}


def test_a_table_of_an_earlier_log_is_found_and_another_path_is_another_job(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(["CREATE TABLE b.f AS SELECT x FROM c.o", "CREATE TABLE a.t AS SELECT x FROM c.o"]))
        statement = "INSERT INTO t SELECT x FROM f"
        ingested(
            store,
            [
                *in_order(["SET search_path TO a, b", statement], "one"),
                *in_order(["SET search_path TO a", statement], "two"),
            ],
        )
        assert stated(store) == {"c.o#x b.f#x", "c.o#x a.t#x", "b.f#x a.t#x", "a.f#x a.t#x"}


def test_where_no_schema_is_known_to_have_it_the_first_is_taken_and_that_is_reported(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(["SET search_path TO a, b", "CREATE TABLE v AS SELECT x FROM f"]))
        assert stated(store) == {"a.f#x a.v#x"}
        [found] = [one.diagnostic for one in store.diagnostics()]
        assert (str(found.code), "a.f, b.f" in found.message) == ("UNKNOWN_TABLE", True)


def test_a_view_reads_its_own_schema_once_that_is_known_to_have_the_table(tmp_path: Path) -> None:
    log = ["CREATE TABLE f AS SELECT x FROM o", "CREATE TABLE s3.f AS SELECT x FROM p"]
    view = "CREATE VIEW s3.w AS SELECT count(*) AS n FROM f"
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, in_order([*log, view]), "duckdb")
            kinds = {"REFERENCES", "CONTRIBUTES"}
            assert {(s, t) for kind, s, t, _ in store.dump().relationships if kind in kinds and "w" in t} == {
                ("duckdb/s3.f", "duckdb/s3.w")
            }


@pytest.mark.parametrize(
    ("before", "schema"),
    [
        (["SET search_path = a", "RESET search_path"], None),
        (["SET search_path = a", "SET search_path TO DEFAULT"], None),
        (["SET search_path = a, b", "DISCARD ALL"], None),
        (["SET search_path = a", "RESET ALL"], None),
        (["SET search_path = a", "RESET work_mem"], "a"),
        (["BEGIN", "SET LOCAL search_path = a"], "a"),
        (["BEGIN", "SET LOCAL search_path = a", "COMMIT"], None),
        (["SET search_path = a", "BEGIN", "SELECT set_config('search_path', 'b', true)", "COMMIT"], "a"),
        (["SET LOCAL search_path = a"], None),
        (["SET search_path = a", "BEGIN", "SET search_path = b", "ROLLBACK"], "a"),
        (["BEGIN", "SET search_path = b", "COMMIT"], "b"),
        (["BEGIN", "SET search_path = a", "SAVEPOINT p", "SET search_path = b", "ROLLBACK TO p", "COMMIT"], "a"),
        (["BEGIN; SET LOCAL search_path = a"], "a"),
        (["BEGIN; SET search_path = a; COMMIT"], "a"),
        (["BEGIN; SET search_path = a", "ROLLBACK"], None),
        (["SET search_path = a; RESET search_path"], None),
        (["SET search_path = a", "/* tidy */ ABORT"], "a"),
        (["BEGIN", "SET search_path = a", "COMMIT AND CHAIN", "SET search_path = b", "ROLLBACK"], "a"),
    ],
)
def test_what_a_session_sets_lasts_as_long_as_in_the_server(
    tmp_path: Path, before: list[str], schema: str | None
) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order([*before, "INSERT INTO v SELECT x FROM c.o"]))
        assert stated(store) == {f"c.o#x {f'{schema}.v' if schema else 'v'}#x"}


def test_a_log_and_a_file_of_the_same_statements_are_one(tmp_path: Path) -> None:
    texts = [
        "SET search_path = one", "BEGIN", "SET LOCAL search_path = two", "INSERT INTO a SELECT x FROM c.o",
        "SAVEPOINT p", "SET search_path = three", "INSERT INTO b SELECT x FROM c.o", "ROLLBACK TO p",
        "INSERT INTO c SELECT x FROM c.o", "COMMIT AND CHAIN", "INSERT INTO d SELECT x FROM c.o", "ABORT",
        "INSERT INTO e SELECT x FROM c.o", "RESET search_path", "INSERT INTO f SELECT x FROM c.o",
    ]  # fmt: skip
    with two_stores(tmp_path) as (one, other):
        ingested(one, in_order(texts))
        of_files(other, tmp_path / "sql", {"all.sql": ";\n".join(texts)})
        assert edges(one) == edges(other)
        assert {line.split(" ")[1] for line in stated(one)} == {"two.a#x", "two.c#x", "one.e#x", "f#x"}
