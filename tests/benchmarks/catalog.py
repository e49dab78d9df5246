"""The schemas of 100,000 tables of a real PostgreSQL: time and memory of reading them, of the cache, and of look-ups.

Each figure is of a process of its own. `LINEAGE_BENCH_POSTGRES` is the address of a database that has the tables (made
by an earlier run with LINEAGE_BENCH_KEEP); by default they are made, which takes a minute or two.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psycopg

from lineage.catalog import Catalog
from lineage.catalog.shared_columns import SharedColumns
from tests.query_logs.servers.postgres_server import running_postgres

ON_REQUEST = True
TABLES, COLUMNS = 100_000, 20
LIMIT_MB = 500
_TYPES = ("bigint", "text", "numeric(12,2)", "timestamp with time zone", "character varying(40)")


def run() -> dict[str, Any]:
    given = os.environ.get("LINEAGE_BENCH_POSTGRES")
    if given:
        return _measured(given)
    with running_postgres(listen_addresses="127.0.0.1", port="55439") as server:
        uri = f"postgresql://postgres@127.0.0.1:{server.port}/postgres"
        _make(uri)
        return _measured(uri)


def _make(uri: str) -> None:
    columns = ", ".join(f"column_{n} {_TYPES[n % len(_TYPES)]}" for n in range(COLUMNS))
    with psycopg.connect(uri, autocommit=True) as connection:
        for schema in range(TABLES // 1000):
            connection.execute(f"CREATE SCHEMA s{schema}")
            for part in range(0, 1000, 250):
                names = (f"s{schema}.table_{schema}_{n}" for n in range(part, part + 250))
                connection.execute("".join(f"CREATE TABLE {name} ({columns});" for name in names).encode())


def _measured(uri: str) -> dict[str, Any]:
    figures: dict[str, Any] = {"tables": TABLES, "columns": TABLES * COLUMNS}
    for name in _PARTS:
        command = (sys.executable, "-m", "tests.benchmarks.catalog", name, uri)
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        figures[name] = json.loads(done.stdout)
    assert all(figures[name]["peak_mb"] < LIMIT_MB for name in _PARTS), figures
    return figures


def _read_all(uri: str) -> int:
    return len(Catalog.from_database(uri, "postgres", prefetch=True, refresh=True))


def _from_cache(uri: str) -> int:
    return len(Catalog.from_database(uri, "postgres", prefetch=True))


def _look_up(uri: str) -> int:
    catalog = Catalog.from_database(uri, "postgres", refresh=True)
    catalog.prepare([f"SELECT * FROM s1.table_1_{n}" for n in range(100)])
    assert all(f"s1.table_1_{n}" in catalog for n in range(100))
    return len(catalog)


def _all_names_differ(_uri: str) -> int:
    """The worst case, without a database: no two columns have one name."""
    rows = (
        (f"wh.s{table % 300}.table_{table}", f"column_of_its_own_{table}_{column}", _TYPES[column % len(_TYPES)])
        for table in range(TABLES)
        for column in range(COLUMNS)
    )
    return len(Catalog(SharedColumns().grouped(rows), "postgres"))


_PARTS: dict[str, Callable[[str], int]] = {
    "read all": _read_all,
    "from the cache": _from_cache,
    "look up 100 names": _look_up,
    "all names differ": _all_names_differ,
}


def _part(name: str, uri: str) -> dict[str, Any]:
    began = time.perf_counter()
    tables = _PARTS[name](uri)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"tables": tables, "seconds": round(time.perf_counter() - began, 1), "peak_mb": round(peak)}


if __name__ == "__main__":
    print(json.dumps(_part(*sys.argv[1:3])))
