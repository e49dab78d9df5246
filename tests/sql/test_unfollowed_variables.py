"""`extract` resolves each statement by itself: one that reads what another assigns to a variable is not full."""

from __future__ import annotations

import pytest

from lineage import extract, extract_script
from lineage.model.statement import Completeness

FROM_TABLES = {
    "a variable": ("tsql", "DECLARE @x int; SET @x = (SELECT max(a) FROM t); INSERT INTO u (c) SELECT b + @x FROM v"),
    "one assigned from another": (
        "tsql",
        "DECLARE @x int, @y int; SET @x = (SELECT max(a) FROM t); SET @y = @x + 1; INSERT INTO u (c) SELECT @y FROM v",
    ),
    "in a loop, assigned later": (
        "tsql",
        "DECLARE @x int; WHILE 1 = 1 BEGIN INSERT INTO u (c) SELECT @x FROM v; SET @x = (SELECT max(a) FROM t); END",
    ),
    "a trigger's row": (
        "mysql",
        "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW BEGIN INSERT INTO u (c) SELECT NEW.a FROM v; END",
    ),
    "a cursor's row": (
        "oracle",
        "BEGIN FOR r IN (SELECT a FROM t) LOOP INSERT INTO u (c) VALUES (r.a); END LOOP; END;",
    ),
}
WITHOUT = {
    "a literal": ("tsql", "DECLARE @x int = 1; SET @x = 2; INSERT INTO u (c) SELECT b + @x FROM v"),
    "another variable": (
        "tsql",
        "DECLARE @x int = (SELECT max(a) FROM t), @y int = 1; INSERT INTO u (c) SELECT b + @y FROM v",
    ),
    "replaced before it is read": (
        "tsql",
        "DECLARE @x int; SET @x = (SELECT max(a) FROM t); SET @x = 1; INSERT INTO u (c) SELECT b + @x FROM v",
    ),
}


@pytest.mark.parametrize(("dialect", "sql"), FROM_TABLES.values(), ids=FROM_TABLES)
def test_a_read_of_such_a_variable_is_announced(dialect: str, sql: str) -> None:
    [insert] = [statement for statement in extract(sql, dialect) if statement.operation == "INSERT"]
    assert insert.completeness is Completeness.PARTIAL
    [problem] = insert.diagnostics
    assert "extract_script" in (problem.hint or "")
    [followed] = [statement for statement in extract_script(sql, dialect) if statement.operation == "INSERT"]
    assert followed.completeness is Completeness.FULL
    assert len(followed.edges) > len(insert.edges)


@pytest.mark.parametrize(("dialect", "sql"), WITHOUT.values(), ids=WITHOUT)
def test_other_statements_are_full(dialect: str, sql: str) -> None:
    assert {statement.completeness for statement in extract(sql, dialect)} == {Completeness.FULL}
