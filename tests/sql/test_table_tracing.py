from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.sql import extract
from lineage.sql.table_tracing import TableTrace, trace_tables

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


@given(traces, traces, traces)
def test_traces_of_both_combine_in_any_grouping_and_lose_nothing(a: TableTrace, b: TableTrace, c: TableTrace) -> None:
    left, right = (a | b) | c, a.combine(b.combine(c))
    assert (left, left.destinations) == (right, right.destinations)
    assert TableTrace() | a == a == a | TableTrace()
    assert set(left["upstream"]) == {table for one in (a, b, c) for table in one["upstream"]}
    assert set(left.destinations) == {table for one in (a, b, c) for table in one.destinations}
    first = next((one for one in (a, b, c) if one["destination"] is not None), None)
    assert left["destination"] == (first["destination"] if first is not None else None)


def test_a_trace_is_immutable() -> None:
    trace = trace_tables("INSERT INTO y SELECT * FROM t", "postgres")
    for change in (
        lambda: trace.update(operation="x"),
        lambda: trace.__setitem__("destination", None),
        lambda: trace["upstream"].append("x"),
        lambda: setattr(trace, "written", ()),
    ):
        with pytest.raises(TypeError, match="immutable"):
            change()
    assert pickle.loads(pickle.dumps(trace)) == copy.deepcopy(trace) == trace
    assert json.loads(json.dumps(trace)) == trace
    assert len({trace, TableTrace("INSERT", "y", ["t"], ["y"])}) == 1


@pytest.mark.parametrize(
    ("sql", "dialect", "destinations"),
    [
        ("FROM s INSERT INTO a SELECT x INSERT INTO b SELECT y", "hive", ["a", "b"]),
        ("INSERT ALL INTO a (x) VALUES (x) INTO b (y) VALUES (1) SELECT x FROM s", "snowflake", ["A", "B"]),
        ("UPDATE t1 JOIN t2 ON t1.k = t2.k SET t1.a = 1, t2.b = 2", "mysql", ["t1", "t2"]),
        ("DELETE t1, t2 FROM t1 JOIN t2 ON t1.k = t2.k", "mysql", ["t1", "t2"]),
        ("DELETE o OUTPUT deleted.a INTO log (a) FROM t AS o WHERE o.x = 1", "tsql", ["t", "log"]),
        ("DELETE FROM t1, t2 USING t1 JOIN t2 ON t1.k = t2.k", "mysql", ["t1", "t2"]),
        ("TRUNCATE a, b", "postgres", ["a", "b"]),
        ("WITH d AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM d", "postgres", ["u", "t"]),
        ("INSERT INTO a SELECT 1", "postgres", ["a"]),
    ],
)
def test_all_destinations_are_named(sql: str, dialect: str, destinations: list[str]) -> None:
    [statement] = extract(sql, dialect)
    assert list(statement.targets) == statement.to_dict().get("targets", [statement.target]) == destinations
    assert list(trace_tables(sql, dialect).destinations) == destinations


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
