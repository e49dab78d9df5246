-- Pairs of queries that return the same rows and values; their order is not compared.
-- Tables: t(a, b, c), u(a, x), v(a, x, b), w (its columns are not known).

-- formatting, comments, keywords
select a, b + 1 as d from t where a > 1
-- and
SELECT /* first */ a,
       (b + 1) AS d -- second
FROM t
WHERE (a > 1)

-- an import CTE and an alias
select a, sum(b) as s from t group by a
-- and
with source as (select * from t), renamed as (select a as k, b as value from source)
select x.k as a, sum(x.value) as s from renamed as x group by x.k

-- a CTE against a sub-query
with big as (select a from t where b > 10) select big.a, u.x from big join u on u.a = big.a
-- and
select q.a, u.x from (select t.a from t where 10 < t.b) q inner join u on q.a = u.a

-- an unused CTE
select a from t
-- and
with nothing as (select x from u) select a from t

-- the order of conditions
select a from t where a = 1 and (b = 2 or c = 3) and a <> 4
-- and
select a from t where 4 <> a and (3 = c or b = 2) and 1 = a

-- positions and names as keys
select a, b, count(*) as n from t group by 1, 2 order by 3
-- and
select a, b, count(*) as n from t group by b, a order by n

-- a named window
select a, rank() over w as r from t window w as (partition by b order by c desc)
-- and
select a, rank() over (partition by b order by c desc) as r from t

-- an alias used later in the select list
select a + b as s, s * 2 as d from t
-- and
select a + b as s, (a + b) * 2 as d from t

-- the order of output columns, and of DISTINCT
select distinct a, b from t
-- and
select distinct b, a from t

-- USING with other aliases
select a, p.x from u as p join v as q using (a)
-- and
select a, one.x from u as one join v as other using (a)

-- a correlated sub-query
select t.a, (select max(u.x) from u where u.a = t.a) as m from t where exists (select 1 from v where v.a = t.a)
-- and
select o.a, (select max(i.x) from u i where o.a = i.a) as m from t o where exists (select 1 from v z where z.a = o.a)

-- a table whose columns are not known
select * from w where k = 1
-- and
with s as (select * from w) select * from s where 1 = k

-- a star with a prefix
select t.*, u.x from t join u on u.a = t.a
-- and
select t.a, t.b, t.c, u.x from t join u on u.a = t.a

-- the order of a list that IN reads, or of a table that one row is made of
select a, a in (select x from u) as i, (select max(x) from u) as m from t
-- and
select a, a in (select x from u order by a) as i, (select max(x) from (select * from u order by a)) as m from t

-- an alias that an unknown function does not read
select my_function(b) as f, a as k from t where my_function(b) > 1
-- and
select my_function(b) as f, (a) as k from t where my_function(b) > 1

-- a window that begins with another one, written out {postgres}
select a, sum(b) over (partition by a order by c) as s from t
-- and
select a, sum(b) over w2 as s from t window w1 as (partition by a), w2 as (w1 order by c)

-- a key beside a maximum {sqlite}
select a, max(b) as m from t group by a
-- and
select t.a, max(t.b) as m from t as t group by 1

-- a LEFT JOIN that finds one row at most, before and after an inner join
select t.b, v.x as y, q.s from t left join (select a, sum(x) as s from u group by a) q on q.a = t.a join v on v.a = t.a
-- and
select t.b, v.x as y, q.s from t join v on v.a = t.a left join (select a, sum(x) as s from u group by a) q on q.a = t.a

-- an unknown function and another alias
select my_function(q.a) as x, q.b from t as q
-- and
select my_function(r.a) as x, r.b from t as r
