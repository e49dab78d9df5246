"""Alias or column: a log whose own rows define the table knows it in its first ingest."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import edges, in_order, ingested

DEFINES = "CREATE TABLE t (x int, b int, k int, rn int)"
SELECTED = "CREATE TABLE t AS SELECT o.x, o.b, o.k, o.rn FROM o"
READS = {
    "CREATE TABLE v1 AS SELECT x AS b, b AS amount FROM t": "t#b CONTRIBUTES v1#amount",
    "CREATE TABLE v2 AS SELECT x AS b FROM t WHERE b > 1": "t#b REFERENCES v2",
    "CREATE TABLE v3 AS SELECT k, max(x) AS b FROM t GROUP BY k HAVING max(b) > 1": "t#b REFERENCES v3",
    "CREATE TABLE v4 AS SELECT x AS b, row_number() OVER (PARTITION BY b) AS n FROM t": "t#b REFERENCES v4#n",
    "CREATE TABLE v5 AS SELECT y FROM t NATURAL JOIN u": "t#k REFERENCES v5",
    "CREATE TABLE v6 AS SELECT x, row_number() OVER (ORDER BY k) AS rn FROM t QUALIFY rn = 1": "t#rn REFERENCES v6",
}


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize("definition", [DEFINES, SELECTED])
def test_the_logs_own_schema_counts(dialect: str, definition: str, tmp_path: Path) -> None:
    reads = [read for read in READS if dialect == "duckdb" or "QUALIFY" not in read]
    before = [*reads, definition, "CREATE TABLE u (k int, y int)"]
    found = []
    for number, order in enumerate((before, before[::-1])):
        with open_store(tmp_path / f"{number}.db") as store:
            ingested(store, in_order(order), dialect)
            found.append(edges(store))
            if not number:
                ingested(store, in_order(order), dialect)
                assert edges(store) == found[0]
    assert found[0] == found[1]
    plain = {" ".join(line.replace(f"{dialect}/", "").split(" ")[:3]) for line in found[0]}
    assert {READS[read] for read in reads} <= plain
