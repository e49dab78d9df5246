-- Pairs of queries of which exactly the columns in brackets differ; `rows` stands for the row set, `*` for further
-- columns. In braces: the dialect, if it is not DuckDB.
-- Tables: t(a, b, c), u(a, x), v(a, x, b), w (its columns are not known).

-- a window column beside another one over the same window [d]
select a, sum(b) over (partition by a order by c) as d, row_number() over (partition by a order by c) as n from t
-- and
select a, sum(b + 1) over (partition by a order by c) as d, row_number() over (partition by a order by c) as n from t

-- the order of a window [n]
select a, sum(b) over (partition by a order by c) as d, row_number() over (partition by a order by c) as n from t
-- and
select a, sum(b) over (partition by a order by c) as d, row_number() over (partition by a order by b) as n from t

-- windows over a sub-query of which another column is edited [b]
select a, b, row_number() over (partition by a order by c) as n, lag(c) over (order by c) as l
from (select a, b + 1 as b, c from t)
-- and
select a, b, row_number() over (partition by a order by c) as n, lag(c) over (order by c) as l
from (select a, b + 2 as b, c from t)

-- the row that QUALIFY chooses does not depend on what is beside its order [b]
select a, b * 2 as b from t qualify row_number() over (partition by a order by c) = 1
-- and
select a, b * 3 as b from t qualify row_number() over (partition by a order by c) = 1

-- a constant beside a macro call [k]
select a, {{ dbt_utils.star('w') }}, 1 as k from t
-- and
select a, {{ dbt_utils.star('w') }}, 2 as k from t

-- the arguments of a macro call: it may aggregate, too [*, rows]
select a, {{ dbt_utils.star('w') }} from t
-- and
select a, {{ dbt_utils.star('w', except=['x']) }} from t

-- a column beside a macro call that is part of a value [d]
select a, b + {{ rate('x') }} as e, c + 1 as d from t
-- and
select a, b + {{ rate('x') }} as e, c + 2 as d from t

-- a macro call behind a clause [b]
select a, b + 1 as b from t
{{ only_new('t') }}
-- and
select a, b + 2 as b from t
{{ only_new('t') }}

-- another macro call behind a clause [rows]
select a, b from t
{{ only_new('t') }}
-- and
select a, b from t
{{ only_old('t') }}

-- a macro call in the place of a query [d]
with m as (
  {{ dbt_utils.union_relations(['u', 'v']) }}
) select m.a, t.b + 1 as d from m join t on m.a = t.a
-- and
with m as (
  {{ dbt_utils.union_relations(['u', 'v']) }}
) select m.a, t.b + 2 as d from m join t on m.a = t.a

-- variables of a client are values {postgres} [rows]
select a from t where b = {{ one_day }}
-- and
select a from t where b = {{ two_day }}

-- a LEFT JOIN that finds one row at most, and what it adds up [s]
select t.b, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = t.a
-- and
select t.b, q.s from t left join (select a, sum(x + 1) as s from u group by a) q on q.a = t.a

-- a LEFT JOIN that finds one row at most, and its rows [s]
select t.b, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = t.a
-- and
select t.b, q.s from t left join (select a, sum(x) as s from u where x > 1 group by a) q on q.a = t.a

-- what a LEFT JOIN finds, by another column [s]
select t.b, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = t.a
-- and
select t.b, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = t.c

-- the last row of each, joined [x]
select t.b, q.x from t left join (select a, x from v qualify row_number() over (partition by a order by b) = 1) q on q.a = t.a
-- and
select t.b, q.x from t left join (select a, x from v qualify row_number() over (partition by a order by x) = 1) q on q.a = t.a

-- a condition on what is looked up [rows, s]
select t.b, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = t.a where q.s > 1
-- and
select t.b, q.s from t left join (select a, sum(x + 1) as s from u group by a) q on q.a = t.a where q.s > 1

-- a value beside an unknown function [b]
select my_function(a) as x, b from t
-- and
select my_function(a) as x, c as b from t

-- one of the aggregates of a PIVOT [x_m, y_m]
select * from (select a, b, c from t) pivot (sum(b) as s, max(b) as m for c in ('p' as x, 'q' as y))
-- and
select * from (select a, b, c from t) pivot (sum(b) as s, min(b) as m for c in ('p' as x, 'q' as y))

-- one of the values of a PIVOT [y]
select * from t pivot (sum(b) for c in ('p' as x, 'q' as y))
-- and
select * from t pivot (sum(b) for c in ('p' as x, 'r' as y))

-- one of the values of a PIVOT, whose name is its column's ['q', 'r'] {snowflake}
select * from (select a, b, c from t) pivot (sum(b) for c in ('p', 'q'))
-- and
select * from (select a, b, c from t) pivot (sum(b) for c in ('p', 'r'))

-- the column whose values a PIVOT lists [x]
select a, x from (select a, b, c, c as d from t) pivot (sum(b) for d in ('p' as x)) where a > 1
-- and
select a, x from (select a, b, c, upper(c) as d from t) pivot (sum(b) for d in ('p' as x)) where a > 1

-- what a PIVOT groups by [rows, a, x]
select a, x from (select a, b, c from t) pivot (sum(b) for c in ('p' as x))
-- and
select a, x from (select a + 1 as a, b, c from t) pivot (sum(b) for c in ('p' as x))

-- an alias with the name of a column that the table may have, bigquery [c] {bigquery}
select concat(a, c) as k, upper(c) as c from w
-- and
select concat(a, c) as k, lower(c) as c from w

-- an alias with the name of a column that the table may have, postgres [c] {postgres}
select concat(a, c) as k, upper(c) as c from w
-- and
select concat(a, c) as k, lower(c) as c from w

-- an alias with the name of a column that the table may have, snowflake [K, C] {snowflake}
select concat(a, c) as k, upper(c) as c from w
-- and
select concat(a, c) as k, lower(c) as c from w

-- an alias with the name of a column that the table may have, ansi [k, c] {ansi}
select concat(a, c) as k, upper(c) as c from w
-- and
select concat(a, c) as k, lower(c) as c from w

-- an alias with the name of a column that the table may have, in WHERE [c] {postgres}
select a, upper(c) as c from w where c > 1
-- and
select a, lower(c) as c from w where c > 1

-- an alias with the name of a column that the table may have, in ORDER BY [c, rows] {postgres}
select a, upper(c) as c from w order by c limit 1
-- and
select a, lower(c) as c from w order by c limit 1
