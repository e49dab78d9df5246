"""What `extract_script` and `extract` take, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from lineage import extract, extract_script
from lineage.sql.script.mentioned_names import changed_names

FIRST, SECOND = "CREATE VIEW v AS SELECT * FROM t", "CREATE TABLE t AS SELECT a FROM s"


def test_a_list_of_texts() -> None:
    view, table = extract_script([FIRST, SECOND], "postgres")
    assert view.output_columns == ["a"]
    assert (view.source, table.source) == ("1", "2")
    assert (view.span.start, table.span.start) == (0, 0) if view.span and table.span else False
    assert extract_script([], "postgres") == []
    assert [s.target for s in extract_script(("SELECT 1",), "postgres")] == [None]


@pytest.mark.parametrize("wrong", [[FIRST, 3], 3, None, b"SELECT 1"])
def test_what_is_no_text_is_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match="SQL is a text, a path, a mapping of names to texts or a list of texts"):
        extract_script(wrong, "postgres")


def test_set_operation_references_has_two_readings() -> None:
    wrong: Any = "typo"
    for function in (extract, extract_script):
        with pytest.raises(ValueError, match="found 'typo', expected 'exact' or 'paper'"):
            function("SELECT 1", "postgres", set_operation_references=wrong)


@pytest.mark.parametrize("dialect", ["synapse", "dune", "singlestore"])
def test_dialects_that_are_read_as_others(dialect: str) -> None:
    [statement] = extract("SELECT a FROM t", dialect)
    assert statement.completeness == "full"


@pytest.mark.parametrize(
    ("sql", "read_as", "sources"),
    [
        ("CREATE VIEW v AS SELECT a FROM `p.d.t`", "bigquery", ["p.d.t"]),
        ("CREATE VIEW v AS SELECT `a` FROM `s`.`t`", "spark", ["s.t"]),
        ("CREATE VIEW v AS SELECT [a] FROM [dbo].[my t] AS t", "tsql", ['dbo."my t"']),
        ("CREATE VIEW v AS SELECT a[1] AS a, '`x`' AS b FROM t", None, ["t"]),
    ],
)
def test_quotes_of_another_dialect_make_no_tables(sql: str, read_as: str | None, sources: list[str]) -> None:
    for [statement] in (extract(sql), extract_script(sql)):
        assert (statement.sources, statement.completeness) == (sources, "full")
        assert [str(edge.source.column) for edge in statement.edges] == ["a"]
        said = [found.message for found in statement.diagnostics]
        assert len(said) == bool(read_as)
        assert all(str(read_as) in message for message in said)


def test_large_texts_that_change_each_others_tables_are_read_once() -> None:
    padding = f"/*{'x' * 1_200_000}*/\n"
    texts = {
        "1.sql": f"{padding}CREATE TABLE s.t AS SELECT a FROM r; CREATE VIEW s.v AS SELECT * FROM s.t",
        "2.sql": f"{padding}DROP VIEW s.v; DROP TABLE s.t; CREATE TABLE s.t AS SELECT b FROM r",
    }
    statements = extract_script(texts, "postgres")
    assert [(s.operation, s.source, s.output_columns) for s in statements] == [
        ("CREATE_TABLE_AS", "1.sql", ["a"]),
        ("CREATE_VIEW", "1.sql", ["a"]),
        ("DROP_VIEW", "2.sql", []),
        ("DROP_TABLE", "2.sql", []),
        ("CREATE_TABLE_AS", "2.sql", ["b"]),
    ]


def test_tables_of_two_schemas_with_one_name_are_two_tables() -> None:
    texts = {
        "1.sql": "DROP TABLE IF EXISTS a.t; CREATE TABLE a.t AS SELECT x FROM r",
        "2.sql": "DROP TABLE IF EXISTS b.t; CREATE TABLE b.t AS SELECT y FROM r",
        "3.sql": "CREATE TABLE u AS SELECT a.*, b.* FROM a.t AS a, b.t AS b",
    }
    assert extract_script(texts, "postgres")[-1].output_columns == ["x", "y"]
    moved = {
        "1.sql": "CREATE TABLE a.t AS SELECT x FROM r; CREATE VIEW w AS SELECT * FROM a.t",
        "2.sql": "ALTER TABLE a.t SET SCHEMA b; CREATE TABLE a.t AS SELECT y FROM r",
        "3.sql": "DROP TABLE b.t; CREATE TABLE u AS SELECT * FROM a.t",
    }
    assert extract_script(moved, "postgres")[-1].output_columns == ["y"]


@pytest.mark.parametrize(
    ("dialect", "defining", "name"),
    [
        ("postgres", "CREATE TABLE /* copy; of */ x AS", "x"),
        ("postgres", "CREATE TABLE -- of base\n IF NOT EXISTS x AS", "x"),
        ("postgres", 'CREATE VIEW "a""b" AS', '"a""b"'),
        ("bigquery", "CREATE TABLE my-project.ds.x AS", "`my-project.ds.x`"),
        ("bigquery", "CREATE TABLE `my-project`.ds.x AS", "my-project.ds.x"),
        ("snowflake", "CREATE TABLE IDENTIFIER('s.x') AS", "s.x"),
        ("tsql", "CREATE OR ALTER /* all */ VIEW [dbo] . [x] AS", "dbo.x"),
        ("postgres", "SELECT b, c INTO UNLOGGED x FROM base --", "x"),
    ],
)
def test_a_definition_is_found_in_a_later_text_however_it_is_written(dialect: str, defining: str, name: str) -> None:
    texts = {"1.sql": f"CREATE VIEW v AS SELECT * FROM {name}", "2.sql": f"{defining} SELECT b, c FROM base"}
    view, _ = extract_script(texts, dialect)
    assert [column.lower() for column in view.output_columns] == ["b", "c"]
    assert view.completeness == "full"


@pytest.mark.parametrize("change", ["DROP /* old */ TABLE x", "ALTER MATERIALIZED VIEW x RENAME TO y", "DROP TABLE x"])
def test_texts_that_change_a_table_are_followed_with_its_definition(change: str) -> None:
    assert "x" in set(changed_names(f"{change}; CREATE VIEW x AS SELECT 1".lower()))


@pytest.mark.parametrize("between", ["OR REPLACE", f"/* {'owner; ' * 30}*/ OR REPLACE", "-- of; all\n" * 5])
def test_a_function_of_a_later_text_is_found_behind_comments(between: str) -> None:
    function = f"CREATE {between} FUNCTION f(p int, q int) RETURNS int LANGUAGE sql AS $$ SELECT p $$"
    view, *_ = extract_script({"1.sql": "CREATE VIEW v AS SELECT f(a, b) AS x FROM t", "2.sql": function}, "postgres")
    assert [str(edge.source) for edge in view.edges] == ["t.a"]


@pytest.mark.parametrize(
    ("sql", "target"),
    [
        ("CREATE VIEW s.v AS SELECT u.id, j.a FROM u, json_table(u.doc, '$' PASSING 1 AS x COLUMNS (a int)) j", "s.v"),
        ("CREATE VIEW s.v AS SELECT id, FROM WHERE FROM u", "s.v"),
        ("SELECT u.id, j.a FROM u, json_table(u.doc, '$' PASSING 1 AS x COLUMNS (a int)) j", "report"),
    ],
)
def test_a_broken_definition_is_not_named_after_its_file(sql: str, target: str) -> None:
    [statement] = extract_script({"models/report.sql": sql}, "postgres")
    assert (statement.target, statement.sources) == (target, ["u"])
    assert str(statement.completeness) != "full"


def test_who_reads_a_broken_definition_knows_its_columns() -> None:
    broken = "CREATE VIEW s.v AS SELECT u.id, u.b FROM u, json_table(u.doc, '$' PASSING 1 AS x COLUMNS (a int)) j"
    _, reader = extract_script({"a/report.sql": broken, "b.sql": "CREATE VIEW r AS SELECT * FROM s.v"}, "postgres")
    assert reader.output_columns == ["id", "b"]
