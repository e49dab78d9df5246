-- Pairs of queries that return something else. In brackets: the columns that must be called changed, or `rows`.
-- In braces: the dialect, if it is not DuckDB.
-- Tables: t(a, b, c), u(a, x), v(a, x, b), w (its columns are not known).

-- a constant [d]
select a, b + 1 as d from t
-- and
select a, b + 2 as d from t

-- a decimal point changes the type [d]
select a, b * 1 as d from t
-- and
select a, b * 1.0 as d from t

-- operands that do not commute [d, e]
select a - b as d, 'x' || c as e from t
-- and
select b - a as d, c || 'x' as e from t

-- a condition [rows]
select a from t where b > 1
-- and
select a from t where b >= 1

-- the side of a join [rows]
select t.a, u.x from t join u on t.a = u.a
-- and
select t.a, u.x from t left join u on t.a = u.a

-- a condition in ON or in WHERE [rows]
select t.a from t left join u on t.a = u.a and u.x = 1
-- and
select t.a from t left join u on t.a = u.a where u.x = 1

-- which side of a self join is read [d]
select l.a, r.b as d from t l join t r on l.a = r.c
-- and
select l.a, l.b as d from t l join t r on l.a = r.c

-- swapped aliases with the same text [d]
select x.a as d from t x join t y on x.a = y.b
-- and
select x.a as d from t y join t x on x.a = y.b

-- a filter before or after a window [r]
select a, row_number() over (order by a) as r from t where b = 1
-- and
select a, r from (select a, b, row_number() over (order by a) as r from t) where b = 1

-- a filter before or after an aggregate [rows]
select a, sum(b) as s from t where b > 1 group by a
-- and
select a, s from (select a, sum(b) as s, max(b) as b from t group by a) where b > 1

-- a key more [rows]
select a, count(*) as n from t group by a
-- and
select a, count(*) as n from t group by a, b

-- keys in sets [rows]
select a, b, count(*) as n from t group by a, b
-- and
select a, b, count(*) as n from t group by rollup (a, b)

-- DISTINCT [rows]
select a from t
-- and
select distinct a from t

-- a column more under DISTINCT [rows]
select distinct a from t
-- and
select distinct a, b from t

-- UNION and UNION ALL [rows]
select a from t union all select a from u
-- and
select a from t union select a from u

-- columns by position [a, b]
select a, b from t union all select a, x from u
-- and
select a, b from t union all select x, a from u

-- DISTINCT in an aggregate [n]
select count(a) as n from t
-- and
select count(distinct a) as n from t

-- the order of a LIMIT [rows]
select a from t order by a limit 3
-- and
select a from t order by b limit 3

-- ties of an order [rows]
select a from t order by a nulls first limit 3
-- and
select a from t order by a nulls last limit 3

-- a function whose order is not fixed [l]
select string_agg(a, ',') as l from t
-- and
select string_agg(a, ',') as l from (select * from t order by b)

-- a frame [s]
select sum(a) over (order by b rows between 1 preceding and current row) as s from t
-- and
select sum(a) over (order by b rows between 2 preceding and current row) as s from t

-- a cast [d]
select cast(a as int) as d from t
-- and
select cast(a as bigint) as d from t

-- an unknown function of another column [d]
select a, my_function(b) as d from t
-- and
select a, my_function(c) as d from t

-- an unknown function may be an aggregate [rows]
select a from t
-- and
select a, my_function(b) as d from t

-- UNNEST makes rows [rows]
select a from t
-- and
select a, unnest(c) as d from t

-- a lambda's parameter that hides a column [d]
select list_transform(c, x -> x + a) as d from t
-- and
select list_transform(c, a -> a + a) as d from t

-- the parameter of a lambda against a column with a prefix [d]
select list_transform(c, b -> b) as d from t
-- and
select list_transform(c, b -> t.b) as d from t

-- an alias that hides a column in GROUP BY [rows]
select a % 2 as b, count(*) as n from t group by b
-- and
select a % 3 as b, count(*) as n from t group by b

