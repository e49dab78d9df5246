"""CREATE … IF NOT EXISTS in logs: it does nothing where the table is, and never ends the lineage of one that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import Ran, edges, ingested

AGAIN = "CREATE TABLE IF NOT EXISTS t AS SELECT b AS a FROM s2"
MADE = "CREATE TABLE t AS SELECT a FROM s1"


def sources(folder: Path, *logs: list[str], dialect: str = "duckdb") -> set[str]:
    """Return the sources of t after these logs, each with a session of its own for each statement."""
    with open_store(folder / "s.db") as store:
        for day, texts in enumerate(logs):
            ingested(store, [Ran(text, f"{n}", day * 1_000 + n) for n, text in enumerate(texts)], dialect)
        found = [edge.lower().split()[:3] for edge in edges(store)]
    return {one.partition("/")[2] for one, kind, target in found if kind == "contributes" and target.endswith("/t#a")}


@pytest.mark.parametrize("kind", ["TABLE", "VIEW", "MATERIALIZED VIEW"])
@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "spark", "duckdb", "bigquery"])
def test_what_is_there_stays(dialect: str, kind: str, tmp_path: Path) -> None:
    made, again = (text.replace("TABLE", kind) for text in (MADE, AGAIN))
    assert sources(tmp_path, [made, again], dialect=dialect) == {"s1#a"}


@pytest.mark.parametrize(
    ("logs", "found"),
    [
        ([[MADE], [AGAIN]], {"s1#a"}),
        ([["INSERT INTO t (a) SELECT a FROM s1"], [AGAIN]], {"s1#a"}),
        ([[AGAIN]], {"s2#b"}),
        ([[AGAIN], [AGAIN]], {"s2#b"}),
        ([[AGAIN, "DROP TABLE t", MADE]], {"s1#a"}),
        ([[AGAIN], ["DROP TABLE t", MADE]], {"s1#a"}),
        ([[AGAIN], [MADE.replace("CREATE", "CREATE OR REPLACE")]], {"s1#a"}),
        ([[AGAIN, MADE.replace("TABLE", "TABLE IF NOT EXISTS")]], {"s2#b"}),
        ([["INSERT INTO t (a) SELECT a FROM s1", AGAIN]], {"s1#a", "s2#b"}),  # the INSERT may be of another t
        ([[MADE, "DROP TABLE t", AGAIN]], {"s2#b"}),
        ([[MADE], ["DROP TABLE t", AGAIN, AGAIN]], {"s2#b"}),
        ([[MADE, "CREATE TABLE IF NOT EXISTS t (c int)"]], {"s1#a"}),
        ([[MADE, "DROP TABLE t", "CREATE TABLE t AS SELECT c AS a FROM s3", AGAIN]], {"s3#c"}),
        ([[MADE, "CREATE TABLE u AS SELECT a FROM t", "DROP TABLE t", MADE.replace("s1", "s3"), AGAIN]], {"s3#a"}),
        ([[MADE, "ALTER TABLE t RENAME TO t_old", AGAIN]], {"s2#b"}),
    ],
)
def test_a_log_says_whether_the_table_was_there(logs: list[list[str]], found: set[str], tmp_path: Path) -> None:
    assert sources(tmp_path, *logs) == found
