"""Detects the format of a log file from its content, or from its name if the content is inconclusive."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from lineage_ingest.query_log.reading.delimited import form_of
from lineage_ingest.query_log.reading.file_text import compression_of, encoding_of, read_head
from lineage_ingest.query_log.reading.json_documents import has_documents
from lineage_ingest.query_log.sources.source import Source

__all__ = ["FileForm", "Kind", "look_at"]

Kind = Literal["parquet", "csv", "json", "documents", "lines", "records"]
_PARQUET = b"PAR1"
_HEAD = 200_000


class FileForm(NamedTuple):
    """The format as which a file is read."""

    kind: Kind
    """json: one document or array of values per line. documents: any other JSON. lines, records: see `Reading`."""
    in_pieces: bool
    """Whether reading can start at any line: uncompressed text with one record per line."""
    carriage_returns: bool = False
    """Whether lines end with a carriage return only."""


def look_at(source: Source, path: Path) -> FileForm:
    """Return the format of a file. An empty file named `*.parquet` counts as Parquet.

    Raises:
        OSError: the file cannot be opened.
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
        return "records"  # a log prefix such as `[4711] `, not JSON
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
    """Return whether the log of a source that reads records was exported as CSV."""
    form = form_of(source, text)
    if form.columns is not None:
        return True
    names = re.split(re.escape(form.delimiter), text.lstrip("\ufeff").partition("\n")[0])
    return source.has_columns(name.strip().strip('"') for name in names)
