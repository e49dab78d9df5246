"""Rows written to a partitioned table of PostgreSQL are in its partitions, in whichever order a log has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import Ran, edges, ingested

TABLE = "CREATE TABLE t (id int, a int) PARTITION BY RANGE (id)"
WRITE = "INSERT INTO t SELECT id, b FROM s"
FIRST = "CREATE TABLE p1 PARTITION OF t FOR VALUES FROM (1) TO (2)"
SECOND = "CREATE TABLE p2 (a int, id int)"
ATTACH = "ALTER TABLE ONLY t ATTACH PARTITION p2 FOR VALUES FROM (2) TO (3)"
VIEW = "CREATE VIEW v AS SELECT a FROM p1"

EXPECTED = {
    *("s#id t#id", "s#b t#a", "p1#a v#a"),
    *(f"{one}#{column} {other}#{column}" for one, other in (("t", "p1"), ("t", "p2")) for column in ("id", "a")),
    *(f"{one}#{column} {other}#{column}" for one, other in (("p1", "t"), ("p2", "t")) for column in ("id", "a")),
}


@pytest.mark.parametrize(
    "days",
    [
        [[TABLE, FIRST, SECOND, ATTACH, VIEW, WRITE]],
        [[TABLE, WRITE, SECOND, ATTACH, FIRST, VIEW]],
        [[TABLE], [WRITE], [FIRST, SECOND], [VIEW], [ATTACH]],
    ],
)
def test_partitions(days: list[list[str]], tmp_path: Path) -> None:
    with open_store(tmp_path / "graph.db") as store:
        for day, texts in enumerate(days):
            ran = [Ran(text, f"{n}", day * 86_400 + n) for n, text in enumerate(texts)]
            assert ingested(store, ran).diagnostics == ()
        found = [edge.replace("postgres/", "").split()[:3] for edge in edges(store)]
    assert {f"{source} {target}" for source, kind, target in found if kind == "CONTRIBUTES"} == EXPECTED
