"""`python -m tests.diff.function_catalogue`: does an edit beside a function of an engine change only itself?

Each function of DuckDB's and PostgreSQL's own catalogue that can be called with values of the types below is called in
`SELECT f(…) AS x, b AS y`, then with `b + 1 AS y`. Printed by engine: calls that ran; functions beside which `lineage
diff` says that more than `y` changes (claimed too much); functions that are listed as deterministic, and of which the
engine returned something else, or another number of rows (missed). Exit status: 0 if nothing was missed.
"""

from __future__ import annotations

import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import duckdb
import psycopg

from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.canonical.definition import read_sql
from lineage.sql.canonical.forms.table_form import base_table
from lineage.sql.canonical.readers.function_kinds import FunctionKind, FunctionKinds
from tests.live_database.postgres_database import new_database
from tests.query_logs.servers.postgres_server import running_postgres

__all__ = ["EXPECTED", "VALUES", "changed_beside", "duckdb_catalogue", "postgres_catalogue"]

VALUES = {
    "duckdb": {
        **dict.fromkeys(("BIGINT", "INTEGER", "ANY", "T", "HUGEINT", "UBIGINT", "SMALLINT", "TINYINT"), "3"),
        **dict.fromkeys(("DOUBLE", "DECIMAL", "FLOAT"), "0.5"),
        **dict.fromkeys(("ANY[]", "T[]"), "[1, 2]"),
        "VARCHAR": "'a1'",
        "VARCHAR[]": "['a', 'b']",
        "DOUBLE[]": "[0.5, 1.0]",
        "BOOLEAN": "true",
        "BLOB": "'a1'::BLOB",
        "BIT": "'101'::BIT",
        "JSON": """'{"a": 1}'::JSON""",
        "UUID": "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID",
        "DATE": "DATE '2026-01-02'",
        "TIME": "TIME '01:02:03'",
        "TIMESTAMP": "TIMESTAMP '2026-01-02 03:04:05'",
        "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ '2026-01-02 03:04:05+00'",
        "INTERVAL": "INTERVAL 1 DAY",
    },
    "postgres": {
        **dict.fromkeys(("integer", "anyelement", "anycompatible", '"any"'), "3"),
        **dict.fromkeys(("anyarray", "anycompatiblearray"), "ARRAY[1, 2]"),
        "bigint": "3::bigint",
        "smallint": "3::smallint",
        "numeric": "0.5",
        "real": "0.5::real",
        "double precision": "0.5::float8",
        "text": "'a1'::text",
        "character varying": "'a1'::varchar",
        "text[]": "ARRAY['a', 'b']",
        "boolean": "true",
        "bytea": "'a1'::bytea",
        "bit": "B'101'",
        "json": """'{"a": 1}'::json""",
        "jsonb": """'{"a": 1}'::jsonb""",
        "jsonpath": "'$.a'::jsonpath",
        "uuid": "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
        "date": "DATE '2026-01-02'",
        "time without time zone": "TIME '01:02:03'",
        "timestamp without time zone": "TIMESTAMP '2026-01-02 03:04:05'",
        "timestamp with time zone": "TIMESTAMPTZ '2026-01-02 03:04:05+00'",
        "interval": "INTERVAL '1 day'",
        "inet": "'10.0.0.1'::inet",
        "point": "point(1, 2)",
        "tsvector": "'a b'::tsvector",
        "tsquery": "'a'::tsquery",
    },
}

EXPECTED = {
    "scalar": {FunctionKind.DETERMINISTIC, FunctionKind.VOLATILE, FunctionKind.MOMENT},
    "aggregate": {FunctionKind.AGGREGATE, FunctionKind.ORDERED, FunctionKind.RANK},
    "volatile": {FunctionKind.VOLATILE, FunctionKind.MOMENT},
    "rows": {FunctionKind.ROWS},
}
"""The kinds that a function may have, by what the catalogue of its engine calls it."""


def changed_beside(expression: str, dialect: str) -> set[str]:
    """Return what an edit of `y` is said to change in a view of an expression as `x`: columns, or `rows`."""
    naming = Naming(dialect_named(dialect))
    table = base_table("t", [(str(naming.dialect.fold_column(name)), None) for name in ("a", "b")])

    def read(y: str) -> tuple[str, dict[str, str]]:
        sql = read_sql(f"SELECT {expression} AS x, {y} AS y FROM t", naming.dialect)
        form = sql.canonical(naming, lambda name: table if name.lower() == "t" else None, ())
        return form.rows, {name.lower(): value.digest for name, value in form.columns}

    (rows, before), (other_rows, after) = read("b"), read("b + 1")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return changed | ({"rows"} if rows != other_rows else set())


