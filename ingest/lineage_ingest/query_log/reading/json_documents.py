"""Reads JSON that is not JSON lines: arrays, pretty-printed documents, and responses that wrap the rows in a document.

Documents are decoded one at a time while the text is read, so memory depends on the largest record, not on the file.
An invalid record becomes an unreadable row, and reading resumes at the next record.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from lineage_ingest.query_log.reading.json_rows import MAX_SHOWN, ColumnOrder, check_rows, json_row
from lineage_ingest.query_log.records import BROKEN_OFF, Tally
from lineage_ingest.query_log.sources.source import CORRUPT, LINE, Source

__all__ = ["first_values", "has_documents", "read_documents"]

_CHUNK = 1_000_000
_SMALL = 8_192
_MAX_RECORD = 256_000_000
_BLANK = re.compile("[\\s,\ufeff\x1e]*")
_KEY = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*')
_NEXT = re.compile(r"(?<=[\[,}\]\n])\s*(?=\{)")
_WRAPPERS = frozenset(("data", "res", "entries", "rows", "items", "results", "records", "queries"))
"""Keys that contain the rows of a response, in ClickHouse, Databricks, Cloud Logging, …"""
_MAX_KEYS = 50
_CONCATENATED = re.compile(r"\s*\{")
_FIRST = re.compile(r"\[\s*([^\s])")
_DECODER = json.JSONDecoder(strict=False)


def has_documents(head: str) -> bool:
    r"""Return whether a JSON text with this beginning is not JSON lines.

    >>> has_documents("[{}]"), has_documents("{\n"), has_documents("{}"), has_documents("[1]")
    (True, True, False, False)
    """
    return bool(
        re.match(r"\s*(?:\[\s*(?:[{\[\]]|\Z)|\{\s*(?:\n|\Z))", head)
        or _CONCATENATED.match(_rest_of_line(head))
        or re.match(rf'\s*\{{(?:\s*"\w+":\s*(?:"[^"]*"|\w+),)*\s*"(?:meta|{"|".join(_WRAPPERS)})"\s*:\s*\[', head)
    )


def _rest_of_line(head: str) -> str:
    """Return the rest of the first document's last line, after the document; empty if there is no valid document."""
    try:
        return head[_DECODER.raw_decode(head, len(head) - len(head.lstrip()))[1] :].partition("\n")[0]
    except (ValueError, RecursionError):
        return ""


