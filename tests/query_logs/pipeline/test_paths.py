"""Paths that stand for tables in logs of Spark: one dataset in every statement, whatever dots they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import edges, in_order, ingested


@pytest.mark.parametrize("path", ["/lake/t", "/lake/t.v1", "abfss://raw@lake.dfs.core.windows.net/t"])
def test_a_path_is_one_dataset(path: str, tmp_path: Path) -> None:
    texts = [
        "CREATE TABLE delta.`P` (a INT, b INT)",
        "INSERT INTO delta.`P` SELECT x, y FROM s",
        "CREATE TABLE v AS SELECT * FROM delta.`P`",
    ]
    key = path if "://" in path else f"file/{path}"
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(one.replace("P`", f"{path}`") for one in texts), "databricks")
        found = {tuple(edge.split()[:3]) for edge in edges(store) if " CONTRIBUTES " in edge}
    assert found == {
        ("databricks/s#x", "CONTRIBUTES", f"{key}#a"),
        ("databricks/s#y", "CONTRIBUTES", f"{key}#b"),
        (f"{key}#a", "CONTRIBUTES", "databricks/v#a"),
        (f"{key}#b", "CONTRIBUTES", "databricks/v#b"),
    }
