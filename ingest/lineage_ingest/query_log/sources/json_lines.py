"""Converts lines of nested JSON documents into flat rows that an adapter reads like a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import LOG_SCHEMA
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, LINE, POSITION, SourceRows, raw_records

__all__ = ["LINEAGE", "flatten_documents", "nested", "written_column"]

LINEAGE = "source_lineage"
"""The key of a flat row's list of edges; its value can be None."""

Flatten = Callable[[dict[str, Any]], dict[str, Any] | None]


def flatten_documents(log: SourceRows, columns: tuple[str, ...], flatten: Flatten, only: str = "") -> SourceRows:
    """Return rows with these columns, read from the documents in the column `value`.

    A line that is not JSON becomes a row with its text in `_corrupt_record`. Text before the first `{` is a logger's
    prefix and is skipped.

    Args:
        log: the lines.
        columns: the columns of the result.
        flatten: returns the flat row of a document, or None if the document is not a statement.
        only: a text; documents without it are skipped before they are parsed.
    """
    if only:
        whole = pc.ends_with(pc.utf8_rtrim_whitespace(log.text(LINE)), "}")
        log = log.where(pc.or_(pc.invert(pc.fill_null(whole, False)), pc.match_substring(log.text(LINE), only)))
    kept: list[dict[str, Any]] = []
    lines = log.text(LINE).to_pylist()
    places = log.text(FILE).to_pylist(), log.count(POSITION).to_pylist()
    given = pc.is_valid(log.column(LINE)).to_pylist()
    for line, there, file, position in zip(lines, given, *places, strict=True):
        document = _document(line)
        if document is None:
            if line is not None or there:
                kept.append({CORRUPT: line or "not text"})
            continue
        row = flatten(document)
        if row is not None:
            kept.append({**row, FILE: file, POSITION: position})
    arrays: dict[str, Any] = {name: _texts([row.get(name) for row in kept]) for name in (*columns, FILE, CORRUPT)}
    arrays[POSITION] = pa.array([row.get(POSITION) for row in kept], pa.int64())
    arrays[LINEAGE] = pa.array([row.get(LINEAGE) for row in kept], LOG_SCHEMA.field(LINEAGE).type)
    corrupt = raw_records(log.column(CORRUPT)).drop_null()
    batch = pa.table(arrays)
    if len(corrupt):
        batch = pa.concat_tables([batch, pa.table({CORRUPT: corrupt})], promote_options="default")
    return SourceRows(batch, log.source)


def nested(document: Any, *path: str) -> Any:
    """Return the value at a path in a document, or None if there is none.

    >>> nested({"a": {"b": 1}}, "a", "b"), nested({"a": 3}, "a", "b")
    (1, None)
    """
    for name in path:
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document


def written_column(target: tuple[str, Any], sources: Iterable[tuple[str, Any]]) -> list[dict[str, str | None]]:
    """Return the `source_lineage` entries of a written column: one per source column.

    A column is a pair of table and name; the name is None for a source without columns, such as a file. A column
    without sources (a constant) has one entry, with null sources.
    """
    table, column = target[0], str(target[1])
    read = sorted(((one, None if name is None else str(name)) for one, name in sources), key=str)
    return [
        {"target_table": table, "target_column": column, "source_table": source[0], "source_column": source[1]}
        for source in dict.fromkeys(read) or [(None, None)]
    ]


def _document(line: str | None) -> dict[str, Any] | None:
    start = -1 if line is None else line.find("{")
    if line is None or start < 0:
        return None
    try:
        document = json.loads(line[start:])
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _texts(values: list[Any]) -> Any:
    read = [v if v is None or isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values]
    try:
        return pa.array(read, pa.string())
    except UnicodeEncodeError:  # half of a surrogate pair is valid JSON, but not valid text
        return pa.array([None if v is None else v.encode("utf-8", "surrogatepass") for v in read], pa.binary())
