"""Whatever comes in, an answer comes out: a diagnostic that says what and where, and the rest of the batch."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lineage import extract, extract_script, trace_tables
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.dialects import DIALECTS, UnknownDialectError
from lineage.model.statement import StatementLineage

GOOD = "CREATE VIEW v AS SELECT a FROM t"


def codes(statements: list[StatementLineage]) -> list[DiagnosticCode]:
    return [diagnostic.code for statement in statements for diagnostic in statement.diagnostics]


@pytest.mark.parametrize("text", ["", "   \n\t", ";;;", "-- only a comment", "/* and another */;"])
def test_nothing_in_nothing_out(text: str) -> None:
    assert extract(text, "postgres") == []


@pytest.mark.parametrize("text", ["hello world", "Dear team, the figures are ready.", "a,b,c\n1,2,3", '{"a": 1}'])
def test_what_is_not_sql_is_said_to_be_none(text: str) -> None:
    [statement] = extract(text, "postgres")
    assert statement.completeness == "none"
    assert codes([statement]) == [DiagnosticCode.NOT_SQL]


@pytest.mark.parametrize("depth", [300, 5_000, 100_000])
@pytest.mark.parametrize(
    "shape",
    ["SELECT {open}1{close} AS x FROM t", "SELECT a FROM t WHERE {open}a = 1{close}", "{select}"],
)
def test_deep_nesting_is_refused_before_it_is_parsed(depth: int, shape: str) -> None:
    text = shape.format(open="(" * depth, close=")" * depth, select="SELECT * FROM (" * depth + "t" + ")" * depth)
    bad, good = extract(f"{text}; {GOOD}", "postgres")
    assert codes([bad]) == [DiagnosticCode.NESTING_TOO_DEEP]
    assert bad.completeness == "tables"
    assert bad.sources == ["t"]
    assert good.completeness == "full"


@pytest.mark.parametrize("piece", ["NOT ", "- ", "~ ", "CASE WHEN a THEN ", "[", "{", "+"])
def test_other_ways_to_nest(piece: str) -> None:
    statements = extract(f"SELECT {piece * 20_000} a FROM t", "duckdb")
    assert DiagnosticCode.NESTING_TOO_DEEP in codes(statements)


def test_nesting_within_the_limit_is_resolved() -> None:
    depth = 60
    [statement] = extract("SELECT x FROM (" * depth + "SELECT a AS x FROM t" + ") q" * depth, "postgres")
    assert [str(edge) for edge in statement.edges] == ["t.a -> x [IDENTITY]"]


def test_a_long_chain_is_no_nesting() -> None:
    [statement] = extract("SELECT " + " + ".join(f"c{i}" for i in range(3_000)) + " AS s FROM t", "postgres")
    assert len(statement.edges) == 3_000
    [statement] = extract(" UNION ALL ".join(f"SELECT a{i} AS a FROM t{i}" for i in range(1_000)), "postgres")
    assert len(statement.edges) == 1_000


def test_a_chain_of_ctes_that_double_stays_linear() -> None:
    ctes = ["c0 AS (SELECT a, b FROM t)"]
    ctes += [f"c{i} AS (SELECT x.a + y.b AS a, x.a - y.b AS b FROM c{i - 1} x, c{i - 1} y)" for i in range(1, 100)]
    [statement] = extract("WITH " + ", ".join(ctes) + " SELECT a FROM c99", "postgres")
    assert {str(edge.source) for edge in statement.edges} == {"t.a", "t.b"}


def test_stars_that_double_stay_linear() -> None:
    sql = "SELECT * FROM t"
    for _ in range(30):
        sql = f"WITH c AS ({sql}) SELECT *, * FROM c"
    [statement] = extract(sql, "postgres")
    assert len({one.message for one in statement.diagnostics if one.code == DiagnosticCode.UNRESOLVED_STAR}) == 1


@pytest.mark.parametrize("text", ["CREATE VIEW p AS UNPIVOT t INTO", "UPDATE SET(a)'x'"])
def test_a_clause_without_its_names_costs_no_statement(text: str) -> None:
    assert DiagnosticCode.INTERNAL_ERROR not in codes(extract(text, "postgres"))


def test_findings_are_noted_in_linear_time() -> None:
    branches = (f"INSERT INTO u{i} (a) SELECT a WHERE b = {i}" for i in range(20_000))
    began = time.process_time()
    [statement] = extract("FROM t " + " ".join(branches), "hive")
    assert time.process_time() - began < 15, "a second for each thousand branches is no linear time"
    assert statement.completeness == "full"
    assert len({edge.target.table for edge in statement.edges}) == 20_000


def test_many_joins_by_using_are_read() -> None:
    joins = "".join(f" JOIN u{i} USING (k)" for i in range(1_500))
    began = time.process_time()
    [statement] = extract("SELECT k FROM t" + joins, "postgres")
    assert time.process_time() - began < 15, "what one join takes grows with the square of the joins before it"
    assert "t.k -> k [IDENTITY]" in map(str, statement.edges)
    assert len(statement.sources) == 1_501


def test_many_pipes_are_traced_at_table_level_before_the_parser_copies_them() -> None:
    for pipe in ("|> SELECT a ", "|> EXTEND a AS b ", "|> SET a = 1 "):
        [statement] = extract("INSERT INTO u FROM t " + pipe * 1_000, "bigquery")
        assert codes([statement]) == [DiagnosticCode.NESTING_TOO_DEEP]
        assert (statement.target, statement.sources) == ("u", ["t"])


def test_a_large_statement_is_traced_at_table_level() -> None:
    rows = ",".join(["(1, 'some text that fills the statement up')"] * 110_000)
    assert len(rows) > 4_500_000
    big, good = extract(f"INSERT INTO t VALUES {rows}; {GOOD}", "postgres")
    assert codes([big]) == [DiagnosticCode.STATEMENT_TOO_LARGE]
    assert (big.completeness, big.target) == ("tables", "t")
    assert good.completeness == "full"


def test_a_parse_error_says_where_and_keeps_the_rest() -> None:
    first, bad, last = extract(f"{GOOD};\nSELECT a FROM t WHERE (b = 'secret';\n{GOOD}", "postgres")
    assert first.completeness == last.completeness == "full"
    assert (bad.completeness, bad.sources) == ("tables", ["t"])
    [diagnostic] = bad.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.span.line == 2
    assert "secret" not in str(diagnostic)


def test_a_parse_error_has_the_same_words_each_time() -> None:
    """sqlglot names one of the missing parts, in the order of a set."""
    [statement] = extract("SELECT a FROM t WHERE and", "postgres")
    assert [one.message for one in statement.diagnostics] == ["a part of And is missing, found `and`"]


def test_an_open_string_costs_the_statement_that_it_stands_in() -> None:
    good, bad = extract(f"{GOOD};\nSELECT 'never closed; FROM t", "postgres")
    assert good.completeness == "full"
    assert codes([bad]) == [DiagnosticCode.TRUNCATED_TEXT]
    assert bad.span is not None
    assert bad.span.line == 2


def test_an_unknown_dialect_is_wrong_use() -> None:
    for call in (extract, extract_script, trace_tables):
        with pytest.raises(UnknownDialectError, match="did you mean 'postgres'"):
            call("SELECT 1", "postgre")


WORDS = """
SELECT FROM WHERE ( ) , . * a b t 'x' 1 JOIN ON USING WITH AS INSERT INTO UPDATE SET MERGE WHEN MATCHED THEN CASE END
GROUP BY ORDER OVER PARTITION UNION ALL VALUES CREATE VIEW TABLE LATERAL UNNEST NOT EXISTS IN = +
"""

PROGRAM = """
BEGIN END IF ELSE ELSIF LOOP DECLARE @x : = := ; ; EXECUTE IMMEDIATE RETURN QUERY CURSOR FOR FUNCTION PROCEDURE WHILE DO
LET FETCH OPEN TRY CATCH EXCEPTION PREPARE ROLLBACK SAVEPOINT TRANSACTION HANDLER TOP GO REPEAT UNTIL << >> LANGUAGE
'select a from t' PERFORM MACRO ATOMIC RETURNS PACKAGE IS + || CONCAT FORMAT BULK TRIGGER
"""


def test_a_defect_in_the_reading_of_programs_costs_no_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: object) -> None:
        raise IndexError

    monkeypatch.setattr("lineage.sql.parse.statements.read_program", fails)
    statements = extract_script("DECLARE @n INT; INSERT INTO t (a) SELECT b FROM u", "tsql")
    assert DiagnosticCode.INTERNAL_ERROR in codes(statements)
    assert [str(edge) for one in statements for edge in one.edges] == ["u.b -> t.a [IDENTITY]"]


@settings(max_examples=300, deadline=None)
@example(["EXECUTE", "USING"], "postgres")
@example(["EXEC", "sp_executesql"], "tsql")
@given(st.lists(st.sampled_from((WORDS + PROGRAM).split()), max_size=25), st.sampled_from(sorted(DIALECTS)))
def test_no_sequence_of_words_raises(words: list[str], dialect: str) -> None:
    for statement in extract_script(" ".join(words), dialect):
        assert DiagnosticCode.INTERNAL_ERROR not in codes([statement]), statement.diagnostics
