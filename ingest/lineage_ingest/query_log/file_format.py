"""Detects the format of a log file from its content, or from its name if the content does not tell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from lineage_ingest.query_log.delimited import form_of
from lineage_ingest.query_log.file_text import compression_of, encoding_of, read_head
from lineage_ingest.query_log.json_documents import has_documents
from lineage_ingest.query_log.sources.source import Source

__all__ = ["FileForm", "Kind", "look_at"]

Kind = Literal["parquet", "csv", "json", "documents", "lines", "records"]
_PARQUET = b"PAR1"
_HEAD = 200_000


class FileForm(NamedTuple):
    """What a file is read as."""

    kind: Kind
    """json: a document or an array of values a line. documents: any other JSON. lines, records: as `Reading`."""
    in_pieces: bool
    """Its lines can be read from any of them on: plain text, a record a line."""
    carriage_returns: bool = False
    """Lines end with a carriage return alone."""


def look_at(source: Source, path: Path) -> FileForm:
    """Return the form of a file; an empty one has that of lines.

    Raises:
        OSError: it cannot be opened.
    """
    with path.open("rb") as raw:
        start = raw.read(200)
    if start.startswith(_PARQUET):
        return FileForm("parquet", in_pieces=False)
    plain = compression_of(start) is None
    head = read_head(path, _HEAD)
    if not head and path.suffix.lower() == ".parquet":
        return FileForm("parquet", in_pieces=False)
    encoding = encoding_of(head)
    text = head.decode(encoding, "replace")
    kind = _kind(source, text, path)
    splits = plain and encoding.startswith("utf-8") and kind in ("json", "lines")
    in_pieces = splits and not source.reading.placed and not text.lstrip("\ufeff \r\n\t").startswith("[")
    return FileForm(kind, in_pieces, "\n" not in text and "\r" in text.rstrip("\r"))


def _kind(source: Source, text: str, path: Path) -> Kind:
    reading = source.reading.kind
    start = text.lstrip("\ufeff\x1e \r\n\t")
    is_json = start.startswith(("{", "["))
    if reading == "records" and is_json and re.match(r"\[\s*[^\s{\[]", start):
        return "records"  # a prefix like `[4711] `
    if reading == "lines":
        return "documents" if is_json and has_documents(start) else "lines"
    if is_json:
        return "documents" if has_documents(start) else "json"
    if reading == "records":
        return "csv" if _is_table(source, text) else "records"
    if "\0" in start and path.suffix.lower() == ".parquet":
        return "parquet"
    return "csv" if start else "json"


def _is_table(source: Source, text: str) -> bool:
    """Return whether a text is the table of a source whose own log is not one."""
    form = form_of(source, text)
    if form.columns is not None:
        return True
    names = re.split(re.escape(form.delimiter), text.lstrip("\ufeff").partition("\n")[0])
    return source.has_columns(name.strip().strip('"') for name in names)
