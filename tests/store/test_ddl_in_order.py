"""DDL that replaces, drops and renames: derived tables keep their lineage, and dropped tables are in no answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from lineage.sql.extraction import options_for
from lineage.store import GraphStore
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.log_rows import BEGIN, ingest_rows, reached

FILES = [
    pytest.param(
        [
            "create table t as select b from f",
            "create table c as select b from t; create or replace table t as select z from o",
        ],
        {"f.b": {"c.b"}, "o.z": {"t.z"}},
        id="a later file replaces a table, and reads it before",
    ),
    pytest.param(
        [
            "create view t as select b from f",
            "create view v as select b from t",
            "create or replace view t as select z as b from o",
        ],
        {"f.b": set(), "o.z": {"t.b", "v.b"}},
        id="a view reads what has the name in the end",
    ),
    pytest.param(
        ["create table u as select k from f", "alter table u rename to t; drop table t"],
        {"f.k": set()},
        id="renamed, then dropped under its new name",
    ),
    pytest.param(
        ["create table u as select k from f; create table c as select k from u", "drop table u"],
        {"f.k": {"c.k"}},
        id="a later file drops what was copied",
    ),
    pytest.param(
        ["create table f (k int)", "create table c as select k from f", "drop table f; create table f (k int, l int)"],
        {"f.k": {"c.k"}},
        id="a base table is made anew, and read by its name",
    ),
    pytest.param(
        ["create table t as select s as a from f where p", "create or replace table t as select 1 as b from t"],
        {"f.s": set(), "f.p": {"t.b"}},
        id="what decided the rows of the table that is replaced by a query over it",
    ),
    pytest.param(
        ["create table w as select id, x from f; create table c as select id from w; alter table w drop column id"],
        {"f.id": {"c.id"}, "f.x": {"w.x"}},
        id="a column that is dropped was copied before",
    ),
    pytest.param(
        [
            "create table w as select y, k from f; update w set k = y; "
            "alter table w rename column y to z; alter table w drop column z"
        ],
        {"f.y": {"w.k"}, "f.k": {"w.k"}},
        id="a column is renamed and dropped",
    ),
    pytest.param(
        [
            "create table b_report as select k from z_made",
            "create table z_made as select k from f",
            "drop table z_made",
        ],
        {"f.k": {"b_report.k"}},
        id="files that do not stand in the order in which they run",
    ),
    pytest.param(
        [
            "create table t (a int); create temp table tmp as select a as b from t; alter table t rename to u; "
            "create table v as select b from tmp"
        ],
        {"u.a": {"v.b"}},
        id="a temporary table outlasts the name of what it read",
    ),
    pytest.param(
        [
            "create table t (a int); create temp table tmp as select a as b from t; alter table t rename to u; "
            "create table t (c int); insert into tmp select c from t; alter table u rename to w; "
            "create table v as select b from tmp"
        ],
        {"w.a": {"v.b"}, "t.c": {"v.b"}},
        id="a temporary table reads two tables that have one name in turn",
    ),
    pytest.param(
        [
            "create table t (a int); create table u (a int); create temp table tmp as select a as b from t where a > 1",
            "alter table t rename to x; alter table u rename to t; alter table x rename to u",
            "create temp table tmp2 as select b as c from tmp; alter table u rename column a to a2; "
            "create table v as select c from tmp2",
        ],
        {"u.a2": set(), "t.a": set()},
        id="a temporary table is of its file only",
    ),
    pytest.param(
        [
            "create table t (a int); create table u (a int); create temp table tmp as select a as b from t; "
            "alter table t rename to x; alter table u rename to t; alter table x rename to u; "
            "create temp table tmp2 as select b as c from tmp; alter table u rename column a to a2; "
            "create table v as select c from tmp2"
        ],
        {"u.a2": {"v.c"}, "t.a": set()},
        id="a swap of names, and a column renamed, behind temporary tables",
    ),
    pytest.param(
        [
            "create table w as select 0 as n; create table f (k int); create table c as select k from f; "
            "alter table f rename to g; update w set n = c.k from c; drop table c"
        ],
        {"g.k": {"w.n"}},
        id="a copy that is dropped outlasts the name of what it read",
    ),
    pytest.param(
        [
            "create table w (s int); create table v (s int)",
            "insert into w (s) select s from v",
            "create or replace table w as select x as p from u; create table c as select p from w; drop table w",
        ],
        {"v.s": set(), "u.x": {"c.p"}},
        id="what a later file replaces and drops",
    ),
    pytest.param(
        [
            "create table g (p int, q int); create table t as select p from g; "
            "create or replace table g as select k as q from f; create or replace table g as select 0 as q"
        ],
        {"g.p": {"t.p"}, "f.k": set()},
        id="copied before it was replaced twice",
    ),
    pytest.param(
        [
            "create table u (x int); create or replace table u as select x from u; "
            "create table u_new as select x as o from u; drop table u; alter table u_new rename to u"
        ],
        {"u.x": {"u.o"}},
        id="replaced, rebuilt under another name and put in its place",
    ),
]


@pytest.mark.parametrize(("files", "expected"), FILES)
def test_files_of_one_ingest_run_in_the_order_of_their_names(
    store: GraphStore, tmp_path: Path, files: Sequence[str], expected: dict[str, set[str]]
) -> None:
    for number, text in enumerate(files):
        (tmp_path / f"{number}.sql").write_text(text, encoding="utf-8")
    for day in range(2):
        at = BEGIN + timedelta(days=day)
        ingest_sql_files([tmp_path], store, options_for("duckdb"), observed_at=at)
        assert {column: reached(store, column) for column in expected} == expected


LOGS = [
    pytest.param(
        ["1: create table v as select y, s from f", "2: create table v_new as select y from v", "3: drop table v"],
        {"f.y": {"v_new.y"}, "f.s": set()},
        id="another session drops what was copied",
    ),
    pytest.param(
        [
            "1: create table v as select y from f where p",
            "2: create table w as select y + 1 as y from v",
            "3: create table x as select max(y) as y from w",
            "4: drop table v",
            "4: drop table w",
        ],
        {"f.y": {"x.y"}, "f.p": {"x.y"}},
        id="a copy of a copy",
    ),
    pytest.param(
        ["1: create table v as select y from f", "2: create view w as select y from v", "3: drop table v"],
        {"f.y": set()},
        id="a view keeps no rows",
    ),
    pytest.param(
        [
            "1: create table v as select y from f",
            "2: create table c as select y from v",
            "3: drop table v",
            "3: create table v as select z as y from o",
            "2: create table d as select y from v",
        ],
        {"f.y": {"c.y"}},
        id="what took the name has nothing of it",
    ),
    pytest.param(
        [
            "1: create table g as select y, k, a from f",
            "1: merge into g using o on y = n when matched then update set k = g.y "
            "when not matched then insert (a) values (n)",
            "1: alter table g drop column y",
        ],
        {"f.y": {"g.k", "g.a"}, "f.k": {"g.k"}},
        id="what a column decided before it was dropped",
    ),
    pytest.param(
        [
            "1: create table g as select 0 as c from f where y = 3",
            "1: create or replace table g as select count(*) as n from g",
            "1: create or replace table g as select n from g",
        ],
        {"f.y": {"g.n"}},
        id="counted and replaced, twice by a query over it",
    ),
    pytest.param(
        [
            "1: create table g as select 0 as c from f where y = 3",
            "1: create table g_new as select count(*) as n from g",
            "1: drop table g",
            "1: alter table g_new rename to g",
            "1: create or replace table g as select n from g where n not in (1, 3)",
        ],
        {"f.y": {"g.n"}},
        id="counted in another table that takes its place, then replaced by a query over it",
    ),
    pytest.param(
        ["1: create table u as select n from f", "1: create or replace table u as select 'x' as n from u group by n"],
        {"f.n": {"u.n"}},
        id="a table that is replaced by a query over it",
    ),
    pytest.param(
        [
            "1: create temp table tmp as select a as y from u",
            "1: create table g as select * from tmp",
            "1: create or replace table g as select * from g",
        ],
        {"u.a": {"g.y"}},
        id="a star over the table that is replaced",
    ),
    pytest.param(
        [
            "1: create table t as select 1 as n",
            "1: merge into t using f on f.s = t.n when matched then update set n = 2",
            "1: create or replace table t as select x from f",
        ],
        {"f.s": set(), "f.x": {"t.x"}},
        id="what was merged into a column that the next definition lacks",
    ),
    pytest.param(
        [
            "1: create table t as select b as x from v",
            "1: create or replace table t as select x from t",
            "1: create table t_new as select 'a' as o from t where x",
            "1: drop table t",
            "1: alter table t_new rename to t",
        ],
        {"v.b": {"t.o"}},
        id="rebuilt from what was replaced by a query over it",
    ),
    pytest.param(
        [
            "1: create table v as select n as y from u where n > 1",
            "2: create or replace table v as select 0 as z from v",
        ],
        {"u.n": {"v.z"}},
        id="what decided the rows of a table that is replaced by a query over it",
    ),
    pytest.param(
        ["1: create table g as select y from f where p", "2: alter table g add column z int"],
        {"f.y": {"g.y"}, "f.p": {"g.y", "g.z"}},
        id="a column is added by another session",
    ),
    pytest.param(
        [
            "1: create table t as select a from o",
            "1: create temp table t as select x from v",
            "1: drop table main.t",
            "1: create table main.t as select x from t",
        ],
        {"v.x": {"t.x"}, "o.a": set()},
        id="the real table is dropped beside a temporary one of its name",
    ),
    pytest.param(
        [
            "1: create table g (y int)",
            "1: create temp table g as select x as o from t where exists (select 1 from main.g as u where y = x)",
            "1: create table w as select o from g",
            "1: alter table g rename to stage2",
        ],
        {"g.y": {"w.o"}, "t.x": {"w.o"}},
        id="a temporary table with the name of a real one is renamed",
    ),
    pytest.param(
        [
            "1: create table u (s int, x int)",
            "1: create temp table u as select count(*) as n from main.u",
            "1: create table main.g as select s from main.u",
        ],
        {"u.s": {"g.s"}},
        id="a name with a schema is never the temporary table",
    ),
    pytest.param(
        [
            "1: create table v as select y from f",
            "2: create table x as select y from v",
            "1: drop table v",
        ],
        {"f.y": {"x.y"}},
        id="made and dropped by one session, and copied by another in between",
    ),
    pytest.param(
        [
            "1: create table w as select y, s from f",
            "1: create temp table tmp as select y from w",
            "1: create or replace table w as select z from o",
            "1: create table u as select y from tmp",
        ],
        {"f.y": {"u.y"}, "o.z": {"w.z"}, "f.s": set()},
        id="read by a temporary table before it was replaced, used after that",
    ),
    pytest.param(
        [
            "1: create table t (n int)",
            "1: create table u (s int)",
            "2: update t set n = a.s from u as a",
            "1: alter table t rename to v",
        ],
        {"u.s": {"v.n"}},
        id="written by another session, and renamed by the one that made it",
    ),
    pytest.param(
        [
            "1: create table a as select x from f",
            "1: create table b as select y from o",
            "2: create table c as select x from a",
            "1: alter table a rename to aside",
            "1: alter table b rename to a",
            "1: alter table aside rename to b",
            "2: create table d as select y from a",
        ],
        {"f.x": {"b.x", "c.x"}, "o.y": {"a.y", "d.y"}},
        id="two tables change their names",
    ),
    pytest.param(
        [
            "1: create table t as select x from f",
            "1: create table t_new as select y from o",
            "1: drop table t",
            "1: alter table t_new rename to t",
            "1: create table t_new as select y + 1 as z from t",
            "2: drop table t",
            "2: alter table t_new rename to t",
        ],
        {"f.x": set(), "o.y": {"t.z"}},
        id="made anew beside and put in its place, twice",
    ),
    pytest.param(
        [
            "1: create table w (x int)",
            "1: create temp table g as select 1 as k",
            "1: alter table w rename to g",
            "1: create table v as select x from main.g",
        ],
        {"g.x": {"v.x"}},
        id="renamed to the name of a temporary table",
    ),
    pytest.param(
        [
            "1: create table u as select y from f",
            "1: create or replace table u as select y, s from f",
            "1: create temp table u as select * from main.u",
            "1: create table v as select y from u",
            "1: alter table u rename column y to id",
        ],
        {"f.y": {"u.y", "v.y"}, "f.s": {"u.s"}},
        id="a temporary table hides what was replaced, and a column of it is renamed",
    ),
    pytest.param(
        [
            "1: create table w (p int, a int)",
            "1: create table g as select p, a from w",
            "1: create table v as select a, p from g",
            "1: alter table v drop column p",
            "1: alter table g rename to aside",
            "1: alter table v rename to g",
        ],
        {"w.p": {"aside.p"}, "w.a": {"aside.a", "g.a"}},
        id="a column is dropped before its table takes the name of another",
    ),
    pytest.param(
        [
            "1: create table w (p int, a int)",
            "1: create table g as select p, a from w",
            "1: create table v as select a, p from g",
            "1: alter table v rename column p to q",
            "1: alter table v rename column a to p",
            "1: alter table g rename to aside",
            "1: alter table v rename to g",
            "1: create table z as select * from g",
        ],
        {"w.p": {"aside.p", "g.q", "z.q"}, "w.a": {"aside.a", "g.p", "z.p"}},
        id="columns are renamed in a row before their table takes the name of another",
    ),
    pytest.param(
        [
            "1: create table v (p int, n int, x int, k int)",
            "1: create temp table tmp as select k, x from v",
            "1: alter table v rename column k to a",
            "1: alter table v rename column x to k",
            "1: create table w as select * from tmp",
        ],
        {"v.a": {"w.k"}, "v.k": {"w.x"}},
        id="columns are renamed after a temporary table was made of them",
    ),
    pytest.param(
        [
            "1: create table f (a int, b int)",
            "1: create table t as select a as y from f",
            "1: create view v as select y from t",
            "1: create view v2 as select y from v where y > 1",
            "1: create table c as select y from v2",
            "1: create or replace table t as select b as y from f",
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "t.y", "v.y", "v2.y"}},
        id="a view over a view is copied before the table under it is made anew",
    ),
    pytest.param(
        [
            "1: create table f (a int, b int)",
            "1: create table t as select a as y, b from f",
            "1: create view v as select y, y + b as s from t",
            "1: create table c as select y, s from v",
            "1: alter table t drop column y",
        ],
        {"f.a": {"c.s", "c.y"}, "t.b": {"c.s", "v.s"}},
        id="a view is copied before a column under it is dropped",
    ),
    pytest.param(
        [
            "1: create table f (a int, b int)",
            "1: create view v as select a as y from f",
            "1: create table c as select y from v",
            "1: create or replace view v as select b as y from f",
        ],
        {"f.a": {"c.y"}, "f.b": {"c.y", "v.y"}},
        id="a view is copied before it is defined anew",
    ),
    pytest.param(
        [
            "1: create table w (p int, y int)",
            "1: create view u as select p from w where y > 1",
            "1: create view s as select count(*) as n from u",
            "2: insert into g select n as id from s",
            "1: drop view u",
        ],
        {"w.p": set(), "w.y": {"g.id"}},
        id="a view over a view is copied before that one is dropped",
    ),
    pytest.param(
        [
            "1: create table t (k int)",
            "1: create view u as select 1 as s, 2 as o1",
            "1: create table w as select s as o1, o1 as s from u",
            "1: create or replace view u as select k from t",
            "2: create table z as select o1 from w",
            "1: drop table w",
        ],
        {"t.k": {"u.k"}},
        id="columns that went with the view that had them",
    ),
    pytest.param(
        [
            "1: create table v (n int, o1 int)",
            "1: alter table v rename to t",
            "1: create temp table t as select n, o1 from t",
            "1: update t set o1 = n",
            "1: create table z as select o1 from t",
            "1: drop table t",
            "1: create table y as select n from t",
        ],
        {"t.o1": {"z.o1"}, "t.n": {"z.o1", "y.n"}},
        id="a temporary table hides a table that was renamed",
    ),
    pytest.param(
        [
            "1: create table s1.t (x int)",
            "1: create table s2.w (y int, x int)",
            "1: create table s3.f (s text, y int)",
            "1: set search_path = 's1,s3'",
            "1: insert into s2.w select f.s as o1, f.y as o2 from f",
            "2: alter table s1.t rename to f",
        ],
        {"s3.f.s": {"s2.w.y"}, "s3.f.y": {"s2.w.x"}},
        id="a schema earlier on the search path gets the table by a later rename",
    ),
    pytest.param(
        [
            "1: create table s1.t (s text)",
            "1: create table s3.f (s text)",
            "1: alter table s1.t rename to f",
            "1: set search_path = 's1,s3'",
            "1: create table s2.w as select s as y from f",
            "1: drop table s1.f",
            "1: create table s2.x as select s as y from f",
        ],
        {"s3.f.s": {"s2.x.y"}},
        id="a table on the search path came by a rename, and was dropped",
    ),
    pytest.param(
        [
            "1: create table s1.u (y int)",
            "1: create table s2.g (n int)",
            "1: set search_path = 's1,s2'",
            "1: create table s1.g as select r.* from s1.u as r",
            "1: alter table s1.g add column b int",
            "1: create or replace table g as select g.b as m, g.y as o from g",
        ],
        {"s1.u.y": {"s1.g.o"}, "s2.g.n": set()},
        id="a table on the search path has the columns of a star, and is made anew from itself",
    ),
    pytest.param(
        [
            "1: create table s2.g as select id from u",
            "2: drop table s2.g",
            "2: create view s3.g as select k as s from f",
            "1: set search_path = 's2,s3'",
            "1: drop view g",
        ],
        {"f.k": set()},
        id="DROP finds what is there on the search path, not what was",
    ),
    pytest.param(
        [
            "1: create table t as select a as n, b as m from f",
            "1: create view g as select p, q from t as x(p, q)",
            "1: create table c as select p as y from g",
            "1: create or replace table t as select q as o1, p as o2 from g",
        ],
        {"f.a": {"c.y", "g.p", "g.q", "t.o1", "t.o2"}},
        id="a view reads by position a table that is made anew from it",
    ),
    pytest.param(
        [
            "1: create table w (y int, n text, x int)",
            "1: create temp table stage as select w.x as o1 from w",
            "1: alter table w add column a int",
            "1: update w set a = z.x from main.w as z where w.y = z.y",
            "1: alter table w rename to f",
            "1: create table w as select o1 as o2, max(n) as o1 from stage, f",
        ],
        {"f.y": {"f.a"}, "f.x": {"f.a", "w.o2"}, "f.n": {"w.o1"}},
        id="the name is that of a later table, whose columns the store knows when the log comes again",
    ),
    pytest.param(
        [
            "1: create table t as select s from u",
            "1: create table t_new as select (select max(s) from t) as o1, a.n as o2 from v as a",
            "1: drop table t",
            "1: alter table t_new rename to t",
        ],
        {"u.s": {"t.o1"}, "v.n": {"t.o2"}},
        id="a table made anew that reads the one before in a sub-query only has rows of its own",
    ),
    pytest.param(
        [
            "1: create table s1.g (x int, n int)",
            "1: create view s3.u as select * from s1.g as r",
            "1: set search_path = 's3,s2'",
            "1: create table s2.t as select * from s3.u",
            "1: drop table t",
            "1: create table t as select max(m) as o1 from u as t(m, f)",
        ],
        {"s1.g.x": {"s3.u.x", "s3.t.o1"}},
        id="a DROP means the table on the search path that is there, not one that is made later",
    ),
    pytest.param(
        [
            "1: create table s1.g (x int, n int)",
            "1: set search_path = 's3,s2'",
            "1: create table s2.t as select * from s1.g",
            "1: alter table t rename to t2",
            "1: create table t as select x as y from s1.g",
            "1: insert into t2 (x, n) select y, y from t",
        ],
        {"s1.g.x": {"s2.t2.x", "s2.t2.n", "s3.t.y"}},
        id="a RENAME means the table on the search path that is there, and leaves it in its schema",
    ),
    pytest.param(
        [
            "1: create table t (x int, a int, y int)",
            "1: create temp table stage as select t.x from t",
            "1: alter table t rename column x to id",
            "1: insert into w select * from t",
            "1: alter table t rename column y to b",
            "1: create table v as select * from t",
        ],
        {"t.b": {"w.y", "v.b"}, "t.id": {"w.id", "v.id"}},
        id="two ALTERs that belong to one temporary table, and what reads the table between them",
    ),
    pytest.param(
        [
            "1: create table f (a int)",
            "1: create table s3.f as select 0 as n",
            "1: create table s3.f_new as select * from s3.f as u",
            "1: drop table s3.f",
            "1: alter table s3.f_new rename to f",
            "1: create view s3.t as select * from f as b",
        ],
        {"f.a": set()},
        id="a view's own schema has the table by another's name of before",
    ),
    pytest.param(
        [
            "1: create table s (x int, y int)",
            "1: create view g as select x from s",
            "1: create view f as select c1 as n from g as z(c1)",
            "1: insert into v select n as k from f",
            "1: drop view g",
            "1: create view g as select y as o1 from s",
        ],
        {"s.x": {"v.k"}, "s.y": {"g.o1", "f.n", "v.k"}},
        id="a copy through a view over a view that is made anew",
    ),
]


@pytest.mark.parametrize(("rows", "expected"), LOGS)
def test_the_rows_of_a_log(
    store: GraphStore, tmp_path: Path, rows: Sequence[str], expected: dict[str, set[str]]
) -> None:
    ingest_rows(store, tmp_path / "log.jsonl", 0, rows)
    before = store.dump()
    assert {column: reached(store, column) for column in expected} == expected
    ingest_rows(store, tmp_path / "log.jsonl", 0, rows)
    assert {column: reached(store, column) for column in expected} == expected
    assert [(one[0], one[1]) for one in store.dump().nodes] == [(one[0], one[1]) for one in before.nodes]


def test_a_column_that_a_view_misses_is_told_by_the_name_that_the_view_has(store: GraphStore, tmp_path: Path) -> None:
    rows = [
        "1: create table v as select a as x from t",
        "1: create table u as select a as m from t",
        "1: create view w as select m from u",
        "1: alter table u rename to aside",
        "1: alter table v rename to u",
    ]
    ingest_rows(store, tmp_path / "log.jsonl", 0, rows)
    assert [one.diagnostic.message for one in store.diagnostics()] == ["no column `m` in main.u"]


def test_a_definition_that_a_later_file_ends_is_reported(store: GraphStore, tmp_path: Path) -> None:
    (tmp_path / "1.sql").write_text("create view v as select a from f", encoding="utf-8")
    (tmp_path / "2.sql").write_text("create or replace view v as select b from f", encoding="utf-8")
    summary = ingest_sql_files([tmp_path], store, options_for("duckdb"), observed_at=BEGIN)
    found = [(str(one.source).rpartition("/")[2], str(one.diagnostic.code)) for one in summary.batch.diagnostics]
    assert found == [("1.sql", "REPLACED_LATER")]
