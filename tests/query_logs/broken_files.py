"""Files of a log that break off, are damaged, or hold nothing of the log: each beside what is kept of it."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["break_files"]


def _rows(name: str, count: int) -> list[dict[str, str]]:
    chance = random.Random(name)
    return [
        {
            "query_text": f"INSERT INTO {name} SELECT a{number % 7} FROM src WHERE note = '{chance.random()}\n'",
            "started_at": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}Z",
        }
        for number in range(count)
    ]


def _lines(name: str, count: int) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in _rows(name, count)).encode()


def _csv(name: str, count: int) -> bytes:
    rows = (f'"{row["query_text"]}",{row["started_at"]}\n' for row in _rows(name, count))
    return ("query_text,started_at\n" + "".join(rows)).encode()


def _parquet(path: Path, name: str) -> bytes:
    pq.write_table(pa.Table.from_pylist(_rows(name, 3_000)), path, row_group_size=1_000, compression="none")
    return path.read_bytes()


def break_files(folder: Path) -> dict[str, str]:
    """Write files into a folder; return a part of the reason for which each of those fails that must fail."""
    folder.mkdir(parents=True)
    whole = _parquet(folder / "whole.parquet", "whole")
    packed = gzip.compress(_lines("gz", 20_000))
    middle = bytearray(_parquet(folder / "middle.parquet", "middle"))
    begin = whole.index(b"INSERT INTO", len(whole) // 2)
    middle[begin - 300 : begin + 40_000] = b"\xff" * 40_300
    written = {
        "good.jsonl": _lines("good", 50),
        "good.csv": _csv("good", 50).rstrip(b"\n"),
        "empty.jsonl": b"",
        "cut.parquet": whole[: len(whole) // 2],
        "middle.parquet": bytes(middle),
        "garbage.parquet": random.Random(1).randbytes(5_000),
        "cut.jsonl.gz": packed[: len(packed) // 2],
        "plain.jsonl.gz": b"this is no archive",
        "cut.jsonl": _lines("cut", 50)[:-9],
        "quoted.csv": _csv("quoted", 50)[:-25],
        "newline.csv": _csv("newline", 50)[: -len("',2026-03-01T10:00:49Z\n") - 1],
        "short.csv": _csv("short", 50) + b"INSERT INTO short SELECT a",
        "array.json": json.dumps(_rows("array", 5)).encode(),
        "other.json": b'{"sql": "SELECT 1"}\n',
        "other.csv": b"sql,at\nSELECT 1,2026\n",
        "cut.json": json.dumps(_rows("pretty", 50), indent=2).encode()[:-60],
        "scalars.json": b'["a", "b"]\n',
    }
    for name, content in written.items():
        (folder / name).write_bytes(content)
    return {
        "cut.parquet": "Parquet",
        "middle.parquet": "",
        "garbage.parquet": "Parquet",
        "cut.jsonl.gz": "",
        "plain.jsonl.gz": "",
        "cut.jsonl": "ends in the middle",
        "quoted.csv": "ends in the middle",
        "newline.csv": "ends in the middle",
        "short.csv": "ends in the middle",
        "other.json": "these rows do not",
        "other.csv": "these rows do not",
        "cut.json": "ends in the middle",
        "scalars.json": "these rows do not",
    }
