from __future__ import annotations

import pytest
import sqlglot
from sqlglot.errors import SqlglotError

from lineage.sql.budget import Budget
from lineage.sql.scan.implementation import ScanEngine


@pytest.mark.parametrize(
    ("sql", "depth"),
    [
        ("SELECT a FROM t", 0),
        ("SELECT ((a)), f(b[1])", 2),
        ("SELECT '(((', \"[[[\" /* ((( */ FROM t -- (((", 0),
        ("CASE WHEN a THEN CASE WHEN b THEN 1 END END, CASE WHEN c THEN 1 END", 2),
        ("SELECT (a), (b); SELECT (c)", 1),
        ("SELECT (a; SELECT (b", 1),
        ("CAST(a AS ARRAY<STRUCT<b MAP<INT, INT>>>)", 5),
        ("a < b AND b > c AND c < d", 1),
        ("NOT NOT NOT a", 3),
        ("- - - a", 3),
        ("a = -1 AND b = -1", 2),
        # What waits for its operand is held while a bracket is open.
        ("NOT (NOT (NOT (a)))", 6),
        # Not what is called so, but what closes it.
        ("(END (END (a", 3),
        ("( ] ( ] ( ]", 3),
        ("CASE ) CASE )", 2),
        ("a JOIN b ON c JOIN d USING (e)", 1),
        ("a JOIN b JOIN c ON d ON e", 2),
        ("a CROSS JOIN b CROSS JOIN c NATURAL LEFT JOIN d", 0),
        ("a JOIN b JOIN c WHERE d", 32),
        # A pipe is held until what it stands in ends; it is two characters of an operator as well.
        ("FROM (FROM t |> WHERE a |> SELECT a) |> WHERE a", 5),
        ("FROM t |> LIMIT 1; FROM t |> LIMIT 2", 3),
    ],
)
def test_depth(scanner: ScanEngine, sql: str, depth: int) -> None:
    assert scanner.nesting_depth(sql, "bigquery" if "<" in sql else "ansi") == depth


UNITS = [
    "(", "[", "{", "CASE ", "CASE WHEN a THEN ", "NOT ", "NOT a = ", "- ", "+ ", "~ ", "! ", "@ ", "$ ", "- (", "NOT (",
    "ANY ", "ARRAY ", "INTERVAL ", "DESCRIBE ", "PRIOR ", "DISTINCT ", "VARIADIC ", "SET ", "LATERAL FROM a ",
    "f(", "(SELECT ", "ARRAY<", "STRUCT<a ", "EXISTS(", "IF(a, b, ", "CAST(", "a IN (", "a -> (", "NOT CASE WHEN ",
    "a = NOT end = ", "! END + ", "/ INTERVAL limit ", "f() := ", "| ! a ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("lead", ["SELECT ", "SELECT * FROM ", "SELECT CAST(a AS ", ""])
def test_what_makes_the_parser_recurse_is_deep(scanner: ScanEngine, lead: str, unit: str) -> None:
    """A text that is not called deep can be parsed, or is refused, without running out of stack."""
    text = lead + unit * (Budget().nesting - 20)
    assert parses_or_is_refused(text), "the parser has less room than is allowed"
    text = lead + unit * 2_000
    assert scanner.nesting_depth(text, "duckdb") > Budget().nesting or parses_or_is_refused(text)


def parses_or_is_refused(text: str) -> bool:
    try:
        sqlglot.parse(text, dialect="duckdb")
    except RecursionError:
        return False
    except SqlglotError:
        return True
    return True


def test_joins_that_wait_for_ever_are_deep(scanner: ScanEngine) -> None:
    assert scanner.nesting_depth("SELECT * FROM t" + " JOIN x" * 13, "spark") > Budget().nesting
    assert scanner.nesting_depth("SELECT * FROM t" + " JOIN x ON a = b" * 1_000, "spark") < 5
    assert scanner.nesting_depth("SELECT * FROM t" + " CROSS JOIN x" * 1_000, "spark") < 5


def test_a_long_text_is_not_deep(scanner: ScanEngine) -> None:
    assert scanner.nesting_depth("SELECT " + " + ".join(["(a)"] * 10_000) + ", NOT a" * 1_000, "ansi") < 10


def test_depth_takes_no_stack(scanner: ScanEngine) -> None:
    assert scanner.nesting_depth("(" * 1_000_000, "ansi") == 1_000_000
