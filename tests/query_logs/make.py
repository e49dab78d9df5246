"""Makes a query history: python -m tests.query_logs.make FOLDER --source snowflake --rows 1000000 --templates 20000.

The same seed makes the same history. Memory does not grow with the rows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_ingest.query_log import SOURCES
from tests.query_logs.history import Run, history
from tests.query_logs.shapes import LINES, SHAPES
from tests.query_logs.statements import queries_for
from tests.query_logs.templates import templates

__all__ = ["make", "runs"]


def runs(
    source: str, rows: int, count: int, seed: int, *, zipf: float = 1.1, sql: Path | None = None, longest: int = 6_000
) -> Iterator[list[Run]]:
    """Return batches of the runs that a history is made of; those of `generic` are of several dialects."""
    dialect = None if source == "generic" else SOURCES[source].dialect
    return history(templates(queries_for(dialect, sql, longest), count, seed), rows, seed, zipf)


def make(
    folder: Path, source: str, batches: Iterable[list[Run]], output: str = "parquet", files: int = 1
) -> list[Path]:
    """Write batches of runs in a source's shape into files of a folder, by turns; return the files.

    Args:
        folder: is made, if it is not there.
        source: one of SOURCES.
        batches: of runs.
        output: parquet or jsonl; a source that writes text of its own writes that.
        files: how many, so that several can be read at once. One, where lines need those before them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shape = SHAPES[source]
    suffix = ("log" if source != "postgres_csv" else "csv") if source in LINES else output
    paths = [folder / f"part-{number:03d}.{suffix}" for number in range(1 if source in ("mysql", "spark") else files)]
    sinks = [_Parquet(path) if suffix == "parquet" else _Text(path) for path in paths]
    for number, batch in enumerate(batches):
        sinks[number % len(sinks)].write([row for run in batch for row in shape(run)])
    for sink in sinks:
        sink.close()
    return paths


class _Text:
    """Rows as JSON lines, or as the text that they are."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def write(self, rows: list[dict[str, Any]]) -> None:
        self._file.writelines(row["text"] if row.keys() == {"text"} else _json(row) for row in rows)

    def close(self) -> None:
        self._file.close()


def _json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=lambda value: value.isoformat()) + "\n"


class _Parquet:
    """Rows as Parquet, in the types that the first of them have."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def write(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        if self._writer is None:
            names = list(dict.fromkeys(name for row in rows for name in row))
            self._schema = pa.schema([(name, _type(name, rows)) for name in names])
            self._writer = pq.ParquetWriter(
                self._path, self._schema, compression="zstd", compression_level=1, use_dictionary=["user", "USER_NAME"]
            )
        columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in self._schema]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _type(name: str, rows: list[dict[str, Any]]) -> Any:
    value = next((row[name] for row in rows if row.get(name) is not None), "")
    if isinstance(value, datetime):
        return pa.timestamp("us", "UTC")
    return {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}.get(type(value), pa.string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--source", default="generic", choices=sorted(SHAPES))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--templates", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--zipf", type=float, default=1.1)
    parser.add_argument("--format", default="parquet", choices=("parquet", "jsonl"))
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--sql", type=Path, help="more queries: JSON lines with `sql`, and files DIALECT/*.sql")
    parser.add_argument("--longest", type=int, default=6_000, help="characters of the longest query taken")
    given = parser.parse_args()
    began = time.perf_counter()
    made = runs(
        given.source, given.rows, given.templates, given.seed, zipf=given.zipf, sql=given.sql, longest=given.longest
    )
    paths = make(given.folder, given.source, made, given.format, given.files)
    size = sum(path.stat().st_size for path in paths)
    print(f"{given.rows:,} runs in {len(paths)} files, {size / 1e6:,.0f} MB, {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
