"""The Information Schema of dbt 2, as files of the documented form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from lineage_ingest import ingest_dbt
from lineage_ingest.dbt.artifacts.info_schema import read_analysed_columns
from tests.dbt.manifests import manifest, model, source, write

RAW = "source.shop.raw.orders"


def write_table(target: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    path = target / "info_schema" / "v1" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def column(node: str, name: str, index: int, inferred: str | None, actual: str | None = None) -> dict[str, Any]:
    return {"node_unique_id": node, "column_name": name, "column_index": index, "data_type_declared": None,
            "data_type_inferred": inferred, "data_type_actual": actual}  # fmt: skip


def test_columns_are_read_where_all_are_analysed(tmp_path: Path) -> None:
    assert read_analysed_columns(tmp_path).columns == {}
    rows = [column(RAW, "day", 1, "date"), column(RAW, "id", 0, "int", "bigint"), column("model.shop.b", "x", 0, None)]
    write_table(tmp_path, "dbt.node_columns", rows)
    # Of `b`, only a declaration is known.
    assert read_analysed_columns(tmp_path).columns == {RAW: (("id", "bigint"), ("day", "date"))}


def test_a_star_over_a_source_is_expanded_by_its_columns(tmp_path: Path) -> None:
    nodes = [source("orders", {}), model("a", 'select * from "wh"."raw"."orders"', RAW)]
    target = write(tmp_path / "target", manifest(*nodes), catalog=False)
    write_table(target, "dbt.node_columns", [column(RAW, "id", 0, "int"), column(RAW, "day", 1, "date")])
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert summary.batch.run.counts["resolved"] == 1
    [table] = [one for one in summary.batch.datasets if one.name == "wh.main.a"]
    assert [(one.path, one.data_type) for one in table.columns] == [("id", None), ("day", None)]


def test_damaged_files_are_reported(tmp_path: Path) -> None:
    nodes = [source("orders", {"id": "int"}), model("a", 'select id from "wh"."raw"."orders"', RAW)]
    target = write(tmp_path / "target", manifest(*nodes))
    path = write_table(target, "dbt.node_columns", [column(RAW, "id", 0, "int")])
    path.write_bytes(path.read_bytes()[:40])
    summary = ingest_dbt(target, store=tmp_path / "store.db")
    assert [one.source for one in summary.diagnostics] == ["info_schema/v1/dbt.node_columns.parquet"]
    write_table(target, "dbt.node_columns", [{"other": 1}])
    assert [problem.code for _, problem in read_analysed_columns(target).problems] == ["ARTIFACT_DAMAGED"]
