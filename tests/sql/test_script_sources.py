"""What `extract_script` and `extract` take, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from lineage import extract, extract_script

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
