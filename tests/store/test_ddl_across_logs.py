"""DDL of later logs: copies keep their sources, and ingesting the same log again changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lineage.store import GraphStore
from lineage.traversal import TraversalOptions, impact, resolve_column
from tests.store.log_rows import ingest_rows, reached

LATER_LOGS = [
    pytest.param(
        [
            ["1: create table a as select p as x from s"],
            [
                "1: create table b as select q as x from t",
                "1: create table c as select x from b",
                "1: drop table b",
                "1: alter table a rename to b",
            ],
        ],
        {"s.p": {"b.x"}, "t.q": {"c.x"}},
        id="a table takes the name of one that the later log made and dropped",
    ),
    pytest.param(
        [
            ["1: create table a as select p as x from s"],
            [
                "1: create table b as select q as x from t",
                "1: alter table a rename to aside",
                "1: alter table b rename to a",
                "1: alter table aside rename to b",
                "1: drop table a",
            ],
        ],
        {"s.p": {"b.x"}, "t.q": set()},
        id="a table changes its name with one that the later log made and drops",
    ),
    pytest.param(
        [
            ["1: create table f (k int, p boolean)"],
            [
                "1: create table f_new as select count(*) as n from f group by k",
                "1: drop table f",
                "1: alter table f_new rename to f",
            ],
        ],
        {"f.p": set()},
        id="a table is rebuilt from one of its columns",
    ),
    pytest.param(
        [
            ["1: create table g (a int)", "1: create table v (c1 int, m int, o3 int)"],
            [
                "2: create or replace table v as select y.o3, 1 as o1 from v as y "
                "union from v as b(m, k, o3) select b.o3 as o1, o3 as o2",
                "3: alter table g rename to aside",
                "3: alter table v rename to g",
                "3: alter table aside rename to v",
            ],
        ],
        {"v.a": set()},
        id="a table is made anew of itself by position, from columns that nothing used before",
    ),
    pytest.param(
        [
            [
                "1: create table b (y int)",
                "1: create table t as select y as n from b",
                "1: create table c (z int)",
                "1: create table w as select z as c1 from c",
            ],
            [
                "1: create table u as select c1 from w",
                "1: create table w_new as select 1 as o1 from w",
                "1: drop table w",
                "1: alter table w_new rename to w",
                "1: alter table t rename to aside",
                "1: alter table w rename to t",
                "1: alter table aside rename to w",
            ],
        ],
        {"b.y": {"w.n"}, "c.z": {"u.c1"}},
        id="a later log rebuilds a table and swaps the new one with another",
    ),
    pytest.param(
        [
            ["1: create table f (p int)", "1: create table u as select p as o1 from f"],
            [
                "1: create table u_new as select * exclude (o1), n as o1 from u as t, generate_series(1, 3) as g(n)",
                "1: drop table u",
                "1: alter table u_new rename to u",
                "1: create table v as select * from u",
            ],
        ],
        {"f.p": set(), "u.n": {"v.n"}, "u.o1": {"v.o1"}, "u.n_1": set()},
        id="a rebuild of all columns but one reads those of before",
    ),
    pytest.param(
        [
            [
                "1: create table u (n text, a int)",
                "1: create view t as select u.n as y from u",
                "1: update u as r set a = r.a + 1 from t as z",
            ],
            ["1: drop view t", "1: alter table u rename to w"],
        ],
        {"w.n": set(), "w.a": set()},
        id="a later log drops a view over the table that was updated from it",
    ),
    pytest.param(
        [
            ["1: create table f (y int)", "1: create table v as select y from f"],
            ["1: create table w as select y from v", "1: drop table v"],
            ["1: create table x as select max(y) as m from w", "1: drop table w"],
        ],
        {"f.y": {"x.m"}},
        id="copied and dropped by turns",
    ),
    pytest.param(
        [
            [
                "1: create table f (y int)",
                "1: create table v as select y from f",
                "1: create table w as select y from v",
            ],
            ["1: drop table v"],
        ],
        {"f.y": {"w.y"}},
        id="dropped by a later log",
    ),
    pytest.param(
        [
            ["1: create table g as select y, k from f", "1: update g set k = y"],
            ["1: alter table g drop column y"],
        ],
        {"f.y": {"g.k"}, "f.k": {"g.k"}},
        id="a later log drops a column",
    ),
    pytest.param(
        [
            ["1: create table m as select a as x from f"],
            [
                "1: create table n as select b as x from f",
                "1: alter table m rename to old",
                "1: alter table n rename to m",
                "2: create view v as select x from m",
                "2: create table k as select x from old",
            ],
        ],
        {"f.a": {"old.x", "k.x"}, "f.b": {"m.x", "v.x"}},
        id="a later log puts a new table in the place of the old one",
    ),
    pytest.param(
        [
            ["1: create table m as select a as x from f"],
            [
                "1: create table n as select b as x from f",
                "1: alter table m rename to old",
                "1: alter table n rename to m",
                "2: create view v as select x from m",
                "2: drop table old",
            ],
        ],
        {"f.a": set(), "f.b": {"m.x", "v.x"}},
        id="a later log puts a new table in the place of the old one, which it drops",
    ),
    pytest.param(
        [
            ["1: create table m as select a as x from f"],
            ["1: create table n as select b as x from f"],
            ["1: alter table m rename to old", "1: alter table n rename to m", "2: create view v as select x from m"],
        ],
        {"f.a": {"old.x"}, "f.b": {"m.x", "v.x"}},
        id="a third log puts the table of the second in the place of that of the first",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y from f",
                "1: create table c as select y from t",
            ],
            ["1: create or replace table t as select b as y from f"],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "t.y"}},
        id="a later log makes a table anew that was copied",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "1: create table t as select a as y from f"],
            ["1: create table c as select y from t", "1: create or replace table t as select b as y from f"],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "t.y"}},
        id="a later log copies a table, and then makes it anew",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y from f",
                "1: create table c as select y from t",
            ],
            ["1: create table d as select y from t", "1: create or replace table t as select a as y from f"],
        ],
        {"f.a": {"c.y", "d.y", "t.y"}, "t.y": {"c.y", "d.y"}},
        id="a later log makes a table anew as it was",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table g as select a from f",
                "1: create table t as select a as y from g",
            ],
            [
                "1: create or replace table g as select b as a from f",
                "1: create table c as select y from t",
                "1: create or replace table t as select a as y from g",
            ],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "g.a", "t.y"}},
        id="what a table is made of is made anew before it is",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create view v as select a as y from f",
                "1: create table c as select y from v",
            ],
            ["1: create or replace view v as select b as y from f"],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "v.y"}},
        id="a later log defines a view anew that was copied",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y from f",
                "1: create view v as select y from t",
            ],
            ["1: create table c as select y from v", "1: create or replace table t as select b as y from f"],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "t.y", "v.y"}},
        id="a view is copied before the table under it is made anew",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y from f",
                "1: create view v as select y from t",
                "1: create table c as select y from v",
            ],
            ["1: create or replace table t as select b as y from f"],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "t.y", "v.y"}},
        id="a later log makes the table anew under a view that was copied",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y from f",
                "1: create view v as select y from t",
                "1: create table c as select y from v",
            ],
            ["1: drop table t"],
        ],
        {"f.a": {"c.y"}},
        id="a later log drops the table under a view that was copied",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y, b from f",
                "1: create view v as select y, y + b as s from t",
                "1: create table c as select y, s from v",
            ],
            ["1: alter table t drop column y"],
        ],
        {"f.a": {"c.s", "c.y"}, "t.b": {"c.s", "v.s"}},
        id="a later log drops the column under a view that was copied",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "1: create table t as select a as y, b as z from f"],
            [
                "1: create table c as select * from t",
                "1: alter table t rename column y to q",
                "1: alter table t rename column z to y",
            ],
        ],
        {"f.a": {"c.y", "t.q"}, "f.b": {"c.z", "t.y"}},
        id="a later log copies a table, and then renames its columns in a row",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "1: create table t as select a as y, b as z from f"],
            ["1: create table c as select * from t", "1: drop table t", "1: create table t as select b as p from f"],
        ],
        {"f.a": {"c.y"}, "f.b": {"c.z", "t.p"}},
        id="a later log copies a table, and then gives it other columns",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table t as select a as y, b as z from f",
                "1: create table u as select b as p, a as q from f",
            ],
            [
                "1: create table c as select * from t",
                "1: alter table t rename to aside",
                "1: alter table u rename to t",
                "1: alter table aside rename to u",
                "1: create table d as select * from t",
            ],
        ],
        {"f.a": {"c.y", "d.q", "t.q", "u.y"}, "f.b": {"c.z", "d.p", "t.p", "u.z"}},
        id="a later log lets two tables change places, and copies both",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "2: create table u as select a as o1, b as o2 from f where a > 1"],
            [
                "1: create table t as select o1 as n from u",
                "1: alter table t rename to aside",
                "1: alter table u rename to t",
            ],
        ],
        {"f.a": {"aside.n", "t.o1", "t.o2"}, "f.b": {"t.o2"}},
        id="a table of before takes the name that a copy of it had",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "1: create table w as select a, b as y from f"],
            ["1: create or replace table w as select w.y from w join w as x on w.y = x.a"],
        ],
        {"f.a": {"w.y"}, "f.b": {"w.y"}},
        id="a later log makes a table anew from itself with fewer columns",
    ),
    pytest.param(
        [
            ["1: create table f (a int)", "1: create table m as select a as k from f"],
            ["1: alter table m rename column k to s", "2: create table g as select s from m", "2: drop table m"],
        ],
        {"f.a": {"g.s"}},
        id="a later log begins with a renamed column, and drops what it copied then",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "1: create table m as select a as k from f"],
            [
                "1: create or replace table m as select b as k from f",
                "1: create table g as select k from m",
                "1: drop table m",
            ],
        ],
        {"f.a": set(), "f.b": {"g.k"}},
        id="a later log makes a table anew, and drops it",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table m as select a as k from f",
                "1: create table c as select k from m",
            ],
            ["1: alter table c rename to d", "1: create or replace table m as select 1 as k, k as old from m"],
        ],
        {"f.a": {"d.k", "m.old"}},
        id="a copy is renamed before the later log makes anew what it was made of",
    ),
    pytest.param(
        [
            [
                "1: create table f (a int, b int)",
                "1: create table m as select a as k from f",
                "1: create table c as select k from m",
            ],
            ["1: alter table m rename to o", "1: alter table c rename to m", "1: drop table o"],
        ],
        {"f.a": {"m.k"}},
        id="a copy takes the name of what it was made of, which is renamed and dropped",
    ),
    pytest.param(
        [
            ["1: create table t (a int)", "1: create table c as select a from t"],
            ["1: insert into t select x from z", "1: drop table t"],
        ],
        {"z.x": {"c.a"}},
        id="a later log fills a table that was copied, and drops it",
    ),
    pytest.param(
        [
            ["1: create table g as select a as o1 from t", "1: create table v as select b as o3 from t"],
            [
                "1: insert into v select o1 from g",
                "1: create or replace table v as select o3 + 1 as o3, 1 as o1 from v",
                "1: alter table g rename to aside",
                "1: alter table v rename to g",
            ],
        ],
        {"t.b": {"g.o3"}, "t.a": {"aside.o1", "g.o3"}},
        id="a table made anew from itself takes the name of another, which is put aside",
    ),
    pytest.param(
        [
            [
                "1: create table u as select b as o, a as m from f",
                "1: create table w as select a as p from g",
                "1: update u set m = w.p from w",
            ],
            [
                "1: drop table u",
                "1: create table u as select c as k from h",
                "1: drop table w",
                "1: create table w as select k as z from u",
            ],
        ],
        {"g.a": set(), "h.c": {"u.k", "w.z"}},
        id="a later log drops what was filled from a table, and then that table",
    ),
    pytest.param(
        [
            ["1: create table f (a int, b int)", "1: create table m as select a as k, b as n from f"],
            [
                "1: create table m_new as select x.first as n from m as x(first, second)",
                "1: drop table m",
                "1: alter table m_new rename to m",
            ],
        ],
        {"f.a": {"m.n"}, "f.b": set()},
        id="a later log reads by position what it makes anew with other columns",
    ),
]


@pytest.mark.parametrize(("logs", "expected"), LATER_LOGS)
def test_what_an_earlier_log_made(
    store: GraphStore, tmp_path: Path, logs: Sequence[Sequence[str]], expected: dict[str, set[str]]
) -> None:
    for day, rows in enumerate(logs):
        ingest_rows(store, tmp_path / f"{day}.jsonl", day, rows)
    assert {column: reached(store, column) for column in expected} == expected
    before = store.dump()
    ingest_rows(store, tmp_path / f"{len(logs) - 1}.jsonl", len(logs) - 1, logs[-1])
    assert {column: reached(store, column) for column in expected} == expected
    assert [one[:3] for one in store.dump().relationships] == [one[:3] for one in before.relationships]


def test_what_was_copied_in_the_clear_is_not_masked_by_a_later_definition(store: GraphStore, tmp_path: Path) -> None:
    made = "1: create or replace table o as select mail from raw"
    ingest_rows(store, tmp_path / "1.jsonl", 0, [made, "1: create view v as select mail from o"])
    rows = [
        "1: insert into copy select mail from v",
        "1: create or replace table o as select md5(mail) as mail from raw",
    ]
    for _ in range(2):
        ingest_rows(store, tmp_path / "2.jsonl", 1, rows)
        found = impact(store, resolve_column(store, "raw.mail"), TraversalOptions())
        hidden = {one.key.rpartition(".")[2]: one.masked for one in found.outlines}
        assert hidden == {"o#mail": True, "v#mail": True, "copy#mail": False}


def test_a_log_that_drops_a_table_comes_before_the_one_that_made_it(store: GraphStore, tmp_path: Path) -> None:
    made = ["1: create table f (a int)", "1: create table m as select a as k from f"]
    dropped = ["1: create table g as select k as s from m", "1: create view v as select s from g", "1: drop table m"]
    for day, rows in [(1, dropped), (0, made), (1, dropped), (0, made)]:
        ingest_rows(store, tmp_path / f"{day}.jsonl", day, rows)
        assert day or reached(store, "f.a") == {"g.s", "v.s"}


def test_a_later_log_makes_a_table_anew_from_itself(store: GraphStore, tmp_path: Path) -> None:
    rows = ["1: create table f (y int)", "1: create table u as select y from f", "1: create table c as select y from u"]
    ingest_rows(store, tmp_path / "1.jsonl", 0, rows)
    anew = [
        "1: create table u_new as select y + 1 as z from u",
        "1: drop table u",
        "1: alter table u_new rename to u",
        "1: create table d as select z from u",
    ]
    for _ in range(2):
        ingest_rows(store, tmp_path / "2.jsonl", 1, anew)
        assert reached(store, "f.y") == {"u.z", "c.y", "d.z"}


def test_a_log_reads_the_columns_that_a_later_row_of_it_renames(store: GraphStore, tmp_path: Path) -> None:
    ingest_rows(store, tmp_path / "1.jsonl", 0, ["1: create table u (x int)", "1: create table v (n int)"])
    rows = ["1: delete from v using u where n = x", "1: alter table v rename column n to y"]
    for _ in range(2):
        ingest_rows(store, tmp_path / "2.jsonl", 1, rows)
        assert reached(store, "u.x") == {"v.y"}


@pytest.mark.parametrize("order", [(1, 0, 2), (1, 2, 0), (2, 1, 0)])
def test_logs_that_replace_a_table_come_before_those_that_made_it(
    store: GraphStore, tmp_path: Path, order: Sequence[int]
) -> None:
    logs = [
        ["1: create table t as select a as y from f", "1: create table c as select y from t"],
        ["1: create or replace table t as select b as y from f", "1: create table d as select y from t"],
        ["1: create or replace table t as select z as y from f"],
    ]
    for day in order:
        ingest_rows(store, tmp_path / f"{day}.jsonl", day, logs[day])
    assert reached(store, "f.a") == {"c.y"}
    assert "d.y" in reached(store, "f.b")
    assert reached(store, "f.z") == {"t.y", "c.y", "d.y"}
