"""Names with letters beyond ASCII: what is one name for a database is one name here, and what is two is two."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb
import psycopg
import pytest

from lineage.store import GraphStore
from lineage_ingest import ingest_postgres, ingest_sql
from lineage_ingest.options import DatabaseOptions, SqlOptions
from tests.live_database.postgres_database import NAMESPACE, ServedDatabase

SQL = """
CREATE TABLE Übersicht (GRÖSSE int, Ärger int, "Maß" int);
CREATE TABLE übersicht (größe int);
CREATE VIEW Kür AS SELECT GRÖSSE, ärger, Ärger AS b FROM Übersicht CROSS JOIN (SELECT 1 AS ärger) AS x;
"""


def _names(run: Callable[[str], Iterable[tuple[str, str]]], listed: str) -> set[str]:
    for statement in filter(str.strip, SQL.split(";")):
        run(statement)
    return {f"{table}.{column}" for table, column in run(listed)}


def _of_duckdb(_: ServedDatabase) -> set[str]:
    with duckdb.connect() as connection:
        listed = "SELECT table_name, column_name FROM information_schema.columns"
        return _names(lambda text: connection.execute(text).fetchall(), listed)


def _of_sqlite(_: ServedDatabase) -> set[str]:
    connection = sqlite3.connect(":memory:")
    listed = "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
    return _names(lambda text: connection.execute(text).fetchall(), listed)


def _of_postgres(database: ServedDatabase) -> set[str]:
    listed = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    with psycopg.connect(database.uri) as connection:

        def run(text: str) -> list[tuple[str, str]]:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

        return _names(run, listed)


@pytest.mark.parametrize(
    ("dialect", "of_database"), [("duckdb", _of_duckdb), ("sqlite", _of_sqlite), ("postgres", _of_postgres)]
)
def test_names_are_those_of_the_database(
    dialect: str,
    of_database: Callable[[ServedDatabase], set[str]],
    database: ServedDatabase,
    store: GraphStore,
    tmp_path: Path,
) -> None:
    real = of_database(database)
    (tmp_path / "all.sql").write_text(SQL, encoding="utf-8")
    ingest_sql([tmp_path / "all.sql"], store=store, options=SqlOptions(dialect=dialect))
    datasets = {one.key: one.spelling or one.name for one in store.datasets()}
    found = {f"{datasets[one.dataset]}.{one.display_path}" for one in store.columns(sorted(datasets))}
    assert found == real
    assert {edge.source.partition("#")[2] for edge in store.edges_into([_view(store)]) if "#" in edge.source} >= {
        "grÖsse", "Ärger",
    }  # fmt: skip


def test_files_and_the_database_mean_one_view(database: ServedDatabase, store: GraphStore, tmp_path: Path) -> None:
    database.run(SQL)
    (tmp_path / "all.sql").write_text(SQL, encoding="utf-8")
    ingest_postgres(database.uri, store=store, options=DatabaseOptions(namespace=NAMESPACE))
    before = {one.key for one in store.datasets()}
    options = SqlOptions(
        dialect="postgres", namespace=NAMESPACE, default_database=database.name, default_schema="public"
    )
    ingest_sql([tmp_path / "all.sql"], store=store, options=options)
    assert {one.key for one in store.datasets()} == before


def _view(store: GraphStore) -> str:
    return next(one.key for one in store.datasets() if one.name.endswith("kür"))
