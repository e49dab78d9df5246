"""Files of a query log into record batches of their source's own columns, without Spark and in flat memory.

Spark reads the same files into the same shape: JSON and CSV with all columns as strings, unreadable records in
`_corrupt_record`, lines of text in `value`.
"""

from __future__ import annotations

import csv
import glob
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_ingest.query_log.coercion import texts
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, LINE, POSITION, Source

__all__ = [
    "LogFormatError",
    "NoLogFilesError",
    "find_log_files",
    "read_log",
    "read_log_file",
    "read_messages",
    "read_records",
    "row_groups",
]

_ROWS = 8_192
_CHARACTERS = 32_000_000
_PACKED = (".gz", ".bz2", ".zst", ".lz4")
_FORMATS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


class NoLogFilesError(ValueError):
    """A path that does not exist, or a folder or pattern without files."""


class LogFormatError(ValueError):
    """A file whose name does not say in which format it is."""


def find_log_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of files, folders (all below them but hidden ones and `_SUCCESS`) and patterns, in order.

    Raises:
        NoLogFilesError: a path gives no file.
    """
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not p.name.startswith((".", "_"))]
        elif path.exists():
            inside = [path]
        else:
            inside = [p for p in map(Path, sorted(glob.glob(str(given), recursive=True))) if p.is_file()]
        if not inside:
            raise NoLogFilesError(f"no files: {given}")
        found.extend(inside)
    return found


def read_log(source: Source, paths: Iterable[str | Path]) -> Iterator[Any]:
    """Yield the rows of files as record batches of the source's columns, file by file.

    Raises:
        NoLogFilesError: a path gives no file.
        LogFormatError: a file's name does not say its format.
        ColumnsMissingError: a file is not of this source.
    """
    for file in find_log_files(paths):
        yield from read_log_file(source, file)


def row_groups(source: Source, path: Path) -> int:
    """Return how many pieces a Parquet file can be read in; one, where it cannot be read.

    Raises:
        ColumnsMissingError: the file is not of this source.
    """
    try:
        with pq.ParquetFile(path) as file:
            source.check(file.schema_arrow.names)
            return int(file.num_row_groups)
    except (OSError, pa.ArrowException):
        return 1


def read_log_file(source: Source, path: Path, group: int | None = None) -> Iterator[Any]:
    """Yield the rows of a file, or of one row group of a Parquet file.

    Where a file breaks off (a damaged archive), the last row says so in `_corrupt_record`.

    Raises:
        LogFormatError: the file's name does not say its format.
        ColumnsMissingError: the file is not of this source.
    """
    suffix = _suffix(path)
    file_format = _FORMATS.get(suffix)
    if source.reading.kind != "table":
        file_format = "parquet" if file_format == "parquet" else source.reading.kind
    elif file_format is None:
        known = ", ".join(sorted(_FORMATS))
        raise LogFormatError(
            f"{path.name}: expected a name that ends in one of {known}, packed ({', '.join(_PACKED)}) or not"
        )
    batches = _Batches(source, str(path))
    try:
        if file_format == "parquet":
            yield from _parquet(source, path, group)
            return
        with pa.input_stream(str(path), compression="detect") as raw:
            text = io.TextIOWrapper(
                raw, encoding="utf-8-sig", errors="surrogateescape", newline="" if file_format == "csv" else "\n"
            )
            read = {"csv": _csv, "json": _json_lines, "lines": _lines, "records": read_records}[file_format]
            yield from batches.of(read(source, text))
    except (OSError, EOFError, pa.ArrowException, csv.Error) as error:
        yield from batches.rest()
        yield pa.record_batch({CORRUPT: pa.array([f"{path.name} cannot be read on: {error}"])})
        return


def read_messages(source: Source, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows that stand in messages (a queue's, in the column `value`) as batches of the source's columns.

    A message holds what a file of the source would: JSON lines or lines of text, mostly one.
    """
    for batch in batches:
        if source.reading.kind == "lines":
            yield batch
            continue
        values = texts(batch.column(LINE)).to_pylist()
        lost = sum(
            value is None and given
            for value, given in zip(values, batch.column(LINE).is_valid().to_pylist(), strict=True)
        )
        yield from _Batches(source, "").of(_rows_of(source, values, lost))


