"""Lines of text into records: JSON lines, CSV, lines as they are, and records that span lines.

Each reader says in a `Tally` where the text breaks off within its last record.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lineage_ingest.query_log.sources.source import CORRUPT, LINE, ColumnsMissingError, Source

__all__ = ["Tally", "read_csv", "read_json_lines", "read_lines", "read_records"]

_BROKEN_OFF = "it breaks off in the middle of a record"
_NOT_TEXT = re.compile("[\\x00-\\x08\\x0e-\\x1f\\ud800-\\udfff]")
"""Control characters, and bytes that are no characters."""


@dataclass(slots=True)
class Tally:
    """What was read so far: rows, those of them that could not be read, why reading ended early."""

    rows: int = 0
    unreadable: int = 0
    error: str | None = None

    def failed(self, reason: str) -> None:
        """Note why the file, or a part of it, could not be read; the first reason in order is kept."""
        text = " ".join(reason.split())
        self.error = text if self.error is None else min(self.error, text)


def read_records(source: Source, lines: Iterable[str], tally: Tally) -> Iterator[dict[str, Any]]:
    """Yield the records of lines of text as rows by column.

    Raises:
        TypeError: the source's files are not text with records.
    """
    if source.reading.records is None:
        raise TypeError(f"{source.title} is not read by records")
    preamble = re.compile(source.reading.preamble) if source.reading.preamble else None
    foreign = ""

    def stripped() -> Iterator[str]:
        nonlocal foreign
        for line in lines:
            bare = line.rstrip("\r\n")
            if not foreign and bare and not bare.isspace() and not (preamble and preamble.match(bare)):
                foreign = bare
            yield bare

    found = False
    for record in source.reading.records(stripped()):
        found = True
        yield dict(zip(source.columns, record, strict=False))
    if foreign and not found:
        tally.failed(f"no record of a {source.title} is in it")


def read_lines(source: Source, text: Iterable[str], tally: Tally) -> Iterator[dict[str, Any]]:
    """Yield the lines that say something: all of these sources write JSON, a document a line."""
    wanted = re.compile(source.reading.only)
    is_text = False
    tried = kept = 0
    line = ""
    for line in text:
        if not (stripped := line.rstrip("\r\n")):
            continue
        if not is_text and not stripped.isspace():
            tried += 1
            is_text = _is_document(stripped)
        if wanted.search(stripped):
            if not line.endswith("\n") and _is_cut(stripped):
                break
            kept += 1
            yield {LINE: stripped}
    if line and not line.endswith("\n") and _is_cut(line):
        tally.failed(_BROKEN_OFF)
    if tried and not is_text:
        if kept:
            tally.unreadable = tally.rows
        else:
            tally.failed(f"no record of a {source.title} is in it")


def _is_document(line: str) -> bool:
    """Return whether a line ends in a JSON document; before it may stand what a logger wrote, which has no quotes."""
    start = line.find("{")
    return start >= 0 and '"' not in line[:start] and isinstance(_json(line[start:]), dict)


def _is_cut(line: str) -> bool:
    """Return whether a line without an end holds the beginning of a document."""
    start = line.find("{")
    return start >= 0 and '"' not in line[:start] and _json(line[start:]) is None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_json_lines(
    source: Source, text: Iterable[str], tally: Tally, *, whole: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield JSON lines as rows by column.

    Args:
        source: whose columns they have.
        text: the lines.
        tally: is told where they break off.
        whole: they are a file, which can be another source's and can break off; not a message.

    Raises:
        ColumnsMissingError: the first document is not of this source.
    """
    wanted = {name.lower(): name for name in source.columns}
    checked = not whole
    for line in text:
        if line.isspace():
            continue
        read = _json(line)
        if not isinstance(read, dict):
            if whole and read is None and not line.endswith("\n"):
                tally.failed(_BROKEN_OFF)
                return
            yield {CORRUPT: line}
            continue
        if not checked:
            source.check(read)
            checked = True
        yield {wanted[key.lower()]: _as_text(value) for key, value in read.items() if key.lower() in wanted}


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_csv(
    source: Source, text: Iterable[str], tally: Tally, *, whole: bool = True, delimiter: str = ","
) -> Iterator[dict[str, Any]]:
    """Yield rows of CSV by column; the arguments are those of `read_json_lines`, and what parts the values of a row.

    Raises:
        ColumnsMissingError: the header is not of this source.
    """
    csv.field_size_limit(2**31 - 1)  # statements of megabytes are statements
    line = ""
    ended = False

    def remembered() -> Iterator[str]:
        nonlocal line, ended
        for read in text:
            line = read
            yield read
        ended = True

    wanted = {name.lower(): name for name in source.columns}
    headers = {len(names): [wanted.get(name, "") for name in names] for names in source.reading.headers}
    header: list[str] | None = None
    for row in csv.reader(remembered(), delimiter=delimiter):
        if not row:
            continue
        if not headers and header is None:
            if any(_NOT_TEXT.search(name) for name in row):
                tally.failed("its first line is not text in UTF-8")
                return
            _check_header(source, row, delimiter)
            header = [wanted.get(name.strip().lower(), "") for name in row]
            continue
        names = headers.get(len(row)) if headers else header
        fits = names is not None and len(names) == len(row)
        # A reader that looked for another line within a record looked for the end of a quoted text.
        if whole and (ended or (not fits and not line.endswith(("\n", "\r")))):
            tally.failed(_BROKEN_OFF)
            return
        if names is None or not fits:
            yield {CORRUPT: delimiter.join(row)}
            continue
        yield {name: value for name, value in zip(names, row, strict=True) if name}


def _check_header(source: Source, header: list[str], delimiter: str) -> None:
    """Check that a header is of the source; where it is a single value, say that the delimiter may be another.

    Raises:
        ColumnsMissingError: it is not.
    """
    try:
        source.check(header)
    except ColumnsMissingError as error:
        other = (
            next((one for one in ";\t|," if one != delimiter and one in header[0]), None) if len(header) == 1 else None
        )
        if other is None:
            raise
        shown = {"\t": "tab"}.get(other, other)
        raise ColumnsMissingError(
            f"{error}; are the values parted by another character? --delimiter '{shown}'"
        ) from error