def duckdb_catalogue(values: Mapping[str, str] = VALUES["duckdb"]) -> Iterator[tuple[str, str, str | None]]:
    """Yield each function of DuckDB: its name, what it is, and a call of it if there are values of its types."""
    rows = duckdb.connect().execute(
        "SELECT DISTINCT function_name, function_type, stability, parameter_types FROM duckdb_functions() "
        "WHERE function_type IN ('scalar', 'aggregate') AND regexp_full_match(function_name, '[a-z][a-z0-9_]*')"
    )
    for name, kind, stability, types in rows.fetchall():
        volatile = kind == "scalar" and stability != "CONSISTENT"
        yield name, "volatile" if volatile else kind, _call(values, name, types)


def postgres_catalogue(
    connection: psycopg.Connection, values: Mapping[str, str] = VALUES["postgres"]
) -> Iterator[tuple[str, str, str | None]]:
    """Yield each documented function of PostgreSQL: its name, what it is, and a call if there are values of its types.

    A stable function without arguments is volatile here: it depends on the session or the time.
    """
    rows = connection.execute(
        """
        SELECT p.proname, p.prokind, p.provolatile, p.proretset,
               ARRAY(SELECT format_type(one, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a(one, n) ORDER BY n)
        FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname !~ '^(pg_|has_|binary_upgrade|lo_)'
          AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
          AND obj_description(p.oid, 'pg_proc') !~ '^(implementation of|internal|I/O|aggregate)'
        """
    ).fetchall()
    for name, kind, volatility, many, types in rows:
        what = "aggregate" if kind == "a" else "rows" if many else "scalar"
        if what == "scalar" and (volatility == "v" or (volatility == "s" and not types)):
            what = "volatile"
        if kind in "fa":
            yield name, what, _call(values, name, types)


def _call(values: Mapping[str, str], name: str, types: Sequence[str]) -> str | None:
    arguments = [values.get(one) for one in types]
    return None if None in arguments else f"{name}({', '.join(one for one in arguments if one is not None)})"


def _report(
    dialect: str,
    catalogue: Iterator[tuple[str, str, str | None]],
    rows: Callable[[str], list[tuple[object, ...]] | None],
) -> int:
    found: Counter[str] = Counter()
    kinds = FunctionKinds(dialect)
    too_much, missed = set(), set()
    for name, what, call in sorted(catalogue, key=lambda one: (one[0], one[2] or "")):
        if call is None or name in ("error", "sleep_ms", "pg_sleep"):
            continue
        first = rows(f"SELECT {call} AS x FROM (VALUES (1), (2)) AS t(b)")
        if first is None:
            continue
        found[what] += 1
        if changed_beside(call, dialect) != {"y"}:
            too_much.add(name)
        again = rows(f"SELECT {call} AS x FROM (VALUES (2), (1)) AS t(b)")
        if kinds.of_name(name) is FunctionKind.DETERMINISTIC and (len(first) != 2 or again != first):
            missed.add(name)
    print(f"{dialect}: {sum(found.values())} calls ran {dict(found)}; claimed too much {len(too_much)}: "
          f"{' '.join(sorted(too_much))}; missed {len(missed)}: {' '.join(sorted(missed))}")  # fmt: skip
    return len(missed)


def main() -> int:
    """Run both engines over their catalogues."""
    memory = duckdb.connect()

    def ask_duckdb(sql: str) -> list[tuple[object, ...]] | None:
        try:
            return [tuple(map(repr, row)) for row in memory.execute(sql).fetchall()]
        except duckdb.Error:
            return None

    missed = _report("duckdb", duckdb_catalogue(), ask_duckdb)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with (
        running_postgres(listen_addresses="127.0.0.1", port=port),
        new_database(port) as database,
        psycopg.connect(database.uri, autocommit=True) as connection,
    ):

        def ask_postgres(sql: str) -> list[tuple[object, ...]] | None:
            try:
                return [tuple(map(repr, row)) for row in connection.execute(sql.encode()).fetchall()]
            except psycopg.Error:
                return None

        missed += _report("postgres", postgres_catalogue(connection), ask_postgres)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