def _rows_of(source: Source, values: list[str | None], lost: int) -> Iterator[dict[str, Any]]:
    for value in values:
        if value is not None:
            lines = value.splitlines(keepends=True)
            if source.reading.kind == "records":
                yield from read_records(source, lines)
            elif source.reading.headers:
                yield from _csv(source, lines)
            else:
                yield from _json_lines(source, lines, checked=True)
    for _ in range(lost):
        yield {CORRUPT: "not text"}


def read_records(source: Source, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of lines of text as rows by column.

    Raises:
        TypeError: the source's files are not text with records.
    """
    if source.reading.records is None:
        raise TypeError(f"{source.title} is not read by records")
    for record in source.reading.records(line.rstrip("\r\n") for line in lines):
        yield dict(zip(source.columns, record, strict=False))


def _suffix(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return plain.suffix.lower()


def _parquet(source: Source, path: Path, group: int | None) -> Iterator[Any]:
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        source.check(names)
        wanted = {name.lower() for name in source.columns} | {FILE, POSITION, CORRUPT}
        columns = [name for name in names if name.lower() in wanted]
        yield from file.iter_batches(_ROWS, None if group is None else [group], columns)


def _lines(source: Source, text: Iterable[str]) -> Iterator[dict[str, Any]]:
    wanted = re.compile(source.reading.only)
    for line in text:
        if (stripped := line.rstrip("\r\n")) and wanted.search(stripped):
            yield {LINE: stripped}


def _json_lines(source: Source, text: Iterable[str], *, checked: bool = False) -> Iterator[dict[str, Any]]:
    wanted = {name.lower(): name for name in source.columns}
    for line in text:
        if line.isspace():
            continue
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            read = None
        if not isinstance(read, dict):
            yield {CORRUPT: line}
            continue
        if not checked:
            source.check(read)
            checked = True
        yield {wanted[key.lower()]: _as_text(value) for key, value in read.items() if key.lower() in wanted}


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _csv(source: Source, text: Iterable[str]) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(2**31 - 1)  # statements of megabytes are statements
    rows = csv.reader(text)
    wanted = {name.lower(): name for name in source.columns}
    headers = {len(names): [wanted.get(name, "") for name in names] for names in source.reading.headers}
    header: list[str] | None = None
    for row in rows:
        if not row:
            continue
        if not headers and header is None:
            source.check(row)
            header = [wanted.get(name.strip().lower(), "") for name in row]
            continue
        names = headers.get(len(row)) if headers else header
        if names is None or len(names) != len(row):
            yield {CORRUPT: ",".join(row)}
            continue
        yield {name: value for name, value in zip(names, row, strict=True) if name}


class _Batches:
    """Rows by column into record batches of bounded size."""

    def __init__(self, source: Source, file: str) -> None:
        own = [LINE] if source.reading.kind == "lines" else list(source.columns)
        placed = [FILE, POSITION] if source.reading.placed else []
        self._columns: dict[str, list[Any]] = {name: [] for name in dict.fromkeys([*own, *placed, CORRUPT])}
        self._placed = bool(placed)
        self._file = file
        self._rows = self._characters = self._position = 0

    def of(self, rows: Iterable[dict[str, Any]]) -> Iterator[Any]:
        for row in rows:
            self._position += 1
            if self._placed:
                row[FILE] = self._file
                row[POSITION] = self._position
            for name, column in self._columns.items():
                value = row.get(name)
                column.append(value)
                if isinstance(value, str):
                    self._characters += len(value)
            self._rows += 1
            if self._rows >= _ROWS or self._characters >= _CHARACTERS:
                yield from self.rest()
        yield from self.rest()

    def rest(self) -> Iterator[Any]:
        if self._rows:
            yield pa.record_batch({name: _array(name, values) for name, values in self._columns.items()})
            for values in self._columns.values():
                values.clear()
            self._rows = self._characters = 0


def _array(name: str, values: list[Any]) -> Any:
    if name == POSITION:
        return pa.array(values, pa.int64())
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:  # bytes that are not UTF-8 stay bytes, for the adapter to say so of their row
        return pa.array([None if value is None else _bytes(value) for value in values], pa.binary())


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which JSON can spell
        return text.encode("utf-8", "surrogatepass")
