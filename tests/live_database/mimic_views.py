"""MIMIC-IV in a database: its empty tables, and its 65 concepts as views."""

from __future__ import annotations

import re

import psycopg

from tests.live_database.postgres_database import ServedDatabase
from tests.truth.compare import DEMO

__all__ = ["concept_queries", "create_mimic_views"]

_MAKES = re.compile(r".*?CREATE TABLE (\S+) AS\s", re.DOTALL)


def concept_queries() -> dict[str, str]:
    """Return the queries of the concepts, by the names of their tables."""
    found = {}
    for file in sorted((DEMO / "concepts").glob("*/*.sql")):
        text = file.read_text(encoding="utf-8")
        made = _MAKES.match(text)
        assert made is not None, file
        found[made[1]] = text[made.end() :].strip().rstrip(";")
    return found


def create_mimic_views(database: ServedDatabase) -> int:
    """Create the tables, and the views in an order that PostgreSQL accepts; return the number of views."""
    database.run((DEMO / "create.sql").read_text(encoding="utf-8"))
    waiting = concept_queries()
    total = len(waiting)
    with psycopg.connect(database.uri, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS mimiciv_derived")
        while waiting:
            before = len(waiting)
            for name, query in list(waiting.items()):
                try:
                    connection.execute(f"CREATE VIEW {name} AS {query}".encode())
                except psycopg.errors.UndefinedTable:
                    continue
                del waiting[name]
            assert len(waiting) < before, sorted(waiting)
    return total
