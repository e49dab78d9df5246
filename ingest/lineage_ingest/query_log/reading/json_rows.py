"""Reads JSON lines as rows by column: one document, or one array of values, per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lineage_ingest.query_log.records import BROKEN_OFF, Tally
from lineage_ingest.query_log.sources.source import CORRUPT, ColumnsMissingError, Source

__all__ = ["MAX_SHOWN", "ColumnOrder", "check_rows", "is_type_row", "json_row", "read_json_lines"]

MAX_SHOWN = 10_000
"""Number of characters kept of an invalid record."""
_TYPE_OF_TEXT = re.compile(r"(?:\w+\()*String\)*")


def read_json_lines(
    source: Source, text: Iterable[str], tally: Tally, *, whole: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield JSON lines, each a document or an array of values, as rows by column.

    Args:
        source: the source of the rows.
        text: the lines.
        tally: records an error if the text is truncated.
        whole: whether the text is a file, which can be truncated or from another source, rather than a message.

    Raises:
        ColumnsMissingError: the first document is not from this source.
    """
    wanted, order = source.wanted, ColumnOrder(source)
    checked = not whole
    for line in text:
        if line.isspace():
            continue
        read = _json(line)
        if read is None:  # an element of an array with one element per line, or of a JSON text sequence
            read = _json(line.strip("\x1e, \t\r\n"))
        if isinstance(read, list) and read and whole and not checked:
            row = order.row(read)
            if row is not None:
                yield row
            continue
        if not isinstance(read, dict):
            if whole and read is None and not line.endswith("\n"):
                tally.failed(BROKEN_OFF)
                return
            yield {CORRUPT: line}
            continue
        if not checked:
            source.check(read)
            check_rows(source, read)
            checked = True
        yield json_row(wanted, read)


def check_rows(source: Source, document: Mapping[str, Any]) -> None:
    """Check that a document is one row, not a table with an array per column.

    Raises:
        ColumnsMissingError: it has an array per column, as in ClickHouse's FORMAT JSONColumns.
    """
    lengths = {len(value) if isinstance(value, list) else -1 for value in document.values()}
    texts = next((value for name, value in document.items() if name.lower() in source.needed), None)
    if len(lengths) == 1 and isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
        raise ColumnsMissingError(
            "a columnar document (ClickHouse's FORMAT JSONColumns) is not supported: export it with FORMAT JSONEachRow"
        )


def json_row(wanted: Mapping[str, str], document: dict[str, Any]) -> dict[str, str | None]:
    """Return a document as a row of the wanted columns; if two keys differ only in case, the last one is used."""
    return {wanted[key.lower()]: _as_text(value) for key, value in document.items() if key.lower() in wanted}


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class ColumnOrder:
    """The column order of rows that are arrays: from a first row of names, the user, or the product's known layouts."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._wanted = source.wanted
        self._names: Sequence[str] | None = None
        self._types_may_follow = False

    def name(self, names: Sequence[str]) -> None:
        """Set the column names given in the file.

        Raises:
            ColumnsMissingError: they are not from this source.
        """
        self._source.check(names)
        self._names = [name.lower() for name in names]

    def row(self, values: Sequence[Any]) -> dict[str, Any] | None:
        """Return a row by column; None if the values are the names or types of the columns.

        Raises:
            ColumnsMissingError: the first row is neither column names nor a row of this source.
        """
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        if self._names is None:
            if all(isinstance(value, str) for value in values) and self._source.has_columns(texts):
                self.name(texts)
                self._types_may_follow = True
                return None
            layout = next((one for one in self._source.reading.layouts if one.fits(texts)), None)
            if self._source.header and len(self._source.header) == len(values):
                self._names = [name.lower() for name in self._source.header]
            elif layout is not None:
                self._names = layout.columns_of(len(values))
            else:
                self._source.check([text or "?" for text in texts])
        names = self._names or ()
        if len(names) != len(values):
            return {CORRUPT: json.dumps(values, ensure_ascii=False)[:MAX_SHOWN]}
        row = json_row(self._wanted, dict(zip(names, values, strict=True)))
        if self._types_may_follow and is_type_row(self._source, row):
            return None
        self._types_may_follow = False
        return row


def is_type_row(source: Source, row: dict[str, Any]) -> bool:
    """Return whether a row contains the types of the columns: its statement is a type such as `Nullable(String)`."""
    values = [row.get(name) for name in source.needed]
    return any(isinstance(value, str) and _TYPE_OF_TEXT.fullmatch(value) for value in values)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
