"""Reads the files of a query log as record batches of their source's columns, without Spark and in constant memory.

The form of a file is detected from its content (`file_format`). Files that only Spark can access are read by Spark into
the same columns: JSON values as strings, unreadable records in `_corrupt_record`, lines of text in `value`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_ingest.query_log.log_schema import Problem
from lineage_ingest.query_log.reading.coercion import texts
from lineage_ingest.query_log.reading.delimited import read_csv
from lineage_ingest.query_log.reading.file_format import FileForm, look_at
from lineage_ingest.query_log.reading.file_reports import FileReport, report_batch
from lineage_ingest.query_log.reading.file_text import lines_of, open_text
from lineage_ingest.query_log.reading.json_documents import read_documents
from lineage_ingest.query_log.reading.json_rows import read_json_lines
from lineage_ingest.query_log.reading.log_files import find_log_files, parts_of
from lineage_ingest.query_log.records import Tally, read_lines, read_records
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, LINE, POSITION, ColumnsMissingError, Source

__all__ = [
    "check_log_files",
    "read_log",
    "FilePiece",
    "file_pieces",
    "read_log_file",
    "read_messages",
]

_ROWS = 8_192
_CHARACTERS = 32_000_000
_PIECE = 64_000_000
"""Size in bytes of a piece of uncompressed lines, which one worker reads."""


def check_log_files(source: Source, files: Iterable[Path]) -> None:
    """Check that at least one of these files can be from this source; the others are reported as failed files.

    Raises:
        ColumnsMissingError: all files that are not empty are from another source.
    """
    refused: ColumnsMissingError | None = None
    for file in files:
        try:
            found = _first_row(source, file)
        except ColumnsMissingError as error:
            refused = refused or ColumnsMissingError(f"{file}: {error}")
        except (OSError, EOFError, pa.ArrowException, csv.Error):
            return  # reading it reports the error
        else:
            if found:
                return
    if refused is not None:
        raise refused


def _first_row(source: Source, path: Path) -> bool:
    """Return whether a file has a row, or fails while the first one is read.

    Raises:
        ColumnsMissingError: the file is not from this source.
    """
    form = look_at(source, path)
    if form.kind == "parquet":
        with pq.ParquetFile(path) as file:
            source.check(file.schema_arrow.names)
        return True
    tally = Tally()
    with open_text(path, _newline(form)) as text:
        return next(_rows_in(source, form, text, tally), None) is not None or tally.error is not None


def read_log(source: Source, paths: Iterable[str | Path]) -> Iterator[Any]:
    """Yield the rows of files as record batches of the source's columns, file by file.

    Raises:
        NoLogFilesError: a path matches no file.
        ColumnsMissingError: no file is from this source.
    """
    files = find_log_files(paths, source)
    check_log_files(source, files)
    for file in files:
        yield from read_log_file(source, file)


class FilePiece(NamedTuple):
    """A part of a file that can be read on its own: a Parquet row group, or a byte range of uncompressed lines."""

    group: int | None = None
    start: int = 0
    end: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self == FilePiece()


def file_pieces(source: Source, path: Path) -> list[FilePiece]:
    """Return the pieces in which a file can be read; a single one if it must be read as a whole."""
    try:
        form = look_at(source, path)
        if form.kind == "parquet":
            with pq.ParquetFile(path) as file:
                return [FilePiece(group) for group in range(file.num_row_groups)] or [FilePiece()]
    except (OSError, pa.ArrowException):
        return [FilePiece()]
    size = path.stat().st_size
    if not form.in_pieces or size <= 2 * _PIECE:
        return [FilePiece()]
    return [FilePiece(None, start, min(start + _PIECE, size)) for start in range(0, size, _PIECE)]


def read_log_file(
    source: Source,
    path: Path,
    piece: FilePiece = FilePiece(),  # noqa: B008  frozen
    *,
    alone: bool = False,
) -> Iterator[Any]:
    """Yield the rows of a log file, or of a piece of it, as record batches of the source's columns.

    If the log is split into files, all of its parts are read, unless `alone` is set. A `FileReport` follows if a file
    failed, if there are no rows, and after every piece.
    """
    position = rows = 0
    parts = [path] if alone else parts_of(path, source)
    for part in parts:
        tally = Tally()
        batches = _FileBatches(source, str(path), tally, position)
        silent: Any = None
        is_silent = True
        try:
            for batch in _read_part(source, part, piece, batches, tally):
                if is_silent and (is_silent := _is_silent(source, batch)) and silent is None:
                    silent = batch
                yield batch
        except (OSError, EOFError, pa.ArrowException, csv.Error, ColumnsMissingError) as error:
            yield from batches.rest()
            tally.failed(str(error))
        position += tally.rows
        rows += tally.rows
        no_text = (
            tally.rows - tally.unreadable if is_silent and silent is not None and _lacks_text(source, silent) else 0
        )
        report = FileReport(str(part), tally.rows, tally.unreadable, tally.error, no_text)
        if report.reason is not None or not piece.is_whole:
            yield report_batch(report)
        elif not rows and part == parts[-1]:
            yield report_batch(FileReport(str(path), 0, 0))


def _is_silent(source: Source, batch: Any) -> bool:
    """Return whether the required columns are null in all of these rows."""
    there = [batch.column(name) for name in batch.schema.names if name in source.needed]
    return all(texts(column).null_count == batch.num_rows for column in there)


def _lacks_text(source: Source, batch: Any) -> bool:
    """Return whether rows without SQL text are statements that lack it, and not loads, connections and the like."""
    made = source.normalise(batch)
    return {str(Problem.UNREADABLE), *made.column("problem").to_pylist()} == {
        str(Problem.UNREADABLE),
        str(Problem.NO_TEXT),
    }


def _read_part(source: Source, path: Path, piece: FilePiece, batches: _FileBatches, tally: Tally) -> Iterator[Any]:
    form = look_at(source, path)
    if form.kind == "parquet":
        yield from _parquet(source, path, piece.group, tally)
    elif piece.is_whole:
        with open_text(path, _newline(form)) as text:
            yield from batches.of(_rows_in(source, form, text, tally))
    else:
        lines = _lines_of_piece(path, piece)
        read = read_json_lines if form.kind == "json" else partial(read_lines, whole=False)
        yield from batches.of(read(source, lines, tally))


def _rows_in(source: Source, form: FileForm, text: IO[str], tally: Tally) -> Iterator[dict[str, Any]]:
    match form.kind:
        case "csv":
            return read_csv(source, text, tally)
        case "json":
            return read_json_lines(source, text, tally)
        case "documents":
            return read_documents(source, text, tally)
        case "lines":
            return read_lines(source, text, tally)
    return read_records(source, text, tally)


def _newline(form: FileForm) -> str:
    return "\r" if form.carriage_returns else "\n"


def _lines_of_piece(path: Path, piece: FilePiece) -> Iterator[str]:
    """Yield the lines that begin within a piece."""
    with path.open("rb") as raw:
        raw.seek(max(piece.start - 1, 0))
        if piece.start:
            raw.readline()
        while (piece.end is None or raw.tell() < piece.end) and (line := raw.readline()):
            encoding = "utf-8" if piece.start else "utf-8-sig"
            yield line.decode(encoding, "surrogateescape")


def read_messages(source: Source, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows in messages of a queue (column `value`) as record batches of the source's columns.

    A message has the same content as a file of the source: JSON lines or lines of text, usually one.
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
        yield from _FileBatches(source, "", tally).of(_rows_of(source, values, lost, tally))


def _rows_of(source: Source, values: list[str | None], lost: int, tally: Tally) -> Iterator[dict[str, Any]]:
    for value in values:
        if value is not None:
            lines = lines_of(value)
            if source.reading.kind == "records":
                yield from read_records(source, lines, tally)
            elif source.reading.headers:
                yield from read_csv(source, lines, tally, whole=False)
            else:
                yield from read_json_lines(source, lines, tally, whole=False)
    for _ in range(lost):
        yield {CORRUPT: "not text"}


def _parquet(source: Source, path: Path, group: int | None, tally: Tally) -> Iterator[Any]:
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        source.check(names)
        wanted = source.wanted_of(names)
        own = {FILE, POSITION, CORRUPT}
        columns = [name for name in names if name.lower() in wanted or name in own]
        for one in range(file.num_row_groups) if group is None else [group]:
            try:  # a damaged row group does not affect the next one
                for batch in file.iter_batches(_ROWS, [one], columns):
                    tally.rows += batch.num_rows
                    yield batch.rename_columns([wanted.get(name.lower(), name) for name in batch.schema.names])
            except (OSError, EOFError, pa.ArrowException) as error:
                tally.failed(str(error))


class _FileBatches:
    """Builds record batches of bounded size from rows by column."""

    def __init__(self, source: Source, file: str, tally: Tally, position: int = 0) -> None:
        own = [LINE] if source.reading.kind == "lines" else list(source.columns)
        placed = [FILE, POSITION] if source.reading.placed else []
        self._columns: dict[str, list[Any]] = {name: [] for name in dict.fromkeys([*own, *placed, CORRUPT])}
        self._placed = bool(placed)
        self._flattened = bool(source.nested)
        self._needed = frozenset(source.needed)
        self._file = file
        self._tally = tally
        self._position = position
        self._rows = self._characters = 0

    def of(self, rows: Iterable[dict[str, Any]]) -> Iterator[Any]:
        for row in rows:
            self._position += 1
            self._tally.rows += 1
            self._tally.unreadable += row.get(CORRUPT) is not None
            if self._placed:
                row[FILE] = self._file
                row[POSITION] = self._position
            if self._flattened:
                for name in row.keys() - self._columns.keys():
                    self._columns[name] = [None] * self._rows
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
        """Return the number of records in which a required value is not text."""
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
    except UnicodeEncodeError:  # bytes that are not UTF-8 stay bytes, so that the adapter reports their row
        return pa.array([None if value is None else _bytes(value) for value in values], pa.binary())


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # an unpaired surrogate, which JSON can contain
        return text.encode("utf-8", "surrogatepass")
