"""What a fingerprint drops and keeps: by its normal form, and by what may change without changing it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.sql.scan.implementation import ScanEngine

FORMS = [
    # Comments, white space, the case of keywords and of names that the dialect folds.
    ("postgres", "SELECT  A -- c\n /* d */ FROM\tT;", "select a from t"),
    ("postgres", 'SELECT "A" FROM "T"', 'select "A" from "T"'),
    ("mysql", "Select A From T Where T.From = 1", "select A from T where T.From=?"),
    ("clickhouse", "SELECT Id, COUNT(*) FROM Events", "select Id,COUNT(*)from Events"),
    # Literals that are compared, listed, limited, inserted.
    ("ansi", "SELECT a FROM t WHERE a = 'x' AND 5 < b OR c <> -1.5", "select a from t where a=? and ?<b or c<>?"),
    ("ansi", "SELECT a FROM t WHERE a IN (1, 2, 3)", "select a from t where a in(?)"),
    ("ansi", "SELECT a FROM t WHERE a NOT IN ('x', -1, NULL, DATE '2024-01-01')", "select a from t where a not in(?)"),
    ("ansi", "SELECT a FROM t WHERE (a, b) IN ((1, 2), (3, 4), (5, 6))", "select a from t where(a,b)in((?,?))"),
    ("ansi", "SELECT a FROM t WHERE a IN (1, b, 2, 3)", "select a from t where a in(?,b,?)"),
    ("ansi", "SELECT a FROM t WHERE a BETWEEN 1 AND 5 AND b", "select a from t where a between ? and ? and b"),
    ("ansi", "SELECT a FROM t WHERE a LIKE 'x%' ESCAPE '!'", "select a from t where a like ? escape ?"),
    ("ansi", "SELECT a FROM t WHERE d > DATE '2024-01-01'", "select a from t where d>?"),
    ("ansi", "SELECT a FROM t WHERE d > now() - INTERVAL '7' DAY", "select a from t where d>now()-interval ? day"),
    ("ansi", "SELECT a FROM t WHERE coalesce(a, 0) > 5", "select a from t where coalesce(a,?)>?"),
    ("ansi", "SELECT a FROM t JOIN u ON a = b AND c = 5", "select a from t join u on a=b and c=?"),
    ("ansi", "SELECT a FROM t HAVING sum(a) > 5", "select a from t having sum(a)>?"),
    ("ansi", "SELECT a FROM t WHERE a IS DISTINCT FROM 5 AND b = 1",
     "select a from t where a is distinct from ? and b=?"),
    ("ansi", "SELECT a FROM t LIMIT 10, 20", "select a from t limit ?,?"),
    ("ansi", "SELECT a FROM t OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY",
     "select a from t offset ? rows fetch next ? rows only"),
    ("tsql", "SELECT TOP (10) a FROM t", "select top(?)a from t"),
    ("ansi", "INSERT INTO t VALUES (1, 'a'), (-2, NULL), (3, TRUE)", "insert into t values(?,?)"),
    ("ansi", "INSERT INTO t VALUES (1, now()), (2, now())", "insert into t values(?,now())"),
    ("ansi", "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v", "select*from(values(?,?))v"),
    ("spark", "SELECT * FROM VALUES 1, 2, 3 AS t(a)", "select*from values ? as t(a)"),
    # What is computed with, selected and written.
    ("ansi", "SELECT CASE WHEN a THEN 'x' ELSE 5 END FROM t", "select case when a then ? else ? end from t"),
    ("ansi", "SELECT DISTINCT -5, ('x'), (a + 7) * 2, DATE '2026-10-01' FROM t",
     "select distinct ?,(?),(a+?)*?,? from t"),
    ("ansi", "SELECT f(a + 7, CASE WHEN b THEN 'x' END, 'kept'), round(sum(a), 2) FROM t",
     "select f(a+?,case when b then ? end,'kept'),round(sum(a),?)from t"),
    ("ansi", "INSERT INTO d SELECT x, DATE '2026-10-01' FROM s", "insert into d select x,? from s"),
    ("hive", "INSERT OVERWRITE TABLE t PARTITION (day = '2026-10-01', hour) SELECT a FROM s",
     "insert overwrite table t partition(day=?,hour)select a from s"),
    ("mysql", "INSERT INTO t SET a = 5, b = 'x' ON DUPLICATE KEY UPDATE a = a + 7",
     "insert into t set a=?,b=? on DUPLICATE key update a=a+?"),
    ("ansi", "UPDATE t SET a = 'x', b = b + 1 WHERE c = 5", "update t set a=?,b=b+? where c=?"),
    ("ansi", "SELECT CASE WHEN a = 'x' THEN b END FROM t", "select case when a=? then b end from t"),
    ("bigquery", "SELECT a FROM t WHERE b IN UNNEST([1, 2])", "select a from t where b in unnest([?])"),
    ("ansi", "MERGE INTO t USING s ON t.a = s.a AND s.b = 5 WHEN MATCHED AND x = 5 THEN UPDATE SET a = 5",
     "merge into t using s on t.a=s.a and s.b=? when matched and x=? then update set a=?"),
    # Placeholders are literals, where literals are dropped.
    ("ansi", "SELECT a FROM t WHERE a = ? AND b = :b AND c = %(c)s AND d = %s AND e = ${e} AND f = {{ f }}",
     "select a from t where a=? and b=? and c=? and d=? and e=? and f=?"),
    ("tsql", "SELECT a FROM t WHERE a = ##a:int?5## AND b = @b", "select a from t where a=? and b=@b"),
    ("oracle", "SELECT a FROM t WHERE a = &a", "select a from t where a=?"),
    ("postgres", "SELECT a FROM t WHERE a = $1", "select a from t where a=?"),
    ("spark", "SELECT a FROM {{ ref('t') }}", "select a from {{ ref('t') }}"),
    # What can shape lineage stays.
    ("ansi", "SELECT 'x' AS a, 1, b + 2 FROM t GROUP BY 1, 2 ORDER BY 1",
     "select ? as a,?,b+? from t group by 1,2 order by 1"),
    ("ansi", "SELECT a 'x', b AS 'y', 'z' FROM t", "select a 'x',b as 'y',? from t"),
    ("tsql", "SELECT 'x' = a, 'y' + b AS c FROM t", "select 'x'=a,'y'+b as c from t"),
    ("ansi", "SELECT a FROM t GROUP BY a + 7, 2, date_trunc('day', b)",
     "select a from t group by a+?,2,date_trunc(?,b)"),
    ("postgres", "SELECT a->'x' || 'y', b - 'z', c['k'], {{ d }}, $1, :e FROM t",
     "select a->'x'||?,b-?,c['k'],{{ d }},$1,:e from t"),
    ("snowflake", "SELECT v:a.b + 5, v['c'], get_path(v, 'd') || 'x' FROM t",
     "select v:a.b+?,v['c'],get_path(v,'d')||? from t"),
    ("spark", "SELECT named_struct('a', 5, 'b', c + 1), map('k', d), element_at(m, 'k') FROM t",
     "select named_struct('a',5,'b',c+?),map('k',d),element_at(m,'k')from t"),
    ("clickhouse", "SELECT dictGet('d', 'a', toUInt64(5)), t.1 FROM t",
     "select dictGet('d','a',toUInt64(5)),t .1 from t"),
    ("duckdb", "SELECT COLUMNS('a.*'), * EXCLUDE ('b'), {'k': 5}, 'x' AS y FROM read_csv('f.csv')",
     "select columns('a.*'),*exclude('b'),{'k':5},? as y from read_csv('f.csv')"),
    # Columns that a dialect names by their text, where it makes columns; texts that are SQL.
    ("mysql", "CREATE VIEW v AS SELECT a + 5, 6 AS b, concat(c, 'x') AS d FROM t",
     "create view v as select a+?{5},? as b,concat(c,?)as d from t"),
    ("duckdb", "INSERT INTO t BY NAME SELECT 5, 6 AS b", "insert into t by name select ?{5},? as b"),
    ("tsql", "SELECT @s = @s + 'insert' FROM t EXEC (@s)", "select @s=@s+? from t exec(@s){'insert'}"),
    ("oracle", "SELECT 'drop' || a INTO v FROM t; EXECUTE IMMEDIATE v",
     "select ?||a into v from t;execute immediate v{'drop'}"),
    ("ansi", "SELECT a FROM t PIVOT (sum(b) FOR c IN ('x', 'y')) p", "select a from t pivot(sum(b)for c in('x','y'))p"),
    ("duckdb", "PIVOT t ON y IN (2000, 2010) USING sum(x)", "pivot t on y in(2000,2010)using sum(x)"),
    ("postgres", "SELECT a FROM t WHERE j->'a'->>'b' = 'x'", "select a from t where j->'a'->>'b'=?"),
    ("ansi", "SELECT a FROM t WHERE json_value(j, '$.a') = 'x'", "select a from t where json_value(j,'$.a')=?"),
    ("ansi", "SELECT a FROM t WHERE m['k'] = 'x' AND l[1] = 2", "select a from t where m['k']=? and l[1]=?"),
    ("bigquery", "SELECT a[OFFSET(0)] FROM t", "select a[OFFSET(0)]from t"),
    ("snowflake", "SELECT $1, t.$2 FROM @s/x WHERE $3 = 5", "select $1,t.$2 from @s/x where $3=?"),
    ("duckdb", "SELECT * FROM read_csv('f.csv', header = true, delim = ';')",
     "select*from read_csv('f.csv',header=true,delim=';')"),
    ("duckdb", "SELECT * LIKE 'a%' FROM t", "select*like 'a%' from t"),
    ("tsql", "SELECT x = 'a' FROM t", "select x='a' from t"),
    ("ansi", "SET x = 'y'", "set x='y'"),
    ("ansi", "CREATE TABLE t WITH (location = 's3://b') AS SELECT 1",
     "create table t with(location='s3://b')as select ?{1}"),
    ("ansi", "CALL f('t', 5)", "call f('t',5)"),
    ("ansi", "SELECT a FROM t WHERE date = date + 5", "select a from t where date=date+?"),
    ("ansi", "SELECT values, 5 FROM t", "select values,? from t"),
    ("ansi", "INSERT INTO t VALUES (1, 2), (3, a)", "insert into t values(?,?),(?,a)"),
    ("ansi", "SELECT 1; SELECT 2;", "select ?;select ?"),
    ("ansi", "SELECT 'never closed", "select 'never closed"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql", "form"), FORMS)
def test_normal_form(scanner: ScanEngine, dialect: str, sql: str, form: str) -> None:
    assert scanner.normal_form(sql, dialect) == form


DIFFERENT = [
    ("ansi", "CREATE VIEW v AS SELECT 'a' FROM t", "CREATE VIEW v AS SELECT 'b' FROM t"),
    ("ansi", "SELECT f('a') FROM t", "SELECT f('b') FROM t"),
    ("mysql", "SELECT a 'b' FROM t", "SELECT a 'c' FROM t"),
    ("tsql", "SELECT 'a' = b FROM t", "SELECT 'c' = b FROM t"),
    ("tsql", "SELECT @s = 'a' + b FROM t EXEC(@s)", "SELECT @s = 'c' + b FROM t EXEC(@s)"),
    ("ansi", "SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 2"),
    ("ansi", "SELECT a FROM t PIVOT (max(a) FOR b IN (1))", "SELECT a FROM t PIVOT (max(a) FOR b IN (1, 2))"),
    ("postgres", "SELECT a->'x' FROM t", "SELECT a->'y' FROM t"),
    ("snowflake", "SELECT $1 FROM @s", "SELECT $2 FROM @s"),
    ("snowflake", "SELECT a:b FROM t", "SELECT a:c FROM t"),
    ("ansi", "SELECT * FROM (VALUES (1)) v", "SELECT * FROM (VALUES (1, 2)) v"),
    ("postgres", 'SELECT "a" FROM t', 'SELECT "A" FROM t'),
    ("bigquery", "SELECT a FROM T", "SELECT a FROM t"),
    ("ansi", "SELECT a FROM f('x')", "SELECT a FROM f('y')"),
    ("ansi", "SELECT a b FROM t", "SELECT a, b FROM t"),
]


@pytest.mark.parametrize(("dialect", "one", "other"), DIFFERENT)
def test_what_shapes_lineage_makes_another_fingerprint(scanner: ScanEngine, dialect: str, one: str, other: str) -> None:
    assert scanner.fingerprint(one, dialect) != scanner.fingerprint(other, dialect)


def test_a_fingerprint_is_stable(scanner: ScanEngine) -> None:
    """It is a key in stores: it may change with a schema version only."""
    assert scanner.fingerprint("SELECT a FROM t WHERE b = 'x'", "postgres") == "46a5b66bb27f0f295672f6a64f48e655"


strings = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="'\\"), max_size=20)
values = (
    st.integers(0, 10**12).map(str)
    | st.decimals(0, 1000, places=2).map(str)
    | strings.map(lambda text: f"'{text}'")
    | st.sampled_from(["?", ":p", "-5", "+1.5e3", "DATE '2024-01-01'"])
)
lists = st.lists(values, min_size=1, max_size=12).map(", ".join)
pairs = st.tuples(values, values).map(lambda pair: f"({pair[0]}, {pair[1]})")
rows = st.lists(pairs, min_size=1, max_size=8).map(", ".join)
gaps = st.sampled_from([" ", "\n", " \t ", "/* c; 'x' */", " -- it's\n"])
# Every word apart; V, L and R are a literal, a list and rows, which differ from run to run.
QUERY = (
    "SELECT a , f ( b ) AS c , 'kept' FROM t JOIN u ON t.a = u.b AND u.c = V WHERE d = V AND e IN ( L ) AND ( f , g ) "
    "IN ( R ) AND h BETWEEN V AND V OR i > V GROUP BY 1 HAVING count ( * ) >= V LIMIT 5"
)


@st.composite
def runs(draw: st.DrawFn) -> str:
    """A run of the query: other literals, comments, white space and case."""
    drawn: dict[str, st.SearchStrategy[str]] = {"V": values, "L": lists, "R": rows}
    upper = draw(st.booleans())
    words = [
        draw(drawn[word]) if word in drawn else word if word[0] == "'" else word.upper() if upper else word.lower()
        for word in QUERY.split()
    ]
    gap, other = draw(gaps), draw(gaps)
    return gap.join(words[:9]) + other + other.join(words[9:]) + draw(st.sampled_from(["", ";", " ; -- end"]))


@settings(max_examples=50, deadline=None)
@given(runs(), runs(), st.sampled_from(["postgres", "snowflake", "spark", "duckdb", "trino"]))
def test_runs_of_one_query_have_one_fingerprint(scanner: ScanEngine, one: str, other: str, dialect: str) -> None:
    assert scanner.normal_form(one, dialect) == scanner.normal_form(other, dialect)


@settings(max_examples=50, deadline=None)
@given(rows, rows, st.sampled_from(["postgres", "snowflake", "bigquery", "mysql", "tsql"]))
def test_rows_of_any_number_have_one_fingerprint(scanner: ScanEngine, one: str, other: str, dialect: str) -> None:
    forms = {scanner.normal_form(f"INSERT INTO t (a, b) VALUES {some}", dialect) for some in (one, other)}
    assert len(forms) == 1
