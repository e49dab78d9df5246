"""Spark's event logs as Spark 4 writes them: in parts, compressed, compacted; one application is one log."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lineage_ingest.query_log import SOURCES, read_log
from lineage_ingest.query_log.reading.log_files import find_log_files
from tests.query_logs.samples import FOLDER, expected_rows, normalised_rows

SPARK = SOURCES["spark"]
LINES = (FOLDER / "spark.log").read_bytes().splitlines(keepends=True)


def lz4_blocks(data: bytes) -> bytes:
    """Return data as net.jpountz.lz4.LZ4BlockOutputStream writes it, its second half not compressed."""
    half = len(data) // 2
    packed: bytes = pa.Codec("lz4_raw").compress(data[:half], asbytes=True)
    head = struct.Struct("<8sBiii").pack
    blocks = head(b"LZ4Block", 0x25, len(packed), half, 0) + packed
    blocks += head(b"LZ4Block", 0x15, len(data) - half, len(data) - half, 0) + data[half:]
    return blocks + head(b"LZ4Block", 0x15, 0, 0, 0)


def snappy_blocks(data: bytes) -> bytes:
    """Return data as org.xerial.snappy.SnappyOutputStream writes it."""
    packed: bytes = pa.Codec("snappy").compress(data, asbytes=True)
    return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(packed)) + packed


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


CODECS: dict[str, Any] = {"zstd": zstd, "lz4": lz4_blocks, "snappy": snappy_blocks, "": bytes}


def application(folder: Path, codec: str, cuts: list[int]) -> Path:
    """Write the sample as an application in parts, cut before these lines."""
    inside = folder / "eventlog_v2_app-20260201-0001"
    inside.mkdir(parents=True)
    (inside / "appstatus_app-20260201-0001").touch()
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(LINES)], strict=True), 1):
        name = f"events_{number}_app-20260201-0001{f'.{codec}' if codec else ''}"
        (inside / name).write_bytes(CODECS[codec](b"".join(LINES[start:end])))
    return inside


def rows(*paths: Path) -> list[dict[str, Any]]:
    return normalised_rows(SPARK, read_log(SPARK, paths))


@pytest.mark.parametrize("codec", CODECS)
def test_parts_of_an_application_are_one_log(codec: str, tmp_path: Path) -> None:
    application(tmp_path, codec, [3, 5, 9])
    assert rows(tmp_path) == expected_rows("spark")


def test_parts_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    application(tmp_path, "zstd", list(range(1, 14)))
    assert rows(tmp_path) == expected_rows("spark")


def test_any_part_names_its_application_once(tmp_path: Path) -> None:
    inside = application(tmp_path, "zstd", [3, 5])
    parts = sorted(inside.glob("events_*"))
    for given in ((parts[1],), tuple(parts), (tmp_path, inside), (inside / "events_*",), (tmp_path, tmp_path)):
        assert rows(*given) == expected_rows("spark"), given


def test_what_is_compacted_is_not_read_again(tmp_path: Path) -> None:
    inside = application(tmp_path, "zstd", [3, 9])
    name = "events_2_app-20260201-0001.zstd"
    (inside / f"{name}.compact").write_bytes(zstd(b"".join(LINES[:9])))
    assert rows(tmp_path) == expected_rows("spark")
    (inside / "events_1_app-20260201-0001.zstd").unlink()
    (inside / name).unlink()
    assert rows(tmp_path) == expected_rows("spark")


def test_applications_beside_single_files(tmp_path: Path) -> None:
    application(tmp_path / "logs", "lz4", [4])
    (tmp_path / "logs" / "local-7").write_bytes(b"".join(LINES).replace(b"app-20260201-0001", b"local-7"))
    assert len(find_log_files([tmp_path], SPARK)) == 2
    assert len(rows(tmp_path)) == 2 * len(expected_rows("spark"))


def test_a_part_that_breaks_off_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    inside = application(tmp_path, "zstd", [9, 16])
    middle = inside / "events_2_app-20260201-0001.zstd"
    middle.write_bytes(middle.read_bytes()[:-20])
    found = rows(inside)
    [report] = [row["query_text"] for row in found if row.get("problem") == "file report"]
    assert "events_2_" in report
    assert any(row.get("statement_id") == "app-20260201-0001/0" for row in found)


def test_names_like_parts_are_parts_of_spark_s_logs_only(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"events_{number}_orders.csv").write_text("query_text\nSELECT 1\n")
    assert len(find_log_files([tmp_path], SOURCES["generic"])) == 2


def test_what_a_command_returned_is_no_second_run(tmp_path: Path) -> None:
    """As Spark 4.2 writes it for `spark.sql(text).collect()` and `.show()`, the text being the job's description."""
    plans = [
        ("INSERT INTO t SELECT a FROM s", "Execute InsertIntoHadoopFsRelationCommand"),
        ("INSERT INTO t SELECT a FROM s", "CommandResult"),
        ("INSERT INTO t SELECT a FROM s", "LocalTableScan"),
        ("VALUES (1)", "LocalTableScan"),
        ("VALUES (1)", "LocalTableScan"),
        ("SELECT a FROM t", "WholeStageCodegen (1)"),
        ("SELECT a FROM t", "CollectLimit"),
    ]
    events = [
        {
            "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
            "executionId": number,
            "rootExecutionId": number,
            "description": text,
            "sparkPlanInfo": {"nodeName": plan},
            "time": 1772359200000 + number,
        }
        for number, (text, plan) in enumerate(plans)
    ]
    (tmp_path / "log").write_text("".join(json.dumps(event) + "\n" for event in events))
    rows = normalised_rows(SPARK, read_log(SPARK, [tmp_path / "log"]))
    assert [row["statement_id"] for row in rows] == ["0", "3", "4", "5", "6"]
