"""The kinds of PostgreSQL's functions, as its own catalogue has them."""

from __future__ import annotations

import psycopg

from lineage.sql.canonical.readers.function_kinds import FunctionKind, FunctionKinds
from tests.diff.function_catalogue import EXPECTED, postgres_catalogue
from tests.live_database.postgres_database import ServedDatabase


def test_the_kinds_are_those_of_postgres(database: ServedDatabase) -> None:
    kinds = FunctionKinds("postgres")
    with psycopg.connect(database.uri, autocommit=True) as connection:
        found = {name: (what, kinds.of_name(name)) for name, what, call in postgres_catalogue(connection) if call}
    assert len(found) > 300
    wrong = {name for name, (what, kind) in found.items() if kind not in (*EXPECTED[what], FunctionKind.UNKNOWN)}
    # Their forms without arguments are stable; the volatile form of ts_rewrite runs a query.
    assert wrong <= {"json_build_array", "json_build_object", "jsonb_build_array", "jsonb_build_object", "ts_rewrite"}
