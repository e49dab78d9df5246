"""Converts lines of text to records: one record per line, or records that span lines.

Each reader notes in a `Tally` that the text ends in the middle of its last record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lineage_ingest.query_log.sources.source import LINE, Source

__all__ = ["BROKEN_OFF", "Tally", "read_lines", "read_records"]

BROKEN_OFF = "it ends in the middle of a record"


@dataclass(slots=True)
class Tally:
    """Progress so far: rows read, rows that could not be read, and why reading stopped early."""

    rows: int = 0
    unreadable: int = 0
    error: str | None = None

    def failed(self, reason: str) -> None:
        """Note why the file, or a part of it, could not be read; of several, keep the alphabetically first."""
        text = " ".join(reason.split())
        self.error = text if self.error is None else min(self.error, text)


def read_records(source: Source, lines: Iterable[str], tally: Tally) -> Iterator[dict[str, Any]]:
    """Yield the records in lines of text, each as a mapping from column to value.

    Raises:
        TypeError: the source does not parse records.
    """
    if source.reading.records is None:
        raise TypeError(f"{source.title} is not read by records")
    preamble = re.compile(source.reading.preamble) if source.reading.preamble else None
    foreign = ""

    def strip_lines() -> Iterator[str]:
        nonlocal foreign
        for line in lines:
            bare = line.rstrip("\r\n")
            if not foreign and bare and not bare.isspace() and not (preamble and preamble.match(bare)):
                foreign = bare
            yield bare

    found = False
    for record in source.reading.records(strip_lines()):
        found = True
        yield dict(zip(source.columns, record, strict=False))
    if foreign and not found:
        tally.failed(f"it has no record of a {source.title}")


def read_lines(source: Source, text: Iterable[str], tally: Tally, *, whole: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the lines of the source that are not blank. All of these sources write one JSON document per line.

    Args:
        source: the source of the lines.
        text: the lines.
        tally: notes a truncated last line, and that no line is a record of the source.
        whole: the lines are a whole file. In a chunk without records of the source all rows are counted as unreadable:
            only all chunks together show whether the file has any.
    """
    wanted, mark = re.compile(source.reading.only), re.compile(source.reading.mark)
    is_ours = any_line = False
    line = ""
    for line in text:
        if not (stripped := line.rstrip("\r\n")):
            continue
        if not is_ours and not stripped.isspace():
            any_line = True
            is_ours = bool(mark.search(stripped)) and _is_document(stripped)
        if wanted.search(stripped):
            if not line.endswith("\n") and _is_cut(stripped):
                break
            yield {LINE: stripped}
    if line and not line.endswith("\n") and _is_cut(line):
        tally.failed(BROKEN_OFF)
    elif any_line and not is_ours:
        if whole:
            tally.failed(f"it has no record of a {source.title}")
        else:
            tally.unreadable = tally.rows


def _is_document(line: str) -> bool:
    """Return whether a line ends with a JSON document; a logger's prefix without quotes may precede it."""
    start = line.find("{")
    return start >= 0 and '"' not in line[:start] and isinstance(_json(line[start:]), dict)


def _is_cut(line: str) -> bool:
    """Return whether a line without a line break contains a truncated JSON document."""
    start = line.find("{")
    return start >= 0 and '"' not in line[:start] and _json(line[start:]) is None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
