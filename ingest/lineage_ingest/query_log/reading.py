"""Files of a query log into record batches of their source's own columns, without Spark and in flat memory.

Spark reads the same files into the same shape: JSON and CSV with all columns as strings, unreadable records in
`_corrupt_record`, lines of text in `value`.
"""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_ingest.query_log.coercion import texts
from lineage_ingest.query_log.file_reports import FileReport, report_batch
from lineage_ingest.query_log.records import Tally, read_csv, read_json_lines, read_lines, read_records
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, LINE, POSITION, ColumnsMissingError, Source

__all__ = [
    "LogFormatError",
    "NoLogFilesError",
    "find_log_files",
    "read_log",
    "Piece",
    "file_pieces",
    "read_log_file",
    "read_messages",
]

_ROWS = 8_192
_CHARACTERS = 32_000_000
_PIECE = 64_000_000
"""Bytes of plain lines that one worker reads."""
_PACKED = (".gz", ".bz2", ".zst", ".lz4")
_FORMATS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


_DELIMITERS = {".tsv": "\t"}


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


class Piece(NamedTuple):
    """A part of a file that can be read by itself: a row group of Parquet, or bytes of plain lines."""

    group: int | None = None
    start: int = 0
    end: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self == Piece()


def file_pieces(source: Source, path: Path) -> list[Piece]:
    """Return the pieces that a file can be read in: one, where it has to be read whole.

    Raises:
        LogFormatError: the file's name does not say its format.
        ColumnsMissingError: the file is a Parquet file and not of this source.
    """
    kind = _format(source, path)
    if kind == "parquet":
        try:
            with pq.ParquetFile(path) as file:
                source.check(file.schema_arrow.names)
                return [Piece(group) for group in range(file.num_row_groups)] or [Piece()]
        except (OSError, pa.ArrowException):
            return [Piece()]
    if kind not in ("json", "lines") or path.suffix.lower() in _PACKED or source.reading.placed:
        return [Piece()]
    size = path.stat().st_size
    if size <= 2 * _PIECE:
        return [Piece()]
    return [Piece(None, start, min(start + _PIECE, size)) for start in range(0, size, _PIECE)]


def read_log_file(source: Source, path: Path, piece: Piece = Piece()) -> Iterator[Any]:  # noqa: B008  frozen
    """Yield the rows of a file or of a piece of it; where something failed, a `FileReport` as well.

    Raises:
        LogFormatError: the file's name does not say its format.
        ColumnsMissingError: the file is not of this source.
    """
    kind = _format(source, path)
    tally = Tally()
    batches = _Batches(source, str(path), tally)
    try:
        if kind == "parquet":
            yield from _parquet(source, path, piece.group, tally)
        elif piece.is_whole:
            with pa.input_stream(str(path), compression="detect") as raw:
                text = io.TextIOWrapper(
                    raw, encoding="utf-8-sig", errors="surrogateescape", newline="" if kind == "csv" else "\n"
                )
                read = {"csv": read_csv, "json": read_json_lines, "lines": read_lines, "records": read_records}[kind]
                if kind == "csv":
                    read = partial(read_csv, delimiter=source.delimiter or _DELIMITERS.get(_suffix(path), ","))
                yield from batches.of(read(source, text, tally))
        else:
            lines = _lines_of_piece(path, piece)
            yield from batches.of((read_json_lines if kind == "json" else read_lines)(source, lines, tally))
    except (OSError, EOFError, pa.ArrowException, csv.Error) as error:
        yield from batches.rest()
        tally.failed(str(error))
    except ColumnsMissingError as error:
        raise ColumnsMissingError(f"{path}: {error}") from error
    report = FileReport(str(path), tally.rows, tally.unreadable, tally.error)
    if report.reason is not None or not piece.is_whole:
        yield report_batch(report)


def _format(source: Source, path: Path) -> str:
    file_format = _FORMATS.get(_suffix(path))
    if source.reading.kind != "table":
        return "parquet" if file_format == "parquet" else source.reading.kind
    if file_format is None:
        known = ", ".join(sorted(_FORMATS))
        raise LogFormatError(
            f"{path.name}: expected a name that ends in one of {known}, packed ({', '.join(_PACKED)}) or not"
        )
    return file_format


def _lines_of_piece(path: Path, piece: Piece) -> Iterator[str]:
    """Yield the lines that begin within a piece."""
    with path.open("rb") as raw:
        raw.seek(max(piece.start - 1, 0))
        if piece.start:
            raw.readline()
        while (piece.end is None or raw.tell() < piece.end) and (line := raw.readline()):
            encoding = "utf-8" if piece.start else "utf-8-sig"
            yield line.decode(encoding, "surrogateescape")


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
        tally = Tally()
        yield from _Batches(source, "", tally).of(_rows_of(source, values, lost, tally))


def _rows_of(source: Source, values: list[str | None], lost: int, tally: Tally) -> Iterator[dict[str, Any]]:
    for value in values:
        if value is not None:
            lines = value.splitlines(keepends=True)
            if source.reading.kind == "records":
                yield from read_records(source, lines, tally)
            elif source.reading.headers:
                yield from read_csv(source, lines, tally, whole=False, delimiter=source.delimiter or ",")
            else:
                yield from read_json_lines(source, lines, tally, whole=False)
    for _ in range(lost):
        yield {CORRUPT: "not text"}


def _suffix(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return plain.suffix.lower()


def _parquet(source: Source, path: Path, group: int | None, tally: Tally) -> Iterator[Any]:
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        source.check(names)
        wanted = {name.lower() for name in source.columns} | {FILE, POSITION, CORRUPT}
        columns = [name for name in names if name.lower() in wanted]
        for one in range(file.num_row_groups) if group is None else [group]:
            try:  # what is damaged in one row group is not in the next
                for batch in file.iter_batches(_ROWS, [one], columns):
                    tally.rows += batch.num_rows
                    yield batch
            except (OSError, EOFError, pa.ArrowException) as error:
                tally.failed(str(error))


class _Batches:
    """Rows by column into record batches of bounded size."""

    def __init__(self, source: Source, file: str, tally: Tally) -> None:
        own = [LINE] if source.reading.kind == "lines" else list(source.columns)
        placed = [FILE, POSITION] if source.reading.placed else []
        self._columns: dict[str, list[Any]] = {name: [] for name in dict.fromkeys([*own, *placed, CORRUPT])}
        self._placed = bool(placed)
        self._needed = frozenset(source.needed)
        self._file = file
        self._tally = tally
        self._rows = self._characters = self._position = 0

    def of(self, rows: Iterable[dict[str, Any]]) -> Iterator[Any]:
        for row in rows:
            self._position += 1
            self._tally.rows += 1
            self._tally.unreadable += CORRUPT in row
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
            arrays = {name: _array(name, values) for name, values in self._columns.items()}
            if any(pa.types.is_binary(array.type) for array in arrays.values()):
                self._tally.unreadable += self._not_text(arrays)
            yield pa.record_batch(arrays)
            for values in self._columns.values():
                values.clear()
            self._rows = self._characters = 0

    def _not_text(self, arrays: dict[str, Any]) -> int:
        """Return in how many records a value that the source cannot do without is no text."""
        values = [texts(array) for name, array in arrays.items() if name in self._needed]
        given = [array for name, array in arrays.items() if name in self._needed]
        return sum(
            any(one[row].is_valid and not read[row].is_valid for one, read in zip(given, values, strict=True))
            for row in range(self._rows)
        )


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
