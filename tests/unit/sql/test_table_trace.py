from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.sql.table_trace import TableTrace, trace_tables

names = st.sampled_from("abcd")
traces = st.one_of(
    st.just(TableTrace()),
    st.builds(lambda reads: TableTrace("SELECT", None, reads), st.lists(names, max_size=3)),
    st.builds(lambda to, reads: TableTrace("INSERT", to, reads, [to]), names, st.lists(names, max_size=3)),
)


@given(traces, traces, traces)
def test_traces_combine_in_any_grouping(a: TableTrace, b: TableTrace, c: TableTrace) -> None:
    left, right = (a + b) + c, a + (b + c)
    assert left == right
    assert left.written == right.written


@given(traces)
def test_the_trace_of_nothing_changes_nothing(trace: TableTrace) -> None:
    assert TableTrace() + trace == trace == trace + TableTrace()


@pytest.mark.parametrize(
    ("sql", "operation", "destination", "upstream"),
    [
        ("SELECT a FROM t JOIN u USING (id)", "SELECT", None, ["t", "u"]),
        ("CREATE TABLE x AS SELECT * FROM t; INSERT INTO y SELECT * FROM x, z", "INSERT", "y", ["t", "z"]),
        ("WITH q AS (SELECT * FROM t) INSERT INTO y SELECT * FROM q", "INSERT", "y", ["t"]),
        ("DROP TABLE x; CREATE VIEW x AS SELECT a FROM t", "CREATE_VIEW", "x", ["t"]),
        ("DELETE FROM t WHERE id IN (SELECT id FROM u)", "DELETE", "t", ["u"]),
        ("", "EMPTY", None, []),
        # What does not parse is read off its keywords.
        ("INSERT INTO x SELECT FROM WHERE FROM y JOIN z", "INSERT", "x", ["y", "z"]),
        ("WITH q AS (SELECT ( FROM t) SELECT * FROM q JOIN s.u ON", "SELECT", None, ["t", "s.u"]),
        ("MERGE INTO t USING s ON ( WHEN", "MERGE", "t", ["s"]),
        ("UPDATE t SET ( FROM u", "UPDATE", "t", ["u"]),
        ("SELECT EXTRACT(YEAR FROM d) ( FROM t, u AS x, v", "SELECT", None, ["t", "u", "v"]),
    ],
)
def test_tables_of_statements(sql: str, operation: str, destination: str | None, upstream: list[str]) -> None:
    assert trace_tables(sql, "postgres") == {
        "operation": operation,
        "destination": destination,
        "upstream": upstream,
    }
