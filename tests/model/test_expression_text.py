"""The expression that a place of SQL stands in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.model.text.expression_text import expression_around

MERGE = (
    "merge into t using s on t.id = s.id when matched and s.f > 1 then update set a = s.a + 1, b = 2 "
    "when not matched then insert (a, b) values (s.a, s.b)"
)
WINDOW = (
    "select extract(year from d) y, sum(x) filter (where f > 1) over (partition by p, q order by r desc) as s "
    "from t group by a, left(b, 3) order by c desc"
)
JOIN = "select a from t join u on t.id = u.id and t.k = u.k where t.z in (select q from w) or h"
CASES = [
    ("with l as (select * from f) select sum(§net) as revenue, b from l", "sum(net)"),
    ("with l as (select § * from f) select sum(net) as revenue, b from l", "*"),
    ("select a, coalesce(case when x > 1 then §y else z end, 0) + 1 as n from t", None),
    ("select case when a = 1 then b when §c then d end from t", "case when a = 1 then b when c then d end"),
    ("select a from t where a between §x and y and d = 3", "a between x and y"),
    ("select a from t where a between x and y and §d = 3", "d = 3"),
    ("select distinct §a || b as n, (select max(x) from u) as m from t", "a || b"),
    ("select a, (select max(§x) from u where u.k = t.k) as m from t", "max(x)"),
    ("select a -- , comment, (\n , b /* ( */ + §c from t", "b /* ( */ + c"),
    ("select a from (select §q * 2 as a from s) z", "q * 2"),
    ("select a from u union all select §y + 1 from v", "y + 1"),
    ("select 'it''s, from' || §a, b from t", "'it''s, from' || a"),
    ('select "a,b" || §c from t', '"a,b" || c'),
    ("select a from §t where b", "t"),
    ("insert into t (a, b) select §x::int, y from s", "x::int"),
    ("update t set a = 1, b = §x * 2 from s where s.k = t.k", "b = x * 2"),
    ("update t set a = 1, b = x * 2 from s where s.k = §t.k", "s.k = t.k"),
    ("select 1; select §a + b", "a + b"),
    ("select sum(x) over w from t where c window w as (partition by §k)", "w as (partition by k)"),
]


@pytest.mark.parametrize(("marked", "expected"), CASES)
def test_the_item_of_the_clause(marked: str, expected: str | None) -> None:
    sql = marked.replace("§ ", "§").replace("§", "")
    start = marked.replace("§ ", "§").index("§")
    end = start + 1
    found = sql[slice(*expression_around(sql, start, end))]
    assert found == (expected or "coalesce(case when x > 1 then y else z end, 0) + 1")


@pytest.mark.parametrize(
    ("sql", "column", "expected"),
    [
        (MERGE, "s.id", "t.id = s.id"),
        (MERGE, "s.f", "s.f > 1"),
        (MERGE, "s.a", "a = s.a + 1"),
        (WINDOW, "d) y", "extract(year from d) y"),
        (WINDOW, "f > 1", "sum(x) filter (where f > 1) over (partition by p, q order by r desc)"),
        (WINDOW, "q order", "sum(x) filter (where f > 1) over (partition by p, q order by r desc)"),
        (WINDOW, "b, 3", "left(b, 3)"),
        (WINDOW, "c desc", "c desc"),
        (JOIN, "u.k", "t.k = u.k"),
        (JOIN, "t.z", "t.z in (select q from w)"),
        (JOIN, "q from", "q"),
    ],
)
def test_conditions_windows_and_writes(sql: str, column: str, expected: str) -> None:
    start = sql.index(column)
    end = start + len(column.split(maxsplit=1)[0].rstrip(",)"))
    assert sql[slice(*expression_around(sql, start, end))] == expected


def test_of_a_text_without_clauses_it_is_the_place() -> None:
    assert expression_around("a + b", 0, 1) == (0, 1)
    assert expression_around("", 0, 0) == (0, 0)
    long = f"select a + {'+ '.join(['b'] * 400)} from t"
    assert expression_around(long, 7, 8) == (7, 8)


@given(
    st.lists(
        st.sampled_from(["select", "(", ")", ",", "a", "case", "end", "and", "between", "from", "over", "'", ";"])
    ),
    st.integers(0, 40),
    st.integers(1, 5),
)
def test_it_holds_the_place_in_any_text(words: list[str], start: int, length: int) -> None:
    sql = " ".join(words)
    start = min(start, len(sql))
    end = min(start + length, len(sql))
    first, last = expression_around(sql, start, end)
    assert first <= start <= end <= last <= max(len(sql), end)
