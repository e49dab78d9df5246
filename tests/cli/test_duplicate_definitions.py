"""Two files of one ingest that define one table or view: said, with both files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import lineage

VIEW, OTHER = "CREATE VIEW mart.v AS SELECT a FROM s.t;", "CREATE VIEW mart.v AS SELECT b FROM s.t;"


def codes(tmp_path: Path, files: dict[str, str], *options: str) -> list[tuple[str, str, str]]:
    for name, sql in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(sql)
    arguments = ("-d", "postgres", "--project", "p", "-f", "json", *options)
    done = lineage("ingest", "sql", tmp_path / "m", "-s", tmp_path / "s.db", *arguments)
    assert done.code == 0, done.err
    return [(one["source"], one["code"], one["message"]) for one in done.json["found"]]


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        (VIEW, OTHER, "mart.v"),
        (VIEW, VIEW, "mart.v"),
        ("CREATE TABLE mart.v AS SELECT a FROM s.t", OTHER, "mart.v"),
        ("CREATE VIEW v AS SELECT a FROM t", 'CREATE VIEW public."v" AS SELECT b FROM t', "public.v"),
    ],
)
def test_both_files_are_named(tmp_path: Path, one: str, other: str, name: str) -> None:
    [(source, code, message)] = codes(tmp_path, {"m/one.sql": one, "m/two.sql": other}, "--default-schema", "public")
    assert (source, code) == ("two.sql", "DEFINED_TWICE")
    assert message == f"{name} is defined in two.sql and in one.sql: the lineage of all of them is kept"


def test_files_of_one_name_that_hold_a_query(tmp_path: Path) -> None:
    files = {"m/a/orders.sql": "SELECT a FROM t", "m/b/orders.sql": "SELECT b FROM t"}
    [(source, code, message)] = codes(tmp_path, files)
    assert (source, code) == ("b/orders.sql", "DEFINED_TWICE")
    assert "a/orders.sql" in message


def test_what_replaces_says_so_in_the_file_that_ends(tmp_path: Path) -> None:
    files = {"m/one.sql": VIEW, "m/two.sql": OTHER.replace("CREATE", "CREATE OR REPLACE")}
    [(source, code, message)] = codes(tmp_path, files)
    assert (source, code, "two.sql" in message) == ("one.sql", "REPLACED_LATER", True)


def test_what_is_no_second_definition(tmp_path: Path) -> None:
    assert codes(tmp_path, {"m/one.sql": VIEW + "INSERT INTO s.u (a) SELECT a FROM s.t;"}) == []
    more = {
        "m/two.sql": "CREATE TEMP TABLE x AS SELECT a FROM s.t; INSERT INTO s.u (a) SELECT a FROM x;",
        "m/three.sql": "CREATE TEMP TABLE x AS SELECT b FROM s.t; INSERT INTO s.u (a) SELECT b FROM x;",
    }
    assert codes(tmp_path, more) == []
    assert codes(tmp_path, {}, "--namespace", "postgres://elsewhere:5432") == []


FIRST, AGAIN = "CREATE TABLE s.c AS SELECT a FROM s.t;", "CREATE TABLE IF NOT EXISTS s.c AS SELECT b FROM s.u;"


@pytest.mark.parametrize(
    ("sql", "is_said"),
    [
        (FIRST + AGAIN, True),
        (FIRST + f"/* {'why ' * 60} */ {AGAIN}", True),
        (FIRST + "INSERT INTO s.c SELECT a FROM s.t;", False),
        ("CREATE TABLE s.c (a int);" + AGAIN, True),
        (AGAIN, False),
        (FIRST + "DROP TABLE s.c;" + AGAIN, False),
        (FIRST + "ALTER TABLE s.c RENAME TO d;" + AGAIN, False),
        (FIRST + "CREATE TABLE IF NOT EXISTS s.c (a int);", False),
        (AGAIN + "INSERT INTO s.c (b) SELECT a FROM s.t;", False),
    ],
)
def test_what_if_not_exists_leaves_is_said_after_an_edit_too(tmp_path: Path, sql: str, is_said: bool) -> None:
    for text in (sql, sql + "CREATE VIEW s.w AS SELECT 1 AS one;", sql):
        found = codes(tmp_path, {"m/one.sql": text, "m/two.sql": "CREATE VIEW s.x AS SELECT a FROM s.y"})
        assert [code for _, code, _ in found] == ["DEFINED_TWICE"] * is_said