-- the columns of a star of a table that is not known [k]
select w.k from w join u on u.a = w.j
-- and
select u.x as k from w join u on u.a = w.j

-- a star of one or the other table [rows]
select l.* from w l join w r on l.i = r.j
-- and
select r.* from w l join w r on l.i = r.j

-- REPLACE over a table that is not known [rows]
select * from w
-- and
select * replace (k + 1 as k) from w

-- a correlated sub-query of the inner or the outer table [rows]
select a from t where exists (select 1 from t i where i.b = t.b)
-- and
select a from t where exists (select 1 from t i where i.b = i.b)

-- a level of correlation [rows]
select a from t o where exists (select 1 from t m where exists (select 1 from u where u.a = o.a))
-- and
select a from t o where exists (select 1 from t m where exists (select 1 from u where u.a = m.a))

-- random numbers once or twice [rows]
with r as (select random() as n from t) select p.n as x, q.n as y from r p cross join r q
-- and
select p.n as x, q.n as y from (select random() as n from t) p cross join (select random() as n from t) q

-- a recursive query [rows]
with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select n from r
-- and
with recursive r as (select 1 as n union all select n + 1 from r where n < 6) select n from r

-- a quoted name of another case [d]
select "A" as d from w
-- and
select "B" as d from w

-- IN and NOT IN [rows]
select a from t where a in (select x from u)
-- and
select a from t where a not in (select x from u)

-- NULL and not NULL [rows]
select a from t where a = null
-- and
select a from t where a is null

-- PIVOT [rows]
select * from (pivot t on a using sum(b))
-- and
select * from (pivot t on a using sum(c))

-- LIMIT and OFFSET [rows]
select a from t order by a limit 3
-- and
select a from t order by a limit 3 offset 1

-- a column without a prefix that another table gets [d]
select x as d from t join u on t.a = u.a
-- and
select b as d from t join u on t.a = u.a

-- USING of a right join [a]
select a from u left join v using (a)
-- and
select a from u right join v using (a)

-- a condition of HAVING [rows]
select a, count(*) as n from t group by a having count(*) > 1
-- and
select a, count(*) as n from t group by a having max(b) > 1

-- QUALIFY [rows]
select a from t qualify rank() over (partition by b order by c) = 1
-- and
select a from t qualify rank() over (order by c) = 1

-- the filter of an aggregate [n]
select count(*) filter (where a > 1) as n from t
-- and
select count(*) filter (where b > 1) as n from t

-- a CTE of the same name inside and outside [d]
with s as (select a as k from t), r as (select k from s) select k as d from r
-- and
with s as (select b as k from t), r as (select k from s) select k as d from r

-- volatile values that are computed once, or by each reader [rows]
with x as materialized (select random() as r) select l.r = m.r as d from x l, x m
-- and
with x as not materialized (select random() as r) select l.r = m.r as d from x l, x m

-- the order of an array's query [xs] {postgres}
select a, array(select x from u order by x) as xs from t
-- and
select a, array(select x from u order by x desc) as xs from t

-- the order of an array's query, inside [xs] {bigquery}
select a, array(select x from (select x from u order by a)) as xs from t
-- and
select a, array(select x from (select x from u order by x)) as xs from t

-- the first row of a scalar query [d] {sqlite}
select a, (select x from u order by x) as d from t
-- and
select a, (select x from u order by x desc) as d from t

-- ORDER BY ALL is the order of the columns [rows]
select a, b from t order by all limit 2
-- and
select b, a from t order by all limit 2

-- ORDER BY ALL reads what the columns are made of [rows] {snowflake}
select a as k, b from t order by all limit 2
-- and
select c as k, b from t order by all limit 2

-- ORDER BY ALL of a set operation [rows] {databricks}
select a, b from t union select a, x from u order by all limit 2
-- and
select b as a, a as b from t union select x, a from u order by all limit 2