def read_documents(source: Source, text: IO[str], tally: Tally) -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON text as rows by column, or as lines if the source reads lines.

    Raises:
        ColumnsMissingError: the first record is not from this source.
    """
    lines = source.reading.kind == "lines"
    order, wanted = ColumnOrder(source), source.wanted
    documents = _Documents(_to_the_break(text), frozenset(wanted), order.name, None if lines else source.has_columns)
    checked = lines
    mark = re.compile(source.reading.mark)
    is_ours = any_document = False
    for value, raw in documents.records(tally):
        if isinstance(value, list) and value and not checked:
            row = order.row(value)
            if row is not None:
                yield row
        elif not isinstance(value, dict):
            yield {CORRUPT: raw[:MAX_SHOWN]}
        elif lines:
            any_document, is_ours = True, is_ours or bool(mark.search(raw))
            yield {LINE: raw}
        else:
            if not checked:
                source.check(value)
                check_rows(source, value)
                checked = True
            yield json_row(wanted, value)
    if any_document and not is_ours:
        tally.failed(f"it has no record of a {source.title}")


def first_values(head: str, count: int) -> Iterator[Any]:
    """Yield the first records of a JSON text from any source: documents, and arrays of values or of column names."""
    names: list[list[str]] = []
    found = _Documents(io.StringIO(head).read, frozenset(), names.append)
    values = [value for value, _raw in islice(found.records(Tally()), count) if value is not None]
    yield from names  # the column names come before their rows
    yield from values


def _to_the_break(text: IO[str]) -> Callable[[int], str]:
    """Return a `read` function that returns the characters before an error and raises the error on the next call."""
    failed: list[Exception] = []

    def read(count: int) -> str:
        if failed:
            raise failed.pop()
        parts: list[str] = []
        while count > 0:
            try:
                part = text.read(min(count, _SMALL))
            except (OSError, EOFError, pa.ArrowException) as error:
                if not parts:
                    raise
                failed.append(error)
                break
            if not part:
                break
            parts.append(part)
            count -= len(part)
        return "".join(parts)

    return read


class _Documents:
    """An incremental parser that splits a JSON text into records."""

    def __init__(
        self,
        read: Callable[[int], str],
        columns: frozenset[str],
        name: Callable[[list[str]], object],
        is_record: Callable[[dict[str, Any]], bool] | None = None,
    ) -> None:
        """Create a parser.

        Args:
            read: returns up to the given number of characters of the text; an empty string at its end.
            columns: the lowercase keys of a record; empty if they are unknown.
            name: called with the column names if the text has them separately from its rows (`meta`).
            is_record: returns whether a document is a record; None if the keys of a record are unknown.
        """
        self._read = read
        self._columns = columns
        self._name = name
        self._is_known = is_record
        self._text = ""
        self._at = 0
        self._ended = False
        self._arrays = self._wrappers = 0
        self._keys: frozenset[str] = frozenset()

    def records(self, tally: Tally) -> Iterator[tuple[Any, str]]:
        """Yield each record with its text; an invalid record is None."""
        while character := self._next():
            if character == "]":
                self._at += 1
                self._arrays = max(self._arrays - 1, 0)
            elif character == "}" and self._wrappers:
                self._at += 1
                self._wrappers -= 1
            elif character == "[" and self._opens_rows():
                self._at += 1
                self._arrays += 1
            elif character == '"' and self._wrappers and not self._arrays:
                if not self._pass_key():
                    yield None, self._skip_broken()
            elif character == "{" and not self._arrays and not self._wrappers and self._is_wrapper():
                self._at += 1
                self._wrappers += 1
            elif character in "{[":
                yield from self._record(tally)
            else:
                yield None, self._skip_broken()
        if self._arrays or self._wrappers:
            tally.failed(BROKEN_OFF)

    def _record(self, tally: Tally) -> Iterator[tuple[Any, str]]:
        try:
            value, end = self._decode()
        except (ValueError, RecursionError):
            broken = self._skip_broken()
            if self._ended and self._at >= len(self._text):
                tally.failed(BROKEN_OFF)
            else:
                yield None, broken
            return
        begin = self._at
        self._at = end
        if isinstance(value, dict) and not self._keys:
            self._keys = frozenset(value)
        yield value, self._text[begin:end]

    def _more(self) -> bool:
        """Discard the parsed text and read more; return whether there was more."""
        self._text = self._text[self._at :]
        self._at = 0
        part = self._read(max(_CHUNK, len(self._text)))
        self._text += part
        self._ended = not part
        return bool(part)

    def _next(self) -> str:
        """Skip whitespace and separators, and return the character at the new position; an empty string at the end."""
        while True:
            found = _BLANK.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _opens_rows(self) -> bool:
        """Return whether an array contains rows; an array that is itself a row begins with a scalar."""
        while (found := _FIRST.match(self._text, self._at)) is None and self._more():
            pass
        return found is None or found[1] in "{[]"

    def _decode(self) -> tuple[Any, int]:
        """Return the value at the current position, and its end.

        Raises:
            ValueError: the value is invalid.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - 16 or error.msg.startswith("Unterminated")
                if not cut or len(self._text) - self._at > _MAX_RECORD or not self._more():
                    raise
                continue
            if end == len(self._text) and not isinstance(value, dict | list) and self._more():
                continue  # the rest of a number may follow
            return value, end

    def _is_wrapper(self) -> bool:
        """Return whether a document is a response that contains rows, and not itself a row."""
        while True:
            at = self._at + 1
            for _ in range(_MAX_KEYS):
                key = _KEY.match(self._text, at)
                if key is None:
                    break
                opening = self._text[key.end() : key.end() + 1]
                name = key[1].lower()
                if opening == "[" and (name in _WRAPPERS or name == "meta"):
                    return True
                if name in self._columns or opening in ("{", "["):
                    return False
                try:
                    _value, at = _DECODER.raw_decode(self._text, key.end())
                except json.JSONDecodeError:
                    break
            else:
                return False
            if len(self._text) - self._at > _CHUNK or not self._more():
                return False

    def _pass_key(self) -> bool:
        """Skip a key of a response, and its value unless that contains rows; return whether it is valid."""
        while (key := _KEY.match(self._text, self._at)) is None or key.end() >= len(self._text):
            if len(self._text) - self._at > _CHUNK or not self._more():
                return False
        self._at = key.end()
        name = key[1].lower()
        if self._text[self._at] == "[" and name in _WRAPPERS:
            self._at += 1
            self._arrays += 1
            return True
        try:
            value, end = self._decode()
        except (ValueError, RecursionError):
            return False
        self._at = end
        if name == "meta" and isinstance(value, list):
            self._name([str(one["name"]) for one in value if isinstance(one, dict) and "name" in one])
        return True

    def _skip_broken(self) -> str:
        """Skip to the start of the next record, and return the beginning of the invalid record's text."""
        shown = self._text[self._at : self._at + MAX_SHOWN]
        self._at += 1
        while True:
            found = _NEXT.search(self._text, self._at)
            if found is not None:
                self._at = found.end()
                if self._is_record():
                    return shown
                self._at += 1
                continue
            self._at = max(self._at, len(self._text) - 1)
            if not self._more():
                self._at = len(self._text)
                return shown

    def _is_record(self) -> bool:
        """Return whether the value at the current position is a record, and not part of one."""
        try:
            value, _end = self._decode()
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict):
            return False
        if self._is_known is not None:
            return self._is_known(value)
        return bool(self._keys & value.keys()) if self._keys else len(value) > 2
