"""Scripts, and the statements that they are: `|` stands where one ends."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.model.dialects import DIALECTS
from lineage.sql.scan.implementation import ScanEngine

SCRIPTS = [
    ("postgres", "SELECT 1|;SELECT ';', \";\" /* ; */ FROM t|; -- end;\n"),
    ("postgres", "BEGIN|; UPDATE t SET a = 1|; END|; SELECT 1|"),
    ("postgres", "CREATE FUNCTION f() RETURNS int AS $b$ BEGIN; RETURN 1; END $b$ LANGUAGE plpgsql|; SELECT 1|"),
    ("postgres", "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC; SELECT CASE WHEN a THEN 1 END; END|; SELECT 2|"),
    ("postgres", "SELECT CASE WHEN a THEN 1 END|; SELECT 2|"),
    ("postgres", "DO $$ BEGIN PERFORM 1; END $$|; SELECT E'\\';'|"),
    ("postgres", "SELECT {{ a; b }}|; SELECT 2|"),
    ("tsql", "SELECT 1|\nGO\nSELECT 2|\n  go 5 -- again\nSELECT 3|"),
    ("tsql", "SELECT 'a\nGO\nb', go FROM t|"),
    ("tsql", "CREATE PROC p AS SELECT 1; SELECT 2|\nGO\nSELECT 3|"),
    ("tsql", "CREATE PROC p AS BEGIN SELECT 1; SELECT 2 END|; SELECT 3|"),
    ("tsql", "IF 1 = 1 BEGIN SELECT 1; SELECT 2; END|; BEGIN TRAN|; SELECT [a;b]|; COMMIT|"),
    ("tsql", "BEGIN TRY SELECT 1; END TRY BEGIN CATCH SELECT 2; END CATCH|; SELECT 3|"),
    (
        "mysql",
        "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END|//\nSELECT 2|//\nDELIMITER ;\nSELECT 3|; SELECT 4|",
    ),
    ("mysql", "/* whose */ DELIMITER //\nSELECT '//'; SELECT 2|//\n-- x\n /**/ DELIMITER ;\nSELECT delimiter FROM t|"),
    ("mysql", "delimiter $$\nCREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN SET a = 1; END|$$\nSELECT '$$'|$$"),
    (
        "mysql",
        "CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; WHILE b DO SET c = 1; END WHILE; END|; SELECT 2|",
    ),
    ("mysql", "BEGIN|; SELECT `a;b`|; COMMIT|"),
    ("oracle", "SELECT 1 FROM dual|\n/\nSELECT a / b FROM t|\n"),
    ("oracle", "CREATE PROCEDURE p IS v NUMBER; BEGIN FOR i IN 1..2 LOOP q; END LOOP; END p|;\n/\nSELECT 1 FROM t|"),
    (
        "oracle",
        "CREATE PACKAGE BODY b IS PROCEDURE p IS BEGIN q; END; PROCEDURE r IS BEGIN q; END; END b|;\n/\nSELECT 1|",
    ),
    ("oracle", "DECLARE v NUMBER; BEGIN SELECT 1 INTO v FROM t; END|; SELECT q'[;]' FROM t|"),
    ("snowflake", "BEGIN|; SELECT 1|; COMMIT|; BEGIN LET x := 1; RETURN x; END|; SELECT 2 // ;\n|"),
    ("snowflake", "DECLARE y INT; BEGIN IF (y = 1) THEN SELECT 1; END IF; END|; SELECT 2|"),
    ("bigquery", "BEGIN TRANSACTION|; IF a THEN SELECT 1; ELSE SELECT 2; END IF|; SELECT '''a;'b'''|"),
    ("bigquery", "FOR r IN (SELECT 1) DO SELECT 2; END FOR|; DECLARE x INT64|; SELECT 3 # ;\n|"),
    ("sqlite", "CREATE TRIGGER t AFTER INSERT ON x BEGIN UPDATE a SET b = 1; DELETE FROM c; END|; SELECT 1|"),
    ("ansi", "; ;; SELECT 1|;;"),
    ("ansi", " -- nothing\n/* at all; */ ;"),
    # What never closes was no block.
    ("snowflake", "BEGIN LET x := 1|; SELECT 2|; SELECT 3|"),
    ("oracle", "DECLARE v NUMBER|; SELECT 1 FROM t|"),
    ("tsql", "IF a = 1 BEGIN SELECT 1|; SELECT 2|\nGO\nSELECT 3|; SELECT 4|"),
]


@pytest.mark.parametrize(("dialect", "script"), SCRIPTS)
def test_statements_end_where_they_end(scanner: ScanEngine, dialect: str, script: str) -> None:
    sql = script.replace("|", "")
    ends = [found.start() - count for count, found in enumerate(re.finditer(r"\|", script))]
    places = scanner.split_statements(sql, dialect)
    # A mark behind a trailing comment is that of the statement before it.
    shown = [sql[:end].rstrip() for _, end in places]
    assert shown == [re.sub(r"(//|#) ;$", "", sql[:end].rstrip()).rstrip() for end in ends]


def test_places_are_in_characters(scanner: ScanEngine) -> None:
    assert scanner.split_statements("SELECT 'é😀';\u00a0SELECT 2", "postgres") == [(0, 11), (13, 21)]


PARTS = [
    *(
        "BEGIN",
        "END",
        ";",
        "CASE",
        "IF",
        "LOOP",
        "CREATE",
        "PROCEDURE",
        "DECLARE",
        "SELECT",
        "1",
        "'",
        "/*",
        "*/",
        "--",
    ),
    *("DELIMITER", "$$", "AS", "THEN", "ELSE"),
]
texts = st.text(alphabet="abé1'\"`-/*#$q[](\\\n ;.EGO", max_size=80) | st.lists(
    st.sampled_from([*PARTS, "\nGO\n", "\n/\n", "\n"]), max_size=30
).map(" ".join)


@settings(deadline=None)
@given(texts, st.sampled_from(sorted(DIALECTS)))
def test_statements_stand_in_order_and_apart(scanner: ScanEngine, sql: str, dialect: str) -> None:
    last = 0
    for start, end in scanner.split_statements(sql, dialect):
        assert last <= start < end <= len(sql)
        assert not sql[start].isspace()
        last = end


@settings(deadline=None)
@given(texts, st.sampled_from(sorted(DIALECTS)))
def test_between_statements_stands_nothing_that_says_anything(scanner: ScanEngine, sql: str, dialect: str) -> None:
    rest, last = [], 0
    for start, end in scanner.split_statements(sql, dialect):
        rest.append(sql[last:start])
        last = end
    between = "\n".join([*rest, sql[last:]])
    if dialect in ("mysql", "doris", "starrocks"):
        return
    without_lines = re.sub(r"(?im)^[ \t\r]*(go[ \t\d]*|/)[ \t\r]*(--.*)?$", "", scanner.mask_literals(between, dialect))
    assert re.fullmatch(r"[\s;]*", without_lines)
