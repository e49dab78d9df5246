"""Detects the source of a log from the beginning of its files: column names, JSON keys, line format."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lineage.model.text.name_lists import name_list
from lineage_ingest.query_log.reading.delimited import form_of
from lineage_ingest.query_log.reading.file_text import encoding_of, lines_of, read_head
from lineage_ingest.query_log.reading.json_documents import first_values, has_documents
from lineage_ingest.query_log.sources.source import Source

__all__ = ["DetectedSource", "SourceDetectionError", "detect_source", "source_of_columns"]

_HEAD = 100_000
_LINES = 200
_MAX_NAMED = 3
_DELIMITERS = (",", "\t", ";", "|", "\x01")
_PARQUET = b"PAR1"
_FALLBACK = "generic"
_WITH_OTHERS = {frozenset(("snowflake", "snowflake_access")): "snowflake_access"}
"""Sources whose files may be mixed, with the source as which all of them are read."""


class SourceDetectionError(ValueError):
    """The source of a log is not recognised, or its files have several sources."""


class DetectedSource(NamedTuple):
    """The name of a log's source, and the files from which it was detected."""

    name: str
    files: tuple[Path, ...]


def detect_source(files: Iterable[Path], sources: Mapping[str, Source], *, generic: bool = True) -> DetectedSource:
    """Return the source of a log. Files without content, such as empty ones, are ignored.

    Unrecognised files do not matter if another file is recognised.

    Args:
        files: the files of the log.
        sources: the supported sources, by name.
        generic: drop files of the source `generic` from the result if other files have a specific source.

    Raises:
        SourceDetectionError: no file is recognised, a file fits several sources, or the files have several sources.
            The message names the files.
    """
    files_by_source: dict[str, list[Path]] = {}
    unknown: list[Path] = []
    for file in files:
        names = _sources_of(file, sources)
        if names is None:
            continue
        if len(names) > 1:
            raise SourceDetectionError(f"{file} may be a log of {_name_list(names)}: choose one with --source")
        if names:
            files_by_source.setdefault(names[0], []).append(file)
        else:
            unknown.append(file)
    if generic and len(files_by_source) > 1:
        files_by_source.pop(_FALLBACK, None)  # another table of the same product
    together = _WITH_OTHERS.get(frozenset(files_by_source))
    if together is not None:
        return DetectedSource(together, tuple(file for group in files_by_source.values() for file in group))
    if len(files_by_source) > 1:
        groups = ", ".join(
            f"{name_list(group, _MAX_NAMED)} of {name}" for name, group in sorted(files_by_source.items())
        )
        raise SourceDetectionError(f"these are logs of several sources: {groups}; ingest each by itself, with --source")
    for name, group in files_by_source.items():
        return DetectedSource(name, tuple(group))
    if not unknown:  # all files are empty, which the reader reports
        return DetectedSource(_FALLBACK, ())
    raise SourceDetectionError(
        f"the format of {name_list(unknown, _MAX_NAMED)} is not recognised: "
        f"name it with --source ({', '.join(sources)}); "
        "for any other table of statements use --source generic --map query_text=COLUMN"
    )


def source_of_columns(columns: Sequence[str], sources: Mapping[str, Source]) -> str:
    """Return the name of the source that has these columns.

    Raises:
        SourceDetectionError: no source has them, or several have.
    """
    names = _by_columns([{name.strip().lower() for name in columns}], sources)
    if len(names) != 1:
        raise SourceDetectionError("the format is not recognised by these columns: name it with --source")
    return names[0]


def _name_list(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _sources_of(path: Path, sources: Mapping[str, Source]) -> list[str] | None:
    """Return the names of the sources that a file may have; None if it has no content."""
    try:
        with path.open("rb") as raw:
            is_parquet = raw.read(4) == _PARQUET
        if is_parquet:
            with pq.ParquetFile(path) as file:
                return _by_columns([{name.lower() for name in file.schema_arrow.names}], sources)
    except (OSError, pa.ArrowException):
        return []
    raw_head = read_head(path, _HEAD)
    head = raw_head.decode(encoding_of(raw_head), "replace").lstrip("\ufeff\x1e \r\n\t")
    if not head.strip("[]{} \r\n\t"):
        return None
    records = list(_records(head))
    if records:
        return _by_columns(
            [{key.lower() for key in record} for record in records if isinstance(record, dict)], sources
        ) or (_by_rows([[str(value) for value in record] for record in records if isinstance(record, list)], sources))
    by_line = [name for name, source in sources.items() if _has_records(source, head)]
    return by_line or _by_columns(list(_headers(head)), sources) or _without_header(head, sources)


def _by_columns(found: Sequence[set[str]], sources: Mapping[str, Source]) -> list[str]:
    """Return the sources that have one of these sets of columns; the generic source only if no other has one."""
    names = [
        name
        for name, source in sources.items()
        if any(known <= columns for known in map(set, source.known_by) for columns in found)
    ]
    together = _WITH_OTHERS.get(frozenset(names))
    if together is not None:
        return [together]
    if not names and _FALLBACK in sources and any("query_text" in columns for columns in found):
        return [_FALLBACK]
    return names


def _by_rows(rows: Sequence[Sequence[str]], sources: Mapping[str, Source]) -> list[str]:
    """Return the sources that the first row fits, as a header or as values in the order of a layout."""
    if not rows:
        return []
    return _by_columns([{name.lower() for name in rows[0]}], sources) or [
        name for name, source in sources.items() if any(one.fits(rows[0]) for one in source.reading.layouts)
    ]


def _records(head: str) -> Iterator[object]:
    """Yield the first complete values of JSON text, or of lines that end with a JSON document."""
    if head.startswith(("{", "[")) and has_documents(head):
        yield from first_values(head, _LINES)
        return
    for line in lines_of(head)[:_LINES]:
        start = 0 if line.startswith("[") else line.find("{")
        if start >= 0 and '"' not in line[:start]:
            try:
                yield json.loads(line[start:])
            except (ValueError, RecursionError):
                continue


def _has_records(source: Source, head: str) -> bool:
    """Return whether a text has a line that begins a record of the source."""
    if not source.reading.record_start:
        return False
    begins = re.compile(source.reading.record_start)
    return any(begins.match(line) for line in lines_of(head)[:_LINES])


def _headers(head: str) -> Iterator[set[str]]:
    """Yield the names in the first line, once for each possible delimiter."""
    line = head.partition("\n")[0].rstrip("\r")
    for delimiter in _DELIMITERS:
        if delimiter in line or delimiter == ",":
            yield {name.strip().strip('"').lower() for name in line.split(delimiter)}


def _without_header(head: str, sources: Mapping[str, Source]) -> list[str]:
    """Return the sources that write such CSV without a header."""
    names = []
    for name, source in sources.items():
        if source.reading.headers:
            if source.reading.headers_fit(_first_row(head)):
                names.append(name)
        elif source.reading.layouts and form_of(source, head).columns is not None:
            names.append(name)
    return names


def _first_row(head: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(head, newline="")), [])
    except csv.Error:
        return []