-- a column by its position in FROM [rows]
select a, b from t order by #1 limit 2
-- and
select b, a from t order by #1 limit 2

-- an unknown function of an alias in QUALIFY [rows]
select b, a + 1 as k from t qualify my_function(k) > 3
-- and
select b, a + 2 as k from t qualify my_function(k) > 3

-- an unknown function of an alias in ORDER BY [rows]
select b, a + 1 as k from t order by my_function(k) limit 3
-- and
select b, a + 2 as k from t order by my_function(k) limit 3

-- an unknown function of an alias of an alias in WHERE [rows] {snowflake}
select b, a + 1 as k, k * 2 as l from t where my_function(l) > 3
-- and
select b, a + 2 as k, k * 2 as l from t where my_function(l) > 3

-- SQL that no rule reads and that reads an alias outside [rows] {snowflake}
select b, a + 1 as k from t where exists (select 1 from u tablesample (10) where u.x = k)
-- and
select b, a + 2 as k from t where exists (select 1 from u tablesample (10) where u.x = k)

-- a window that begins with another one [s] {postgres}
select a, sum(b) over w2 as s from t window w1 as (partition by a), w2 as (w1 order by c)
-- and
select a, sum(b) over w2 as s from t window w1 as (partition by c), w2 as (w1 order by c)

-- the end that NTH_VALUE counts from [F] {snowflake}
select nth_value(a, 2) from last over (order by b) as F from t
-- and
select nth_value(a, 2) from first over (order by b) as F from t

-- a column of the row that has the maximum [rows] {sqlite}
select c, a, max(b) as m from t group by a
-- and
select c, a, min(b) as m from t group by a

-- an extreme in another clause [rows] {sqlite}
select c, a from t group by a having max(b) > 0
-- and
select c, a from t group by a having min(b) > 0

-- a LEFT JOIN that may find several rows [rows]
select t.b, q.x from t left join (select a, x from v where b > 1) q on q.a = t.a
-- and
select t.b, q.x from t left join (select a, x from v where b > 2) q on q.a = t.a

-- a LEFT JOIN by a part of what is unique [rows]
select t.b, q.s from t left join (select a, b, sum(x) as s from v group by a, b) q on q.a = t.a
-- and
select t.b, q.s from t left join (select a, b, sum(x) as s from v where x > 1 group by a, b) q on q.a = t.a

-- two rows of each [rows]
select t.b, q.x from t left join (select a, x from v qualify row_number() over (partition by a order by b) <= 2) q on q.a = t.a
-- and
select t.b, q.x from t left join (select a, x from v qualify row_number() over (partition by a order by x) <= 2) q on q.a = t.a

-- groups of ROLLUP [rows]
select t.b, q.s from t left join (select a, sum(x) as s from v group by rollup (a)) q on q.a = t.a
-- and
select t.b, q.s from t left join (select a, sum(x) as s from v where b > 1 group by rollup (a)) q on q.a = t.a

-- a FULL JOIN with what is unique [rows]
select t.b, q.s from t full join (select a, sum(x) as s from u group by a) q on q.a = t.a
-- and
select t.b, q.s from t full join (select a, sum(x) as s from u where x > 1 group by a) q on q.a = t.a

-- what is looked up before a RIGHT JOIN, and after it [s]
select v.x, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = coalesce(t.a, 0) right join v on v.a = t.a
-- and
select v.x, q.s from t right join v on v.a = t.a left join (select a, sum(x) as s from u group by a) q on q.a = coalesce(t.a, 0)

-- a random row [rows]
select t.b, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = random()
-- and
select t.b, q.s from t left join (select a, sum(x) as s from u where x > 1 group by a) q on q.a = random()

-- what an unknown function reads [x, rows]
select my_function(a) as x, b from t
-- and
select my_function(c) as x, b from t

-- the rows that an unknown function may aggregate [x, rows]
select my_function(a) as x, b from t
-- and
select my_function(a) as x, b from t where c > 1
