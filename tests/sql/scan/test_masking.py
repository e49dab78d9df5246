from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.model.dialects import DIALECTS
from lineage.sql.scan import fingerprint, mask_literals
from lineage.sql.scan.arrays import fingerprint_array
from lineage.sql.scan.implementation import ScanEngine


@pytest.mark.parametrize(
    ("dialect", "sql", "masked"),
    [
        ("postgres", "a = 'x''y'", "a = '****'"),
        ("postgres", "SELECT \"Ann\", 'Ann'", "SELECT \"Ann\", '***'"),
        ("postgres", r"a = E'it\'s' AND b = 1", r"a = E'*****' AND b = ?"),
        ("postgres", "a = $$Ann$$ OR b = $q$x$$y$q$", "a = $$***$$ OR b = $q$****$q$"),
        ("postgres", "a = $1 AND t1.c2 > 10.5e3", "a = $1 AND t1.c2 > ?     "),
        ("postgres", "a /* Ann /* in */ here */ b -- Bob\nc", "a                         b       \nc"),
        ("mysql", "a = \"Ann\" # Bob\nAND `Ann` = 'B'", "a = \"***\"      \nAND `Ann` = '*'"),
        ("mysql", r"a = 'it\'s'", r"a = '*****'"),
        ("bigquery", 'a = """Ann "x" \'y\'""" AND b = "c"', 'a = """***********""" AND b = "*"'),
        ("bigquery", "r'\\d+' = x", "r'***' = x"),
        ("oracle", "a = q'[it's]' AND b = 'c'", "a = q'[****]' AND b = '*'"),
        ("oracle", "a = Nq'!Ann!'", "a = Nq'!***!'"),
        ("tsql", "[Ann 5] = 'Ann' AND @p2 = 5", "[Ann 5] = '***' AND @p2 = ?"),
        ("tsql", "a = N'Ann' AND b = 0x1F", "a = N'***' AND b = ?   "),
        ("snowflake", "a = $1 AND b = $$x$$", "a = $1 AND b = $$*$$"),
        ("spark", "a = 'x' AND b = \"y\"", "a = '*' AND b = \"*\""),
        ("ansi", "a = 'never closed", "a = '************"),
        ("postgres", "a = '''abc'", "a = '*****'"),
        ("spark", r"a = r'x\' AND b = 'y'", r"a = r'**' AND b = '*'"),
        ("snowflake", "a -- Ann\n// Bob\nb = 's3://c'", "a       \n      \nb = '******'"),
        ("spark", "FROM {{ ref('orders') }} WHERE a = {{ x }}", "FROM {{ ref('******') }} WHERE a = {{ x }}"),
        ("postgres", "a = %(name)s AND b = :c AND d = ?", "a = %(name)s AND b = :c AND d = ?"),
        ("postgres", "{# Ann #} a", "          a"),
        ("postgres", "a = 'it's Ann' AND b = 'c'", "a = '**'******************"),
        ("postgres", "a = 'open AND b = 'Ann'", "a = '*************'****"),
        ("mysql", "a = 'x'and b = 'y'or 1", "a = '*'and b = '*'or ?"),
        (
            "postgres",
            "a > 1_000.5_0e1_0 OR b IN (0xdead_beef, 0b1_01, 0o17)",
            "a > ?             OR b IN (?          , ?     , ?   )",
        ),
        ("duckdb", "SELECT 5_a, 1_, _1, t1_000 FROM t", "SELECT ?_a, ?_, _1, t1_000 FROM t"),
        ("hive", "FROM 2020_sales", "FROM ?   _sales"),
        ("tsql", "[a]]b] = 'é\u2028x'", "[a]]b] = '***'"),
    ],
)
def test_literals_are_masked_in_place(scanner: ScanEngine, dialect: str, sql: str, masked: str) -> None:
    assert scanner.mask_literals(sql, dialect) == masked


def test_masked_for_parsing_numbers_stay_numbers(scanner: ScanEngine) -> None:
    assert scanner.mask_literals("a = 'x' AND b > 10.5e3 LIMIT 0x1F", "mysql", True) == (
        "a = '*' AND b > 00.0e0 LIMIT 0x00"
    )
    assert scanner.mask_literals("a > 1_000 OR b = 0b101", "postgres", True) == "a > 0_000 OR b = 0b000"


@settings(deadline=None)
@given(st.text(alphabet="ab1_0xo'\"`-/*#$q[](\\\n ;.E", max_size=60), st.sampled_from(sorted(DIALECTS)))
def test_the_length_never_changes(scanner: ScanEngine, sql: str, dialect: str) -> None:
    masked = scanner.mask_literals(sql, dialect)
    assert len(masked) == len(sql)
    assert {i for i, c in enumerate(masked) if c == "\n"} <= {i for i, c in enumerate(sql) if c == "\n"}


@settings(deadline=None)
@given(st.text(alphabet="ab1'\"`-/*#$q[](\\\n ;.E", max_size=60), st.sampled_from(sorted(DIALECTS)))
def test_masking_twice_is_masking_once(scanner: ScanEngine, sql: str, dialect: str) -> None:
    masked = scanner.mask_literals(sql, dialect)
    assert scanner.mask_literals(masked, dialect) == masked


@settings(deadline=None)
@given(st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1), st.sampled_from(sorted(DIALECTS)))
def test_no_letter_of_a_string_is_left(scanner: ScanEngine, word: str, dialect: str) -> None:
    assert scanner.mask_literals(f"SELECT '{word}'", dialect) == f"SELECT '{'*' * len(word)}'"


def test_literals_in_comments_that_the_server_runs_are_masked() -> None:
    sql = "SELECT a /*! , 'Ann' */ FROM t /* 'Bob' */ /*!50000 WHERE b = 42 */"
    assert " ".join(mask_literals(sql, "mysql").split()) == "SELECT a , '***' FROM t WHERE b = ?"
    assert " ".join(mask_literals(sql, "postgres").split()) == "SELECT a FROM t"
    assert fingerprint(sql, "mysql") != fingerprint(sql.replace("b =", "c ="), "mysql")
    texts = pa.array([sql, None, sql.replace("b =", "c =")])
    assert fingerprint_array(texts, "mysql").to_pylist()[0] == fingerprint(sql, "mysql")
    assert len(set(fingerprint_array(texts, "mysql").to_pylist())) == 3
