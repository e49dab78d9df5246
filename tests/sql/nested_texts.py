"""SQL that nests, in every place where SQL can stand, as data; and the process that reads it, which may crash.

`python -m tests.sql.nested_texts DEPTH PLACE …` prints a line for each text that it came through.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable

from lineage import extract, extract_script

MEMORY = 4 << 30
"""Bytes of address space: what takes more has been let grow without end."""

NESTED: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: f"SELECT {'(' * n}a{')' * n} AS x FROM t ",
    "sub-queries": lambda n: f"{'SELECT * FROM (' * n}SELECT a FROM t{') q' * n} ",
    "CASE": lambda n: f"SELECT {'CASE WHEN a THEN ' * n}1{' END' * n} AS x FROM t ",
    "NOT": lambda n: f"SELECT a FROM t WHERE {'NOT ' * n}a ",
    "minus": lambda n: f"SELECT {'- ' * n}a AS x FROM t ",
    "calls": lambda n: f"SELECT {'f(' * n}a{')' * n} AS x FROM t ",
    "subscripts": lambda n: f"SELECT a{' [1]' * n} AS x FROM t ",
    "types": lambda n: f'SELECT a, CAST(a AS "{"ARRAY<" * n}INT{">" * n}") AS x FROM t ',
    "pipes": lambda n: f"FROM t {'|> SELECT a ' * n}",
    "FROM": lambda n: f"{'FROM ' * n}t ",
    "BEGIN": lambda n: f"{'BEGIN ' * n}INSERT INTO u SELECT a FROM t; {'END; ' * n}",
    "IF": lambda n: f"{'IF a > 1 THEN ' * n}INSERT INTO u SELECT a FROM t; {'END IF; ' * n}",
    "BEGIN and IF": lambda n: f"{'BEGIN IF a > 1 THEN ' * n}INSERT INTO u SELECT a FROM t; {'END IF; END; ' * n}",
    "FOR": lambda n: f"{'FOR r IN (SELECT a FROM t) LOOP ' * n}INSERT INTO u SELECT a FROM t; {'END LOOP; ' * n}",
}


def _quoted(sql: str) -> str:
    return sql.replace("'", "''")


def _pieces(sql: str, joined: str) -> str:
    """Return a string put together from pieces, none of which is SQL."""
    return joined.join(f"'{_quoted(sql[at : at + 997])}'" for at in range(0, len(sql), 997))


PLACES: dict[str, tuple[str, Callable[[str], str]]] = {
    "a statement": ("duckdb", lambda sql: sql),
    "EXEC": ("tsql", lambda sql: f"EXEC('{_quoted(sql)}')"),
    "EXEC of pieces": ("tsql", lambda sql: f"EXEC({_pieces(sql, ' + ')})"),
    "EXEC of a variable": ("tsql", lambda sql: f"DECLARE @x nvarchar(max); SET @x = '{_quoted(sql)}'; EXEC(@x)"),
    "a procedure": ("tsql", lambda sql: f"CREATE PROCEDURE p AS BEGIN {sql} END"),
    "EXECUTE of pieces": ("postgres", lambda sql: f"DO $x$ BEGIN EXECUTE {_pieces(sql, ' || ')}; END $x$"),
    "EXECUTE with a hole": ("postgres", lambda sql: f"EXECUTE '{_quoted(sql)} ' || x"),
    "EXECUTE IMMEDIATE": ("snowflake", lambda sql: f"EXECUTE IMMEDIATE '{_quoted(sql)}'"),
    "EXECUTE IMMEDIATE of a call": ("bigquery", lambda sql: f"EXECUTE IMMEDIATE CONCAT({_pieces(sql, ', ')})"),
    "PL/pgSQL": ("postgres", lambda sql: f"CREATE FUNCTION f() RETURNS int AS $$ BEGIN {sql}; END $$ LANGUAGE plpgsql"),
    "PL/SQL": ("oracle", lambda sql: f"CREATE PROCEDURE p IS x int; BEGIN {sql}; END;"),
    "a SQL function": (
        "postgres",
        lambda sql: f"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS '{_quoted(sql)}'; SELECT f() FROM t",
    ),
    "UNLOAD": ("redshift", lambda sql: f"UNLOAD('{_quoted(sql)}') TO 's3://b/x'"),
    "a macro": ("duckdb", lambda sql: f"CREATE MACRO f(a) AS TABLE {sql}; SELECT * FROM f(1), t"),
    "PREPARE": ("mysql", lambda sql: f"SET @x = '{_quoted(sql)}'; PREPARE p FROM @x; EXECUTE p"),
    "a broken WHERE": ("postgres", lambda sql: f"SELECT b FROM t WHERE b == == 1 AND x IN ({sql}) AND ) c"),
    "CREATE of what nobody knows": ("postgres", lambda sql: f"CREATE SOMETHING_UNKNOWN x AS {sql}"),
    "a template": ("spark", lambda sql: f"{{% if x %}} {sql} {{% endif %}} SELECT ${{a}} FROM t"),
    "a hint": ("oracle", lambda sql: f"SELECT /*+ {sql} */ a FROM t"),
    "a bracket that is never closed": ("postgres", lambda sql: f"SELECT a FROM t WHERE a IN ({sql} AND x = 'open"),
}
"""Where SQL can stand: the dialect, and what is around it. All of them name the table t."""


def _read(place: str, depth: int) -> None:
    dialect, around = PLACES[place]
    for number, (name, nested) in enumerate(NESTED.items(), tuple(PLACES).index(place)):
        read = (extract, extract_script)[number % 2]  # both lead to the same parsers
        statements = read(around(nested(depth)), dialect)
        outcome = {
            "place": place,
            "text": name,
            "read": read.__name__,
            "codes": sorted({str(found.code) for each in statements for found in each.diagnostics}),
            "tables": sorted({table for each in statements for table in (*each.sources, each.target) if table}),
        }
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for given in sys.argv[2:]:
        _read(given, int(sys.argv[1]))
